"""Random arrays: families of scalar random variables with symbolic indices and declared moments."""

from collections.abc import Iterable
from typing import Any

from sympy import Basic, Expr, Integer, Symbol, Tuple, binomial, factorial2
from sympy.core.symbol import Str

from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.notation import raised, written

PROPERTIES = (Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL, Kind.SYMMETRIC, Kind.GAUSSIAN)
FREE = Str("free")


class DeclarationError(ValueError):
    """A random array was declared with properties that cannot hold together."""


class Moment(Expr):
    """E[w^k] of an entry of the array called `name`, where no value was declared."""

    is_real = True
    is_commutative = True

    def __new__(cls, name: Str, order: Expr) -> "Moment":
        moment = Expr.__new__(cls, name, Integer(order))
        return moment

    @property
    def name(self) -> str:
        return self.args[0].name

    @property
    def order(self) -> int:
        return int(self.args[1])

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.order % 2 == 0 else None

    def _sympystr(self, printer: Any) -> str:
        return f"E[{self.name}^{self.order}]" if self.order > 1 else f"E[{self.name}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        inner = written(self.name, (), printer, str(self.order) if self.order > 1 else None)
        return raised(rf"\operatorname{{E}}\left[{inner}\right]", exp)


class RandomArray(Basic):
    """A family of scalar random variables `w[i, j]` with declared properties.

    Built by `random_array`; everything declared is part of its identity, so that a weaker
    declaration of the same name can be put in its place (`without`).
    """

    def __new__(
        cls,
        name: Str,
        mean: Basic,
        scale: Tuple,
        higher: Tuple,
        properties: Tuple,
        depends: Tuple,
        uncorrelated: Tuple,
    ) -> "RandomArray":
        made = Basic.__new__(cls, name, mean, scale, higher, properties, depends, uncorrelated)
        return made

    @property
    def name(self) -> str:
        return self.args[0].name

    @property
    def mean(self) -> Expr | None:
        return None if self.args[1] == FREE else self.args[1]

    @property
    def properties(self) -> frozenset[Kind]:
        return frozenset(Kind(p.name) for p in self.args[4].args)

    @property
    def depends(self) -> frozenset[str]:
        """Names of the arrays that this one may depend on, in any way."""
        return frozenset(name.name for name in self.args[5].args)

    @property
    def uncorrelated(self) -> frozenset[str]:
        """Names, among `depends`, of the arrays with which each entry is uncorrelated."""
        return frozenset(name.name for name in self.args[6].args)

    @property
    def zero_mean(self) -> bool:
        return self.mean == 0

    def has(self, kind: Kind) -> bool:
        if kind is Kind.ZERO_MEAN:
            return self.zero_mean
        return any(declared.name == kind for declared in self.args[4].args)

    def assumption(self, kind: Kind) -> Assumption:
        return Assumption(kind, (self.name,))

    @property
    def centred(self) -> Assumption:
        """The assumption by which the mean vanishes."""
        return self.assumption(Kind.SYMMETRIC if self.has(Kind.SYMMETRIC) else Kind.ZERO_MEAN)

    @property
    def scale(self) -> str | None:
        """How the size of an entry was declared: "variance", "second_moment" or not at all."""
        return self.args[2].args[0].name if self.args[2].args else None

    def __getitem__(self, indices: Any) -> "Entry":
        given = indices if isinstance(indices, tuple) else (indices,)
        for index in given:
            whole = isinstance(index, (int, Integer)) and not isinstance(index, bool)
            if not (whole or isinstance(index, Symbol)):
                raise TypeError(
                    f"an index of {self.name} is a symbol or an integer, not {index!r}; a family "
                    "with shifted or other indices is declared as an array of its own"
                )
        return Entry(self, *given)

    def moment(self, order: int) -> Expr:
        """E[w^order] of one entry, by the declarations (raw moment; index-free).

        Undeclared moments are the symbols `Moment`; those of odd order vanish for a symmetric
        array, and a Gaussian one has all moments from its mean and variance.
        """
        if order == 0:
            return Integer(1)
        if order % 2 and (self.has(Kind.SYMMETRIC) or (order == 1 and self.zero_mean)):
            return Integer(0)
        for known, value in self.args[3].args:
            if known == order:
                return value
        name = self.args[0]
        mean = Moment(name, Integer(1)) if self.mean is None else self.mean
        if order == 1:
            return mean
        if self.has(Kind.GAUSSIAN):
            variance = self.moment(2) - mean**2 if order > 2 else self._second(mean)
            if order == 2:
                return variance
            return sum(
                (
                    binomial(order, 2 * k)
                    * factorial2(2 * k - 1)
                    * variance**k
                    * mean ** (order - 2 * k)
                    for k in range(order // 2 + 1)
                ),
                Integer(0),
            )
        return self._second(mean) if order == 2 else Moment(name, Integer(order))

    def _second(self, mean: Expr) -> Expr:
        scale = self.args[2].args
        if not scale:
            return Moment(self.args[0], Integer(2))
        kind, value = scale
        return value + mean**2 if kind.name == "variance" else value

    def assumptions(self) -> frozenset[Assumption]:
        """The declared properties of this array alone."""
        kinds = {p for p in self.properties}
        if self.zero_mean and Kind.SYMMETRIC not in kinds:
            kinds.add(Kind.ZERO_MEAN)
        return frozenset(self.assumption(kind) for kind in kinds)

    def without(self, kind: Kind) -> "RandomArray":
        """The same array with one property given up (and those that imply it)."""
        name, mean, scale, higher, _, depends, uncorrelated = self.args
        kept = self.properties - {kind}
        if kind is Kind.ZERO_MEAN:
            mean, kept = FREE, kept - {Kind.SYMMETRIC}
        return RandomArray(name, mean, scale, higher, kinds_tuple(kept), depends, uncorrelated)

    def with_property(self, kind: Kind) -> "RandomArray":
        """The same array with one more property."""
        name, mean, scale, higher, _, depends, uncorrelated = self.args
        kept = self.properties
        if kind in (Kind.ZERO_MEAN, Kind.SYMMETRIC):
            mean = Integer(0)
        if kind is not Kind.ZERO_MEAN:
            kept = kept | {kind}
        return RandomArray(name, mean, scale, higher, kinds_tuple(kept), depends, uncorrelated)

    def related(self, depends: Iterable[str], uncorrelated: Iterable[str]) -> "RandomArray":
        """The same array with other relations to the other arrays."""
        name, mean, scale, higher, properties, *_ = self.args
        near = names_tuple(uncorrelated)
        return RandomArray(name, mean, scale, higher, properties, names_tuple(depends), near)

    def _sympystr(self, printer: Any) -> str:
        return self.name


class Entry(Expr):
    """One entry `w[i, j]` of a random array."""

    is_real = True
    is_commutative = True

    def __new__(cls, array: RandomArray, *indices: Any) -> "Entry":
        checked = [Integer(k) if isinstance(k, int) else k for k in indices]
        if not all(isinstance(k, Expr) for k in checked):
            raise TypeError(f"indices of {array.name} are index symbols or integers")
        return Expr.__new__(cls, array, *checked)

    @property
    def array(self) -> RandomArray:
        return self.args[0]

    @property
    def indices(self) -> tuple[Expr, ...]:
        return tuple(self.args[1:])

    @property
    def free_symbols(self) -> set[Basic]:
        return {symbol for k in self.indices for symbol in k.free_symbols}

    def _sympystr(self, printer: Any) -> str:
        if not self.indices:
            return self.array.name
        return f"{self.array.name}[{', '.join(map(printer.doprint, self.indices))}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return written(self.array.name, self.indices, printer, exp)


def kinds_tuple(kinds: Iterable[Kind]) -> Tuple:
    return Tuple(*(Str(k) for k in sorted(kinds)))


def names_tuple(names: Iterable[str]) -> Tuple:
    return Tuple(*(Str(n) for n in sorted(set(names))))


def arrays_in(expression: Basic) -> dict[str, RandomArray]:
    """The random arrays in an expression, by name.

    Raises DeclarationError if one name stands for two different declarations, or has entries with
    different numbers of indices.
    """
    found: dict[str, RandomArray] = {}
    for array in expression.atoms(RandomArray):
        if found.setdefault(array.name, array) != array:
            raise DeclarationError(f"two different random arrays are called {array.name!r}")
    arities: dict[str, Entry] = {}
    for entry in expression.atoms(Entry):
        other = arities.setdefault(entry.array.name, entry)
        if len(other.indices) != len(entry.indices):
            one, two = sorted((str(other), str(entry)))
            raise DeclarationError(f"{one} and {two} have different numbers of indices")
    return dict(sorted(found.items()))


def linked(a: RandomArray, b: RandomArray, known: dict[str, RandomArray]) -> bool:
    """Whether two arrays may depend on one another, directly or through other ones.

    What they depend on counts, whether or not it is still in the expression.
    """
    reached = {a.name} | a.depends
    while True:
        near = [o for o in (*known.values(), a, b) if ({o.name} | o.depends) & reached]
        grown = reached.union(*({o.name} | o.depends for o in near))
        if grown == reached:
            return b.name in reached
        reached = grown
