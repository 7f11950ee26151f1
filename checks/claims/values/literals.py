r"""Decimals as they are written, and whether a number rounds to them.

A decimal speaks by its digits: 0.0361 is a rounding, to half a unit of the last digit, and
1.6732\dots the beginning of the number. Within one unit but neither is `loose`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ulp

from flint import arb, fmpz

from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Head, Node

MOST_DIGITS = 400
MOST_POWER = 10_000
DOUBLE_DIGITS = 17
CLEAR_DIGITS = 4  # before a last zero that need not be a digit
WRITTEN = 1000  # a literal of a larger power than that is no fraction
ROOT_OF_TEN = tuple(Fraction(31622776601683793319 + k, 10**19) for k in (0, 1))  # around it
Side = Callable[[Fraction], int | None]  # the sign of the number less a fraction, if known


@dataclass(frozen=True)
class Literal:
    """figure * 10^place as written; `begun`: dots follow; `whole`: without a decimal point.

    `order` marks a bare power of ten, which on an approximation stands for an order of magnitude.
    """

    figure: int
    place: int
    negative: bool = False
    begun: bool = False
    whole: bool = False
    order: bool = False

    @property
    def short(self) -> bool:
        """Whether the value fits into a fraction."""
        return abs(self.place) <= WRITTEN

    @property
    def value(self) -> Fraction:
        size = self.figure * self.unit
        return -size if self.negative else size

    @property
    def unit(self) -> Fraction:
        """One unit of the last digit."""
        return Fraction(10) ** self.place

    @property
    def digits(self) -> int:
        return len(str(self.figure))

    def ball(self) -> arb:
        """The number; with dots, all numbers that begin so."""
        size, unit = arb(fmpz(self.figure)), arb(10) ** self.place
        size = size * unit + (unit * arb(0.5, 0.5) if self.begun else 0)
        return -size if self.negative else size

    def over(self, power: int) -> "Literal":
        return Literal(self.figure, self.place - power, self.negative, self.begun, self.whole)


def literal_of(node: Node) -> Literal | None:
    r"""The literal that a node is: a decimal with its sign, percent, 3\times10^{-4}, 10^{-6}."""
    match node.head:
        case Head.NUMBER | Head.DIGITS:
            return _decimal(node.text, node.head is Head.DIGITS)
        case Head.NEGATIVE:
            inner = literal_of(node.parts[0])
            if inner is None or inner.negative:
                return None
            sign = Literal(inner.figure, inner.place, True, inner.begun, inner.whole, inner.order)
            return sign
        case Head.PERCENT:
            inner = literal_of(node.parts[0])
            return None if inner is None else inner.over(2)
        case Head.POWER:
            power = _power_of_ten(node)
            return None if power is None else Literal(1, power, whole=True, order=True)
        case Head.MULTIPLY if len(node.parts) == 2:
            front, power = literal_of(node.parts[0]), _power_of_ten(node.parts[1])
            if front is None or power is None or node.parts[0].head is Head.POWER:
                return None
            return Literal(front.figure, front.place + power, front.negative, front.begun)
    return None


def _decimal(text: str, begun: bool) -> Literal | None:
    mantissa, _, exponent = text.lower().partition("e")
    front, point, back = mantissa.partition(".")
    digits = front + back
    if not digits.isascii() or not digits.isdigit() or len(digits) > MOST_DIGITS:
        return None
    power = 0
    if exponent:
        if not exponent.lstrip("+-").isdigit() or len(exponent) > 6:
            return None
        power = int(exponent)
    if abs(power) > MOST_POWER:
        return None
    return Literal(int(digits), power - len(back), begun=begun, whole=not point and not exponent)


def _power_of_ten(node: Node) -> int | None:
    if node.head is not Head.POWER or node.parts[0].text != "10":
        return None
    exponent = literal_of(node.parts[1])
    if exponent is None or exponent.place or exponent.begun or exponent.figure > MOST_POWER:
        return None
    return -exponent.figure if exponent.negative else exponent.figure


def fraction_side(value: Fraction) -> Side:
    return lambda other: (value > other) - (value < other)


def ball_side(value: arb) -> Side:
    def side(other: Fraction) -> int | None:
        gap = value * fmpz(other.denominator) - fmpz(other.numerator)
        return 1 if gap > 0 else -1 if gap < 0 else 0 if gap.is_zero() else None

    return side


def judged(side: Side, literal: Literal, sign: str) -> tuple[Verdict, str] | None:
    """The verdict on a number against a literal, and how it was found; None if it is too close."""
    if literal.order and sign == "~=":
        return _magnitude(side, literal)
    if literal.order and sign == "=":
        return _exact(side, literal)
    value, unit = literal.value, literal.unit
    if literal.begun:
        away = -unit if literal.negative else unit
        fits = _between(side, min(value, value + away), max(value, value + away), literal.negative)
        how = "the digits begin so"
    else:
        fits = _between(side, value - unit / 2, value + unit / 2)
        how = "rounds so"
    if fits is None:
        return None
    if fits:
        exact = side(value) == 0
        if literal.whole and sign == "=" and not exact:
            if side(value) is None:
                return None
            return _whole(literal)
        if literal.figure == 0 and not literal.begun and not exact:
            return None if side(value) is None else _zero(literal)
        halfway = 0 in (side(value - unit / 2), side(value + unit / 2))
        if sign == "=" and literal.digits == 1 and halfway and not literal.begun:
            return Verdict.LOOSE, "halfway to the next digit"
        return Verdict.VERIFIED, "exactly" if exact and not literal.begun else how
    if literal.whole and sign == "=" and literal.digits < 2 and side(value):
        return _whole(literal)
    near = _between(side, value - unit, value + unit)
    if near is None:
        return None
    if near and not literal.begun and 0 in (side(value - unit), side(value + unit)):
        near = False  # off by a whole unit
    if near and not _far(side, value):
        return Verdict.LOOSE, "within one unit of the last digit, but not as written"
    if literal.digits == DOUBLE_DIGITS and _nearest_double(side, literal):
        return Verdict.LOOSE, "the nearest number in double precision, printed to all its digits"
    if literal.whole and sign != "=":
        return _coarse(side, literal)
    return Verdict.REFUTED, "further off than the last digit"


def _nearest_double(side: Side, literal: Literal) -> bool:
    """Whether the literal is the double nearest to the number, printed to 17 digits."""
    if not literal.short:
        return False
    value = float(literal.value)
    digits = f"{abs(value):.16e}".partition("e")[0].replace(".", "")
    if digits != str(literal.figure):
        return False
    half = Fraction(ulp(value)) / 2
    return bool(_between(side, Fraction(value) - half, Fraction(value) + half))


def _zero(literal: Literal) -> tuple[Verdict, str]:
    """A zero for a small number that is not zero."""
    if literal.whole:
        return Verdict.UNDECIDED, "how close to zero is not said"
    return Verdict.LOOSE, "rounds so, but no digit of the number is left"


def _whole(literal: Literal) -> tuple[Verdict, str]:
    if literal.digits >= 2:
        return Verdict.LOOSE, "a whole number after = is exact, and this is a rounding"
    return Verdict.REFUTED, "a whole number after = is exact"


def _exact(side: Side, literal: Literal) -> tuple[Verdict, str] | None:
    found = side(literal.value)
    if found is None:
        return None
    return (Verdict.REFUTED, "not equal") if found else (Verdict.VERIFIED, "exactly")


def _coarse(side: Side, literal: Literal) -> tuple[Verdict, str] | None:
    """An approximation by a whole number that ends in zeros, which may be less than digits."""
    figure = str(literal.figure)
    zeros = len(figure) - len(figure.rstrip("0")) if literal.figure else 0
    if zeros > 1 or (zeros and len(figure) > CLEAR_DIGITS):
        half = literal.unit * 10**zeros / 2
        fits = _between(side, literal.value - half, literal.value + half)
        if fits is None:
            return None
        if fits:
            return Verdict.LOOSE, "right only without the zeros at the end"
    return Verdict.REFUTED, "further off than the last digit"


def _magnitude(side: Side, literal: Literal) -> tuple[Verdict, str] | None:
    r"""\approx 10^k: the number is between 10^(k - 1/2) and 10^(k + 1/2)."""
    if literal.negative:
        return Verdict.UNDECIDED, "an order of magnitude with a sign"
    inner, outer = ROOT_OF_TEN
    if _between(side, literal.value / inner, literal.value * inner):
        return Verdict.VERIFIED, "right as an order of magnitude"
    if _between(side, literal.value / outer, literal.value * outer) is False:
        return Verdict.REFUTED, "another order of magnitude"
    return None


def _between(side: Side, low: Fraction, high: Fraction, upper: bool | None = None) -> bool | None:
    """low <= x <= high; with `upper`, one end does not count: the lower one if `upper` is true."""
    below, above = side(low), side(high)
    if below is None or above is None:
        settled = (below is not None and below < 0) or (above is not None and above > 0)
        return False if settled else None
    if upper is None:
        return below >= 0 and above <= 0
    return (below > 0 and above <= 0) if upper else (below >= 0 and above < 0)


def _far(side: Side, value: Fraction) -> bool:
    """Whether the literal is off by more than half of the number, x: v > 3x/2 or v < x/2."""
    if value == 0:
        return True
    near, far = value * 2 / 3, value * 2
    low, high = min(near, far), max(near, far)
    return not _between(side, low, high)
