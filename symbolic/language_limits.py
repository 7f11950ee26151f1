"""Limits of what is read, so that no text makes a number or a tree that is too large to hold."""

from sympy import E, Expr, Integer, Pow, Rational, nan, oo, zoo
from sympy.core.numbers import ImaginaryUnit

from varlaw.symbolic.occurrences import contains
from varlaw.symbolic.slopes import raised

MAX_CHARACTERS = 10_000
MAX_NAME = 60
MAX_DEPTH = 60
MAX_DIGITS = 400
MAX_EXPONENT = 10_000
MAX_ARGUMENTS = 20
MAX_PRIMES = 6


class ReadingError(ValueError):
    """A text is not an expression of the language; the message points at the column."""


def number(text: str) -> Expr:
    """A decimal as an exact rational. Raises ReadingError for one with too many digits."""
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or (exponent and abs(int(exponent[:9])) > MAX_DIGITS):
        raise ReadingError(f"number with more than {MAX_DIGITS} digits")
    whole, _, fraction = mantissa.partition(".")
    value = Rational(int(whole + fraction), 10 ** len(fraction))
    return value * Integer(10) ** int(exponent) if exponent else value


def power(base: Expr, exponent: Expr) -> Expr:
    """A power. Raises ReadingError for one that is too large, not real, or divides by zero."""
    if exponent.is_Rational and base != E and abs(exponent) > MAX_EXPONENT:
        raise ReadingError(f"exponent {_short(exponent)} is out of range (at most {MAX_EXPONENT})")
    if base == 0 and exponent.is_negative:
        raise ReadingError("division by zero")
    if exponent.is_Rational and digits(base) * abs(exponent) > MAX_DIGITS:
        raise ReadingError(f"a power of a number with more than {MAX_DIGITS} digits")
    if base.is_Rational and not exponent.is_number:
        if base.is_negative:
            raise ReadingError(f"a power of the negative number {base} with the open {exponent}")
        return Pow(base, exponent, evaluate=False)
    return real(raised(base, exponent))


def real(value: Expr) -> Expr:
    """The value. Raises ReadingError if it is infinite or not real."""
    if value in (oo, -oo, zoo, nan):
        raise ReadingError("division by zero or an infinite value")
    if contains(value, ImaginaryUnit) or (value.is_number and value.is_real is False):
        raise ReadingError("a value that is not real")
    return value


def digits(value: Expr) -> Expr:
    """About how many digits the numbers have that a power of `value` would raise."""
    if value.is_Rational:
        return Integer(max(len(str(value.p)), len(str(value.q))) if abs(value) != 1 else 0)
    if isinstance(value, Pow) and value.exp.is_Rational:
        return digits(value.base) * abs(value.exp)
    if value.is_Mul or (value.is_Add and value.is_number):
        return sum((digits(part) for part in value.args), Integer(0))
    return Integer(0)


def _short(value: Expr) -> str:
    text = str(value)
    return text if len(text) < 30 else f"{text[:27]}..."
