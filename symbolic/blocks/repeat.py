"""The same block many times over, each with weights of its own: laws in depth."""

from dataclasses import dataclass, replace
from functools import cached_property

from sympy import Dummy, Expr

from varlaw.symbolic.blocks.block import Block, size
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.recurrence import Product, Recurrence
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State, tidy
from varlaw.symbolic.language import Text

FLAGS = ("gaussian", "mixed", "symmetric")


@dataclass(frozen=True, init=False)
class Repeat(Block):
    """A block `depth` times over. Its second moment q follows a recurrence q -> step(q).

    A symbolic depth stands for two layers at least.
    """

    block: Block
    depth: Expr

    def __init__(self, block: Block, depth: Text) -> None:
        object.__setattr__(self, "block", block)
        object.__setattr__(self, "depth", size(depth, "depth"))

    @cached_property
    def q(self) -> Expr:
        """The second moment into a layer, in `recurrence` and `product`."""
        return Dummy("q", positive=True)

    @cached_property
    def _mean(self) -> Expr:
        return Dummy("m", real=True)

    @cached_property
    def _pair(self) -> Expr:
        return Dummy("c", real=True)

    def recurrence(self, state: State) -> Recurrence:
        """How the second moment goes from layer to layer.

        Raises BlockError where it is coupled to the mean, or to the correlation of tokens.
        """
        _, out = self._layer(state)
        return Recurrence(out.second_moment, self.q, state.second_moment)

    def forward(self, state: State) -> State:
        if self.depth == 1:
            return self.block.forward(state)
        path, (_, out) = self.recurrence(state), self._layer(state)
        before, after = (_at(path, count) for count in (self.depth - 1, self.depth))
        product = self._product(state, out, path, after)
        mean = out.mean.subs(self.q, before)
        return replace(out, second_moment=after, product=product, mean=mean)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if self.depth == 1:
            return self.block.backward(gradient, state)
        if gradient.product != 0:
            raise BlockError("the correlation of gradients is not followed through depth")
        passed, product = self._passed(state), self.product(state)
        whole = product.after(self.depth)
        if whole is None:
            path = product.path
            whole = IteratedProduct(product.factor, path.step, self.q, path.first, self.depth)
        return gradient.become(*passed.regime, second_moment=tidy(whole * gradient.second_moment))

    def product(self, state: State) -> Product:
        """How the gradient's second moment goes back from layer to layer."""
        return Product(self._passed(state).second_moment, self.recurrence(state))

    def _passed(self, state: State) -> Gradient:
        """The gradient into a layer at second moment q, where 1 comes out of it."""
        generic, _ = self._layer(state)
        passed = self.block.backward(Gradient(second_moment=ONE), generic)
        if passed.product != 0 or self._pair in passed.second_moment.free_symbols:
            raise BlockError("the correlation of gradients is not followed through depth")
        return passed

    def _layer(self, state: State) -> tuple[State, State]:
        """The state into a layer at any depth, in symbols of its own, and that out of it."""
        pair = None if state.product is None else self._pair
        generic = replace(state, second_moment=self.q, product=pair)
        while True:
            out = self.block.forward(generic)
            if out.mean != generic.mean and generic.mean != self._mean:
                generic = replace(generic, mean=self._mean)
                continue
            kept = {name: getattr(generic, name) and getattr(out, name) for name in FLAGS}
            settled = replace(generic, width=out.width, regime=out.regime, **kept)
            if settled == generic:
                break
            generic = settled
        if self._mean in out.mean.free_symbols | out.second_moment.free_symbols:
            raise BlockError("a mean that changes with depth is not covered")
        if self._pair in out.second_moment.free_symbols:
            raise BlockError(
                "second moment and correlation of tokens are coupled in depth: not covered"
            )
        return generic, out

    def _product(self, state: State, out: State, path: Recurrence, after: Expr) -> Expr | None:
        """E[x x'] at the output; None where it is coupled to a second moment that changes."""
        if state.product is None or out.product is None:
            return None
        step, q, c = out.product, self.q, self._pair
        if state.product == path.first and tidy(step.subs(c, q) - path.step) == 0:
            return after  # two inputs that are the same stay so
        if tidy(path.step.subs(q, path.first) - path.first) == 0:
            step = step.subs(q, path.first)
        if step.free_symbols & {q, self._mean}:
            return None
        return _at(Recurrence(step, c, state.product), self.depth)


def _at(path: Recurrence, count: Expr) -> Expr:
    """The value at a depth, as an iteration where there is no closed form."""
    found = path.after(count)
    return Iterated(path.step, path.variable, path.first, count) if found is None else found
