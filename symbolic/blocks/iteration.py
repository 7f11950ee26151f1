"""Recurrences without a closed form: what they come to, by iteration in balls."""

from functools import cached_property
from typing import Any

from flint import arb
from sympy import Expr, Symbol, Tuple

from varlaw.symbolic.blocks.block import names
from varlaw.symbolic.blocks.coupled import apart, followed
from varlaw.symbolic.blocks.enclosed import evaluated
from varlaw.symbolic.blocks.lines import Balls, Enclosable, enclosure
from varlaw.symbolic.language_text import typed


class Iterated(Enclosable):
    """What `count` steps q -> step make of `first`: (step, q, first, count); evalf iterates."""

    is_nonnegative = True
    nargs = 4

    @cached_property
    def _names(self) -> set[Symbol]:
        step, variable, first, count = self.args
        return names(step) - {variable} | names(first, count)

    def enclosure(self, at: Balls) -> arb:
        return along(at, *self.args)[-1]

    def _eval_evalf(self, prec: int) -> Expr | None:
        return evaluated(self, prec)

    @property
    def is_number(self) -> bool:
        """Whether it has a value."""
        return not self.free_symbols

    def _sympystr(self, printer: Any) -> str:
        step, variable, first, count = self.args
        q = apart([variable], step)[variable]
        inner = typed(step.xreplace({variable: q}))
        return f"iterate({q.name} -> {inner}, {typed(first)}, {typed(count)})"


class IteratedProduct(Enclosable):
    """factor(u_0) ... factor(u_(count-1)) along the steps: (factor, step, q, first, count)."""

    is_nonnegative = True
    nargs = 5

    @cached_property
    def _names(self) -> set[Symbol]:
        factor, step, variable, first, count = self.args
        return names(factor, step) - {variable} | names(first, count)

    def enclosure(self, at: Balls) -> arb:
        factor, *path = self.args
        whole = arb(1)
        for value in along(at, *path)[:-1]:
            whole *= enclosure(factor, {**at, path[1]: value})
        return whole

    def _eval_evalf(self, prec: int) -> Expr | None:
        return evaluated(self, prec)

    @property
    def is_number(self) -> bool:
        """Whether it has a value."""
        return not self.free_symbols

    def _sympystr(self, printer: Any) -> str:
        factor, *path = self.args
        q = apart([path[1]], factor)[path[1]]
        return f"product({q.name} -> {typed(factor.xreplace({path[1]: q}))}, {Iterated(*path)})"


def along(at: Balls, step: Expr, variable: Symbol, first: Expr, count: Expr) -> list[arb]:
    """Balls for the values from the first one on."""
    path = followed(at, Tuple(step), Tuple(variable), Tuple(first), count)
    return [value for (value,) in path]
