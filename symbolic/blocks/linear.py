"""Linear layers and embeddings: fresh weights of mean 0."""

from dataclasses import dataclass

from sympy import Expr, Integer

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.state import ZERO, BlockError, Gradient, State, tidy
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True, init=False)
class Linear(Block):
    """y = W x + b with iid weights of mean 0 and variance `var`, biases of variance `bias`.

    E[y^2] = fan_in var E[x^2] + bias, exactly at any width and mean of x; backward
    E[g_x^2] = fan_out var E[g_y^2]. Source: He et al. 2015, sections 2.2 and 2.3.
    """

    fan_in: Expr
    fan_out: Expr
    var: Expr
    bias: Expr

    def __init__(self, fan_in: Text, fan_out: Text, *, var: Text, bias: Text = 0) -> None:
        set_ = object.__setattr__
        set_(self, "fan_in", size(fan_in, "fan-in"))
        set_(self, "fan_out", size(fan_out, "fan-out"))
        set_(self, "var", quantity(var, "variance of the weights"))
        set_(self, "bias", quantity(bias, "variance of the biases"))

    def forward(self, state: State) -> State:
        check_width(state, self.fan_in)
        gain = self.fan_in * self.var
        return state.become(
            mean=ZERO,
            second_moment=tidy(gain * state.second_moment + self.bias),
            product=None if state.product is None else tidy(gain * state.product + self.bias),
            width=self.fan_out,
            gaussian=True,
            mixed=True,
            symmetric=True,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        gain = self.fan_out * self.var
        return gradient.become(
            second_moment=tidy(gain * gradient.second_moment),
            product=tidy(gain * gradient.product),
        )


@dataclass(frozen=True, init=False)
class Embedding(Block):
    """A row of variance `var` for each token; different tokens have independent rows.

    What enters is a token's number and has no moments; the gradient that leaves is the rows' own.
    """

    width: Expr
    var: Expr

    def __init__(self, width: Text, *, var: Text) -> None:
        object.__setattr__(self, "width", size(width, "width"))
        object.__setattr__(self, "var", quantity(var, "variance of the rows", positive=True))

    def forward(self, state: State) -> State:
        return State(second_moment=self.var, product=ZERO, width=self.width)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return gradient


@dataclass(frozen=True, init=False)
class Dropout(Block):
    """Entries are 0 with probability p, and divided by 1 - p else (Srivastava et al. 2014)."""

    p: Expr

    def __init__(self, p: Text) -> None:
        found = quantity(p, "probability of dropout")
        if (Integer(1) - found).is_nonpositive:
            raise BlockError(f"the probability of dropout {typed(found)} is not below 1")
        object.__setattr__(self, "p", found)

    def forward(self, state: State) -> State:
        kept = tidy(state.second_moment / (1 - self.p))
        return state.become(second_moment=kept, gaussian=state.gaussian and self.p == 0)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return gradient.become(second_moment=tidy(gradient.second_moment / (1 - self.p)))


def check_width(state: State, width: Expr) -> None:
    """Raise BlockError where features of another number come in."""
    if state.width is not None and (state.width - width).expand() != 0:
        raise BlockError(f"{typed(state.width)} features go into a layer for {typed(width)}")
