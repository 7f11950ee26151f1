"""Commas and points in numbers, which set decimals or thousands apart: 1{,}356 and 1.356."""

import re
from dataclasses import replace

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.links.questions import answered
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Chain, Head, Node

THOUSANDS = re.compile(r"[1-9]\d{0,2}\.\d{3}")
COMMAS = (1, 3)  # characters that 1,356 and 1{,}356 have beyond their digits


def has_decimal_comma(chain: Chain, text: str) -> bool:
    """Whether a number such as 0{,}05 or 3{,}14 stands in a chain, whose text this is."""
    numbers = (n for side in chain.sides for n in side.walk() if n.head is Head.NUMBER)
    return any("." in n.text and "," in text[n.start : n.end] for n in numbers)


def with_decimal_commas(chain: Chain, text: str) -> Chain:
    """The chain with 1{,}356 as 1.356."""
    return replace(chain, sides=tuple(_as_decimal(side, text) for side in chain.sides))


def otherwise_right(left: Node, sign: str, right: Node, context: Context) -> str:
    """Why a link that is false may be meant otherwise: its commas or points; empty if it may not.

    Either 1,356 is 1.356, or 1.356 is 1356.
    """
    for other, told in (
        (_as_decimal, "the comma sets thousands apart here; as a decimal comma it would be right"),
        (_as_thousands, "it would be right with the thousands set apart like this"),
    ):
        a, b = other(left), other(right)
        if (a, b) == (left, right):
            continue
        found = answered(a, sign, b, context, True)
        if found is not None and found.verdict is Verdict.VERIFIED:
            return told
    return ""


def _as_decimal(side: Node, source: str | None = None) -> Node:
    r"""1,356 or 1{,}356, but not 1\,356, as 1.356; with the `source` commas alone count."""
    if side.parts:
        return replace(side, parts=tuple(_as_decimal(part, source) for part in side.parts))
    text = side.text
    if side.head is not Head.NUMBER or not text.isdecimal() or not 4 <= len(text) <= 6:
        return side
    if side.end - side.start - len(text) not in COMMAS:
        return side
    if source is not None and "," not in source[side.start : side.end]:
        return side
    return replace(side, text=f"{text[:-3]}.{text[-3:]}")


def _as_thousands(side: Node) -> Node:
    """1.356, or 1{,}356 where it is a decimal, as 1356; anything else as it is."""
    if side.parts:
        return replace(side, parts=tuple(map(_as_thousands, side.parts)))
    if side.head is not Head.NUMBER or not THOUSANDS.fullmatch(side.text):
        return side
    return replace(side, text=side.text.replace(".", ""))
