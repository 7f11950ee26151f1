"""Recurrences of several values in depth, taken apart where they are not coupled."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sympy import Dummy, Expr, Integer, Symbol, Tuple, gamma

from varlaw.symbolic.blocks.coupled import Coupled
from varlaw.symbolic.blocks.enclosed import differs, is_nil, moves, without
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.recurrence import Product, Recurrence
from varlaw.symbolic.blocks.state import tidy


@dataclass(frozen=True)
class System:
    """Values that go from layer to layer together.

    `steps` says what each becomes, in terms of all of them; `firsts` are the first values.
    """

    steps: Mapping[Symbol, Expr]
    firsts: Mapping[Symbol, Expr]

    def after(self, count: Expr) -> dict[Symbol, Expr]:
        """The values after `count` >= 1 steps, as an iteration where no closed form is known."""
        found: dict[Symbol, Expr] = {}
        for u in self.steps:
            value = self._apart(u, count)
            if value is not None:
                found[u] = value
        return found | self._rest(found, count)

    @property
    def moved(self) -> "System":
        """The same from after the first step on."""
        firsts = {u: tidy(step.subs(self.firsts)) for u, step in self.steps.items()}
        return System(self.steps, firsts)

    @cached_property
    def settled(self) -> dict[Symbol, Expr]:
        """The values that stay as they are at first."""
        kept = dict(self.firsts)
        while moved := [u for u in kept if self._moves(u, kept)]:
            for u in moved:
                del kept[u]
        return kept

    def _moves(self, u: Symbol, kept: Mapping[Symbol, Expr]) -> bool:
        """Whether a step is not shown to leave the value of u among those kept as it is."""
        if moves(self.steps, kept, u):
            return True
        return not is_nil(self.steps[u].subs(kept) - kept[u])

    def alone(self, u: Symbol) -> Recurrence | None:
        """The recurrence of a value on its own; None where it is coupled to others."""
        others = {v: value for v, value in self.settled.items() if v != u}
        step = tidy(self.steps[u].subs(others)) if others else self.steps[u]
        if step.free_symbols & (set(self.steps) - {u}):
            return None
        return Recurrence(step, u, self.firsts[u])

    def difference(self, u: Symbol, v: Symbol) -> Recurrence | None:
        """The recurrence of the difference of two values; None where it is coupled to others."""
        gap = Dummy("gap", positive=True)
        step = self._between(u, v, gap)
        if step is None or step.free_symbols & set(self.steps):
            return None
        return Recurrence(step, gap, tidy(self.firsts[u] - self.firsts[v]))

    def _between(self, u: Symbol, v: Symbol, gap: Symbol) -> Expr | None:
        """What the difference `gap` of two values becomes; None where it takes more to know."""
        between = self.steps[u] - self.steps[v]
        if differs(between, between, {u, v}, shift=True):
            return None
        return without(between.subs(u, v + gap), {v})

    def _apart(self, u: Symbol, count: Expr) -> Expr | None:
        """A value that is on its own, or grows by factors that depend on one that is."""
        if u in self.settled:
            return self.firsts[u]
        along = {v: path for v in self.steps if (path := self.alone(v)) is not None}
        for v, path in along.items():
            same = v != u and is_nil(self.firsts[u] - path.first)
            if same and is_nil(self.steps[u].subs(u, v) - path.step):
                return at_depth(path, count)  # two values that are the same stay so
        if u in along:
            return at_depth(along[u], count)
        for v, path in along.items():
            factor = without(self.steps[u].subs(self.settled) / u, set(self.steps) - {v})
            if factor is not None:
                return self.firsts[u] * product_to(Product(factor, path), count)
        return None

    def _rest(self, found: Mapping[Symbol, Expr], count: Expr) -> dict[Symbol, Expr]:
        """The coupled values: by their difference where that is on its own, else by iteration."""
        rest = [u for u in self.steps if u not in found]
        if len(rest) == 2 and not found:
            u, v = rest
            gap = Dummy("gap", real=True)
            apart = self._between(u, v, gap)
            if apart == 0 and self.firsts[u] != self.firsts[v]:  # the same after one step
                values = self.moved.after(count - 1)
                return {w: values[w] for w in rest}
            if apart is not None:
                turned = System(
                    {gap: apart, v: tidy(self.steps[v].subs(u, v + gap))},
                    {gap: self.firsts[u] - self.firsts[v], v: self.firsts[v]},
                )
                if turned._apart(v, count) is not None:
                    values = turned.after(count)
                    return {u: values[v] + values[gap], v: values[v]}
        ordered = list(self.steps)
        path = (
            Tuple(*(self.steps[w] for w in ordered)),
            Tuple(*ordered),
            Tuple(*(self.firsts[w] for w in ordered)),
        )
        return {u: Coupled(*path, count, Integer(ordered.index(u) + 1)) for u in rest}


def at_depth(path: Recurrence, count: Expr) -> Expr:
    """The value after `count` steps, as an iteration where there is no closed form."""
    found = path.after(count)
    return Iterated(path.step, path.variable, path.first, count) if found is None else found


def product_to(product: Product, count: Expr) -> Expr:
    """The product of `count` factors, as an iteration where there is no closed form.

    Of a number of factors also where that has Gamma functions.
    """
    whole, path = product.after(count), product.path
    if whole is None or (count.is_Integer and whole.has(gamma)):
        return IteratedProduct(product.factor, path.step, path.variable, path.first, count)
    return whole
