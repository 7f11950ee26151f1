"""Gains on the command line: `varlaw gain`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from time import perf_counter
from typing import Any

import click
from sympy import oo

from varlaw.symbolic.gains.gain import Gain, Gains, Value, named, of_expression
from varlaw.symbolic.gains.gain import gain as gain_of
from varlaw.symbolic.gains.published import Comparison, compared, published_for
from varlaw.symbolic.gains.shown import LONG, closed_form, number
from varlaw.symbolic.gains.shown import latex as one_latex
from varlaw.symbolic.gains.stability import Settled, kept, settled
from varlaw.symbolic.language_text import typed
from varlaw.table import Cell, Table

WIDTH = 80
INDENT = "  "
CUT = 18  # characters of a literal that are shown
SHORT = 6  # digits of what stands beside the numbers asked for


@dataclass(frozen=True)
class Answer:
    """The gains of an activation, their fixed points, and what is published of it."""

    gains: Gains
    settled: Sequence[Settled]
    compared: Sequence[Comparison]
    seconds: float


def answer(
    name: str | None, expression: str | None, mean: str, variance: str, digits: int
) -> Answer:
    """The answer for a name, or what stands in its place, or an expression; or a usage error."""
    start = perf_counter()
    try:
        if name is None:
            found = of_expression(str(expression), mean, variance)
        else:
            found = gain_of(name, mean=mean, variance=variance)
        for gain in found.gains:
            gain.digits(digits)  # what cannot be proved is said at once
        points = settled(found, digits)
        standard = found.mean == 0 and found.variance == 1
        entries = published_for(found.function, found.variable) if standard else ()
        judged = tuple(compared(entry, found) for entry in entries)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    return Answer(found, points, judged, perf_counter() - start)


def everything(mean: str, variance: str, digits: int) -> list[Answer]:
    """The answers for the table of activations, with the fixed point that the gain keeps."""
    from varlaw.symbolic.activations import ACTIVATIONS

    found = []
    for name, kind in ACTIVATIONS.items():
        if len(kind.parameters) > len(kind.defaults):
            continue  # no function by its name alone
        start = perf_counter()
        try:
            gains = named(name, mean, variance)
            points = (kept(gains),) if gains.mean == 0 and not gains.variance.free_symbols else ()
        except ValueError as error:
            raise click.UsageError(f"{name}: {error}") from error
        found.append(Answer(gains, points, (), perf_counter() - start))
    return found


def text(answer: Answer, digits: int, width: int | None) -> str:
    """The gains, then where variances settle, then what is published."""
    gains = answer.gains
    lines = [gains.law]
    for gain in gains.gains:
        lines += ["", *_gain_lines(gain, digits, answer.compared)]
    if answer.settled:
        x = typed(gains.variable)
        lines += [
            "",
            f"layer map v -> g^2 E[f({x})^2] with {x} ~ N(0, v), at a gain g of the weights",
        ]
        lines += [INDENT + line for line in _settled(answer.settled, digits).text().split("\n")]
    if answer.compared:
        lines += ["", "published, with the digits that are right"]
        lines.append(_published(answer.compared, gains.name).text(max(width or WIDTH, WIDTH)))
    return "\n".join(lines)


def _gain_lines(gain: Gain, digits: int, published: Sequence[Comparison]) -> list[str]:
    """A gain: what it keeps, its closed form, its digits, and who uses it."""
    kind, _, where = gain.kind.partition(", ")
    title = f"{kind} gain {gain.definition} {where}".strip()
    lines = wrap(f"{title}, keeps the {gain.keeps}", WIDTH)
    exact = closed_form(gain)
    if exact and len(exact) < LONG:
        lines += wrap(f"= {exact}", WIDTH, initial_indent=INDENT, subsequent_indent=INDENT * 2)
    elif exact:
        lines.append(f"{INDENT}= a closed form of {len(exact)} characters, see --json")
    if shown := number(gain, digits):
        lines.append(f"{INDENT}= {shown}")
    if gain.note:
        lines += wrap(gain.note, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT * 2)
    if users := _users(gain, published):
        lines.append(f"{INDENT}used by {', '.join(users)}")
    return lines


def _users(gain: Gain, published: Sequence[Comparison]) -> list[str]:
    """The libraries whose constants claim to be this gain."""
    entries = (found.published for found in published)
    users = [e.publisher for e in entries if e.claims == gain.definition and not e.measured]
    return list(dict.fromkeys(users))


def _settled(points: Sequence[Settled], digits: int) -> Table:
    rows = []
    for point in points:
        variance = "every v" if point.every else _shown(point.variance, digits)
        cells = (
            _shown(point.gain, SHORT),
            point.whose,
            variance,
            _shown(point.slope, SHORT) or "infinite",
            point.stability,
            "" if point.every else _shown(point.root, SHORT),
        )
        rows.append(tuple(map(Cell, cells)))
    return Table(("g", "from", "fixed point v", "slope", "", "rms of f"), rows)


def _published(compared: Sequence[Comparison], name: str) -> Table:
    rows = []
    for found in compared:
        entry = found.published
        literal = entry.literal
        if len(literal) > CUT:
            literal = literal[: CUT - 3] + "..."
        off = f"{found.difference:+.1e}" if found.difference else ""
        other = "" if entry.name == name or entry.name.startswith("E[") else entry.name
        note = ": ".join(filter(None, (other, entry.note)))
        cells = (entry.publisher, literal, entry.claims, found.verdict, off, note)
        rows.append(tuple(map(Cell, cells)))
    titles = ("library", "literal", "claims to be", "right", "off by", "note")
    return Table(titles, rows, movable=("note",))


def all_text(answers: Sequence[Answer], digits: int) -> str:
    """A line for each activation."""
    rows = []
    for found in answers:
        by_kind = {gain.kind: gain for gain in reversed(found.gains.gains)}
        cells = [
            number(by_kind[kind], digits) for kind in ("second-moment", "variance", "backward")
        ]
        slope = [f"{_shown(p.slope, 4)} {p.stability}" for p in found.settled] or [""]
        rows.append(tuple(map(Cell, (found.gains.name, *cells, *slope))))
    return Table(("", "second-moment", "variance", "backward", "slope"), rows).text()


def latex(answer: Answer, digits: int) -> str:
    """The gains as aligned formulas."""
    return one_latex(answer.gains, digits)


def record(answers: Sequence[Answer], digits: int) -> Mapping[str, Any]:
    """The contract of `varlaw gain --json`."""
    return {
        "schema": "varlaw.gain",
        "version": 1,
        "activations": [_record(answer, digits) for answer in answers],
    }


def _record(answer: Answer, digits: int) -> Mapping[str, Any]:
    gains = answer.gains
    return {
        "name": gains.name,
        "expression": typed(gains.function),
        "mean": typed(gains.mean),
        "variance": typed(gains.variance),
        "gains": [
            {
                "kind": gain.kind,
                "definition": gain.definition,
                "keeps": gain.keeps,
                **_number(gain.value, digits),
                "used_by": _users(gain, answer.compared),
                "note": gain.note,
            }
            for gain in gains.gains
        ],
        "fixed_points": [
            {
                "from": point.whose,
                "gain": _number(point.gain, digits),
                "every": point.every,
                "variance": _number(point.variance, digits),
                "slope": _number(point.slope, digits),
                "stability": point.stability,
                "root_second_moment": _number(point.root, digits),
            }
            for point in answer.settled
        ],
        "published": [
            {
                "library": found.published.publisher,
                "name": found.published.name,
                "literal": found.published.literal,
                "claims": found.published.claims or None,
                "value": found.value,
                "exact": found.exact,
                "right_digits": found.right,
                "printed_digits": found.published.figures,
                "difference": found.difference,
                "units": found.units,
                "agrees": list(found.agrees),
                "source": found.published.source,
                "note": found.published.note,
            }
            for found in answer.compared
        ],
        "seconds": round(answer.seconds, 6),
    }


def _number(value: Value, digits: int) -> Mapping[str, str | None]:
    found = value.digits(digits)
    return {
        "exact": None if value.exact in (None, oo) else typed(value.exact),
        "digits": "" if found is None else found.digits,
        "radius": "" if found is None else found.radius,
    }


def _shown(value: Value, digits: int) -> str:
    if value.exact is not None and value.exact.is_Integer:
        return typed(value.exact)
    found = value.digits(digits)
    return "" if found is None else found.digits
