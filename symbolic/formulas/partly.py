r"""What can be read of a chain that holds a side that cannot: P(A \cap B) = 0.3 \cdot 0.4 = 0.12.

The sides on either hand of it are read on their own. What ties a chain together, such as an
implication, a modulus or a word of condition, leaves all of it unread.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.macros import Macro, Piece, expand, pieces
from varlaw.symbolic.formulas.reader import Reading, read_formula
from varlaw.symbolic.formulas.vocabulary import (
    CONDITIONS_IN_WORDS,
    QUADS,
    RELATIONS,
    ROWS,
    SPACES,
    UNICODE,
)

MOST_SIDES = 40
KEPT = frozenset({"=", "~=", "<", "<=", ">", ">=", "!=", ":="})
OPENERS = frozenset(
    {"(", "[", "{", r"\{", r"\lbrace", r"\lfloor", r"\lceil", r"\langle", r"\begin"}
)
CLOSERS = frozenset({")", "]", "}", r"\}", r"\rbrace", r"\rfloor", r"\rceil", r"\rangle", r"\end"})
BREAKS = frozenset({",", ";", r"\\", *QUADS})
ROW = re.compile(rf"\\(?:begin|end)\s*\{{(?:{'|'.join(sorted(ROWS))})\*?\}}")
WORD = re.compile(r"[A-Za-z]+")
TYING = CONDITIONS_IN_WORDS | {"mod", "pmod", "bmod", "forall", "exists", "stackrel", "overset"}
BOUND = re.compile(r"\?|\\not\b|∀|∃")


@dataclass(slots=True)
class _Line:
    """The places of a chain's sides, and the signs between them."""

    sides: list[list[int]] = field(default_factory=list)
    signs: list[str] = field(default_factory=list)


def read_partly(
    text: str,
    *,
    macros: Mapping[str, Macro] | None = None,
    variables: Collection[str] = (),
    environment: str = "",
) -> list[tuple[int, Reading]]:
    """Each run of sides that can be read, with the place where it begins; all of two at least."""
    if BOUND.search(text) or TYING.intersection(WORD.findall(text)):
        return []

    def read(start: int, end: int) -> Reading | None:
        try:
            return read_formula(
                text[start:end], macros=macros, variables=variables, environment=environment
            )
        except NotRead:
            return None

    try:
        source = expand(pieces(text), macros or {})
    except NotRead:
        return []
    lines = _lines(_without_rows(text, source))
    if any(not set(line.signs) <= KEPT or not line.signs for line in lines):
        return []
    found = []
    for line in lines:
        if len(line.sides) > MOST_SIDES:
            continue
        readable = [_is_side(read(*side)) for side in line.sides]
        for good, run in groupby(range(len(readable)), key=readable.__getitem__):
            places = list(run)
            start, end = line.sides[places[0]][0], line.sides[places[-1]][1]
            reading = read(start, end) if good and len(places) > 1 else None
            if reading is not None and [len(c.sides) for c in reading.chains] == [len(places)]:
                found.append((start, reading))
    return found


def _is_side(reading: Reading | None) -> bool:
    return reading is not None and not reading.chains and len(reading.expressions) == 1


def _without_rows(text: str, source: list[Piece]) -> list[Piece]:
    """The pieces without the beginnings and ends of environments that only arrange rows."""
    arranging = [match.span() for match in ROW.finditer(text)]
    return [p for p in source if not any(start <= p.start < end for start, end in arranging)]


def _lines(source: list[Piece]) -> list[_Line]:
    """The chains between commas, gaps and rows; rows and gaps beside a relation break nothing."""
    lines, depth, broken = [_Line()], 0, False
    for place, piece in enumerate(source):
        text = UNICODE.get(piece.text, piece.text)
        depth += (text in OPENERS) - (text in CLOSERS)
        line = lines[-1]
        if depth == 0 and text in RELATIONS:
            if len(line.signs) < len(line.sides):
                line.signs.append(RELATIONS[text])
            elif line.signs:  # a sign of several pieces, such as <=
                line.signs[-1] = RELATIONS.get(
                    "".join(p.text for p in source[place - 1 : place + 1]), ""
                )
            else:
                line.signs.append("")
            broken = False
        elif depth == 0 and text in BREAKS and not _inside_number(source, place):
            broken = True
        elif not piece.is_space and text not in SPACES:
            if broken and len(line.signs) < len(line.sides):
                lines.append(_Line())
                line = lines[-1]
            broken = False
            if len(line.sides) <= len(line.signs):
                line.sides.append([piece.start, piece.end])
            line.sides[-1][1] = piece.end
    return lines


def _inside_number(source: list[Piece], place: int) -> bool:
    around = source[max(place - 1, 0) : place + 2]
    return (
        source[place].text == ","
        and len(around) == 3
        and all(piece.text.isdecimal() for piece in (around[0], around[2]))
    )
