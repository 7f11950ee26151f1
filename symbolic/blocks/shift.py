"""A vector that is added to all inputs: a bias, or the embedding of a segment."""

from dataclasses import dataclass

from sympy import Expr

from varlaw.symbolic.blocks.block import Block, quantity
from varlaw.symbolic.blocks.state import Gradient, State, tidy
from varlaw.symbolic.language import Text


@dataclass(frozen=True, init=False)
class Shift(Block):
    """x + b, for b with iid entries of mean 0 and variance `var`, the same for all inputs."""

    var: Expr

    def __init__(self, var: Text) -> None:
        object.__setattr__(self, "var", quantity(var, "variance of the shift"))

    def forward(self, state: State) -> State:
        both = None if state.product is None else tidy(state.product + self.var)
        return state.become(second_moment=tidy(state.second_moment + self.var), product=both)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return gradient
