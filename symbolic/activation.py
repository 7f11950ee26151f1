"""What an activation is: a function of one pre-activation, given in parts."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from sympy import Abs, Dummy, Expr, Function, Heaviside, Max, Min, sign

from varlaw.symbolic.terms import Indicator, indicator

Parts = tuple[tuple[Expr, Expr], ...]


class Activation(Function):
    """Base of the activations.

    `parts(z, *parameters)` gives the function as (start, expression) pairs, each expression
    holding from its start to the next one; the first start is minus infinity. A start itself
    belongs to the part below, or to the part above if its position is in `from_above`: that counts
    where the argument rests there, as in step(relu(x)), and follows PyTorch. `parity` is "odd",
    "even" or None, `homogeneity` the degree k with f(c z) = c^k f(z) for c > 0, `known` the names
    under which libraries have it.
    """

    is_real = True
    label = ""  # how it is written in LaTeX
    parameters: tuple[str, ...] = ()  # with those at the end that have a default
    defaults: tuple[Expr, ...] = ()
    parity: str | None = None
    homogeneity: int | None = None
    from_above: tuple[int, ...] = ()
    known: Mapping[str, str] = {}

    @staticmethod
    def parts(z: Any, *parameters: Any) -> Parts:
        """The function in its parts: (start, expression) pairs."""
        raise NotImplementedError

    @staticmethod
    def slopes(z: Any, *parameters: Any) -> tuple[Expr, ...]:
        """The derivative of each part where a row has it written down; else by the chain rule."""
        return ()

    @property
    def written_out(self) -> Parts:
        """The parts at this function's own arguments."""
        return _written_out(self)

    @property
    def slopes_written(self) -> tuple[Expr, ...]:
        """What `slopes` says at this function's own arguments."""
        return _slopes_written(self)

    @property
    def kinks(self) -> tuple[Expr, ...]:
        """Where one part ends and the next begins."""
        return tuple(start for start, _ in self.written_out[1:])

    def at(self, z: Expr) -> Expr:
        """The part that holds at a number, for the parameters of this function."""
        parts = self.func(z, *self.args[1:]).written_out
        chosen = parts[0][1]
        for position, (start, part) in enumerate(parts[1:]):
            if z > start or (z == start and position in self.from_above):
                chosen = part
        return chosen

    def _eval_evalf(self, precision: int) -> Expr | None:
        z = self.args[0]
        return self.at(z)._evalf(precision) if z.is_number and z.is_real else None

    def jumps(self, order: int = 0) -> tuple[Expr, ...]:
        """Where the derivative of that order jumps, or is not known not to; 0: the function."""
        if len(self.slopes_written or self.written_out) == 1:
            return ()
        z = Dummy("z", real=True)
        parts = self.parts(z, *self.args[1:], *self.defaults[len(self.args) - 1 :])
        gaps = [
            (start, (above - below).diff(z, order).subs(z, start))
            for (_, below), (start, above) in pairwise(parts)
        ]
        return tuple(start for start, gap in gaps if gap.expand() != 0)

    def pieces(self) -> Expr:
        """The function with indicators of the sides of zero, if that is where its only kink is."""
        parts = self.written_out
        if len(parts) == 1:
            return parts[0][1]
        if self.kinks != (0,):
            return self
        z, (_, below), (_, above) = self.args[0], *parts
        return below * indicator(z, "<") + above * indicator(z, ">")


@lru_cache(maxsize=256)
def _written_out(node: Activation) -> Parts:
    return node.parts(*node.args, *node.defaults[len(node.args) - 1 :])


@lru_cache(maxsize=256)
def _slopes_written(node: Activation) -> tuple[Expr, ...]:
    return node.slopes(*node.args, *node.defaults[len(node.args) - 1 :])


KINKED = (Activation, Abs, Max, Min, Heaviside, sign, Indicator)  # what may have kinks or jumps
