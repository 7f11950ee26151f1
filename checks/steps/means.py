"""Expectations of monomials in entries and events, from the declared properties alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq
from sympy import Expr

from varlaw.checks.steps.polynomials import ZERO, Monomial, Polynomial, Power
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.assumptions import Kind

RANDOM = ("entry", "event", "function")


class NotCovered(ValueError):
    """An expression cannot be written out, or only at too great a cost."""


def holds_entry(part: Any) -> bool:
    """Whether an atom is made of entries of random arrays."""
    if isinstance(part, Polynomial):
        return any(holds_entry(atom) for monomial in part.terms for atom, _ in monomial)
    if isinstance(part, (tuple, frozenset)):
        named = isinstance(part, tuple) and part and part[0] in RANDOM
        return bool(named) or any(map(holds_entry, part))
    return False


def _names(atom: Any) -> set[str]:
    """The arrays that an entry, an event or a function of entries is made of."""
    if atom[0] == "entry":
        return {atom[1]}
    inner = (a for m in atom[2].terms for a, _ in m if a[0] in RANDOM)
    return set().union(*map(_names, inner))


@dataclass
class Means:
    """Replaces monomials by moments: joint ones where independence is not declared.

    `write` writes a declared value, such as a variance g/n, out as a polynomial.
    """

    arrays: Mapping[str, RandomArray]
    write: Callable[[Expr], Polynomial]
    clusters: dict[str, frozenset[str]] = field(default_factory=dict)
    memory: dict[Monomial, Polynomial] = field(default_factory=dict)

    def expectation(self, inside: Polynomial) -> Polynomial:
        """E of a polynomial in entries and events, by linearity and the declared properties."""
        total: dict[Monomial, fmpq] = {}
        for monomial, coefficient in inside.terms.items():
            if monomial not in self.memory:
                self.memory[monomial] = self._mean(monomial)
            for out, factor in self.memory[monomial].terms.items():
                total[out] = total.get(out, ZERO) + factor * coefficient
        return Polynomial(total)

    def _mean(self, monomial: Monomial) -> Polynomial:
        fixed = frozenset((a, e) for a, e in monomial if a[0] not in RANDOM)
        if any(holds_entry(atom) for atom, _ in fixed):
            raise NotCovered("an expectation of something else than powers of entries")
        random = [(a, e) for a, e in monomial if a[0] in ("entry", "function")]
        events = {a for a, _ in monomial if a[0] == "event"}
        if len({inside for _, _, inside in events}) < len(events):
            return Polynomial({})  # events that exclude one another
        random += [(event, 1) for event in events]
        result = Polynomial({fixed: fmpq(1)})
        for group in self._groups(random):
            result = result * self._joint(group)
        return result

    def _groups(self, items: list[tuple[Any, Power]]) -> list[list[tuple[Any, Power]]]:
        """Factors of one monomial, in groups that are independent by declaration."""
        present = set().union(*(_names(atom) for atom, _ in items))
        groups: list[tuple[set[Any], list[tuple[Any, Power]]]] = []
        for item in items:
            keys = self._keys(item[0], present)
            near = [g for g in groups if g[0] & keys]
            groups = [g for g in groups if g not in near]
            groups.append(
                (keys.union(*(g[0] for g in near)), [item] + [x for g in near for x in g[1]])
            )
        return [members for _, members in groups]

    def _keys(self, atom: Any, present: set[str]) -> set[Any]:
        """What an atom is made of: single entries of independent arrays, or whole clusters.

        Entries of an array are independent whatever other arrays depend on it, as long as none of
        those stands beside them.
        """
        if atom[0] != "entry":
            inner = (a for m in atom[2].terms for a, _ in m if a[0] in RANDOM)
            return set().union(*(self._keys(a, present) for a in inner))
        _, name, indices = atom
        cluster = self._cluster(name) & present
        if cluster == {name} and self.arrays[name].has(Kind.INDEPENDENT_ENTRIES):
            return {(name, indices)}
        return {cluster}

    def _cluster(self, name: str) -> frozenset[str]:
        if name not in self.clusters:
            self.clusters[name] = self._reached(name)
        return self.clusters[name]

    def _reached(self, name: str) -> frozenset[str]:
        """Arrays that may depend on one another, also through others that are not in play."""
        found = {name} | self.arrays[name].depends
        while True:
            more = found.union(
                *({o} | a.depends for o, a in self.arrays.items() if ({o} | a.depends) & found)
            )
            if more == found:
                return frozenset(found)
            found = more

    def _joint(self, group: list[tuple[Any, Power]]) -> Polynomial:
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

    def _uncorrelated(self, group: list[tuple[Any, Power]]) -> bool:
        a, b = (self.arrays[atom[1]] for atom, _ in group)
        return a.name in b.uncorrelated or b.name in a.uncorrelated

    def moment(self, array: RandomArray, order: int, indices: tuple[int, ...]) -> Polynomial:
        """E[entry^order] from what was declared; index-free only if identically distributed."""
        if order == 0:
            return Polynomial.number(1)
        if order % 2 and (array.has(Kind.SYMMETRIC) or (order == 1 and array.zero_mean)):
            return Polynomial({})
        if indices and not array.has(Kind.IDENTICAL):
            return Polynomial.atom(("moment", array.name, order, indices))
        _, mean, scale, higher, *_ = array.args
        declared = {int(k): v for k, v in higher.args}
        if order in declared:
            return self.write(declared[order])
        if order == 1:
            return (
                Polynomial.atom(("moment", array.name, 1, ()))
                if array.mean is None
                else self.write(mean)
            )
        first = self.moment(array, 1, indices)
        if order == 2 and scale.args:
            size = self.write(scale.args[1])
            return size + first * first if str(scale.args[0]) == "variance" else size
        if order > 2 and array.has(Kind.GAUSSIAN):
            spread = self.moment(array, 2, indices) + (first * first).scaled(-1)
            by_parts = (spread * self.moment(array, order - 2, indices)).scaled(order - 1)
            return by_parts + first * self.moment(array, order - 1, indices)
        return Polynomial.atom(("moment", array.name, order, ()))
