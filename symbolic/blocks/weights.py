"""Gradients of weights: second moments of dL/dW for every layer of a network."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch

from sympy import Expr

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, size
from varlaw.symbolic.blocks.linear import Embedding, Linear
from varlaw.symbolic.blocks.state import (
    ONE,
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    joint,
    tidy,
)
from varlaw.symbolic.blocks.walk import walk
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed

WIDE = Regime({Approximation.WIDE})


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
        pairs = site.gradient.product != 0 or isinstance(site.block, Attention)
        numbers = ("second_moment", "product") if pairs else ("second_moment",)
        flows = (site.state, site.gradient)
        regime = joint([WIDE, *(flow.resting(*numbers) for flow in flows)])
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


@in_layer.register
def _(block: Attention, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    """Of one head and its share of what is added up over heads, in the wide limit.

    With G_t the gradient of the average a_t = sum_s p_ts x_s and values W_V a_t, the weights of
    values get sum_t G_t a_t, those of the output sum_t g_t W_V a_t. With B_t the gradient of the
    logits of a query summed with their tokens, sum_s dL/dl_ts x_s, those of queries get
    scale W_K sum_t B_t x_t, those of keys scale W_Q sum_t x_t B_t; a bias of keys gets 0.
    """
    if block.qk_norm == 1 or block.position is not None or block.placed or block.dropout != 0:
        left = "qk_norm, positions, dropout"
        raise BlockError(f"gradients of attention's weights are covered without {left}")
    if tokens != block.tokens:
        raise BlockError(f"gradients are summed over the {typed(block.tokens)} tokens of attention")
    d, spread = block.width, state.second_moment - state.followed
    average, sums = block.averages(state), block.overlap(state)
    inward = Gradient(
        second_moment=d * block.out * gradient.second_moment,
        product=d * block.out * gradient.product,
    )
    kept = block.head_width * d * block.value * spread**2
    own, pairs = 1 - 2 * sums.one + sums.squared, ZERO
    if gradient.product != 0 and tokens != 1:
        pairs = (tokens * (1 - sums.one) ** 2 - own) / (tokens - 1) / d + sums.centred
    logits = Gradient(
        second_moment=kept * (own / d + sums.one - sums.squared) * inward.second_moment,
        product=kept * pairs * inward.product,
    )
    shared, scale = block.heads / block.kv_heads, block.scale**2
    queries = _linear(d, block.query, block.query_bias, state)
    return {
        "query": scale * d * block.key * summed(logits, state, tokens),
        "query bias": scale * d * block.key * summed(logits, None, tokens),
        "key": shared * scale * summed(logits, queries, tokens),
        "key bias": ZERO,
        "value": shared * summed(inward, average, tokens),
        "value bias": shared * summed(inward, None, tokens),
        "out": summed(gradient, _linear(d, block.value, block.value_bias, average), tokens),
        "out bias": summed(gradient, None, tokens),
    }


def _linear(width: Expr, var: Expr, bias: Expr, state: State) -> State:
    return Linear(width, width, var=var, bias=bias).forward(state)


def summed(gradient: Gradient, state: State | None, count: Expr) -> Expr:
    """E[(sum_t g_t x_t)^2] over so many terms; without a state x is 1."""
    own = gradient.second_moment * (ONE if state is None else state.second_moment)
    if gradient.product == 0 or count == 1:
        return count * own
    shared = gradient.product * (ONE if state is None else state.followed)
    return count * own + count * (count - 1) * shared
