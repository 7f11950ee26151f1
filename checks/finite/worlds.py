"""Finite models: random arrays on a finite probability space that meet given declarations.

Every entry is a shift plus a product of columns, each a table of values over the outcomes of one
independent seed. A declared variance is met by a scale, and by other odds where it is no square.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, count, cycle, product
from math import comb

from flint import fmpq
from sympy import Basic, Dummy, Expr, Integer, Rational, Symbol, degree, fraction, sqrt, together

from varlaw.checks.finite.tables import FACTOR, NORMAL, OFFSET, SKEWED, SWITCH, SYMMETRIC, Table
from varlaw.checks.steps.algebra import opened
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.assumptions import RELATIONS, Assumption, Kind
from varlaw.symbolic.sequences import Term

Indices = tuple[int, ...]
Seed = tuple[str, Indices]


@dataclass(frozen=True)
class Recipe:
    """How the entries of one array are made from seeds."""

    table: Table
    scale: fmpq
    shift: fmpq
    own: Callable[[Indices], Seed] = field(default=lambda i: ("", i), compare=False)
    extra: tuple[tuple[Callable[[Indices], Seed], Table], ...] = field(default=(), compare=False)
    stretched: bool = False
    words: str = ""

    def columns(self, indices: Indices) -> list[tuple[Seed, Table]]:
        return [
            (self.own(indices), self.table),
            *((seed(indices), table) for seed, table in self.extra),
        ]

    def factor(self, indices: Indices) -> fmpq:
        """The scale of an entry; it grows with the indices where entries differ in law."""
        grown = 1 + sum(indices) - len(indices) if self.stretched else 1
        return self.scale * grown


@dataclass(frozen=True)
class World:
    """Recipes for all arrays, values for the other symbols, and the sizes of the dimensions."""

    recipes: Mapping[str, Recipe]
    symbols: Mapping[Basic, Rational]
    sizes: Mapping[Basic, int]

    def moment(self, name: str, order: int) -> fmpq:
        """The raw moment of the first entry of an array."""
        recipe = self.recipes[name]
        total = fmpq(0)
        for k in range(order + 1):
            part = fmpq(comb(order, k)) * recipe.shift ** (order - k) * recipe.scale**k
            for _, table in recipe.columns((1, 1, 1)):
                part *= table.moment(k)
            total += part
        return total

    def __str__(self) -> str:
        return "; ".join(f"{name}: {recipe.words}" for name, recipe in sorted(self.recipes.items()))


def worlds(
    arrays: Mapping[str, RandomArray],
    dropped: Assumption | None,
    free: set[Symbol],
    dims: list[Symbol],
    values: tuple[Rational, ...] = (),
) -> Iterator[World]:
    """Models that keep every declaration but `dropped`, at several sizes.

    With `dropped` None all declarations are kept. Models whose moments cannot take a declared
    number are left out. The free symbols take `values` in turn; without these, what the moments
    of the models make of them.
    """
    loose = sorted((s for s in free if not s.is_integer), key=str)
    chosen = dict(zip(loose, cycle(values), strict=False)) if values else {}
    ties: list[tuple[str, ...]] = [()]
    if dropped and dropped.kind in RELATIONS:
        ties = [dropped.subjects, dropped.subjects[::-1]]
    for sizes in _sizes(len(dims)):
        at = dict(zip(dims, sizes, strict=True))
        given = {**chosen, **{dim: Integer(size) for dim, size in at.items()}}
        for tie in ties:
            options = [
                [(name, r) for r in _recipes(array, arrays, dropped, tie, given)]
                for name, array in arrays.items()
            ]
            for choice in product(*options):
                recipes = dict(choice)
                if not _apart(arrays, recipes, dropped):
                    continue
                symbols = _symbol_values(arrays, recipes, free, given)
                if symbols is not None:
                    yield World(recipes, symbols, at)


def _apart(
    arrays: Mapping[str, RandomArray], recipes: Mapping[str, Recipe], dropped: Assumption | None
) -> bool:
    """Whether arrays that were declared independent of one another share no seed."""
    roots = {
        name: {seed[0] for seed, _ in recipe.columns((1, 1, 1))} for name, recipe in recipes.items()
    }
    tied = set(dropped.subjects) if dropped and dropped.kind in RELATIONS else set()
    for a, b in combinations(arrays.values(), 2):
        meet = ({a.name} | a.depends) & ({b.name} | b.depends)
        if not meet and {a.name, b.name} != tied and roots[a.name] & roots[b.name]:
            return False
    return True


def _sizes(count: int) -> Iterator[tuple[int, ...]]:
    if count == 0:
        yield ()
    elif count == 1:
        yield from ((2,), (1,), (3,))
    else:
        yield from (
            (2, 1) + (1,) * (count - 2),
            (1, 2) + (1,) * (count - 2),
            (2, 2) + (2,) * (count - 2),
        )


def _recipes(
    array: RandomArray,
    arrays: Mapping[str, RandomArray],
    dropped: Assumption | None,
    tie: tuple[str, ...],
    given: Mapping[Basic, Basic],
) -> Iterator[Recipe]:
    """The ways tried to make one array; with `tie` (a, b) the array a is a function of b."""
    gone = (
        dropped.kind
        if dropped and dropped.subjects[0] == array.name and len(dropped.subjects) == 1
        else None
    )
    name = array.name
    symmetric = array.has(Kind.SYMMETRIC) and gone not in (Kind.SYMMETRIC, Kind.ZERO_MEAN)
    gaussian = array.has(Kind.GAUSSIAN) and gone is not Kind.GAUSSIAN
    centred = array.zero_mean and gone is not Kind.ZERO_MEAN
    table = NORMAL if gaussian else SYMMETRIC if symmetric else SKEWED
    shift = fmpq(0)
    if not centred:
        mean = None if array.mean is None else array.mean.xreplace(given)
        if mean is not None and mean.is_Rational and mean != 0:
            shift = fmpq(int(mean.p), int(mean.q))
        elif array.scale == "second_moment":
            table = OFFSET
        else:
            shift = fmpq(1)
    scale, second = _scale(array, given)
    found = table.spread(second)
    if found is None:
        return
    table = found
    words = (
        f"{table}"
        + (f", times {scale}" if scale != 1 else "")
        + (f", plus {shift}" if shift != 0 else "")
    )
    stretched = not array.has(Kind.IDENTICAL) or gone is Kind.IDENTICAL
    if stretched:
        words += ", times 1, 2, 3, ... along the indices"
    independent = array.has(Kind.INDEPENDENT_ENTRIES) and gone is not Kind.INDEPENDENT_ENTRIES

    def own(i: Indices) -> Seed:
        return name, i

    def common(i: Indices) -> Seed:
        return name, ()

    tied = [other for other in arrays if other in array.depends or (name, other) == tie]
    if tie[::-1][:1] == (name,) and tie[0] in array.depends:
        tied.remove(tie[0])
    if tied:
        first, *others = tied
        for label, place in _PLACES.items():
            if independent and label in _MERGING:
                continue
            seed = _seed(first, place)
            more = tuple((_seed(other, place), SKEWED) for other in others)
            names = " and ".join(tied) + label
            if _uncorrelated(array, arrays[first], dropped):
                yield Recipe(
                    table,
                    scale,
                    shift,
                    own,
                    ((seed, FACTOR), *more),
                    stretched,
                    f"{words}, times a positive function of {names}",
                )
            else:
                yield Recipe(
                    table, scale, shift, seed, more, stretched, f"{words}, a function of {names}"
                )
        return
    extra: tuple[tuple[Callable[[Indices], Seed], Table], ...] = ()
    if dropped and dropped.kind is Kind.NO_ATOM:
        extra = ((lambda i: (f"{name} switch", ()), SWITCH),)
        if not array.zero_mean:
            yield Recipe(
                table, scale, fmpq(0), own, extra, stretched, f"{words}, all 0 with probability 1/3"
            )
            return
        extra = ()
    if independent:
        yield Recipe(table, scale, shift, own, extra, stretched, f"{words}, independent entries")
    else:
        yield Recipe(table, scale, shift, common, extra, stretched, f"{words}, all entries equal")
        yield Recipe(
            table,
            scale,
            shift,
            own,
            ((lambda i: (f"{name} scale", ()), FACTOR),),
            stretched,
            f"{words}, all entries times one positive factor",
        )


_PLACES: dict[str, Callable[[Indices], Indices]] = {
    " at the same indices": lambda i: i,
    " (indices then 1)": lambda i: (*i, 1),
    " (1 then indices)": lambda i: (1, *i),
    " (indices reversed)": lambda i: i[::-1],
    " (first index)": lambda i: i[:1],
    " (whatever the indices)": lambda i: (),
}
_MERGING = (" (first index)", " (whatever the indices)")  # these would tie independent entries


def _seed(name: str, place: Callable[[Indices], Indices]) -> Callable[[Indices], Seed]:
    return lambda i: (name, place(i))


def _uncorrelated(array: RandomArray, other: RandomArray, dropped: Assumption | None) -> bool:
    if (
        dropped
        and dropped.kind is Kind.UNCORRELATED
        and set(dropped.subjects) == {array.name, other.name}
    ):
        return False
    return other.name in array.uncorrelated


def _scale(array: RandomArray, given: Mapping[Basic, Basic]) -> tuple[fmpq, fmpq]:
    """A scale, and the second moment of the table that it needs to give the declared number.

    The second moment is 1 where the number is a square; a generic scale stands for a symbol.
    """
    if not array.args[2].args:
        return fmpq(2), fmpq(1)
    declared = array.args[2].args[1]
    value = opened(declared).xreplace(given)
    if not value.is_Rational or value <= 0:
        return fmpq(2 + sum(map(ord, str(declared))) % 3), fmpq(1)
    root, wanted = sqrt(value), fmpq(int(value.p), int(value.q))
    if root.is_Rational:
        return fmpq(int(root.p), int(root.q)), fmpq(1)
    for bottom in count(1):  # the simplest fraction near the root
        scale = fmpq(round(float(root) * bottom), bottom)
        if scale > 0 and fmpq(5, 6) <= wanted / scale**2 <= fmpq(7, 6):
            break
    return scale, wanted / scale**2


def _symbol_values(
    arrays: Mapping[str, RandomArray],
    recipes: Mapping[str, Recipe],
    free: set[Symbol],
    given: Mapping[Basic, Basic],
) -> dict[Basic, Rational] | None:
    """Values of the symbols that the declarations speak of; None if they contradict one another."""
    world = World(recipes, {}, {})
    known: dict[Basic, Rational] = {  # a layer is 3, so that one more is a square
        s: Integer(1 if s.is_positive else 3) for s in free if s.is_integer
    } | dict(given)
    for name, array in arrays.items():
        claims: list[tuple[Expr, fmpq]] = []
        if array.args[2].args:
            size = world.moment(name, 2)
            if array.scale == "variance":
                size -= world.moment(name, 1) ** 2
            claims.append((array.args[2].args[1], size))
        if array.mean is not None and not array.mean.is_number:
            claims.append((array.mean, world.moment(name, 1)))
        claims += [(value, world.moment(name, int(order))) for order, value in array.args[3].args]
        for value, actual in claims:
            target = Rational(int(actual.p), int(actual.q))
            terms = {term: Dummy(str(term)) for term in value.atoms(Term)}
            gap = opened(value).xreplace(terms).xreplace(known)
            gap = (
                gap.xreplace({dummy: known.get(term, term) for term, dummy in terms.items()})
                - target
            )
            unknown = sorted(  # the layer index of a term is no unknown
                gap.atoms(Symbol, Term) - {s for t in gap.atoms(Term) for s in t.free_symbols},
                key=str,
            )
            if not unknown:
                if gap != 0:
                    return None
                continue
            if len(unknown) > 1 or (found := _solved(gap, unknown[0])) is None:
                return None
            known[unknown[0]] = found
    spare = (Rational(5, 4), Rational(16, 9), Rational(9, 16), Rational(21, 4))  # 1 + s is a square
    for k, symbol in enumerate(sorted(free - known.keys(), key=str)):
        known[symbol] = spare[k % len(spare)]
    return known


@lru_cache(maxsize=4096)
def _solved(gap: Expr, unknown: Expr) -> Rational | None:
    """The rational value of a power of the unknown at which the gap vanishes; or None."""
    trial = Dummy()
    top, _ = fraction(together(gap.xreplace({unknown: trial})))
    order = degree(top, trial)
    slope, rest = top.coeff(trial, order), top.xreplace({trial: Integer(0)})
    value = (-rest / slope) ** Rational(1, order) if slope.is_number else None
    if value is None or not value.is_Rational:
        return None
    return value if (slope * trial**order + rest - top).expand() == 0 else None
