"""What names are declared to lie between, as in 0 < p < 1: random numbers and unknowns there."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from random import Random
from typing import Any

from varlaw.checks.claims.values.functions import NoValue


@dataclass(frozen=True)
class Between:
    """What a name is declared to lie in; None where there is no end, `open` without the ends."""

    low: Fraction | None = None
    high: Fraction | None = None
    open: bool = True

    def number(self, random: Random, positive: bool) -> Fraction:
        """A random number in it."""
        if self.low is not None and self.high is not None:
            return self.low + (self.high - self.low) * Fraction(random.randint(1, 96), 97)
        if self.low is not None:
            return self.low + random_number(random, positive=True)
        if self.high is not None:
            return self.high - random_number(random, positive=True)
        return random_number(random, positive)

    def whole(self, random: Random) -> Fraction:
        """A random whole number in it, any number where there is none."""
        first = 1 if self.low is None else floor(self.low) + 1
        last = first + 39 if self.high is None else min(ceil(self.high) - 1, first + 39)
        if last < first:
            return self.number(random, positive=False)
        return Fraction(random.randint(first, last))

    def symbol(self, name: str, positive: bool) -> Any:
        """An expression in a positive unknown that takes all values inside."""
        from sympy import Dummy, Rational, Symbol

        if self.low is None and self.high is None:
            return Symbol(name, positive=True) if positive else Symbol(name, real=True)
        more = Dummy(name, positive=True)
        low, high = (
            None if end is None else Rational(end.numerator, end.denominator)
            for end in (self.low, self.high)
        )
        if low is not None and high is not None:
            return low + (high - low) / (1 + more)
        return low + more if low is not None else high - more


def ranges_of(bounds: Iterable[tuple[str, str, Fraction]]) -> dict[str, Between]:
    """The ranges of names by their bounds. Raises NoValue for one that is empty."""
    found: dict[str, Between] = {}
    for name, sign, value in bounds:
        known = found.get(name, Between())
        sharp = known.open and sign in ("<", ">")
        if sign in (">", ">="):
            low = value if known.low is None else max(known.low, value)
            found[name] = Between(low, known.high, sharp)
        else:
            high = value if known.high is None else min(known.high, value)
            found[name] = Between(known.low, high, sharp)
    for name, known in found.items():
        if known.low is not None and known.high is not None and known.low >= known.high:
            raise NoValue(f"no number is what {name} is declared to be")
    return found


def random_number(random: Random, positive: bool, fraction: bool = False) -> Fraction:
    if fraction:
        return Fraction(random.randint(1, 96), 97)
    size = Fraction(random.randint(1, 97), random.choice((2, 3, 4, 5, 7, 8, 16)))
    return size if positive or random.random() < 0.5 else -size
