"""The language of grids: the values that a parameter takes, as it is typed.

    512                one value
    64,128,1024        a list, of values and of the ranges below
    64:512:+64         from 64 to 512 in steps of 64
    64:65536:x2        from 64 to 65536, each the double of the one before
    1:1000:log20       20 values from 1 to 1000, evenly spaced in their logarithm
    1:2:lin10          10 values from 1 to 2, evenly spaced

Values are exact rational numbers. Those of a dimension are rounded to whole numbers within x, log
and lin; those of log are otherwise rounded to four digits. Every value counts once, in the order
typed.
"""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from sympy import Rational

from varlaw.symbolic.language import read

__all__ = ["MOST_POINTS", "Value", "values"]

Value = int | Fraction
MOST_POINTS = 10_000
DIGITS = 4  # of values spaced by their logarithm
STEP = re.compile(r"(?P<kind>\+|x|\*|log|lin)\s*(?P<number>.+)")
STEPS = "x2, +64, log20 or lin10"


def values(text: str, whole: bool = False) -> tuple[Value, ...]:
    """The values that a text stands for, whole numbers being ints; `whole` for a dimension.

    Raises ValueError, in one line.

    >>> values("64:1024:x4,100")
    (64, 256, 1024, 100)
    >>> values("1:100:log5", whole=True)
    (1, 3, 10, 32, 100)
    """
    found: dict[Fraction, None] = {}
    for part in text.split(","):
        if not part.strip():
            raise ValueError(f"{text!r} has an empty place: write a list as 64,128,256")
        for value in _range(part.strip(), whole) if ":" in part else (_number(part),):
            found[value] = None
        if len(found) > MOST_POINTS:
            raise _too_many(text)
    return tuple(int(value) if value.denominator == 1 else value for value in found)


def _range(text: str, whole: bool) -> Iterator[Fraction]:
    first, *rest = text.split(":")
    step = STEP.fullmatch(rest[1].strip()) if len(rest) == 2 else None
    if step is None:
        raise ValueError(f"{text!r} is no range: write START:END:STEP, STEP being such as {STEPS}")
    low, high = _number(first), _number(rest[0])
    if low >= high:
        raise ValueError(f"{text!r} runs from {low} to {high}: write the smaller end first")
    if step["kind"] in ("x", "*", "log") and low <= 0:
        raise ValueError(f"{text!r} multiplies, so its values are positive: start above 0")
    number = _number(step["number"])
    if step["kind"] == "+":
        return _added(text, low, high, number)
    if step["kind"] in ("x", "*"):
        made = _multiplied(text, low, high, number)
    else:
        made = _spaced(text, low, high, number, step["kind"] == "log")
    return (Fraction(round(value)) for value in made) if whole else made


def _added(text: str, low: Fraction, high: Fraction, step: Fraction) -> Iterator[Fraction]:
    if step <= 0:
        raise ValueError(f"{text!r} never ends: add something positive, as in +64")
    count = (high - low) // step + 1
    if count > MOST_POINTS:
        raise _too_many(text)
    return (low + k * step for k in range(count))


def _multiplied(text: str, low: Fraction, high: Fraction, factor: Fraction) -> Iterator[Fraction]:
    if factor <= 1:
        raise ValueError(f"{text!r} never ends: multiply by more than 1, as in x2")
    if _log(high / low) >= MOST_POINTS * _log(factor):
        raise _too_many(text)

    def made() -> Iterator[Fraction]:
        value = low
        while value <= high:
            yield value
            value *= factor

    return made()


def _spaced(
    text: str, low: Fraction, high: Fraction, count: Fraction, logarithmic: bool
) -> Iterator[Fraction]:
    if count.denominator != 1 or count < 2:
        raise ValueError(f"{text!r} asks for {count} values: ask for 2 or more, as in log20")
    if count > MOST_POINTS:
        raise _too_many(text)
    last = int(count) - 1
    if not logarithmic:
        return (low + (high - low) * k / last for k in range(last + 1))
    start, length = _log(low), _log(high / low)
    if max(abs(start), abs(start + length)) > 700:
        raise ValueError(f"{text!r} reaches beyond 1e300: choose nearer ends")
    inner = (_rounded(math.exp(start + length * k / last)) for k in range(1, last))
    return iter((low, *inner, high))


def _rounded(value: float) -> Fraction:
    whole = round(value)
    return Fraction(whole if whole >= 10**DIGITS else Decimal(f"{value:.{DIGITS}g}"))


def _log(value: Fraction) -> float:
    """The logarithm, whatever the size of numerator and denominator; precise near 1."""
    if abs(value - 1) < Fraction(1, 2):
        return math.log1p(float(value - 1))
    return math.log(value.numerator) - math.log(value.denominator)


def _number(text: str) -> Fraction:
    number = read(text.strip())
    if not isinstance(number, Rational):
        raise ValueError(f"a grid is made of numbers such as 64, 0.5 or 1/2, not {text.strip()!r}")
    return Fraction(int(number.p), int(number.q))


def _too_many(text: str) -> ValueError:
    return ValueError(f"{text!r} has more than {MOST_POINTS} values: take larger steps")
