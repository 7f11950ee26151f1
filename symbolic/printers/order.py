"""The order in which a textbook writes factors and terms, the same for every format.

Numbers, integers and scalars come first, then entries of arrays (those with fewer indices before
the others), then expectations, then sums, which need no brackets where they stand last.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sympy import (
    Add,
    Basic,
    Expr,
    Function,
    Integer,
    Integral,
    Mul,
    Number,
    NumberSymbol,
    Pow,
    Rational,
    Symbol,
)

from varlaw.symbolic.arrays import Entry, Moment
from varlaw.symbolic.ranges import index_key
from varlaw.symbolic.sequences import Branch, IndexProduct, Named, Term
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    IndexSum,
    Indicator,
    Variance,
    is_random,
)

LARGE = (IndexSum, IndexProduct, Integral)  # what reaches over everything that follows
HEADS = (Expectation, Variance, Covariance, Moment, *LARGE)


@dataclass(frozen=True)
class Quotient:
    """A product as a sign, a ratio of integers, and factors above and below the line."""

    negative: bool
    number: int
    divisor: int
    above: tuple[Expr, ...]
    below: tuple[Expr, ...]


def quotient(expression: Expr) -> Quotient:
    """Take a product apart, in the textbook's order.

    Powers with a negative number as exponent go below the line; powers with a symbolic exponent,
    such as 2^(-l/2), stay above it.
    """
    number, above, below = Rational(1), [], []
    for factor in Mul.make_args(expression):
        base, exponent = factor.args if isinstance(factor, Pow) else (factor, Integer(1))
        if isinstance(factor, Rational):
            number *= factor
        elif exponent.is_Rational and exponent.is_negative:
            below.append(Pow(base, -exponent, evaluate=False) if exponent != -1 else base)
        else:
            above.append(factor)
    ordered = (tuple(sorted(part, key=factor_key)) for part in (above, below))
    return Quotient(bool(number < 0), abs(int(number.p)), int(number.q), *ordered)


def ordered_terms(total: Add) -> list[Expr]:
    """The terms of a sum: a minus last, a number first unless all others are integers."""

    def key(term: Expr) -> Any:
        taken = quotient(term)
        if isinstance(term, Number):
            whole = all(part.is_integer for part in total.args)
            return (taken.negative, 1 if whole else -1, [], str(term))
        return (taken.negative, 0, [factor_key(f) for f in taken.above], str(term))

    return sorted(total.args, key=key)


def over_number(total: Expr) -> tuple[Expr, int]:
    """A sum of plain terms over one whole number, (m + n)/2, as its numerator and that number."""
    taken = [quotient(term) for term in Add.make_args(total)]
    divisor = taken[0].divisor
    plain = isinstance(total, Add) and not any(
        one.divisor != divisor or one.below or any(holds(f, HEADS) for f in one.above)
        for one in taken
    )
    if divisor == 1 or not plain or any(map(is_random, total.args)):
        return total, 1
    return Add(*(divisor * term for term in total.args)), divisor


@lru_cache(maxsize=1 << 14)
def factor_key(factor: Expr) -> Any:
    """Sorts the factors of a product."""
    base, exponent = factor.args if isinstance(factor, Pow) else (factor, Integer(1))
    power = -float(exponent) if exponent.is_Rational else 0.0
    return (*_rank(base), power, str(exponent), str(base))


def _rank(base: Expr) -> tuple[float, int, str, list[Any]]:
    match base:
        case Number():
            return 0, 0, "", []
        case NumberSymbol():
            return 0.5, 0, "", []
        case Symbol() if base.is_integer:
            return 1, 0, base.name, []
        case Add() if all(part.is_integer for part in base.args):
            return 1.1, 0, "", [-float(base.as_coeff_Add()[0])]
        case Symbol():
            return 1.2, 0, base.name, []
        case Term():
            return 2, 0, base.name, []
        case Delta():
            return 3, 0, "", list(map(index_key, base.args))
        case Entry():
            return (
                5,
                len(base.indices),
                base.array.name.swapcase(),
                list(map(index_key, base.indices)),
            )
        case Named() if is_random(base.definition):
            return 5, len(base.indices), base.name.swapcase(), list(map(index_key, base.indices))
        case Named():
            return 1.3, 0, base.name, list(map(index_key, base.indices))
        case Indicator():
            return 6.1, 0, "", []
        case Branch() | Function():
            return 6, 0, "", []
        case Moment():
            return 4, 0, base.name.swapcase(), [base.order]
        case Expectation() | Variance() | Covariance():
            inside = [factor_key(f) for argument in base.args for f in quotient(argument).above]
            first = next((key for key in inside if key[0] == 5), (5, 0, ""))
            return 7, first[1], first[2], inside
        case IndexSum() | IndexProduct() | Integral():
            return 8, len(getattr(base, "bound", ())), "", []
        case _:
            return (6.2 if is_random(base) else 1.4), 0, "", []


def holds(expression: Basic, kinds: tuple[type, ...]) -> bool:
    """Whether a head of some kind is to be seen in an expression; names are not looked into."""
    if isinstance(expression, (*kinds, Named)):
        return isinstance(expression, kinds)
    return any(holds(part, kinds) for part in expression.args)


def joined_roots(factors: Iterable[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The other factors, and the positive ones under square roots, which one root can cover."""
    rest: list[Expr] = []
    roots: list[Expr] = []
    for factor in factors:
        plain = isinstance(factor, Pow) and factor.exp == Rational(1, 2) and factor.base.is_positive
        (roots if plain else rest).append(factor.base if plain else factor)
    return rest, roots
