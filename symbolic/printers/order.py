"""The order in which a textbook writes factors and terms, the same for every format.

Numbers, integers and scalars come first, then entries of arrays (those with fewer indices before
the others), then expectations, then sums, which need no brackets where they stand last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
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
    igcd,
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
    such as 2^(-l/2), stay above it. Roots of one order are one root, sqrt(m n). The root of an
    integer is cancelled, 1/(sqrt(3) N^(1/4)) and not sqrt(3)/(3 N^(1/4)), except in a number
    without another root, which is written as usual: sqrt(3)/(6 pi).
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
    parts = above + below
    if any(not f.is_number or (_is_root(f) and not f.base.is_Integer) for f in parts):
        number, above, below = _cancelled(number, above, below)
        above, below = _joined(above), _joined(below)
    ordered = (tuple(sorted(part, key=factor_key)) for part in (above, below))
    return Quotient(bool(number < 0), abs(int(number.p)), int(number.q), *ordered)


def _is_root(factor: Expr) -> bool:
    """Whether it is a root of something positive, or a power of one: v^(1/4), v^(3/2)."""
    return bool(_fraction(factor) and factor.base.is_positive)


def _fraction(factor: Expr) -> bool:
    return isinstance(factor, Pow) and factor.exp.is_Rational and not factor.exp.is_Integer


def _plain(base: Expr) -> bool:
    return not is_random(base) and not holds(base, HEADS)


def _cancelled(
    number: Rational, above: list[Expr], below: list[Expr]
) -> tuple[Rational, list[Expr], list[Expr]]:
    """2^(1/4)/2 as 1/2^(3/4): what roots of integers above the line have in common with it."""
    kept, under = [], list(below)
    for factor in above:
        base, exponent = factor.args if isinstance(factor, Pow) else (factor, Integer(1))
        common = igcd(base, number.q) if base.is_Integer and exponent.is_Rational else 1
        if common > 1 and _is_root(factor) and exponent < 1:
            number *= common
            under.append(Pow(common, 1 - exponent))
            factor = Pow(base / common, exponent)
        if factor != 1:
            kept.append(factor)
    return number, kept, under


def _joined(factors: list[Expr]) -> list[Expr]:
    """Roots of one order under one root, where not all are roots of integers."""
    groups: dict[int, list[Pow]] = {}
    for factor in factors:
        if _fraction(factor) and factor.exp < 1 and (_is_root(factor) or _plain(factor.base)):
            groups.setdefault(int(factor.exp.q), []).append(factor)
    for order, roots in groups.items():
        signs = sum(not _is_root(root) for root in roots)  # sqrt(x) sqrt(v) = sqrt(v x) for v > 0
        if len(roots) > 1 and signs < 2 and not all(root.base.is_Integer for root in roots):
            inner = [root.base**root.exp.p for root in roots]
            whole = prod(part for part in inner if part.is_Integer)
            parts = [part for part in inner if not part.is_Integer]
            one = Mul(*([whole] if whole != 1 else []), *parts, evaluate=False)
            factors = [factor for factor in factors if factor not in roots]
            factors.append(Pow(one, Rational(1, order), evaluate=False))
    return factors


def under_one_root(above: Sequence[Expr], below: Sequence[Expr]) -> tuple[Expr, Expr, Expr] | None:
    """Two roots of one order above each other, as their bases and the exponent."""
    if len(above) != 1 or len(below) != 1 or not _is_root(below[0]):
        return None
    if not _fraction(above[0]) or not (_is_root(above[0]) or _plain(above[0].base)):
        return None
    (top,), (bottom,) = above, below
    return (top.base, bottom.base, top.exp) if top.exp == bottom.exp < 1 else None


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
