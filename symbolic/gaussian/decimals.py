"""Proved digits: what a ball determines of a number, as a decimal literal."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

from flint import arb, ctx, fmpz
from sympy import Expr

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball

ROUNDS = 6
MOST_ZEROS = 1000  # written out in front of the digits
MOST_POWER = 200  # bits of an exponent
MOST_BITS = 100_000  # in front of or behind the point
MOST_DIGITS = 30_000  # that so many bits hold
_TINY = Fraction(1, 1 << MOST_BITS)
GUARD = 16  # bits beyond the digits, so that the rounding is determined at the first try


@dataclass(frozen=True)
class Enclosed:
    """A number known to lie in the ball `value`.

    `digits` is the number correctly rounded to the digits shown; the number differs from that
    literal by at most `radius`. A number that may be zero is shown as "0".
    """

    value: arb
    digits: str
    radius: str
    method: str = "ball arithmetic"

    @property
    def text(self) -> str:
        """The digits, or how near to 0 a number is that may be 0 or not."""
        return f"within {self.radius} of 0" if self._open else self.digits

    @property
    def line(self) -> str:
        """The digits with their error, as the right side of a line."""
        if self._open:
            return f"within {self.radius} of 0 (not proved to be 0)"
        return f"= {self.digits}" + (f" +- {self.radius}" if self.radius != "0" else "")

    @property
    def latex(self) -> str:
        figure, _, power = self.radius.partition("e")
        return rf"0 \pm {figure} \cdot 10^{{{power}}}" if self._open else self.digits

    @property
    def _open(self) -> bool:
        return self.digits == "0" and self.radius != "0"


def bits_for(digits: int) -> int:
    """The bits that hold so many decimal digits."""
    return ceil(digits * log2(10)) + GUARD


def digits_of(number: Expr | Callable[[], arb], digits: int) -> Enclosed:
    """`number` to so many significant digits, or absolute ones where it may be zero.

    A callable gives a ball at the current precision, which is doubled until the digits are proved.

    >>> from sympy import pi
    >>> digits_of(pi, 5).digits
    '3.1416'
    """
    if digits < 1:
        raise ValueError(f"digits must be at least 1, not {digits}")
    precision, best = bits_for(digits), None
    for attempt in range(ROUNDS):
        try:
            with ctx.workprec(precision + 16):
                best = ball(number) if isinstance(number, Expr) else number()
                if best.is_finite() and settled(best, digits):
                    break
        except NoEnclosure:  # such as the arc of a ball that reaches beyond 1
            if attempt == ROUNDS - 1 or not isinstance(number, Expr):
                raise
        precision *= 2
    assert best is not None
    return shown(best, digits)


def settled(value: arb, digits: int) -> bool:
    """Whether the ball determines so many significant digits, or is zero to that many."""
    low, high = ends(_scaled(value)[0])
    if low <= 0 <= high:
        return max(-low, high) * 2 * Fraction(10) ** digits <= 1 and value.rad() == 0
    return _rounded(low, digits) == _rounded(high, digits)


def shown(value: arb, digits: int, method: str = "ball arithmetic") -> Enclosed:
    """The digits that the ball determines, at most `digits`, or one more where it holds a tie.

    Raises NoEnclosure where it determines none.
    """
    if not value.is_finite():
        raise NoEnclosure("no finite enclosure was found")
    near, power = _scaled(value)
    if power:
        found = shown(near, digits, method)
        error, end = found.radius.split("e")
        return Enclosed(value, f"{found.digits}e{power}", f"{error}e{int(end) + power}", method)
    low, high = ends(value)
    if low <= 0 <= high:
        radius = max(-low, high)
        if radius * 2 * Fraction(10) ** digits > 1:
            raise NoEnclosure(f"the number is only known to be in {value.str(6)}")
        return Enclosed(value, "0", _upper(radius), method)
    for count in (digits, digits + 1, *range(digits - 1, 0, -1)):
        (sign, figure, place), other = _rounded(low, count), _rounded(high, count)
        if (sign, figure, place) == other:
            nominal = sign * figure * Fraction(10) ** place
            radius = max(abs(nominal - low), abs(high - nominal))
            return Enclosed(value, _literal(sign, figure, place), _upper(radius), method)
    raise NoEnclosure(f"the number is only known to be in {value.str(6)}")


def _scaled(value: arb) -> tuple[arb, int]:
    """(value / 10^power, power); the power is 0 for a number that is written out in full."""
    if value.contains(0) or not value.is_finite():
        return value, 0
    size = abs(value.mid()).log() / arb(10).log()
    if abs(size) < MOST_ZEROS:
        return value, 0
    if not abs(size) < arb(2) ** MOST_POWER:
        raise NoEnclosure(f"{value.str(6)} is too large or too small to be written out")
    with ctx.extraprec(2 * MOST_POWER):
        exact = (abs(value.mid()).log() / arb(10).log()).mid().floor().unique_fmpz()
        assert exact is not None
        power = int(exact)
        return value / arb(10) ** power, power


def ends(value: arb) -> tuple[Fraction, Fraction]:
    """The exact ends of a ball."""
    if value.is_zero():
        return Fraction(0), Fraction(0)
    if value.abs_upper() < arb(2) ** -MOST_BITS:  # a fraction would fill the memory
        return -_TINY, _TINY
    if value.abs_upper() > arb(2) ** MOST_BITS:
        raise NoEnclosure(f"{value.str(6)} is too large to be written out")
    mid, rad = _exact(value.mid()), _exact(value.rad())
    return mid - rad, mid + rad


def _exact(value: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in value.man_exp())
    if mantissa and exponent + mantissa.bit_length() < -MOST_BITS:  # only a radius is so small
        return _TINY
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _rounded(number: Fraction, digits: int) -> tuple[int, int, int]:
    """(sign, figure, place): the number rounded to sign * figure * 10^place, half to even."""
    sign, size = (-1 if number < 0 else 1), abs(number)
    place = _magnitude(size) - digits
    above = size.numerator * 10 ** max(-place, 0)
    below = size.denominator * 10 ** max(place, 0)
    figure, rest = divmod(above, below)
    figure += 2 * rest > below or (2 * rest == below and figure % 2)
    if figure == 10**digits:
        figure, place = figure // 10, place + 1
    return sign, figure, place


def _magnitude(size: Fraction) -> int:
    """The power of ten with 10^(power - 1) <= size < 10^power."""
    bits = size.numerator.bit_length() - size.denominator.bit_length()
    power = int(bits * 0.30103)
    while _reaches(size, power):
        power += 1
    while not _reaches(size, power - 1):
        power -= 1
    return power


def _reaches(size: Fraction, power: int) -> bool:
    """Whether size >= 10^power."""
    return bool(size.numerator * 10 ** max(-power, 0) >= size.denominator * 10 ** max(power, 0))


def _literal(sign: int, figure: int, place: int) -> str:
    """A plain decimal literal; with an exponent where zeros that are not proved would be needed."""
    text, minus = fmpz(figure).str(), "-" if sign < 0 else ""  # str() ends at 4300 digits
    if place > 0:
        point = text[0] + ("." + text[1:] if len(text) > 1 else "")
        return f"{minus}{point}e{place + len(text) - 1}"
    if place == 0:
        return minus + text
    text = text.rjust(1 - place, "0")
    return f"{minus}{text[:place]}.{text[place:]}"


def _upper(radius: Fraction) -> str:
    """Two digits that are not below the radius."""
    if radius == 0:
        return "0"
    place = _magnitude(radius) - 2
    figure = ceil(radius / Fraction(10) ** place)
    return f"{figure}e{place}"
