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
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    joint,
    tidy,
)
from varlaw.symbolic.blocks.walk import decimal, visits
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
    for site in visits(block, state, gradient):
        assert site.gradient is not None
        pairs = site.gradient.product != 0 or isinstance(site.block, Attention)
        numbers = ("second_moment", "product") if pairs else ("second_moment",)
        flows = (site.state, site.gradient)
        rests = (flow.resting(*numbers) for flow in flows)
        regime = joint([WIDE, Regime(site.block.approximations), *rests])
        for name, value in in_layer(site.block, site.state, site.gradient, count).items():
            plain = None if value.free_symbols or value.is_Rational else decimal(value)
            yield WeightGradient(site.path, name, plain or tidy(value), regime)


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

    With x_s the tokens that are read, G_t the gradient of the average a_t = sum_s p_ts x_s and
    values W_V a_t, the weights of values get sum_t G_t a_t, those of the output sum_t g_t W_V a_t.
    Logits get A_ts = p_ts G_t.(x_s - a_t). Those of queries get scale sum_t (sum_s A_ts k_s) y_t
    for tokens y_t, those of keys scale sum_t q_t sum_s A_ts x_s, each rotated where positions are.
    A bias of keys gets scale sum_t q_t sum_s A_ts, which is 0 without rotations.
    """
    left = ("qk_norm", "position", "relative", "dropout")
    if any(getattr(block, name) not in (None, 0) for name in left):
        raise BlockError(f"gradients of attention's weights are covered without {', '.join(left)}")
    if block.asking is not None and tokens != block.asking:
        raise BlockError(f"gradients are summed over the {typed(block.asking)} tokens of attention")
    d, average = block.width, block.averages(state)
    inward = Gradient(
        second_moment=d * block.out * gradient.second_moment,
        product=d * block.out * gradient.product,
    )
    through, alone = _logits(block, state, inward, tokens)
    shared, scale = block.heads / block.kv_heads, block.scale**2
    queries = _linear(d, block.query, block.query_bias, state)

    def asked(by: State | None) -> Expr:
        keys = d * block.key * summed(through, by, tokens)
        return scale * (keys + block.key_bias * summed(alone, by, tokens))

    return {
        "query": asked(state),
        "query bias": asked(None),
        "key": shared * scale * summed(through, queries, tokens),
        "key bias": shared * scale * summed(alone, queries, tokens),
        "value": shared * summed(inward, average, tokens),
        "value bias": shared * summed(inward, None, tokens),
        "out": summed(gradient, _linear(d, block.value, block.value_bias, average), tokens),
        "out bias": summed(gradient, None, tokens),
    }


def _logits(
    block: Attention, state: State, inward: Gradient, tokens: Expr
) -> tuple[Gradient, Gradient]:
    """Sums over s of gradients A_ts of logits: with a feature of x_s, and alone.

    As they are rotated: sum_ss' A_ts A_ts' x_s.x_s' cos(s - s'), in the mean over frequencies, and
    of two queries by cos(s - t - s' + t'). G_t is independent of the tokens; x_s.x_s' moves with
    A_ts A_ts', which makes the share 1/d.
    """
    read, sums, place = block.read(state), block.overlap(state), block.means
    spread = read.second_moment - read.followed

    def both(sent: Expr, noise: Expr, whole: Expr, kept: Expr, away: Expr) -> tuple[Expr, Expr]:
        pushed = block.head_width * block.width * block.value * spread * sent
        apart = read.second_moment * kept - read.followed * away
        moved = spread * away * whole / block.width
        return pushed * (moved + noise * apart), pushed * noise * (kept - away)

    own = 1 - 2 * sums.one + sums.squared
    alike = block.causal == 0 or tokens == 1
    pair = own if alike else (tokens * (1 - sums.one) ** 2 - own) / (tokens - 1)
    squares = both(inward.second_moment, sums.one - sums.squared, own, ONE, place.one)
    pairs = both(inward.product, sums.centred, pair, place.kept, place.two)
    through, alone = (
        Gradient(second_moment=one, product=two) for one, two in zip(squares, pairs, strict=True)
    )
    return through, alone


def _linear(width: Expr, var: Expr, bias: Expr, state: State) -> State:
    return Linear(width, width, var=var, bias=bias).forward(state)


def summed(gradient: Gradient, state: State | None, count: Expr) -> Expr:
    """E[(sum_t g_t x_t)^2] over so many terms; without a state x is 1."""
    own = gradient.second_moment * (ONE if state is None else state.second_moment)
    if gradient.product == 0 or count == 1:
        return count * own
    shared = gradient.product * (ONE if state is None else state.followed)
    return count * own + count * (count - 1) * shared
