"""Proof of a step of the expectation calculus by moment polynomials.

Both sides of a step are polynomials in each dimension, of a degree that is read off the
expressions. They are written out by brute force at degree + 1 values of every dimension; if they
agree there they agree for all dimensions. Small dimensions alone would prove nothing.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from sympy import Add, Basic, Expr, Mul, Pow, Symbol

from varlaw.checks.moments import NotCovered, Writer
from varlaw.checks.report import Proof
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import Defined, Named
from varlaw.symbolic.terms import Covariance, Expectation, IndexSum, Indicator, Variance

Finding = tuple[Proof, str]


def prove_moments(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Whether both sides agree as moment polynomials at enough dimensions to prove the step."""
    before, after = _plain(step.before), _plain(step.after)
    dims = sorted(_dimensions(before) | _dimensions(after), key=str)
    try:
        needed = {dim: max(_points(before, dim), _points(after, dim)) for dim in dims}
        for where in _index_values(before, after, set(dims)):
            first = max(where.values(), default=1)
            grid = [range(first, first + needed[dim]) for dim in dims]
            for sizes in product(*grid):
                here: dict[Basic, int] = dict(zip(dims, sizes, strict=True))
                at, writer = {**where, **here}, Writer(arrays, here)
                if writer.value(before, at) != writer.value(after, at):
                    shown = ", ".join(f"{s} = {v}" for s, v in sorted(at.items(), key=str))
                    return (
                        Proof.REFUTED,
                        f"the two sides differ as moment polynomials at {shown or 'one point'}",
                    )
    except NotCovered as error:
        return Proof.UNCHECKED, str(error)
    degrees = ", ".join(f"degree {needed[d] - 1} in {d}" for d in dims)
    return Proof.PROVED, f"moment polynomials{', ' + degrees if degrees else ''}"


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
    free = set()
    for entry in before.atoms(Entry) | after.atoms(Entry):
        free |= entry.free_symbols
    free &= (before.free_symbols | after.free_symbols) - dims
    indices = sorted(free, key=str)

    def extend(position: int, values: list[int]) -> Iterator[list[int]]:
        if position == len(indices):
            yield list(values)
            return
        for value in range(1, max(values, default=0) + 2):
            yield from extend(position + 1, [*values, value])

    for values in extend(0, []):
        yield dict(zip(indices, values, strict=True))


def _points(e: Expr, dim: Symbol) -> int:
    """How many values of a dimension prove that a polynomial (with powers of 1/dim) vanishes."""
    return _degree(e, dim) + _poles(e, dim) + 1


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
    if isinstance(e, IndexSum):
        mine = [i for r in e.ranges if dim in r.upper.free_symbols for i in r.indices]
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
        return int(e.exp) * _degree(e.base, dim) if e.exp.is_Integer and e.exp > 0 else 0
    return 1 if e == dim else 0


def _copies(inside: Expr, dim: Symbol, whole: Expectation) -> int:
    """Index copies over the dimension in an expectation: half of them count if each is carried."""
    count, carried = _count(inside, dim, whole)
    return count // 2 if carried else count


def _count(e: Expr, dim: Symbol, whole: Expectation) -> tuple[int, bool]:
    if isinstance(e, IndexSum):
        mine = [i for r in e.ranges if dim in r.upper.free_symbols for i in r.indices]
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
