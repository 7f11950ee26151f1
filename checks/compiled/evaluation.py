"""Expressions as array code: an interpreter of the expectation calculus over an array library.

Every index has an axis of its own, the replicates have the last one, and an array that does not
depend on an index has length 1 along its axis: products broadcast, sums go along an axis.
"""

import math
from collections.abc import Mapping
from functools import reduce
from operator import add, mul
from typing import TYPE_CHECKING, Any

import sympy
from sympy import Add, Basic, Expr, Mul, Pow, Symbol, oo

from varlaw.checks.compiled.backends import Array
from varlaw.checks.compiled.models import Unmeasurable
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.sequences import IndexProduct
from varlaw.symbolic.terms import Delta, IndexSum, Indicator

if TYPE_CHECKING:
    from varlaw.checks.compiled.program import Program

Scope = Mapping[Basic, tuple[int, int]]  # the range of each index
Value = Array | float

FUNCTIONS = {  # SymPy's and the standard's names
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.tanh: "tanh",
    sympy.sinh: "sinh",
    sympy.cosh: "cosh",
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.atan: "atan",
    sympy.Abs: "abs",
    sympy.sign: "sign",
}


class Evaluation:
    """The evaluation of a program on one batch; equal parts are computed once."""

    def __init__(self, program: "Program", drawn: Mapping[str, Array], replicates: int) -> None:
        self.program, self.drawn, self.replicates = program, drawn, replicates
        self.backend, self.xp = program.backend, program.backend.xp
        self.memory: dict[Any, Value] = {}

    def value(self, e: Expr, scope: Scope) -> Value:
        free = e.free_symbols
        key = e, tuple((index, scope[index]) for index in scope if index in free)
        if key not in self.memory:
            self.memory[key] = found = self._value(e, scope)
            if not isinstance(found, float):
                size = math.prod(found.shape) // self.replicates
                self.program.work = max(self.program.work, size)
        return self.memory[key]

    def _value(self, e: Expr, scope: Scope) -> Value:
        written = isinstance(e, (IndexSum, IndexProduct, Activation, Indicator))
        if not (written or e.has(Entry) or scope.keys() & e.free_symbols):
            return self._float(e)
        match e:
            case Entry():
                return self._entry(e, scope)
            case Symbol():
                return self._index(e, scope)
            case IndexSum():
                return self._sum(e, self.program.inner(e, scope))
            case IndexProduct():
                return reduce(mul, (self.value(f, scope) for f in self.program.factors(e)), 1.0)
            case Add():
                return reduce(add, (self.value(part, scope) for part in e.args))
            case Mul():
                return reduce(mul, (self.value(part, scope) for part in e.args))
            case Pow():
                return self._power(e, scope)
            case Delta():
                left, right = (self._position(index, scope) for index in e.args)
                return self.backend.cast(left == right)
            case Indicator():
                return self._indicator(e, scope)
            case Activation():
                return self._activation(e, scope)
            case sympy.erf():
                return self.backend.erf(self._array(e.args[0], scope))
            case sympy.Max() | sympy.Min():
                choose = self.xp.maximum if isinstance(e, sympy.Max) else self.xp.minimum
                return reduce(choose, (self._array(part, scope) for part in e.args))
            case _ if e.func in FUNCTIONS and len(e.args) == 1:
                return getattr(self.xp, FUNCTIONS[e.func])(self._array(e.args[0], scope))
            case _:
                raise Unmeasurable(f"{e.func.__name__} has no array code: {e}")

    def _float(self, e: Expr) -> float:
        value = self.program.number(e)
        if not value.is_number or value.is_real is False:
            raise Unmeasurable(f"{e} is {value}, no real number")
        return float(value)

    def _array(self, e: Expr, scope: Scope) -> Array:
        """The value as an array even where it is a number."""
        value = self.value(e, scope)
        if isinstance(value, float):
            return self.backend.zeros((1,) * (len(self.program.axes) + 1)) + value
        return value

    def _index(self, index: Basic, scope: Scope) -> Array:
        """The numbers that an index runs through."""
        low, high = scope[index]
        shape = [1] * (len(self.program.axes) + 1)
        shape[self.program.axes[index]] = high - low + 1
        return self.xp.reshape(self.backend.arange(low, high), tuple(shape))

    def _position(self, index: Expr, scope: Scope) -> Array:
        if index in scope:
            return self._index(index, scope)
        place = float(self.program.whole(index))
        return self.backend.zeros((1,) * (len(self.program.axes) + 1)) + place

    def _entry(self, e: Entry, scope: Scope) -> Array:
        """The drawn array, cut to the ranges of its indices, each index on its axis."""
        name = e.array.name
        found, offsets = self.drawn[name], self.program.offsets(name)
        ranges = [self.program.range_of(index, scope) for index in e.indices]
        cuts = [
            slice(low - offset, high - offset + 1)
            for (low, high), offset in zip(ranges, offsets, strict=True)
        ]
        found = found[(*cuts, slice(None))]
        running = [index for index in e.indices if index in scope]
        if len(set(running)) < len(running):
            return self._diagonal(e, scope, found)
        lengths = [
            high - low + 1
            for (low, high), index in zip(ranges, e.indices, strict=True)
            if index in scope
        ]
        found = self.xp.reshape(found, (*lengths, self.replicates))
        return self._placed(found, running)

    def _diagonal(self, e: Entry, scope: Scope, found: Array) -> Array:
        """An entry with one index twice, such as w[i, i]; no other index may run beside it."""
        (index,) = {index for index in e.indices if index in scope}
        low, high = scope[index]
        rows = []
        for k in range(high - low + 1):
            place = tuple(k if other == index else 0 for other in e.indices)
            rows.append(found[(*place, slice(None))])
        return self._placed(self.xp.stack(rows), [index])

    def _placed(self, found: Array, running: list[Expr]) -> Array:
        """An array with the given indices, with each of them moved to its axis."""
        axes = [self.program.axes[index] for index in running]
        order = sorted(range(len(axes)), key=axes.__getitem__)
        found = self.xp.permute_dims(found, (*order, len(axes)))
        shape = [1] * len(self.program.axes) + [self.replicates]
        for place, length in zip(sorted(axes), found.shape, strict=False):
            shape[place] = length
        return self.xp.reshape(found, tuple(shape))

    def _sum(self, e: IndexSum, scope: Scope) -> Value:
        """Sum out one index after the other, that of the smallest product first."""
        factors = [*Mul.make_args(e.summand), *_distinct(e)]
        parts = [(self.value(f, scope), f.free_symbols & set(e.bound)) for f in factors]
        left = set(e.bound)
        while left:

            def size(index: Basic, parts: Any = parts) -> tuple[int, str]:
                touched = set().union(*(free for _, free in parts if index in free))
                lengths = (scope[i][1] - scope[i][0] + 1 for i in touched)
                return math.prod(lengths), str(index)

            index = min(left, key=size)
            left.remove(index)
            low, high = scope[index]
            within = [part for part in parts if index in part[1]]
            parts = [part for part in parts if index not in part[1]]
            if not within:
                parts.append((float(high - low + 1), set()))
                continue
            product: Any = reduce(mul, (value for value, _ in within))
            held = math.prod(product.shape) // max(1, product.shape[-1])
            self.program.work = max(self.program.work, held)
            free = set().union(*(free for _, free in within)) - {index}
            parts.append((self.backend.sum(product, self.program.axes[index]), free))
        return reduce(mul, (value for value, _ in parts))

    def _power(self, e: Pow, scope: Scope) -> Value:
        base, exponent = e.args
        if base == sympy.E:
            return self.xp.exp(self._array(exponent, scope))
        inner = self._array(base, scope)
        if exponent.is_Integer and 0 < exponent <= 4:
            return reduce(mul, [inner] * int(exponent))
        if exponent == sympy.S.Half:
            return self.xp.sqrt(inner)
        power = self.value(exponent, scope)
        return inner**power

    def _indicator(self, e: Indicator, scope: Scope) -> Array:
        z = self._array(e.args[0], scope)
        holds = {">": z > 0, "<": z < 0, "=": z == 0}[e.relation]
        return self._with_nan(self.backend.cast(holds), z)

    def _activation(self, e: Activation, scope: Scope) -> Array:
        z = self._array(e.args[0], scope)
        found: Array | None = None
        for start, part in e.written_out:
            here = self._array(part, scope)
            if found is None or start == -oo:
                found = here
            else:
                found = self.xp.where(z > self.value(start, scope), here, found)
        return self._with_nan(found, z)

    def _with_nan(self, found: Array, z: Array) -> Array:
        """What was chosen by comparing z; a comparison hides that z is nan."""
        return self.xp.where(z == z, found, z)


def _distinct(e: IndexSum) -> list[Expr]:
    """Factors that vanish where indices coincide that must not."""
    return [
        1 - Delta(index, other)
        for r in e.ranges
        for k, index in enumerate(r.indices)
        for other in (*r.indices[:k], *r.excluded)
    ]
