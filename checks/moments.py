"""Moment polynomials: expressions written out at concrete dimensions, by brute force.

Sums are written out term by term, products multiplied out, and each expectation of a monomial in
entries replaced by a product of moments: joint ones where independence is not declared. The value
is a polynomial in these moments and in the other symbols. Nothing here knows set partitions,
Kronecker rules or any other rule of `symbolic`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial
from typing import Any

from sympy import Add, Basic, Expr, Integer, Mul, Pow, Symbol

from varlaw.checks.polynomials import ONE, Monomial, Polynomial
from varlaw.symbolic.arrays import Entry, Moment, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.sequences import Branch, Defined, IndexProduct, Named, Term
from varlaw.symbolic.terms import (
    Covariance,
    Delta,
    Expectation,
    IndexSum,
    Indicator,
    Range,
    Variance,
)

Environment = Mapping[Basic, int]
MAX_TERMS = 300_000


class NotCovered(ValueError):
    """The evaluator cannot write an expression out, or only at too great a cost."""


@dataclass
class Writer:
    """Writes expressions out; `arrays` are the random arrays in play, `sizes` the dimensions."""

    arrays: Mapping[str, RandomArray]
    sizes: Environment = field(default_factory=dict)
    spent: int = 0
    memory: dict[Any, Polynomial] = field(default_factory=dict)
    free: dict[Expr, set[Basic]] = field(default_factory=dict)
    clusters: dict[str, frozenset[str]] = field(default_factory=dict)

    def value(self, expression: Expr, at: Environment) -> Polynomial:
        """The moment polynomial of an expression with the symbols of `at` put to integers."""
        key = (expression, frozenset((s, at[s]) for s in self._free(expression) if s in at))
        if key not in self.memory:
            self.memory[key] = self._value(expression, at)
        return self.memory[key]

    def _free(self, expression: Expr) -> set[Basic]:
        if expression not in self.free:
            self.free[expression] = expression.free_symbols
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
                return Polynomial.atom(("branch", self._indices(e.args[:1], at), self.value(e.args[1], at)))
            case Delta():
                left, right = self._indices(e.args, at)
                return Polynomial.number(1 if left == right else 0)
            case Indicator():
                return self._indicator(e, at)
            case Expectation():
                return self.expectation(self.value(e.args[0], at))
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
                result = Polynomial.number(1)
                for part in e.args:
                    result = result * self.value(part, at)
                return result
            case Pow():
                return self._power(e.args[0], e.args[1], at)
            case _ if e.is_Rational:
                return Polynomial.number(Fraction(int(e.p), int(e.q)))
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
                result = result * _settled(inner, coefficient)
            else:
                result = result * _symbolic_power(inner, monomial, coefficient)
        return result

    def _covariance(self, x: Expr, y: Expr, at: Environment) -> Polynomial:
        left, right = self.value(x, at), self.value(y, at)
        apart = self.expectation(left) * self.expectation(right)
        return self.expectation(left * right) + apart.scaled(-1)

    # Sums and products over indices

    def _sum(self, e: IndexSum, at: Environment) -> Polynomial:
        total: dict[Monomial, Fraction] = {}
        for weight, choice in self._choices(e, at):
            self.spent += 1
            if self.spent > MAX_TERMS:
                raise NotCovered(f"more than {MAX_TERMS} terms to write out in {e}")
            for monomial, coefficient in self.value(e.summand, {**at, **choice}).terms.items():
                total[monomial] = total.get(monomial, Fraction(0)) + coefficient * weight
        return Polynomial(total)

    def _choices(self, e: IndexSum, at: Environment) -> Iterator[tuple[int, dict[Basic, int]]]:
        """All values of the indices; where copies may change places, one of each class, weighted."""
        rows = interchangeable(e)
        if rows and len(rows) > 2:
            spans = [self._span(self._range_of(e, index), at) for index in rows[0]]
            points = list(product(*spans))
            for chosen in combinations_with_replacement(points, len(rows)):
                weight = factorial(len(rows))
                for times_over in Counter(chosen).values():
                    weight //= factorial(times_over)
                values = {i: v for row, point in zip(rows, chosen, strict=True)
                          for i, v in zip(row, point, strict=True)}
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

    # Expectations of monomials

    def expectation(self, inside: Polynomial) -> Polynomial:
        """E of a polynomial in entries and events, by linearity and the declared properties."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in inside.terms.items():
            for out, factor in self._mean(monomial).terms.items():
                total[out] = total.get(out, Fraction(0)) + factor * coefficient
        return Polynomial(total)

    def _mean(self, monomial: Monomial) -> Polynomial:
        fixed = frozenset((a, e) for a, e in monomial if a[0] not in ("entry", "event"))
        random = [(a, e) for a, e in monomial if a[0] == "entry"]
        events = {a for a, _ in monomial if a[0] == "event"}
        if len({inside for _, _, inside in events}) < len(events):
            return Polynomial({})  # events that exclude one another
        random += [(event, Fraction(1)) for event in events]
        result = Polynomial({fixed: Fraction(1)})
        for group in self._groups(random):
            result = result * self._joint(group)
        return result

    def _groups(self, items: list[tuple[Any, Fraction]]) -> list[list[tuple[Any, Fraction]]]:
        """Factors of one monomial, in groups that are independent by declaration."""
        groups: list[tuple[set[Any], list[tuple[Any, Fraction]]]] = []
        for item in items:
            keys = self._keys(item[0])
            near = [g for g in groups if g[0] & keys]
            groups = [g for g in groups if g not in near]
            groups.append((keys.union(*(g[0] for g in near)), [item] + [x for g in near for x in g[1]]))
        return [members for _, members in groups]

    def _keys(self, atom: Any) -> set[Any]:
        """What an atom is made of: single entries of independent arrays, or whole clusters."""
        if atom[0] == "event":
            return set().union(*(self._keys(a) for m in atom[2].terms for a, _ in m if a[0] == "entry"))
        _, name, indices = atom
        cluster = self._cluster(name)
        if len(cluster) == 1 and self.arrays[name].has(Kind.INDEPENDENT_ENTRIES):
            return {(name, indices)}
        return {cluster}

    def _cluster(self, name: str) -> frozenset[str]:
        if name not in self.clusters:
            self.clusters[name] = self._reached(name)
        return self.clusters[name]

    def _reached(self, name: str) -> frozenset[str]:
        found = {name}
        while True:
            more = {other for other, a in self.arrays.items()
                    if other in found or a.depends & found or any(other in self.arrays[f].depends for f in found)}
            if more <= found:
                return frozenset(found)
            found |= more

    def _joint(self, group: list[tuple[Any, Fraction]]) -> Polynomial:
        if any(e.denominator != 1 or e < 0 for _, e in group):
            return Polynomial.atom(("mean", frozenset(group)))
        if all(a[0] == "entry" for a, _ in group):
            if len(group) == 1:
                ((_, name, indices), power) = group[0]
                return self.moment(self.arrays[name], int(power), indices)
            if len(group) == 2 and all(e == 1 for _, e in group) and self._uncorrelated(group):
                return self._joint(group[:1]) * self._joint(group[1:])
            (first, *_), names = group, {a[1] for a, _ in group}
            odd = sum(int(e) for _, e in group) % 2
            if len(names) == 1 and self.arrays[first[0][1]].has(Kind.SYMMETRIC) and odd:
                return Polynomial({})
        return Polynomial.atom(("mean", frozenset(group)))

    def _uncorrelated(self, group: list[tuple[Any, Fraction]]) -> bool:
        a, b = (self.arrays[atom[1]] for atom, _ in group)
        return a.name in b.uncorrelated or b.name in a.uncorrelated

    def moment(self, array: RandomArray, order: int, indices: tuple[int, ...]) -> Polynomial:
        """E[entry^order] from what was declared; index-free only if identically distributed."""
        if order == 0:
            return Polynomial.number(1)
        if order % 2 and (array.has(Kind.SYMMETRIC) or (order == 1 and array.zero_mean)):
            return Polynomial({})
        if not array.has(Kind.IDENTICAL):
            return Polynomial.atom(("moment", array.name, order, indices))
        _, mean, scale, higher, *_ = array.args
        declared = {int(k): v for k, v in higher.args}
        if order in declared:
            return self.value(declared[order], self.sizes)
        if order == 1:
            return Polynomial.atom(("moment", array.name, 1, ())) if array.mean is None else self.value(mean, self.sizes)
        first = self.moment(array, 1, indices)
        if order == 2 and scale.args:
            size = self.value(scale.args[1], self.sizes)
            return size + first * first if str(scale.args[0]) == "variance" else size
        if order > 2 and array.has(Kind.GAUSSIAN):
            spread = self.moment(array, 2, indices) + (first * first).scaled(-1)
            by_parts = (spread * self.moment(array, order - 2, indices)).scaled(order - 1)
            return by_parts + first * self.moment(array, order - 1, indices)
        return Polynomial.atom(("moment", array.name, order, ()))


def interchangeable(e: IndexSum) -> list[tuple[Symbol, ...]]:
    """Rows of indices (one per copy) that the summand lets change places, or nothing."""
    if any(len(r.indices) > 1 or r.excluded for r in e.ranges):
        return []
    rows: dict[str, list[Symbol]] = {}
    for r in e.ranges:
        name = str(r.indices[0])
        rows.setdefault(name.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"), []).append(r.indices[0])
    found = [tuple(row) for row in rows.values()]
    shapes = {tuple(Writer._range_of(e, i).bounds for i in row) for row in found}
    if len(shapes) != 1:
        return []
    for left, right in zip(found, found[1:], strict=False):
        swap = {a: b for x, y in zip(left, right, strict=True) for a, b in ((x, y), (y, x))}
        if e.summand.xreplace(swap) != e.summand:
            return []
    return found


def _settled(inner: Polynomial, exponent: Fraction) -> Polynomial:
    if not inner.terms:
        if exponent > 0:
            return inner
        raise NotCovered("a negative power of zero")
    return inner.power(exponent)


def _symbolic_power(inner: Polynomial, monomial: Monomial, coefficient: Fraction) -> Polynomial:
    """inner^(coefficient * monomial), one atom for each atom or prime of the base."""
    result = Polynomial.number(1)
    if len(inner.terms) == 1:
        ((inside, number),) = inner.terms.items()
        for atom, exponent in inside:
            result = result * Polynomial.atom(("to", atom, monomial), exponent * coefficient)
        base = Polynomial.number(number)
        return result if number == 1 else result * Polynomial.atom(("to", base, monomial), coefficient)
    primitive, content = inner.primitive()
    result = Polynomial.atom(("to", ("power", primitive), monomial), coefficient)
    return result if content == 1 else result * Polynomial.atom(
        ("to", Polynomial.number(content), monomial), coefficient)


