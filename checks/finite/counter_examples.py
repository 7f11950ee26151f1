"""Finite models that keep a law's assumptions but one, and break the law."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from sympy import Basic, Expr, Function, Rational, Symbol, cos, nan, sin

from varlaw.checks.finite.enumeration import Enumerator
from varlaw.checks.finite.worlds import World, worlds
from varlaw.checks.steps.algebra import equal, opened
from varlaw.checks.steps.moments import NotCovered
from varlaw.symbolic.arrays import Entry, Moment, RandomArray, arrays_in
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.spectra import Spectral
from varlaw.symbolic.terms import Delta, Expectation, IndexSum, Indicator, Slope, indicator

CHOICES = (  # values of symbols, tried in turn until both sides can be computed
    (),  # solved from the moments of the models
    (Rational(3, 5), Rational(5, 13), Rational(8, 17)),  # 1 - v^2 is a square
    (Rational(9, 25), Rational(16, 25), Rational(25, 169)),  # v and 1 - v are squares
)

ENOUGH = 160_000  # outcomes gone through, after which no further model is tried


def counter_example(
    assumption: Assumption | None, start: Expr, end: Expr, arrays: Mapping[str, RandomArray]
) -> str | None:
    """A finite model that keeps the other assumptions and breaks the law, in words; or None.

    With `assumption` None every declaration is kept: a model found then refutes the law.
    """
    for world, indices, left, right in _values(assumption, start, end, arrays):
        if left != right and not equal(left, right):
            at = ", ".join(f"{k} = {v}" for k, v in {**world.sizes, **indices}.items())
            return f"{world}; at {at or 'one point'} the law's sides are {left} and {right}"
    return None


def models_tried(start: Expr, end: Expr, arrays: Mapping[str, RandomArray]) -> int:
    """In how many finite models, all declarations kept, both sides can be computed."""
    return sum(1 for _ in _values(None, start, end, arrays))


def _values(
    assumption: Assumption | None, start: Expr, end: Expr, arrays: Mapping[str, RandomArray]
) -> Iterator[tuple[World, dict[Basic, int], Expr, Expr]]:
    """Both sides of a claim in finite models that keep all declarations but one."""
    if beyond(start, end):
        return
    start, end = opened(start), opened(end)
    arrays = _present(arrays, start, end)
    places, memory = _places(start), _memory(start, end)
    dims = _dimensions(start, end)
    free = {
        s for s in start.free_symbols | end.free_symbols if isinstance(s, Symbol)
    } | _declared_symbols(arrays)
    least = max((int(k) for e in start.atoms(Entry) for k in e.indices if k.is_Integer), default=1)
    covered, spent = False, 0
    for world in chain.from_iterable(
        worlds(arrays, assumption, free - set(dims), dims, values)
        for values in CHOICES
        if not covered
    ):
        if any(size < least for size in world.sizes.values()):
            continue
        for indices in places:
            found = Enumerator(world, indices, memory)
            try:
                if not (assumption and assumption.kind is Kind.NO_ATOM) and not _without_atoms(
                    start, world, indices, memory
                ):
                    continue
                left, right = found.exact(start), found.exact(end)
                if not left.has(nan) and not right.has(nan):  # 0/0 says nothing
                    covered = True
                    yield world, indices, left, right
            except NotCovered:
                continue
            finally:
                spent += found.outcomes
        if spent > ENOUGH:
            return


@lru_cache(maxsize=4)
def _memory(start: Expr, end: Expr) -> dict[Any, Any]:
    """Expectations of one claim in models of their arrays, kept for all of its assumptions."""
    return {}


def _present(arrays: Mapping[str, RandomArray], *sides: Expr) -> dict[str, RandomArray]:
    """The arrays that a claim speaks of and those they depend on: others say nothing about it."""
    names = {a.name for side in sides for a in side.atoms(RandomArray, Moment)}
    while more := {near for n in names & arrays.keys() for near in arrays[n].depends} - names:
        names |= more
    return {name: array for name, array in arrays.items() if name in names}


def _without_atoms(
    start: Expr, world: World, indices: dict[Basic, int], memory: dict[Any, Any]
) -> bool:
    """Whether the events z = 0 have probability zero in the world, for all z under indicators."""
    for event in start.atoms(Indicator):
        z = event.args[0]
        spots = [{**indices, **{s: 1 for s in z.free_symbols if s not in world.sizes}}]
        for spot in spots:
            here = Enumerator(world, spot, memory)
            if here.exact(Expectation(indicator(z, "="))) != 0:
                return False
    return True


def _dimensions(*expressions: Expr) -> list[Symbol]:
    found: set[Symbol] = set()
    for e in expressions:
        for total in e.atoms(IndexSum):
            for r in total.ranges:
                found |= r.upper.free_symbols
    return sorted(found, key=str)


def _declared_symbols(arrays: Mapping[str, RandomArray]) -> set[Symbol]:
    return set().union(*(a.atoms(Symbol) for a in arrays.values()))


def _places(start: Expr) -> list[dict[Basic, int]]:
    """Values for the free indices: all 1, and all 2 (where entries may differ in law).

    An index that a Kronecker delta compares with others stays in every range, at 1.
    """
    bound = {i for total in start.atoms(IndexSum) for i in total.bound}
    of_entries = {s for e in start.atoms(Entry) for s in e.free_symbols}
    free = sorted(of_entries & start.free_symbols, key=str)
    compared = {s: 1 for e in start.atoms(Delta) for s in e.free_symbols - bound}
    return [{s: value for s in free} | compared for value in ((1, 2) if free else (1,))]


def beyond(start: Expr, end: Expr, assumption: Assumption | None = None) -> bool:
    """Whether no finite model can tell: functions of Gaussian variables, spectra, rotations.

    No finite model here has the moments of functions that are no polynomials, or rows of length 1.
    With an assumption: whether it speaks of one of these variables.
    """
    turned = start.has(sin, cos)  # no rational values
    names = {a.name for a in arrays_in(start).values() if turned or a.has(Kind.ORTHONORMAL)}
    names |= {
        entry.array.name
        for side in (start, end)
        for part in opened(side).atoms(Function, Indicator, Slope, Spectral)
        for entry in part.atoms(Entry)
        if entry.array.has(Kind.GAUSSIAN) or isinstance(part, Slope)
    }
    return bool(names if assumption is None else names & set(assumption.subjects))
