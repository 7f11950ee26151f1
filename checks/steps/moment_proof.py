"""Proof of a step of the expectation calculus by moment polynomials.

Both sides of a step are polynomials in each dimension, of a degree that is read off the
expressions. They are written out by brute force at degree + 1 values of every dimension; if they
agree there they agree for all dimensions. Small dimensions alone would prove nothing.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from sympy import Add, Basic, Expr, Integer, Mul, Pow, Symbol

from varlaw.checks.report import Proof
from varlaw.checks.steps.moments import NotCovered, Writer
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import Defined, IndexProduct, Named
from varlaw.symbolic.terms import Covariance, Delta, Expectation, IndexSum, Indicator, Variance

Finding = tuple[Proof, str]


def prove_moments(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Whether both sides agree as moment polynomials at enough dimensions to prove the step."""
    before, after = _plain(step.before), _plain(step.after)
    dims = sorted(_dimensions(before) | _dimensions(after), key=str)
    try:
        sides = [Degrees(side, arrays) for side in (before, after)]
        needed = {dim: max(side.points(dim) for side in sides) for dim in dims}
        apart = _difference(before, after, arrays, needed)
        if apart:
            return Proof.REFUTED, f"the two sides differ as moment polynomials at {apart}"
        few = {dim: min(points, 2) for dim, points in needed.items()}
        present = _present(step, arrays)
        weaker = recorded(present, step.assumptions)
        apart = "" if weaker == present else _difference(before, after, weaker, few)
        if apart:
            return Proof.REFUTED, f"needs more than the assumptions it records: see {apart}"
    except NotCovered as error:
        return Proof.UNCHECKED, str(error)
    degrees = ", ".join(f"{needed[d]} values of {d}" for d in dims)
    return Proof.PROVED, f"moment polynomials{' at ' + degrees if degrees else ''}"


def _difference(
    before: Expr, after: Expr, arrays: Mapping[str, RandomArray], points: Mapping[Symbol, int]
) -> str:
    """Where the two sides differ, among so many values of each dimension; nothing if nowhere."""
    dims = list(points)
    for where in _index_values(before, after, set(dims)):
        first = _first(before, after, dims, where)
        for sizes in product(*(range(first, first + points[dim]) for dim in dims)):
            here: dict[Basic, int] = dict(zip(dims, sizes, strict=True))
            at, writer = {**where, **here}, Writer(arrays, here)
            if writer.value(before, at) != writer.value(after, at):
                shown = ", ".join(f"{s} = {v}" for s, v in sorted(at.items(), key=str))
                return shown or "one point"
    return ""


def _present(step: Step, arrays: Mapping[str, RandomArray]) -> dict[str, RandomArray]:
    """The arrays of the step and those they depend on: others say nothing about it."""
    names = {a.name for side in (step.before, step.after) for a in side.atoms(RandomArray)}
    names |= {near for name in names if name in arrays for near in arrays[name].depends}
    return {name: array for name, array in arrays.items() if name in names}


def recorded(
    arrays: Mapping[str, RandomArray], assumptions: frozenset[Assumption]
) -> dict[str, RandomArray]:
    """The arrays with no other properties than the assumptions recorded; all else may depend."""
    found = {}
    for name, array in arrays.items():
        kinds = {a.kind for a in assumptions if a.subjects == (name,)}
        apart = {
            s
            for a in assumptions
            if a.kind is Kind.INDEPENDENT
            for s in a.subjects
            if name in a.subjects
        }
        near = {
            s
            for a in assumptions
            if a.kind is Kind.UNCORRELATED
            for s in a.subjects
            if name in a.subjects
        } - {name}
        weaker = array
        for kind in (Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL, Kind.SYMMETRIC, Kind.GAUSSIAN):
            if kind not in kinds:
                weaker = weaker.without(kind)
        if weaker.zero_mean and not kinds & {Kind.ZERO_MEAN, Kind.SYMMETRIC}:
            weaker = weaker.without(Kind.ZERO_MEAN)
        found[name] = weaker.related(arrays.keys() - apart - {name}, near)
    return found


def _plain(expression: Basic) -> Expr:
    """The expression with everything that goes by a name written out."""
    while True:
        opened = expression.replace(
            lambda e: isinstance(e, (Named, Defined)), lambda e: e.definition
        )
        if opened == expression:
            return opened
        expression = opened


def _dimensions(expression: Expr) -> set[Symbol]:
    found: set[Symbol] = set()
    for total in expression.atoms(IndexSum):
        for r in total.ranges:
            found |= r.upper.free_symbols
    return found


def _index_values(before: Expr, after: Expr, dims: set[Symbol]) -> Iterator[dict[Basic, int]]:
    """Values for the free indices: every way in which they may coincide."""
    used: set[Basic] = set()
    for side in (before, after):
        for e in side.atoms(Entry, Delta):
            used |= e.free_symbols
        for r in side.atoms(Range):
            used |= {s for index in r.excluded for s in index.free_symbols}
    free = used & (before.free_symbols | after.free_symbols) - dims
    indices = sorted(free, key=str)

    def extend(position: int, values: list[int]) -> Iterator[list[int]]:
        if position == len(indices):
            yield list(values)
            return
        for value in range(1, max(values, default=0) + 2):
            yield from extend(position + 1, [*values, value])

    for values in extend(0, []):
        yield dict(zip(indices, values, strict=True))


def _first(before: Expr, after: Expr, dims: list[Symbol], where: Mapping[Basic, int]) -> int:
    """The smallest size at which all indices named are in range and no range is negative."""
    spans = [r for side in (before, after) for r in side.atoms(Range)]
    named = [k for e in before.atoms(Entry) | after.atoms(Entry) for k in e.indices]
    named += [k for r in spans for k in r.excluded]
    literal = [int(k) for k in named if k.is_Integer]
    least = max([1, *where.values(), *literal])
    for size in range(least, least + 12):
        at = dict.fromkeys(dims, Integer(size))
        if all(
            (r.upper - r.lower + 1 - least).xreplace(at) >= 0
            for r in spans
            if r.free_bounds & set(dims)
        ):
            return size
    raise NotCovered("the ranges of the sums do not grow with the dimensions")


class Degrees:
    """Bounds of the degree of one side of a step in its dimensions, read off the expression."""

    def __init__(self, side: Expr, arrays: Mapping[str, RandomArray]) -> None:
        self.side, self.arrays = side, arrays

    def points(self, dim: Symbol) -> int:
        """How many values of the dimension prove that the side vanishes, if it is zero there."""
        declared = [self._declared(array, dim) for array in self.arrays.values()]
        up, down = (
            max((u for u, _ in declared), default=0),
            max((d for _, d in declared), default=0),
        )
        entries = _multiplicity(self.side) if up or down else 0
        return _degree(self.side, dim) + _poles(self.side, dim) + entries * (up + down) + 1

    @staticmethod
    def _declared(array: RandomArray, dim: Symbol) -> tuple[int, int]:
        """Degree and poles in the dimension of what was declared of an array."""
        values = [
            v for part in (array.args[1], *array.args[2].args[1:]) if isinstance(v := part, Expr)
        ]
        values += [value for _, value in array.args[3].args]
        shown = [v for v in map(_plain, values) if dim in v.free_symbols]
        return (
            max((_degree(v, dim) for v in shown), default=0),
            max((_poles(v, dim) for v in shown), default=0),
        )


def _multiplicity(e: Expr) -> int:
    """At most how many entries stand in one term of the expression, multiplied out."""
    if isinstance(e, Entry):
        return 1
    if isinstance(e, Add):
        return max(map(_multiplicity, e.args))
    if isinstance(e, Pow):
        return int(e.exp) * _multiplicity(e.base) if e.exp.is_Integer and e.exp > 0 else 0
    parts = [_multiplicity(part) for part in e.args if isinstance(part, Expr)]
    return 2 * sum(parts) if isinstance(e, (Variance,)) else sum(parts)


def _poles(e: Expr, dim: Symbol) -> int:
    """The largest power of 1/dim in a product (an upper bound)."""
    if isinstance(e, Pow) and dim in e.base.free_symbols:
        if not e.exp.is_Integer or (e.exp < 0 and e.base != dim):
            raise NotCovered(f"{e} is no polynomial in {dim} and 1/{dim}")
        return -int(e.exp) if e.exp < 0 else _poles(e.base, dim) * int(e.exp)
    if isinstance(e, (Add, Mul)):
        found = [_poles(part, dim) for part in e.args]
        return max(found) if isinstance(e, Add) else sum(found)
    return max((_poles(part, dim) for part in e.args if isinstance(part, Expr)), default=0)


def _degree(e: Expr, dim: Symbol) -> int:
    """An upper bound of the degree in a dimension, outside and inside expectations."""
    if isinstance(e, Expectation):
        return _copies(e.args[0], dim, e)
    if isinstance(e, Variance):
        return max(
            _degree(Expectation(e.args[0] ** 2), dim), 2 * _degree(Expectation(e.args[0]), dim)
        )
    if isinstance(e, Covariance):
        x, y = e.args
        apart = _degree(Expectation(x), dim) + _degree(Expectation(y), dim)
        return max(_degree(Expectation(x * y), dim), apart)
    if dim in e.free_symbols and isinstance(e, (IndexProduct, Delta)):
        raise NotCovered(f"{e} is no polynomial in {dim}")
    if isinstance(e, IndexSum):
        mine = _indices_over(e, dim)
        loose = [
            r
            for r in e.ranges
            if dim in r.upper.free_symbols and len(r.indices) == 1 and not r.excluded
        ]
        whole = len(loose) == len(mine) and all(_carried(e.summand, i) for i in mine)
        return (len(mine) // 2 if whole else len(mine)) + _degree(e.summand, dim)
    if isinstance(e, Add):
        return max(_degree(part, dim) for part in e.args)
    if isinstance(e, Mul):
        return sum(_degree(part, dim) for part in e.args)
    if isinstance(e, Pow):
        if dim in e.exp.free_symbols:
            raise NotCovered(f"{e} is no polynomial in {dim}")
        if e.base == dim and e.exp.is_Integer:
            return int(e.exp)
        return int(e.exp) * _degree(e.base, dim) if e.exp.is_Integer and e.exp > 0 else 0
    return 1 if e == dim else 0


def _indices_over(e: IndexSum, dim: Symbol) -> list[Symbol]:
    """The indices of a sum that run over a range whose length grows with the dimension by 1."""
    found: list[Symbol] = []
    for r in e.ranges:
        if dim not in r.free_bounds:
            continue
        if (r.upper - dim).has(dim) or r.lower.has(dim):
            raise NotCovered(f"the range {r.lower}..{r.upper} is not one of {dim} indices")
        found += r.indices
    return found


def _copies(inside: Expr, dim: Symbol, whole: Expectation) -> int:
    """Index copies over the dimension in an expectation: half of them count if each is carried."""
    count, carried = _count(inside, dim, whole)
    return count // 2 if carried else count


def _count(e: Expr, dim: Symbol, whole: Expectation) -> tuple[int, bool]:
    if isinstance(e, IndexSum):
        mine = _indices_over(e, dim)
        inner, carried = _count(e.summand, dim, whole)
        own = all(_carries(e.summand, i, whole) for i in mine)
        return len(mine) + inner, own and carried
    if isinstance(e, Add):
        parts = [_count(part, dim, whole) for part in e.args]
        return max(n for n, _ in parts), all(c for _, c in parts)
    if isinstance(e, Mul):
        parts = [_count(part, dim, whole) for part in e.args]
        return sum(n for n, _ in parts), all(c for _, c in parts)
    if isinstance(e, Pow) and e.exp.is_Integer and e.exp > 0:
        n, carried = _count(e.base, dim, whole)
        return n * int(e.exp), carried
    return (1, False) if e == dim else (0, True)


def _carried(summand: Expr, index: Symbol) -> bool:
    """Whether a lone value of the index leaves an independent zero-mean factor alone."""
    return any(
        isinstance(f, Expectation) and _carries(f.args[0], index, f) for f in Mul.make_args(summand)
    )


def _carries(inside: Expr, index: Symbol, whole: Expectation) -> bool:
    events = {a.name for e in whole.atoms(Indicator) for a in e.atoms(RandomArray)}
    dependent = {a.name for a in whole.atoms(RandomArray)}
    for factor in Mul.make_args(inside):
        if not isinstance(factor, Entry) or index not in factor.indices:
            continue
        array = factor.array
        alone = not array.depends and not any(
            array.name in other.depends for other in whole.atoms(RandomArray)
        )
        if (
            array.zero_mean
            and array.has(Kind.INDEPENDENT_ENTRIES)
            and alone
            and array.name not in events
            and array.name in dependent
        ):
            return True
    return False
