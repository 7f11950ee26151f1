"""Gradients of weights: second moments of dL/dW for every layer of a network."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch

from sympy import Expr

from varlaw.symbolic.blocks.block import Block, size
from varlaw.symbolic.blocks.linear import Embedding, Linear
from varlaw.symbolic.blocks.state import ONE, Approximation, Gradient, Regime, State, tidy
from varlaw.symbolic.blocks.walk import walk
from varlaw.symbolic.language import Text


@dataclass(frozen=True)
class WeightGradient:
    """The second moment of the gradient in one of the weights of a layer.

    `path` is the layer's place in the network, `name` is "weight", "bias" or "row".
    """

    path: str
    name: str
    second_moment: Expr
    regime: Regime


def weight_gradients(
    block: Block, state: State, gradient: Gradient, tokens: Text = 1
) -> Iterator[WeightGradient]:
    """E[(dL/dW_ij)^2] for the weights of every layer, in the order of the forward pass.

    L is summed over so many tokens (or inputs). Features and gradients of a layer are independent
    of one another, as they are in the wide limit. Raises BlockError as `walk` does, and where
    gradients of tokens correlate and the correlation of the tokens is not followed.
    """
    count = size(tokens, "number of tokens")
    for site in walk(block, state, gradient):
        assert site.gradient is not None
        regime = Regime(site.state.regime | site.gradient.regime | {Approximation.WIDE})
        for name, value in in_layer(site.block, site.state, site.gradient, count).items():
            yield WeightGradient(site.path, name, tidy(value), regime)


@singledispatch
def in_layer(block: Block, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    """The second moments in the weights of one layer, in the order in which they are drawn."""
    return {}


@in_layer.register
def _(block: Linear, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    """(sum_t g_t x_t)^2: tokens with themselves, and with each other where gradients correlate."""
    return {
        "weight": block.scale**2 * summed(gradient, state, tokens),
        "bias": summed(gradient, None, tokens),
    }


@in_layer.register
def _(block: Embedding, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    """In the row of a token that occurs once."""
    return {"row": block.scale**2 * gradient.second_moment}


def summed(gradient: Gradient, state: State | None, count: Expr) -> Expr:
    """E[(sum_t g_t x_t)^2] over so many terms; without a state x is 1."""
    own = gradient.second_moment * (ONE if state is None else state.second_moment)
    if gradient.product == 0 or count == 1:
        return count * own
    shared = gradient.product * (ONE if state is None else state.followed)
    return count * own + count * (count - 1) * shared
