"""Recurrences without a closed form: values by iteration, and fixed points with their slopes."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
from sympy import Expr, Float, Function, Integer, Symbol

from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.language_text import typed

MOST = 10_000
PLACES = 20
OCTAVES = (-18, 12)  # powers of 2 between which fixed points are looked for
PER_OCTAVE = 2
ACCURATE = 12  # significant digits of a fixed point


class Iterated(Function):
    """What `count` steps q -> step make of `first`: (step, q, first, count); evalf iterates."""

    is_nonnegative = True
    nargs = 4

    @property
    def free_symbols(self) -> set[Symbol]:
        """All symbols but the variable of the step."""
        step, variable, first, count = self.args
        return (step.free_symbols - {variable}) | first.free_symbols | count.free_symbols

    def _eval_evalf(self, prec: int) -> Expr | None:
        path = _path(*self.args)
        return None if path is None else Float(path[-1], precision=prec)

    @property
    def is_number(self) -> bool:
        """Whether it has a value."""
        return not self.free_symbols

    def _sympystr(self, printer: Any) -> str:
        step, variable, first, count = self.args
        q = _fresh(variable, step)
        inner = typed(step.xreplace({variable: q}))
        return f"iterate({q.name} -> {inner}, {typed(first)}, {typed(count)})"


class IteratedProduct(Function):
    """factor(u_0) ... factor(u_(count-1)) along the steps: (factor, step, q, first, count)."""

    is_nonnegative = True
    nargs = 5

    @property
    def free_symbols(self) -> set[Symbol]:
        """All symbols but the variable of the step."""
        factor, step, variable, first, count = self.args
        inner = (factor.free_symbols | step.free_symbols) - {variable}
        return inner | first.free_symbols | count.free_symbols

    def _eval_evalf(self, prec: int) -> Expr | None:
        factor, *path = self.args
        values = _path(*path)
        if values is None:
            return None
        whole: Expr = Float(1, PLACES)
        for value in values[:-1]:
            whole *= factor.subs(path[1], value).evalf(PLACES)
        return Float(whole, precision=prec) if whole.is_Float else None

    @property
    def is_number(self) -> bool:
        """Whether it has a value."""
        return not self.free_symbols

    def _sympystr(self, printer: Any) -> str:
        factor, *path = self.args
        q = _fresh(path[1], factor)
        return f"product({q.name} -> {typed(factor.xreplace({path[1]: q}))}, {Iterated(*path)})"


def _fresh(variable: Expr, expression: Expr) -> Symbol:
    """A symbol in place of a bound variable, of a name that nothing else has in an expression."""
    taken, name = {s.name for s in expression.free_symbols - {variable}}, str(variable.name)
    while name in taken:
        name += "_"
    return Symbol(name, positive=True)


def _path(step: Expr, variable: Expr, first: Expr, count: Expr) -> list[Expr] | None:
    """The values from the first one on; None where they are not numbers."""
    if not isinstance(count, Integer) or count > MOST:
        return None
    values = [first.evalf(PLACES)]
    for _ in range(int(count)):
        values.append(step.subs(variable, values[-1]).evalf(PLACES))
        if not values[-1].is_Float:
            return None
    return values


@dataclass(frozen=True)
class FixedPoint:
    """A fixed point of a step and the slope there, to about 12 digits, which are not proved."""

    value: Expr
    slope: Expr

    @property
    def stable(self) -> bool:
        return bool(abs(self.slope) < 1)


def fixed_points(step: Expr, variable: Symbol) -> list[FixedPoint]:
    """The fixed points between 2^-18 and 2^12 where step - q changes its sign, in order.

    Raises BlockError where the step depends on other names.
    """
    if others := step.free_symbols - {variable}:
        listed = ", ".join(sorted(map(str, others)))
        raise BlockError(f"fixed points need numbers for {listed}")
    slope = step.diff(variable)

    def gap(q: Any) -> Any:
        return mpmath.mpf(str(step.subs(variable, Float(str(q), PLACES)).evalf(PLACES) - q))

    with mpmath.workdps(PLACES):
        low, high = (octave * PER_OCTAVE for octave in OCTAVES)
        points = [mpmath.mpf(2) ** (mpmath.mpf(k) / PER_OCTAVE) for k in range(low, high + 1)]
        signs = [(q, mpmath.sign(gap(q))) for q in points]
        found = []
        for (left, below), (right, above) in pairwise(signs):
            if below * above < 0:
                root = mpmath.findroot(gap, (left, right), solver="anderson", tol=1e-26)
                value = Float(str(root), PLACES)
                steepness = slope.subs(variable, value).evalf(PLACES)
                found.append(FixedPoint(value.n(ACCURATE), steepness.n(ACCURATE)))
    return found
