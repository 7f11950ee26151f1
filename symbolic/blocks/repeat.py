"""The same block many times over, each with weights of its own: laws in depth."""

from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Dummy, Expr, Integer, Matrix, Symbol, Tuple

from varlaw.symbolic.blocks.block import Block, size
from varlaw.symbolic.blocks.coupled import CoupledBack
from varlaw.symbolic.blocks.enclosed import is_nil, without
from varlaw.symbolic.blocks.recurrence import Product, Recurrence
from varlaw.symbolic.blocks.state import ONE, ZERO, BlockError, Gradient, State, joint, tidy
from varlaw.symbolic.blocks.system import System, product_to
from varlaw.symbolic.language import Text

FLAGS = ("gaussian", "mixed", "symmetric")


@dataclass(frozen=True)
class Layer:
    """A layer at any depth: the state into it, in symbols of its own, and that out of it."""

    entering: State
    out: State
    system: System


@dataclass(frozen=True, eq=False)
class Memory:
    """What is known of layers whatever their number: symbols, and maps by what enters a layer.

    Into a layer go the second moment q, the mean m where it changes with depth, and the product c
    of two inputs where it is followed; out of it come the second moment g of the gradient and the
    product h of two tokens' gradients.
    """

    q: Symbol = field(default_factory=lambda: Dummy("q", positive=True))
    m: Symbol = field(default_factory=lambda: Dummy("m", real=True))
    c: Symbol = field(default_factory=lambda: Dummy("c", real=True))
    g: Symbol = field(default_factory=lambda: Dummy("g", positive=True))
    h: Symbol = field(default_factory=lambda: Dummy("h", real=True))
    layers: dict[State, Layer] = field(default_factory=dict)
    gradients: dict[tuple[State, bool, bool], Gradient] = field(default_factory=dict)


@dataclass(frozen=True, init=False)
class Repeat(Block):
    """A block `depth` times over; its second moment, mean and product go through a recurrence.

    A symbolic depth stands for two layers at least.
    """

    block: Block
    depth: Expr
    memory: Memory = field(compare=False, repr=False)

    def __init__(self, block: Block, depth: Text) -> None:
        object.__setattr__(self, "block", block)
        object.__setattr__(self, "depth", size(depth, "depth"))
        object.__setattr__(self, "memory", Memory())

    @property
    def q(self) -> Symbol:
        """The second moment into a layer."""
        return self.memory.q

    @property
    def m(self) -> Symbol:
        """The mean into a layer, where it changes with depth."""
        return self.memory.m

    @property
    def c(self) -> Symbol:
        """The product of two inputs into a layer, where it is followed."""
        return self.memory.c

    @property
    def g(self) -> Symbol:
        """The second moment of the gradient out of a layer."""
        return self.memory.g

    @property
    def h(self) -> Symbol:
        """The product of two tokens' gradients out of a layer."""
        return self.memory.h

    def of(self, depth: Expr) -> "Repeat":
        """The same layers of another depth, with what is known of them already."""
        other = Repeat(self.block, depth)
        object.__setattr__(other, "memory", self.memory)
        return other

    def recurrence(self, state: State) -> Recurrence:
        """How the second moment goes from layer to layer.

        Raises BlockError where it is coupled to the mean, or to the correlation of tokens.
        """
        path = self.layer(state).system.alone(self.q)
        if path is None:
            raise BlockError("the second moment is coupled to other moments in depth")
        return path

    def forward(self, state: State) -> State:
        if self.depth == 1:
            return self.block.forward(state)
        layer = self.layer(state)
        values = layer.system.after(self.depth)
        mean = layer.out.mean
        if self.m not in values and mean.free_symbols & set(values):
            mean = mean.subs(layer.system.after(self.depth - 1))
        return replace(
            layer.out,
            second_moment=values[self.q],
            mean=values.get(self.m, mean),
            product=None if layer.out.product is None else values[self.c],
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if self.depth == 1:
            return self.block.backward(gradient, state)
        layer = self.layer(state)
        followed = gradient.product != 0
        passed = self._passed(layer, followed, gradient.pooled)
        regimes: dict[str, Any] = {
            name: joint([getattr(gradient, name), getattr(passed, name)])
            for name in gradient.REGIMES.values()
        }
        if passed.product == 0 and not followed:
            whole = self._alone(passed.second_moment, layer)
            return replace(gradient, second_moment=tidy(whole * gradient.second_moment), **regimes)
        backs = {self.g: passed.second_moment, self.h: passed.product}
        ends = {self.g: gradient.second_moment, self.h: gradient.product}
        values = self._back(backs, ends, layer.system)
        if not passed.second_moment.has(self.h):
            factor = passed.second_moment.xreplace({self.g: ONE})
            values[self.g] = tidy(self._alone(factor, layer) * gradient.second_moment)
        return replace(gradient, second_moment=values[self.g], product=values[self.h], **regimes)

    def product(self, state: State) -> Product:
        """How the gradient's second moment goes back from layer to layer.

        Raises BlockError where it is coupled to other moments.
        """
        layer = self.layer(state)
        passed = self._passed(layer)
        found = None if passed.product != 0 else self._along(tidy(passed.second_moment), layer)
        if found is None:
            raise BlockError("the gradient is coupled to other moments in depth")
        return found

    def followed(self, state: State) -> Gradient:
        """The gradient into a layer at any depth, for g and h out of it."""
        return self._passed(self.layer(state), followed=True)

    def layer(self, state: State) -> Layer:
        """A layer at any depth, and the recurrence of the numbers that change."""
        if state not in self.memory.layers:
            self.memory.layers[state] = self._layer(state)
        return self.memory.layers[state]

    def _layer(self, state: State) -> Layer:
        first = {self.q: state.second_moment, self.m: state.mean}
        if state.product is not None:
            first[self.c] = state.product
        pair = None if state.product is None else self.c
        generic = replace(state, second_moment=self.q, product=pair)
        while True:
            out = self.block.forward(generic)
            if out.mean != generic.mean and generic.mean != self.m:
                generic = replace(generic, mean=self.m)
                continue
            changed: dict[str, Any] = {
                name: joint([getattr(generic, name), getattr(out, name)])
                for name in State.REGIMES.values()
            }
            changed |= {name: getattr(generic, name) and getattr(out, name) for name in FLAGS}
            followed = None if out.product is None else generic.product
            settled = replace(generic, width=out.width, product=followed, **changed)
            if settled == generic:
                break
            generic = settled
        steps = {self.q: out.second_moment, self.m: out.mean}
        if out.product is not None:
            steps[self.c] = out.product
        if not any(step.has(self.m) for step in steps.values()):
            del steps[self.m]
        system = System(steps, {u: first[u] for u in steps})
        return Layer(generic, out, system)

    def _passed(self, layer: Layer, followed: bool = False, pooled: bool = False) -> Gradient:
        """The gradient into a layer, for g and h out of it; for 1 where h is 0 all along."""
        key = layer.entering, followed, pooled
        if key not in self.memory.gradients:
            whole, product = (self.g, self.h) if followed else (ONE, ZERO)
            gradient = Gradient(second_moment=whole, product=product, pooled=pooled)
            self.memory.gradients[key] = self.block.backward(gradient, layer.entering)
        passed = self.memory.gradients[key]
        again = passed.product != 0 and not followed
        return self._passed(layer, True, pooled) if again else passed

    def _alone(self, factor: Expr, layer: Layer) -> Expr:
        """The product of a factor through all layers."""
        others = {u: value for u, value in layer.system.settled.items() if u != self.q}
        factor = tidy(factor.subs(others))
        found = self._along(factor, layer)
        if found is not None:
            return product_to(found, self.depth)
        values = self._back({self.g: factor * self.g}, {self.g: ONE}, layer.system)
        return values[self.g]

    def _along(self, factor: Expr, layer: Layer) -> Product | None:
        """A factor of each layer along the second moment, or its distance from the product.

        The latter is the variance over samples. None where it depends on more.
        """
        path = layer.system.alone(self.q)
        if path is not None and not factor.has(self.c, self.m):
            return Product(factor, path)
        if self.c not in layer.system.steps or factor.has(self.m):
            return None
        path = layer.system.difference(self.q, self.c)
        if path is None:
            return None
        alone = without(factor.subs(self.q, self.c + path.variable), {self.c})
        return None if alone is None else Product(alone, path)

    def _back(
        self, backs: dict[Symbol, Expr], ends: dict[Symbol, Expr], system: System
    ) -> dict[Symbol, Expr]:
        """The numbers of the gradient at the input: the same matrix at each layer, or iterated."""
        known = _settled(backs, system)
        if known is not None:
            whole, values = _back_through(known, ends, self.depth)
            return {u: whole * value for u, value in values.items()}
        known = _settled(backs, system.moved)  # all layers but the first
        if known is not None:
            whole, above = _back_through(known, ends, self.depth - 1)
            into = {**system.firsts, **above}
            return {u: whole * tidy(back.xreplace(into)) for u, back in backs.items()}
        parts = [tuple(d.values()) for d in (backs, ends, system.steps, system.firsts)]
        args = (
            Tuple(*parts[0]),
            Tuple(*backs),
            Tuple(*parts[1]),
            Tuple(*parts[2]),
            Tuple(*system.steps),
            Tuple(*parts[3]),
            self.depth,
        )
        return {u: CoupledBack(*args, Integer(k)) for k, u in enumerate(backs, 1)}


def _settled(backs: dict[Symbol, Expr], system: System) -> dict[Symbol, Expr] | None:
    """What goes back through every layer alike; None where layers differ."""
    known = {u: tidy(back.subs(system.settled)) for u, back in backs.items()}
    alike = not any(back.free_symbols & set(system.steps) for back in known.values())
    return known if alike else None


def _back_through(
    backs: dict[Symbol, Expr], ends: dict[Symbol, Expr], depth: Expr
) -> tuple[Expr, dict[Symbol, Expr]]:
    """The numbers of the gradient before `depth` layers that are alike, over a common factor.

    A matrix M of rank 1, as of a norm over samples, has M^L = tr(M)^(L - 1) M.
    """
    matrix = Matrix([[tidy(back.diff(u)) for u in backs] for back in backs.values()])
    if len(backs) == 1 or not is_nil(matrix.det()):
        return ONE, System(backs, ends).after(depth)
    once = {u: tidy(back.xreplace(ends)) for u, back in backs.items()}
    return tidy(matrix.trace()) ** (depth - 1), once
