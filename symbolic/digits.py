"""Numbers given by their leading decimal digits, written 1.178...: truncated, all of them right."""

from typing import Any

from flint import arb
from sympy import Expr, Float, Rational
from sympy.core.symbol import Str

from varlaw.symbolic.gaussian.balls import Located


class Digits(Located):
    """A number of which the first decimal digits are known.

    It lies between `value` and `value` plus (away from zero) one unit of the last digit.
    """

    def __new__(cls, text: Str | str) -> "Digits":
        made: Digits = Expr.__new__(cls, Str(text) if isinstance(text, str) else text)
        return made

    @property
    def text(self) -> str:
        """The digits without the dots."""
        return str(self.args[0].name)

    @property
    def places(self) -> int:
        """How many digits stand behind the point."""
        return len(self.text.partition(".")[2])

    @property
    def value(self) -> Rational:
        """The number that the digits alone stand for."""
        whole, _, fraction = self.text.partition(".")
        return Rational(int(whole + fraction), 10 ** len(fraction))

    @property
    def unit(self) -> Rational:
        """One unit of the last digit, with the sign of the number."""
        sign = -1 if self.text.startswith("-") else 1
        return Rational(sign, 10**self.places)

    def enclosure(self) -> arb:
        """All numbers that begin with these digits."""
        unit = arb(1) / 10**self.places * (-1 if self.text.startswith("-") else 1)
        return arb(int(self.value.p)) / int(self.value.q) + unit * arb(0.5, 0.5)

    def _eval_evalf(self, prec: int) -> Expr:
        return Float(self.value + self.unit / 2, precision=prec)

    def _eval_is_positive(self) -> bool:
        return not self.text.startswith("-")

    def _sympystr(self, printer: Any) -> str:
        return f"{self.text}..."

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        body = rf"{self.text}\dots"
        return body if exp is None else rf"\left({body}\right)^{{{exp}}}"


def truncated(number: arb, places: int) -> Digits | None:
    """The digits of a ball up to so many places behind the point; None if it does not settle them.

    >>> truncated(arb("1.23456"), 3)
    1.234...
    """
    scaled = number * arb(10) ** places
    lower, upper = (_towards_zero(end) for end in (scaled.lower(), scaled.upper()))
    if lower != upper or scaled.contains(0):
        return None
    sign, digits = ("-", -lower) if number < 0 else ("", lower)
    text = str(digits).rjust(places + 1, "0")
    return Digits(f"{sign}{text[:-places]}.{text[-places:]}" if places else sign + text)


def _towards_zero(end: arb) -> int:
    found = (end.floor() if end > 0 else end.ceil()).unique_fmpz()
    return 0 if found is None else int(found)
