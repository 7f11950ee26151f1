"""Exact moments of a statistic, from the declared moments of what its experiment samples.

They bound the variance of the statistic, and come from the expectation calculus with the moments
of the samplers put in; neither the data nor the law under test has a say in them.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from typing import Protocol, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sympy import Add, Expr, Integer, Mul, Rational

from varlaw.checks.statistics.sampling import Law
from varlaw.checks.steps.algebra import opened
from varlaw.symbolic.arrays import Moment
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import IndexProduct
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import Expectation, IndexSum

Number: TypeAlias = int | Fraction | Expr
Values = Mapping[str, Number]
Orders = tuple[int, ...]


class HasMoments(Protocol):
    """Whatever knows E[x^k]."""

    def moment(self, k: int) -> Number: ...


Laws = Mapping[str, HasMoments]


@dataclass(frozen=True)
class Scaled:
    """The law of std x, where x follows the law `base` and std^2 = `factor`."""

    base: Law
    factor: Number

    def moment(self, k: int) -> Expr:
        return exact(self.base.moment(k)) * exact(self.factor) ** Rational(k, 2)

    def sample(self, rng: Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
        values = self.base.sample(rng, shape)
        values *= self._std
        return values

    @cached_property
    def _std(self) -> float:
        return math.sqrt(self.factor)


def exact(value: Number) -> Expr:
    """The number as SymPy's."""
    return value if isinstance(value, Expr) else Rational(value)


def evaluate(expression: Expr, values: Values, laws: Laws | None = None) -> Expr:
    """The expression at given values of its symbols, with the moments E[w^k] of given laws.

    What goes by a name is written out. Raises LookupError, with what is missing.
    """
    known = laws or {}
    found: dict[Expr, Expr] = {}
    for symbol in expression.free_symbols:
        if symbol.name not in values:
            raise LookupError(f"no value for {symbol} in {expression}")
        found[symbol] = exact(values[symbol.name])
    for moment in expression.atoms(Moment):
        if moment.name not in known:
            raise LookupError(f"no law for {moment} in {expression}")
        found[moment] = exact(known[moment.name].moment(moment.order))
    written = opened(expression.xreplace(found)).replace(IndexProduct, _product)
    return written.replace(IndexSum, _sum)


def _product(term: Expr, index: Expr, lower: Expr, upper: Expr) -> Expr:
    return Mul(*(term.xreplace({index: Integer(k)}) for k in range(int(lower), int(upper) + 1)))


def _sum(summand: Expr, *ranges: Range) -> Expr:
    """A sum over one index between numbers, term by term."""
    first, *others = ranges
    plain = not others and len(first.indices) == 1 and not first.excluded
    if not plain or not all(bound.is_Integer for bound in first.bounds):
        return IndexSum(summand, *ranges)
    lower, upper = map(int, first.bounds)
    return Add(*(summand.xreplace({first.indices[0]: Integer(k)}) for k in range(lower, upper + 1)))


@cache
def normal(statistic: Expr) -> Expr:
    """The normal form of E[statistic]; derived once per process."""
    return normal_form(Expectation(statistic)).end


def expected(statistic: Expr, values: Values, laws: Laws) -> Expr:
    """E[statistic], exactly, where each array follows the law of its name."""
    value = evaluate(normal(statistic), values, laws)
    if not value.is_number:
        raise LookupError(f"not a number: E[{statistic}] = {value}")
    return value


def sum_moment(count: int, orders: Orders, joint: Callable[[Orders], Fraction]) -> Fraction:
    """E[prod_r S_r^orders_r] of the sum S of `count` independent vectors with one law.

    `joint(powers)` is E[prod_r v_r^powers_r] of one vector v. The moment generating function of
    the sum is the power of that of one vector, here as a series truncated beyond `orders`.
    """
    powers = list(product(*(range(order + 1) for order in orders)))
    base = {p: joint(p) / math.prod(map(math.factorial, p)) for p in powers}
    base = {p: c for p, c in base.items() if c}
    total = {tuple(0 for _ in orders): Fraction(1)}
    while count:
        if count % 2:
            total = _multiplied(total, base, orders)
        base, count = _multiplied(base, base, orders), count // 2
    return total.get(orders, Fraction(0)) * math.prod(map(math.factorial, orders))


def _multiplied(
    left: dict[Orders, Fraction], right: dict[Orders, Fraction], orders: Orders
) -> dict[Orders, Fraction]:
    found: dict[Orders, Fraction] = {}
    for p, a in left.items():
        for q, b in right.items():
            both = tuple(map(sum, zip(p, q, strict=True)))
            if all(k <= order for k, order in zip(both, orders, strict=True)):
                found[both] = found.get(both, Fraction(0)) + a * b
    return found


def variance_of_mean(count: int, mean: Number, square: Number, product: Number) -> Expr:
    """The variance of the mean of `count` exchangeable s_j: E[s_j] = mean, and so on.

    E[(Sum_j s_j)^2] = count E[s_1^2] + count (count - 1) E[s_1 s_2].
    """
    second = (exact(square) + (count - 1) * exact(product)) / count
    return second - exact(mean) ** 2


def rectified(a: int, b: int, rho: Number, variance: Number = 1) -> float:
    """E[z^a y^b; z > 0, y > 0] for jointly normal z and y of one variance and correlation rho.

    z = r cos(t) and y = r cos(t - s) for cos(s) = rho and an angle t that is uniform, and
    E[r^k] = (2 variance)^(k/2) gamma(1 + k/2); the integral over t by Gauss and Legendre's nodes.
    """
    apart = math.acos(rho)
    nodes, masses = np.polynomial.legendre.leggauss(40)
    half = (math.pi - apart) / 2
    turned = apart / 2 + half * nodes
    angular = half * float(masses @ (np.cos(turned) ** a * np.cos(turned - apart) ** b))
    order = (a + b) / 2
    return (2 * float(variance)) ** order * math.gamma(1 + order) * angular / (2 * math.pi)
