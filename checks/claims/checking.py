"""Checking documents: from their text to the findings of each, in worker processes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from varlaw.checks.claims.context import Context
from varlaw.checks.claims.decide import IMPLIES
from varlaw.checks.claims.findings import Findings, Link, Note, Spot
from varlaw.checks.claims.language import read_statements
from varlaw.checks.claims.verdict import Judgement
from varlaw.checks.claims.workers import SECONDS, Task, judge
from varlaw.checks.documents.configuration import Configuration
from varlaw.checks.documents.ignoring import ignores, ignoring
from varlaw.checks.documents.span import Document, Kind, Remark, Span
from varlaw.symbolic.formulas import Chain, Macro, Node, NotRead, read_formula, read_macros

LOG_BASES = {"e": None, "2": 2, "10": 10}
SHOWN = 500  # characters of a line

Stretch = Callable[[int, int], Spot]  # of two offsets into the text that was read


@dataclass(frozen=True)
class Placed:
    """A chain, what holds where it stands, and the text that its nodes count in."""

    chain: Chain
    context: Context
    text: str
    stretch: Stretch

    def link(self, one: Judgement) -> Link:
        """The judgement on one of its links, which claims something."""
        sides = self.chain.sides if one.sign in IMPLIES else (one.left, one.right)
        start, end = sides[0].start, sides[-1].end
        text = " ".join(self.text[start:end].split())
        verdict = str(one.verdict)
        spot = self.stretch(start, end)
        return Link(spot, text, one.sign, verdict, one.value, one.reason, one.rule)


@dataclass
class Reader:
    """Reads one document: its chains with what holds where they stand."""

    document: Document
    macros: dict[str, Macro]
    context: Context
    chains: list[Placed] = field(default_factory=list)
    problems: list[Note] = field(default_factory=list)
    unread: list[Note] = field(default_factory=list)
    ignored: list[Note] = field(default_factory=list)
    bare: list[tuple[Node, Spot]] = field(default_factory=list)  # formulas without a relation

    def read(self) -> Findings:
        """Everything but the verdicts."""
        document = self.document
        excused = ignoring(document)
        for problem in (*document.problems, *excused.problems):
            self.note(problem.message, problem.start, problem.start + 1)
        for remark in excused.unused:
            self.note("ignores nothing", remark.start, remark.end)
        remarks = (remark for remark in document.remarks if not ignores(remark))
        for remark, covered in excused.covered:
            self.ignored += [Note(self.spot(s.start, s.end), remark.text) for s in covered]
        spans = (span for span in document.spans if span not in excused.spans)
        parts: list[Span | Remark] = [*spans, *remarks]
        for part in sorted(parts, key=lambda part: part.start):
            if isinstance(part, Span):
                self.span(part)
            else:
                self.remark(part)
        return Findings(
            problems=tuple(self.problems),
            unread=tuple(self.unread),
            spans=len(document.spans),
            ignored=len(excused.spans),
        )

    def task(self, only: frozenset[int] | None = None) -> Task:
        """What is to be judged: all chains, or only some, counted from 0."""
        chains = tuple(one.chain for one in self.chains)
        return Task(chains, tuple(one.context for one in self.chains), only)

    def span(self, span: Span) -> None:
        def stretch(start: int, end: int) -> Spot:
            last = max(min(end, len(span.offsets) - 1) - 1, start)
            return self.spot(span.offsets[start], span.offsets[last] + 1)

        if span.kind is Kind.BLOCK:
            self.statements(span.text, stretch)
            return
        names = {name for name, _ in (*self.context.values, *self.context.signs)}
        try:
            reading = read_formula(
                span.text, macros=self.macros, variables=names, environment=span.environment
            )
        except NotRead as error:
            start = min(error.start, len(span.text))
            self.unread.append(Note(stretch(start, max(error.end, start + 1)), error.reason))
            return
        self.chains += [Placed(chain, self.context, span.text, stretch) for chain in reading.chains]
        self.bare += [(node, stretch(node.start, node.end)) for node in reading.expressions]

    def remark(self, remark: Remark) -> None:
        self.statements(remark.text, lambda start, end: self.spot(remark.start, remark.end))

    def statements(self, text: str, stretch: Stretch) -> None:
        """A block or a comment in the claim language; what it declares holds from here on."""
        found = read_statements(text, self.context)
        self.context = found.context
        for mistake in found.mistakes:
            self.problems.append(Note(stretch(mistake.start, mistake.end), mistake.message))
        for claim in found.claims:

            def shifted(start: int, end: int, by: int = claim.start) -> Spot:
                return stretch(start + by, end + by)

            rest = text[claim.start :]
            self.chains += [Placed(c, claim.context, rest, shifted) for c in claim.chains]

    def note(self, message: str, start: int, end: int) -> None:
        self.problems.append(Note(self.spot(start, end), message))

    def spot(self, start: int, end: int) -> Spot:
        place = self.document.place(start, end)
        first = self.document.line_starts[place.line - 1]
        shown = self.document.text[first : first + SHOWN].splitlines()
        line = shown[0] if shown else ""
        return Spot(place.line, place.column, place.end_line, place.end_column, place.cell, line)


def check(
    documents: Sequence[Sequence[Document]],
    configuration: Configuration | None = None,
    jobs: int = 1,
    seconds: float = SECONDS,
) -> list[Findings]:
    """The findings of each document; one that is a notebook has several parts.

    What a configuration declares holds in all of them, and comes before what they say themselves.
    Raises ValueError for a configured declaration that is not understood.
    """
    settings = configuration or Configuration()
    shared = declared(settings)
    parts = [part for document in documents for part in document]
    readers = [Reader(part, macros_of(part, settings), shared) for part in parts]
    read = [reader.read() for reader in readers]
    judged = judge([reader.task() for reader in readers], jobs, seconds)
    whole = map(_with_links, read, readers, judged)
    return [_joined(next(whole) for _ in document) for document in documents]


def declared(configuration: Configuration) -> Context:
    """What the configuration declares. Raises ValueError where it is not understood."""
    text = configuration.context
    found = read_statements(text, Context(log_base=LOG_BASES[configuration.log_base]))
    for mistake in found.mistakes:
        line = text.count("\n", 0, mistake.start) + 1
        raise ValueError(f"context, line {line}: {mistake.message}")
    if found.claims:
        raise ValueError("context: it holds a claim, and not only declarations")
    return found.context


def macros_of(document: Document, configuration: Configuration) -> dict[str, Macro]:
    """The author's commands: those of the configuration, and the document's own."""
    configured = [rf"\newcommand{{\{k}}}{{{v}}}" for k, v in configuration.macros.items()]
    return dict(read_macros([*configured, *document.macros]))


def _with_links(
    findings: Findings, reader: Reader, judged: Sequence[Sequence[Judgement]]
) -> Findings:
    links, no_claims = [], 0
    for read, judgements in zip(reader.chains, judged, strict=True):
        claims = [one for one in judgements if one.verdict is not None]
        no_claims += len(judgements) - len(claims)
        links += [read.link(one) for one in claims]
    return replace(findings, links=tuple(links), no_claims=no_claims)


def _joined(parts: Iterable[Findings]) -> Findings:
    whole = Findings()
    for part in parts:
        whole = whole.joined(part)
    return whole
