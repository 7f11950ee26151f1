"""How what stands at a place of a document was read, with what it was judged, and why so."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from varlaw.checks.claims.checking import Placed, declared, readers_of, task_of
from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.declarations.definitions import Definitions
from varlaw.checks.claims.equations.identities import positive_by_custom
from varlaw.checks.claims.findings import Note, Spot
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.claims.values.functions import CONSTANTS
from varlaw.checks.claims.workers import judge
from varlaw.checks.documents.configuration import Configuration
from varlaw.checks.documents.span import Document
from varlaw.symbolic.formulas import Node, plain, show
from varlaw.symbolic.formulas.names import free_names
from varlaw.symbolic.formulas.tree import Head

GOES_ON = "its last number goes on in what follows, a unit or a multiplier"
MOST_SHOWN = 3  # definitions of one name
NAME = re.compile(r"(?:such as )?(\w{1,9}) (?:~ N\(0, 1\)|is not declared)")  # of a reason
COMMENTS = {".tex": "% varlaw: {}", ".varlaw": "{}"}  # by the suffix of the document
HINTS = (  # a part of a reason, what would make the link decidable, and how that is declared
    ("nothing random is declared", "say what is random", "z ~ N(0, 1)"),
    ("is not declared", "declare it, as random or as a number (z > 0)", "z ~ N(0, 1)"),
    (": not declared", "declare these, as numbers or with their values", "x > 0"),
    ("a definition or an assumption", "say what the name stands for", "name = formula"),
    ("a condition on its names", "give the names values, or say their signs", "x > 0"),
    ("another value of a name", "say what the name stands for", "name = formula"),
    ("an arrow", "claim it", "claim f(n) -> L as n -> oo"),
    ("asymptotic relation", "declare it, as random or by its growth", "claim f ~ g as n -> oo"),
    ("say which are positive", "say so", "x > 0"),
    ("depends on moments that are not declared", "declare them", "x[i] ~ iid(m4 = k)"),
    ("whose range is not declared", "say it", "i = 1..n"),
)


@dataclass(frozen=True)
class Explanation:
    """What is known of a stretch; `facts` are lines with their titles."""

    spot: Spot
    title: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Spotted:
    """A place that is asked about: a line, perhaps of a notebook's cell, perhaps a column."""

    line: int
    column: int | None = None
    cell: int | None = None

    def inside(self, spot: Spot) -> bool:
        """Whether the place is in a stretch."""
        if spot.cell != self.cell or not spot.line <= self.line <= spot.end_line:
            return False
        if self.column is None:
            return True
        here = (self.line, self.column)
        return (spot.line, spot.column) <= here < (spot.end_line, spot.end_column)


def explain(
    parts: Sequence[Document], configuration: Configuration, at: Spotted
) -> tuple[list[Explanation], list[int]]:
    """What stands at a place of a document, in order, and all lines on which something stands.

    Of a notebook both are of the cell that is asked about, which must be there.

    Raises ValueError for a configured declaration that is not understood.
    """
    readers = readers_of(parts, configuration, declared(configuration))
    (reader,) = (one for one in readers if one.document.cell == at.cell)
    chains = [one for each in readers for one in each.chains]
    wanted = frozenset(k for k, one in enumerate(chains) if at.inside(_spot(one)))
    (judged,) = judge([task_of(readers, wanted)])
    definitions = task_of(readers).definitions()
    comment = COMMENTS.get(PurePath(reader.document.path).suffix.lower(), "<!-- varlaw: {} -->")
    found = [
        explanation
        for place in sorted(wanted)
        for explanation in _links(chains[place], judged[place], definitions.at(place), at, comment)
    ]
    findings = reader.findings()
    for title, notes in (
        ("not read", findings.unread),
        ("problem", findings.problems),
        ("ignored", reader.ignored),
    ):
        found += [_note(title, note) for note in notes if at.inside(note.spot)]
    found += [
        Explanation(spot, "declaration", text) for text, spot in reader.declared if at.inside(spot)
    ]
    found += [
        Explanation(spot, "no claim", "", (("read as", show(node)), ("why", "it has no relation")))
        for node, spot in reader.bare
        if at.inside(spot)
    ]
    notes = (*findings.unread, *findings.problems, *reader.ignored)
    spots = [*map(_spot, reader.chains), *(note.spot for note in notes)]
    spots += [spot for _, spot in (*reader.bare, *reader.declared)]
    found.sort(key=lambda one: (one.spot.line, one.spot.column))
    return found, sorted({spot.line for spot in spots})


def _spot(one: Placed) -> Spot:
    return one.stretch(one.chain.sides[0].start, one.chain.sides[-1].end)


def _note(title: str, note: Note) -> Explanation:
    return Explanation(note.spot, title, "", (("why", note.message),))


def _links(
    one: Placed, judged: list[Judgement], known: Definitions, at: Spotted, comment: str
) -> Iterator[Explanation]:
    for judgement in judged:
        link = one.link(judgement)
        if at.inside(link.spot):
            if one.goes_on(judgement, judged):
                judgement = replace(judgement, verdict=None, rule="", reason=GOES_ON)
            title = str(judgement.verdict or "no claim")
            facts = tuple(_facts(judgement, one, known, comment))
            yield Explanation(link.spot, title, link.text, facts)


def _facts(
    one: Judgement, at: Placed, known: Definitions, comment: str
) -> Iterator[tuple[str, str]]:
    """How it was read, what was known, how it was judged, and what would help."""
    read, context = at.around(one), at.context
    first, *others = map(show, read.sides)
    told = zip(read.between, others, strict=True)
    yield "read as", " ".join([first, *(f"{sign} {side}" for sign, side in told)])
    names = sorted(_names(context, one.left, one.right))
    yield from (("declared", told) for name in names for told in _declarations(name, context))
    for name in names:
        for value in known.of(name)[:MOST_SHOWN]:
            yield "defined", f"{name} = {show(value)}"
    if taken := _taken([name for name in names if not known.of(name)], context):
        yield "taken as", taken
    if one.value:
        yield "value", one.value
    if one.rule:
        yield "judged by", one.rule
    if one.reason:
        yield "why", one.reason
    if hint := _hint(one.reason, comment):
        yield "to decide it", hint


def _hint(reason: str, comment: str) -> str:
    """What would make a link decidable, with the comment to write; empty if nothing is known."""
    named = NAME.search(reason)
    for part, told, example in HINTS:
        if part in reason:
            name = named[1] if named else "z"
            return re.sub(r"\bz\b", name, f"{told}: {comment.format(example)}")
    return ""


def _names(context: Context, *sides: Node) -> set[str]:
    """The names in some formulas; of declared arrays, those without indices."""
    free = set().union(*map(free_names, sides))
    return {
        node.text if context.variable(node.text) or context.family(node.text) else plain(node)
        for side in sides
        for node in side.walk()
        if node.head is Head.NAME and plain(node) in free
    }


def _declarations(name: str, context: Context) -> Iterator[str]:
    if (variable := context.variable(name)) is not None:
        yield f"{_indexed(name, variable.indices)} ~ {show(variable.law)}"
    if (family := context.family(name)) is not None:
        yield f"{_indexed(name, family.indices)} = {show(family.value)}"
    if (value := context.value(name)) is not None:
        yield f"{name} = {show(value)}"
    if (extreme := context.extreme(name)) is not None:
        yield f"{name} {'minimises' if extreme[0] > 0 else 'maximises'} {show(extreme[1])}"


def _indexed(name: str, indices: tuple[str, ...]) -> str:
    return f"{name}[{', '.join(indices)}]" if indices else name


def _taken(names: list[str], context: Context) -> str:
    """What is assumed of the names that nothing is declared of but their signs."""
    signs = dict(context.signs)
    told = []
    for name in names:
        if name in CONSTANTS or any(_declarations(name, context)):
            continue
        above = signs.get(name, positive_by_custom(name))
        how = "declared" if name in signs else "by custom" if above else "as nothing is declared"
        told.append(f"{name} {'positive' if above else 'real'} ({how})")
    return ", ".join(told)
