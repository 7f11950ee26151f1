"""Checking documents: from their text to the findings of each, in worker processes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.declarations.definitions import defined
from varlaw.checks.claims.declarations.densities import is_density_defined, with_densities
from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.equations.multiples import names_of
from varlaw.checks.claims.findings import Findings, Link, Note, Spot
from varlaw.checks.claims.guarded import warm_up
from varlaw.checks.claims.links.decide import IMPLIES
from varlaw.checks.claims.links.scales import dropped
from varlaw.checks.claims.links.separators import has_decimal_comma, with_decimal_commas
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.claims.workers import SECONDS, Task, judge
from varlaw.checks.documents.clock import LATE, Clock
from varlaw.checks.documents.configuration import Configuration
from varlaw.checks.documents.ignoring import ignores, ignoring
from varlaw.checks.documents.span import Document, Kind, Remark, Span
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas import (
    Chain,
    Macro,
    Node,
    NotRead,
    Reading,
    cured,
    document_macros,
    read_formula,
    read_macros,
    read_partly,
)
from varlaw.symbolic.formulas.names import bare

LOG_BASES = {"e": None, "2": 2, "10": 10}
SHOWN = 500  # characters of a line
LINE = re.compile(r"[^\r\n]*")
AT_LEAST = 0.1  # of a document's time, for reading formulas and for judging them
COMMENT = re.compile(r"(?<!\\)%")
BEHIND = 20  # characters after a formula, for a unit
CONDITION = re.compile(r"\b(?:when|whenever|if|because|since|for|unless|case) *\Z", re.IGNORECASE)
ASKED = re.compile(
    r"\b(?:when|whenever|if|unless|case|suppose|assume|let|solve|such that|equation) *\Z",
    re.IGNORECASE,
)

Stretch = Callable[[int, int], Spot]  # of two offsets into the text that was read


@dataclass(frozen=True)
class Placed:
    """A chain, what holds where it stands, and the text that its nodes count in."""

    chain: Chain
    context: Context
    text: str
    stretch: Stretch
    dropped: frozenset[Verdict] = frozenset()  # verdicts on the last link that do not count
    condition: bool = False  # behind a word such as "when"
    asked: bool = False  # behind a word such as "if" or "solve", which claims nothing

    def goes_on(self, one: Judgement, judgements: Sequence[Judgement]) -> bool:
        """Whether its number goes on in words, as in 67 %, so that its verdict does not count."""
        return one is judgements[-1] and one.verdict in self.dropped

    def claims(self, judgements: Sequence[Judgement]) -> list[Judgement]:
        """Those that claim something, and whose number does not go on in words."""
        found = [one for one in judgements if one.verdict is not None]
        if self.asked:  # if a + b = 3: what does not hold always is no mistake
            found = [one for one in found if one.verdict is not Verdict.REFUTED or not named(one)]
        return [one for one in found if not self.goes_on(one, judgements)]

    def around(self, one: Judgement) -> Chain:
        """A link as a chain; an implication with the links on either hand."""
        if one.sign not in IMPLIES:
            return Chain((one.left, one.right), (one.sign,))
        place = [side.start for side in self.chain.sides].index(one.left.start)
        first, last = max(place - 1, 0), place + 3
        return Chain(self.chain.sides[first:last], self.chain.between[first : last - 1])

    def link(self, one: Judgement) -> Link:
        """The judgement on one of its links, which claims something."""
        sides = self.around(one).sides
        start, end = sides[0].start, sides[-1].end
        text = " ".join(self.text[start:end].split())
        verdict = str(one.verdict)
        spot = self.stretch(start, end)
        return Link(spot, text, one.sign, verdict, one.value, one.reason, one.rule)


def named(one: Judgement) -> bool:
    return bool(names_of(one.left, one.right))


@dataclass
class Reader:
    """Reads one document: its chains with what holds where they stand."""

    document: Document
    macros: dict[str, Macro]
    context: Context
    chains: list[Placed] = field(default_factory=list)
    numbers: set[str] = field(default_factory=set)  # names that had a number as their value
    problems: list[Note] = field(default_factory=list)
    unread: list[Note] = field(default_factory=list)
    ignored: list[Note] = field(default_factory=list)
    bare: list[tuple[Node, Spot]] = field(default_factory=list)  # formulas without a relation
    declared: list[tuple[str, Spot]] = field(default_factory=list)  # lines of declarations
    display: tuple[int, Node] | None = None  # where the display before ends, and with what
    excused: int = 0  # spans that are to be ignored
    clock: Clock = field(default_factory=Clock)
    left: int = 0  # formulas that are still to be read, in what follows it, too
    stopped: bool = False

    def read(self) -> None:
        """Everything but the verdicts."""
        document = self.document
        excused = ignoring(document)
        for problem in (*document.problems, *excused.problems):
            self.note(problem.message, problem.start, problem.start + 1)
        for remark in excused.unused:
            self.note("ignores nothing", remark.start, remark.end)
        self.excused = len(excused.spans)
        self.left -= self.excused
        remarks = (remark for remark in document.remarks if not ignores(remark))
        for remark, covered in excused.covered:
            self.ignored += [Note(self.spot(s.start, s.end), remark.text) for s in covered]
        spans = (span for span in document.spans if span not in excused.spans)
        parts: list[Span | Remark] = [*spans, *remarks]
        for part in sorted(parts, key=lambda part: part.start):
            if self.clock.over():
                told = f"reading {LATE}: {self.left} formulas from here on are not read"
                self.note(told, part.start, part.end)
                self.stopped = True
                break
            if isinstance(part, Span):
                self.span(part)
                self.left -= 1
            else:
                self.remark(part)
        if not any(is_density_defined(one.chain) for one in self.chains):
            self.chains = [replace(one, chain=with_densities(one.chain)) for one in self.chains]
        if any(has_decimal_comma(one.chain, one.text) for one in self.chains):
            self.chains = [
                replace(one, chain=with_decimal_commas(one.chain, one.text)) for one in self.chains
            ]

    def findings(self) -> Findings:
        """What was found, without the links."""
        return Findings(
            problems=tuple(
                sorted(self.problems, key=lambda note: (note.spot.line, note.spot.column))
            ),
            unread=tuple(self.unread),
            spans=len(self.document.spans),
            ignored=self.excused,
        )

    def span(self, span: Span) -> None:
        def stretch(start: int, end: int) -> Spot:
            last = max(min(end, len(span.offsets) - 1) - 1, start)
            return self.spot(span.offsets[start], span.offsets[last] + 1)

        if span.kind is Kind.BLOCK:
            self.statements(span.text, stretch)
            return
        declared = {name for name, _ in (*self.context.values, *self.context.signs)}
        names = declared | self.numbers
        where = span.environment
        try:
            reading = read_formula(
                span.text, macros=self.macros, variables=names, environment=where
            )
        except NotRead as error:
            start = min(error.start, len(span.text))
            self.unread.append(Note(stretch(start, max(error.end, start + 1)), cured(error.reason)))
            for first, part in read_partly(
                span.text, macros=self.macros, variables=names, environment=where
            ):
                self.chained(span, part, first, stretch)
            return
        self.chained(span, reading, 0, stretch)
        self.bare += [(node, stretch(node.start, node.end)) for node in reading.expressions]

    def chained(self, span: Span, reading: Reading, first: int, stretch: Stretch) -> None:
        """The chains of a span, or of a part of it that begins at some place."""

        def shifted(start: int, end: int) -> Spot:
            return stretch(start + first, end + first)

        before = self.document.text[max(span.start - 12, 0) : span.start]
        condition = CONDITION.search(before) is not None
        asked = ASKED.search(before) is not None
        after = self.document.text[span.end : span.end + BEHIND]
        if self.document.path.lower().endswith(".tex"):
            after = COMMENT.split(after)[0]
        text = span.text[first:]
        for chain in self.continued(span, reading, text):
            unit = dropped(text, chain.sides[-1].end, after)
            read = Placed(chain, self.context, text, shifted, unit, condition, asked)
            self.chains.append(read)
            if (definition := defined(chain)) and literal_of(definition[1]) is not None:
                self.numbers.add(definition[0])

    def continued(self, span: Span, reading: Reading, text: str) -> Sequence[Chain]:
        """The chains of a span; a display that begins with = goes on with the one right before."""
        chains, before = reading.chains, self.display
        ends = [*(chain.sides[-1] for chain in chains), *reading.expressions]
        displayed = ends and span.kind in (Kind.DISPLAY, Kind.ENVIRONMENT)
        self.display = (span.end, max(ends, key=lambda node: node.end)) if displayed else None
        if not (displayed and before and chains and chains[0].dangling):
            return chains
        end, last = before
        if self.document.text[end : span.start].strip():
            return chains
        sign = len(text) - len(text.lstrip())
        first = replace(bare(last), start=sign, end=sign)
        whole = replace(chains[0], sides=(first, *chains[0].sides), dangling=False)
        return (whole, *chains[1:])

    def remark(self, remark: Remark) -> None:
        self.statements(remark.text, lambda start, end: self.spot(remark.start, remark.end))

    def statements(self, text: str, stretch: Stretch) -> None:
        """A block or a comment in the claim language; what it declares holds from here on."""
        found = read_statements(text, self.context)
        self.context = found.context
        self.declared += [
            (" ".join(text[start:end].split()), stretch(start, end))
            for start, end in found.declarations
        ]
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
        shown = LINE.match(self.document.text, first, first + SHOWN)
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
    warm_up()
    read, tasks = [], []
    for document in documents:
        spent = document[-1].seconds if document else 0.0
        clock = Clock(max(settings.reading - spent, AT_LEAST * settings.seconds))
        read.append(readers_of(document, settings, shared, clock))
        left = max(settings.seconds - spent - clock.spent, AT_LEAST * settings.seconds)
        tasks.append(replace(task_of(read[-1]), seconds=left))
    judged = judge(tasks, jobs, seconds)
    return [_findings(*one) for one in zip(read, judged, strict=True)]


def declared(configuration: Configuration) -> Context:
    """What the configuration declares. Raises ValueError where it is not understood."""
    text = configuration.context
    found = read_statements(text, Context(log_base=LOG_BASES[configuration.log_base]))
    for mistake in found.mistakes:
        line = text.count("\n", 0, mistake.start) + 1
        said = text.split("\n")[line - 1].strip()
        raise ValueError(f"context, line {line}: {mistake.message}: {said!r}")
    if found.claims:
        raise ValueError("context: it holds a claim, and not only declarations")
    return found.context


def macros_of(parts: Sequence[Document], configuration: Configuration) -> dict[str, Macro]:
    """The author's commands: those of the configuration, and the document's own."""
    configured = [rf"\newcommand{{\{k}}}{{{v}}}" for k, v in configuration.macros.items()]
    own = [macro for part in parts for macro in part.macros]
    return {**read_macros(configured), **document_macros(own)}


def readers_of(
    document: Sequence[Document],
    configuration: Configuration,
    context: Context,
    clock: Clock | None = None,
) -> list[Reader]:
    """The readers of a document's parts, each knowing what those before it say."""
    macros = macros_of(document, configuration)
    found: list[Reader] = []
    numbers: set[str] = set()
    clock = clock or Clock()
    left = sum(len(part.spans) for part in document)
    for part in document:
        found.append(Reader(part, macros, context, numbers=numbers, clock=clock, left=left))
        found[-1].read()
        if found[-1].stopped:
            break
        context, left = found[-1].context, left - len(part.spans)
    return found


def task_of(readers: Sequence[Reader], only: frozenset[int] | None = None) -> Task:
    """What is to be judged of a document: all its chains, or only some, counted from 0."""
    read = [one for reader in readers for one in reader.chains]
    chains, contexts = tuple(one.chain for one in read), tuple(one.context for one in read)
    conditions = frozenset(place for place, one in enumerate(read) if one.condition)
    return Task(chains, contexts, only, conditions=conditions)


def _findings(readers: Sequence[Reader], judged: Sequence[Sequence[Judgement]]) -> Findings:
    """The findings of a document from those of its parts and the judgements on their chains."""
    whole, rest = Findings(), iter(judged)
    for reader in readers:
        found = [(read, read.claims(one)) for read, one in zip(reader.chains, rest, strict=False)]
        links = tuple(read.link(one) for read, claims in found for one in claims)
        total = sum(len(read.chain.links) for read in reader.chains)
        part = replace(reader.findings(), links=links, no_claims=total - len(links))
        whole = whole.joined(part)
    return whole
