"""Ranges of indices, and the names of indices."""

import re
from collections.abc import Iterable, Iterator, Mapping

from sympy import Basic, Expr, Mul, Symbol


class Range(Basic):
    """Pairwise distinct indices that each run from `lower` to `upper`, avoiding `excluded`."""

    @property
    def indices(self) -> tuple[Symbol, ...]:
        return tuple(self.args[0].args)

    @property
    def lower(self) -> Expr:
        return self.args[1]

    @property
    def upper(self) -> Expr:
        return self.args[2]

    @property
    def excluded(self) -> tuple[Expr, ...]:
        return tuple(self.args[3].args)

    @property
    def bounds(self) -> tuple[Expr, Expr]:
        return self.lower, self.upper

    @property
    def free_bounds(self) -> set[Basic]:
        """The symbols in the bounds."""
        return self.lower.free_symbols | self.upper.free_symbols

    def size(self) -> Expr:
        """The number of index tuples: a falling factorial."""
        free = self.upper - self.lower + 1 - len(self.excluded)
        return Mul(*(free - k for k in range(len(self.indices))))

    def renamed(self, names: Mapping[Basic, Basic]) -> "Range":
        return Range(*(part.xreplace(names) for part in self.args))


def stem(index: Expr) -> str:
    """The letter of an index: `i` for i1 and i2."""
    return re.sub(r"\d+$", "", str(index))


def index_key(index: Expr) -> tuple[str, int, str]:
    """Orders i, i1, i2, i10, k."""
    text = str(index)
    digits = re.search(r"\d+$", text)
    return stem(index), int(digits.group()) if digits else 0, text


def fresh(like: Iterable[Symbol], taken: set[Basic]) -> Iterator[Symbol]:
    """New index symbols with the letters of the given ones: i1, i2, ..."""
    used = {str(symbol) for symbol in taken}
    for index in like:
        number = 1
        while f"{stem(index)}{number}" in used:
            number += 1
        used.add(f"{stem(index)}{number}")
        yield Symbol(f"{stem(index)}{number}", integer=True, positive=True)
