"""Attention with biases that fall with distance (Press et al. 2022, "ALiBi").

Head h adds -m_h (t - s) to the logit of query t and key s <= t, so that without other logits the
weights w are those of this softmax, and not exchangeable. To the first order in the covariance of
the other logits, c of two queries with one key beyond that with two, v and v' of each query,

    E sum p p' = A + c (A - B - B' + A^2) + v (A_tt A - B) + v' (A_t't' A - B'),

A = sum w w', B = sum w^2 w', B' = sum w w'^2, for p = w (1 + l - m + (l - m)^2/2 - ...) with
m = sum w l; what goes beyond is taken as in `Attention`, A e^y/(1 - A + A e^y).
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from sympy import Expr, Float, exp

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.overlaps import Logits, Overlap
from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.tokens import Tokens, back, follow, value
from varlaw.symbolic.blocks.weights import in_layer
from varlaw.symbolic.gaussian.arrays import Array
from varlaw.symbolic.language import Text

DIGITS = 15


@dataclass(frozen=True, init=False)
class Alibi(Attention):
    """Causal attention whose logits have the bias -m_h (t - s), m_h = 2^(-8h/H) for head h of H.

    With other numbers of heads than powers of 2 the rest of the slopes are every other one of twice
    as many heads (Press et al. 2022, section 3 and its code). Moments are means over positions and
    heads. Gradients are not covered.
    """

    def __init__(
        self,
        width: Text,
        tokens: Text,
        *,
        value: Text,
        out: Text,
        query: Text = 0,
        key: Text = 0,
        heads: Text = 1,
        kv_heads: Text | None = None,
        head_width: Text | None = None,
        scale: Text | None = None,
        qk_norm: Text = 0,
        query_bias: Text = 0,
        key_bias: Text = 0,
        value_bias: Text = 0,
        out_bias: Text = 0,
    ) -> None:
        super().__init__(
            width,
            tokens,
            value=value,
            out=out,
            query=query,
            key=key,
            heads=heads,
            kv_heads=kv_heads,
            head_width=head_width,
            scale=scale,
            qk_norm=qk_norm,
            causal=1,
            query_bias=query_bias,
            key_bias=key_bias,
            value_bias=value_bias,
            out_bias=out_bias,
        )

    @property
    def near(self) -> "Near":
        """The weights without other logits. Raises BlockError where sizes have no value."""
        if self.tokens.free_symbols or self.heads.free_symbols:
            raise BlockError("biases that fall with distance need numbers for tokens and heads")
        return _near(int(self.tokens), int(self.heads))

    def averages(self, state: State) -> State:
        found, (logits, near) = super().averages(state), (self.logits(state), self.near)
        moved = logits.key_slope * (state.second_moment - state.followed) ** 2
        return found.become(
            second_moment=found.second_moment - (1 - near.rest_one) * moved,
            product=found.product - (1 - near.rest_two) * logits.queries * moved,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        raise BlockError("gradients through biases that fall with distance are not covered")

    def _used(self) -> list[Approximation]:
        used = super()._used()
        return used if self.uniform else [*used, Approximation.LOGITS]

    def _overlap(self, logits: Logits) -> Overlap:
        near, one = self.near, logits.variance * (1 - logits.keys)
        alone = ONE if self.tokens == 1 else _raised(near.one, near.moved_one * one)
        two = near.moved_two * logits.queries * one + near.own_two * one
        pair = _raised(near.two, two) if self.tokens != 1 else ONE
        return Overlap(alone, alone**2, pair, pair * (1 - near.two))


def _raised(overlap: Expr, added: Expr) -> Expr:
    """An overlap to which logits add so much, to the first order."""
    grown = exp(tidy(added / overlap / (1 - overlap)))
    return overlap * grown / (1 - overlap + overlap * grown)


@dataclass(frozen=True)
class Near:
    """Weights [h, t, s] of biases alone, and means over heads and positions, or pairs of them."""

    weights: Array

    @cached_property
    def overlaps(self) -> Array:
        """A [h, t, t']."""
        return np.asarray(self.weights @ self.weights.transpose(0, 2, 1))

    @cached_property
    def cubes(self) -> Array:
        """B [h, t, t']."""
        return np.asarray(self.weights**2 @ self.weights.transpose(0, 2, 1))

    @cached_property
    def with_both(self) -> Array:
        """What multiplies c."""
        turned = self.cubes.transpose(0, 2, 1)
        return np.asarray(self.overlaps - self.cubes - turned + self.overlaps**2)

    @cached_property
    def with_first(self) -> Array:
        """What multiplies v."""
        own = np.diagonal(self.overlaps, axis1=1, axis2=2)
        return np.asarray(own[:, :, None] * self.overlaps - self.cubes)

    @property
    def one(self) -> Expr:
        """The mean of A of one query."""
        return self._single(self.overlaps)

    @property
    def moved_one(self) -> Expr:
        """What v adds for one query."""
        return self._single(self.with_both + 2 * self.with_first)

    @property
    def rest_one(self) -> Expr:
        """The mean of (1 - A)^2 of one query."""
        own = 1 - np.diagonal(self.overlaps, axis1=1, axis2=2)
        return Float(float((own**2).mean()), DIGITS)

    @property
    def two(self) -> Expr:
        """The mean of A of two queries."""
        return self._paired(self.overlaps)

    @property
    def moved_two(self) -> Expr:
        """What c adds for two queries."""
        return self._paired(self.with_both)

    @property
    def own_two(self) -> Expr:
        """What v adds for two queries."""
        return self._paired(2 * self.with_first)

    @property
    def rest_two(self) -> Expr:
        """The mean of (1 - A_tt)(1 - A_t't') of two queries."""
        own = 1 - np.diagonal(self.overlaps, axis1=1, axis2=2)
        return self._paired(own[:, :, None] * own[:, None, :])

    def _single(self, values: Array) -> Expr:
        return Float(float(np.diagonal(values, axis1=1, axis2=2).mean()), DIGITS)

    def _paired(self, values: Array) -> Expr:
        n = values.shape[1]
        if n == 1:
            return ONE
        whole = values.sum() - np.diagonal(values, axis1=1, axis2=2).sum()
        return Float(float(whole) / len(values) / n / (n - 1), DIGITS)


def slopes(heads: int) -> Array:
    """m_h."""
    even = 2 ** int(np.log2(heads))
    first = 2.0 ** (-8 * np.arange(1, even + 1) / even)
    rest = 2.0 ** (-4 * np.arange(1, 2 * (heads - even), 2) / even)
    return np.concatenate([first, rest])


@lru_cache(maxsize=16)
def _near(tokens: int, heads: int) -> Near:
    place = np.arange(tokens)
    apart = np.subtract.outer(place, place)
    biases = -slopes(heads)[:, None, None] * apart
    grown = np.where(apart < 0, 0.0, np.exp(np.where(apart < 0, 0.0, biases)))
    return Near(grown / grown.sum(-1, keepdims=True))


@in_layer.register
def _(block: Alibi, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    raise BlockError("gradients through biases that fall with distance are not covered")


@back.register
def _(block: Alibi, gradient: Array, tokens: Tokens) -> Array:
    raise BlockError("gradients through biases that fall with distance are not covered")


@follow.register
def _(block: Alibi, tokens: Tokens) -> Tokens:
    near, x = block.near, tokens.products
    w, a = near.weights, near.overlaps
    d, strength = value(block.width), value(block.scale) ** 2 * value(block.head_width)
    keys = d * value(block.key) * x + value(block.key_bias) * (block.qk_norm == 1)
    queries = d * value(block.query) * x + value(block.query_bias)
    k, q = 1.0, np.ones(len(x))
    if block.qk_norm == 1:
        k, q = np.diag(keys).mean(), np.sqrt(np.diag(queries))
    queries = strength * queries / np.outer(q, q)
    covariance = queries * _apart(near, keys / k)
    own = np.diagonal(covariance, axis1=1, axis2=2)
    first = own[:, :, None] * near.with_first
    added = covariance * near.with_both + first + first.transpose(0, 2, 1)
    inside = np.where(a < 1, a * (1 - a), 1)
    grown = np.exp(np.where((a < 1) & (a > 0), added / np.where(inside > 0, inside, 1), 0))
    overlap = a * grown / (1 - a + a * grown)
    spread = _apart(near, x)
    average = w @ x @ w.transpose(0, 2, 1) + (overlap - a) * spread
    moved = np.diagonal(spread * (1 - a), axis1=1, axis2=2)
    average += queries * (value(block.key) / k) * moved[:, :, None] * moved[:, None, :]
    gain = value(block.width * block.value * block.heads * block.head_width * block.out)
    biases = value(block.heads * block.head_width * block.out * block.value_bias + block.out_bias)
    return replace(tokens, products=gain * average.mean(0) + biases, means=np.zeros(len(x)))


def _apart(near: Near, products: Array) -> Array:
    """[h, t, t']: products of a token with itself less those of two, means with the weights."""
    w, a = near.weights, near.overlaps
    turned = w.transpose(0, 2, 1)
    own = (w * np.diag(products)) @ turned
    both = w @ products @ turned
    apart = np.where(a < 1, 1 - a, 1)
    return np.where(a < 1, own / a - (both - own) / apart, 0.0)
