"""Units and multipliers behind the last number of a formula, which change what it says.

Of a number before a unit (2.1 GB) only what is true anyway counts; before a multiplier (67 %,
7.08 million), which the formula leaves to the words around it, nothing does.
"""

import re

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.links.questions import answered
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Head, Node

_WORDS = r"thousand|million|billion|trillion|percent"
_PREFIXED = r"[kKMGTPE]i?(?:[Bb](?:ytes?|its?)?|FLOPs?|FLOPS|FLOP/s|W|Hz)"
_UNITS = (
    rf"{_PREFIXED}|B|bytes?|bits?|bans?|nats?|dB|(?:kilo|mega|giga|tera|peta)(?:bytes?|flops?)|"
    "[mnµμ]s|s|secs?|seconds?|h|hrs?|hours?|mins?|minutes?|days?|weeks?|months?|years?"
)
_MULTIPLIER = re.compile(rf"[ ~]?\\?%|[kKMGT](?![A-Za-z])|[ ~-](?:{_WORDS})\b")
_UNIT = re.compile(rf"(?:{_PREFIXED}|B)(?![A-Za-z])|[ ~](?:{_UNITS})(?![A-Za-z])")
_INSIDE = re.compile(
    r"[\s}]*(?:\\[,;:!> ]|~|\\q?quad)*\s*\\(?:text(?:rm|normal|sf|tt)?|mbox|mathrm)\s*\{[\s~]*"
    rf"(?:((?:{_WORDS}|[kKMGT]|\\?%)(?![A-Za-z]))|(?:{_UNITS})(?![A-Za-z]))"
)
_SCALES = tuple("1" + "000" * count for count in range(1, 5))  # between units
_FALSE = frozenset({Verdict.REFUTED})
_ANY = frozenset(Verdict)


def dropped(formula: str, end: int, after: str) -> frozenset[Verdict]:
    """Which verdicts do not count for a chain that ends here, by what follows it.

    `formula` is the text of the formula, `after` a piece of the document behind it.
    """
    if inside := _INSIDE.match(formula, end):
        return _ANY if inside[1] else _FALSE
    if formula[end:].strip(" .,;}"):
        return frozenset()
    if _MULTIPLIER.match(after):
        return _ANY
    return _FALSE if _UNIT.match(after) else frozenset()


def other_unit(left: Node, sign: str, right: Node, context: Context) -> bool:
    """Whether a link would be right up to a power of 1000, as between ns and s."""
    if literal_of(left) is not None:
        left, right = right, left
    for scale in _SCALES:
        thousands = Node(Head.NUMBER, (), scale)
        for head in (Head.MULTIPLY, Head.DIVIDE):
            found = answered(Node(head, (left, thousands)), sign, right, context, True)
            if found is not None and found.verdict in (Verdict.VERIFIED, Verdict.LOOSE):
                return True
    return False
