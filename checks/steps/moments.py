"""Moment polynomials: expressions written out at concrete dimensions, by brute force.

Sums are written out term by term, products multiplied out, and each expectation of a monomial in
entries replaced by a product of moments (`means`). The value is a polynomial in these moments and
in the other symbols. Nothing here knows set partitions, Kronecker rules or any other rule of
`symbolic`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import factorial
from typing import Any

from flint import fmpq
from sympy import Add, Basic, Expr, Function, Integer, Mul, NumberSymbol, Pow, Symbol

from varlaw.checks.steps.means import Means, NotCovered, holds_entry
from varlaw.checks.steps.polynomials import ONE, ZERO, Monomial, Polynomial, Power, multiplied
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry, Moment, RandomArray
from varlaw.symbolic.gradients import gradient
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import Branch, Defined, IndexProduct, Named, Term
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    IndexSum,
    Indicator,
    Slope,
    Variance,
)

__all__ = ["NotCovered", "Writer", "interchangeable"]

Environment = Mapping[Basic, int]
MAX_TERMS = 300_000


@dataclass
class Writer:
    """Writes expressions out; `arrays` are the random arrays in play, `sizes` the dimensions."""

    arrays: Mapping[str, RandomArray]
    sizes: Environment = field(default_factory=dict)
    spent: int = 0
    memory: dict[Any, Polynomial] = field(default_factory=dict)
    free: dict[Expr, tuple[Basic, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.means = Means(self.arrays, lambda declared: self.value(declared, self.sizes))

    def value(self, expression: Expr, at: Environment) -> Polynomial:
        """The moment polynomial of an expression with the symbols of `at` put to integers."""
        key = (expression, *map(at.get, self._free(expression)))
        if key not in self.memory:
            self.memory[key] = self._value(expression, at)
        return self.memory[key]

    def _free(self, expression: Expr) -> tuple[Basic, ...]:
        if expression not in self.free:
            self.free[expression] = tuple(expression.free_symbols)
        return self.free[expression]

    def _value(self, e: Expr, at: Environment) -> Polynomial:
        match e:
            case Symbol():
                return Polynomial.number(at[e]) if e in at else Polynomial.atom(("symbol", e.name))
            case Entry():
                return Polynomial.atom(("entry", e.array.name, self._indices(e.indices, at)))
            case Moment():
                return Polynomial.atom(("moment", e.name, e.order, ()))
            case Named() | Defined():
                return self.value(e.definition, at)
            case Term():
                return Polynomial.atom(("term", e.name, e.args[1:]))
            case Branch():
                return Polynomial.atom(
                    ("branch", self._indices(e.args[:1], at), self.value(e.args[1], at))
                )
            case Delta():
                left, right = self._indices(e.args, at)
                return Polynomial.number(1 if left == right else 0)
            case Indicator():
                return self._indicator(e, at)
            case Activation():
                inside, rest = self.value(e.args[0], at), e.args[1:]
                return Polynomial.atom(("function", type(e).__name__, inside, rest))
            case Function() | NumberSymbol():
                return self._function(e, at)
            case Slope() if isinstance(e.args[1], Entry):
                return self.value(gradient(*e.args), at)
            case Expectation():
                return self.means.expectation(self.value(e.args[0], at))
            case Variance():
                return self._covariance(e.args[0], e.args[0], at)
            case Covariance():
                return self._covariance(e.args[0], e.args[1], at)
            case IndexSum():
                return self._sum(e, at)
            case IndexProduct():
                return self._product(e, at)
            case Add():
                total = Polynomial({})
                for part in e.args:
                    total = total + self.value(part, at)
                return total
            case Mul():
                return multiplied([self.value(part, at) for part in e.args])
            case Pow():
                return self._power(e.args[0], e.args[1], at)
            case _ if e.is_Rational:
                return Polynomial.number(fmpq(int(e.p), int(e.q)))
            case _ if not e.atoms(Entry, IndexSum):
                return self._function(e, at)
            case _:
                raise NotCovered(f"cannot write out {e}")

    def _indices(self, indices: tuple[Basic, ...], at: Environment) -> tuple[int, ...]:
        return tuple(self._index(index, at) for index in indices)

    def _index(self, index: Basic, at: Environment) -> int:
        if index in at:
            return at[index]
        if not index.is_Integer:
            index = index.xreplace({s: Integer(v) for s, v in at.items()})
        if not index.is_Integer:
            raise NotCovered(f"the index {index} has no value")
        return int(index)

    def _indicator(self, e: Indicator, at: Environment) -> Polynomial:
        inside = self.value(e.args[0], at)
        return Polynomial.atom(("event", e.relation, inside))

    def _function(self, e: Expr, at: Environment) -> Polynomial:
        """Any other function: an atom, a random one if it is made of entries."""
        inside = tuple(self.value(part, at) for part in e.args)
        if not any(map(holds_entry, inside)):
            return Polynomial.atom(("value", str(e.func if e.args else e), inside))
        if len(inside) > 1:
            raise NotCovered(f"cannot write out {e}")
        return Polynomial.atom(("function", type(e).__name__, inside[0], ()))

    def _power(self, base: Expr, exponent: Expr, at: Environment) -> Polynomial:
        """The power; exponents with symbols in them give one atom for each symbol."""
        inner = self.value(base, at)
        result = Polynomial.number(1)
        for term in Add.make_args(exponent.expand()):
            value = self.value(term, at)
            if not value.terms:
                continue
            ((monomial, coefficient),) = value.terms.items()
            if monomial == ONE:
                result = result * _settled(inner, _fraction(coefficient))
            else:
                result = result * _symbolic_power(inner, monomial, _fraction(coefficient))
        return result

    def _covariance(self, x: Expr, y: Expr, at: Environment) -> Polynomial:
        left, right = self.value(x, at), self.value(y, at)
        apart = self.means.expectation(left) * self.means.expectation(right)
        return self.means.expectation(left * right) + apart.scaled(-1)

    # Sums and products over indices

    def _sum(self, e: IndexSum, at: Environment) -> Polynomial:
        total: dict[Monomial, fmpq] = {}
        for weight, choice in self._choices(e, at):
            self.spent += 1
            if self.spent > MAX_TERMS:
                raise NotCovered(f"more than {MAX_TERMS} terms to write out in {e}")
            for monomial, coefficient in self.value(e.summand, {**at, **choice}).terms.items():
                total[monomial] = total.get(monomial, ZERO) + coefficient * weight
        return Polynomial(total)

    def _choices(self, e: IndexSum, at: Environment) -> Iterator[tuple[int, dict[Basic, int]]]:
        """All values of the indices; of copies that may change places one per class, weighted."""
        if any(r.free_bounds & set(e.bound) for r in e.ranges):
            raise NotCovered(f"a bound of {e} depends on another index")
        rows = interchangeable(e)
        if rows and len(rows) > 1:
            spans = [self._span(self._range_of(e, index), at) for index in rows[0]]
            points = list(product(*spans))
            for chosen in combinations_with_replacement(points, len(rows)):
                weight = factorial(len(rows))
                for times_over in Counter(chosen).values():
                    weight //= factorial(times_over)
                values = {
                    i: v
                    for row, point in zip(rows, chosen, strict=True)
                    for i, v in zip(row, point, strict=True)
                }
                yield weight, values
            return
        for parts in product(*(list(self._tuples(r, at)) for r in e.ranges)):
            values = {}
            for part in parts:
                values |= part
            yield 1, values

    @staticmethod
    def _range_of(e: IndexSum, index: Basic) -> Range:
        return next(r for r in e.ranges if index in r.indices)

    def _span(self, r: Range, at: Environment) -> range:
        (lower,), (upper,) = self._indices((r.lower,), at), self._indices((r.upper,), at)
        return range(lower, upper + 1)

    def _tuples(self, r: Range, at: Environment) -> Iterator[dict[Basic, int]]:
        out = set(self._indices(r.excluded, at))
        span = [v for v in self._span(r, at) if v not in out]
        for values in permutations(span, len(r.indices)):
            yield dict(zip(r.indices, values, strict=True))

    def _product(self, e: IndexProduct, at: Environment) -> Polynomial:
        (lower,), (upper,) = self._indices((e.lower,), at), self._indices((e.upper,), at)
        result = Polynomial.number(1)
        for k in range(lower, upper + 1):
            result = result * self.value(e.term, {**at, e.index: k})
        return result


def interchangeable(e: IndexSum) -> list[tuple[Symbol, ...]]:
    """Rows of indices (one per copy) that the summand lets change places, or nothing."""
    if any(len(r.indices) > 1 or r.excluded for r in e.ranges):
        return []
    rows: dict[str, list[Symbol]] = {}
    for r in e.ranges:
        name = str(r.indices[0])
        rows.setdefault(
            name.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"), []
        ).append(r.indices[0])
    found = [tuple(row) for row in rows.values()]
    shapes = {tuple(Writer._range_of(e, i).bounds for i in row) for row in found}
    if len(shapes) != 1:
        return []
    for left, right in pairwise(found):
        swap = {a: b for x, y in zip(left, right, strict=True) for a, b in ((x, y), (y, x))}
        if e.summand.xreplace(swap) != e.summand:
            return []
    return found


def _fraction(value: fmpq) -> Power:
    return int(value.p) if value.q == 1 else Fraction(int(value.p), int(value.q))


def _settled(inner: Polynomial, exponent: Power) -> Polynomial:
    if not inner.terms:
        if exponent > 0:
            return inner
        raise NotCovered("a negative power of zero")
    return inner.power(exponent)


def _symbolic_power(inner: Polynomial, monomial: Monomial, coefficient: Power) -> Polynomial:
    """inner^(coefficient * monomial), one atom for each atom or prime of the base."""
    result = Polynomial.number(1)
    if len(inner.terms) == 1:
        ((inside, number),) = inner.terms.items()
        for atom, exponent in inside:
            result = result * Polynomial.atom(("to", atom, monomial), exponent * coefficient)
        base = Polynomial.number(number)
        return (
            result if number == 1 else result * Polynomial.atom(("to", base, monomial), coefficient)
        )
    primitive, content = inner.primitive()
    result = Polynomial.atom(("to", ("power", primitive), monomial), coefficient)
    return (
        result
        if content == 1
        else result * Polynomial.atom(("to", Polynomial.number(content), monomial), coefficient)
    )
