"""Attention token by token: what each position averages, and what gradients come back to it.

For two queries t and t', of which the earlier sees m tokens and the later M, weights overlap by
sum_s p_ts p_t's, which is 1/M for uniform weights and else found by `overlap_integrals`, from the
covariance of the two logits of a token beyond that of different tokens. Logits are taken as
Gaussian, which those of wide heads are. See `Attention`, of whose maps these are the means where
all tokens are alike and many.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.overlap_integrals import Overlaps, overlaps
from varlaw.symbolic.blocks.tokens import Tokens, back, follow, value
from varlaw.symbolic.gaussian.arrays import Array


def logit_variance(block: Attention, tokens: Tokens) -> float:
    """The mean over queries and all tokens of the variance of a logit, masked ones included."""
    weights = _Weights.of(block, tokens)
    products = float(np.diag(weights.queries).mean() * np.diag(weights.keys).mean())
    return products + value(block.relative)


@dataclass(frozen=True)
class _Weights:
    """Softmax weights of pairs of queries t, t'.

    `keys` and `queries` are the products whose product is the covariance of logits, `key_slope` and
    `query_slope` what the derivatives by features have beside them; `seen` is m of each pair, and
    `uniform` the overlap 1/M of uniform weights.
    """

    block: Attention
    tokens: Tokens
    keys: Array
    queries: Array
    key_slope: float
    query_slope: Array
    seen: Array
    uniform: Array

    @classmethod
    def of(cls, block: Attention, tokens: Tokens) -> "_Weights":
        n, x, d = len(tokens.means), tokens.products, value(block.width)
        place = np.arange(1, n + 1) if block.causal == 1 else np.full(n, n)
        seen, uniform = np.minimum.outer(place, place), 1 / np.maximum.outer(place, place)
        key, query = (d * value(v) for v in (block.key, block.query))
        strength = value(block.scale) ** 2 * value(block.head_width)
        if block.qk_norm == 1:
            keys, queries = key * x + value(block.key_bias), query * x + value(block.query_bias)
            k, q = np.diag(keys).mean(), np.sqrt(np.diag(queries))
            keys, queries = keys / k, strength * queries / np.outer(q, q)
            slopes = key / d / k, strength * query / d / np.outer(q, q)
        else:
            keys, queries = key * x, strength * (query * x + value(block.query_bias))
            if block.rotary != 0:  # else a bias shifts all logits of a query alike
                keys = keys + value(block.key_bias)
            slopes = key / d, np.full((n, n), strength * query / d)
        return cls(block, tokens, keys, queries, *slopes, seen, uniform)

    @cached_property
    def turned(self) -> Array:
        """The same of keys, as far as rotation leaves products of logits."""
        if (place := self.block.places) is None:
            return self.apart(self.keys)
        own = np.cumsum(np.diag(self.keys))[self.seen - 1] / self.seen
        return place.kept * own - place.others(self.keys)

    @property
    def averaged_slope(self) -> Array | float:
        """What rotation leaves of a mean over keys of the gradient of a logit."""
        if (place := self.block.places) is None:
            return 1.0
        return np.asarray((place.kept + (self.seen - 1) * place.alike) / self.seen)

    @cached_property
    def overlaps(self) -> Overlaps:
        if self.block.uniform:
            own = np.diag(self.uniform)
            return Overlaps(self.uniform, own * (1 - own))
        place = self.block.places
        covariances = self.queries * self.turned + (0.0 if place is None else place.added)
        return overlaps(np.diag(covariances), covariances, np.diag(self.seen))

    @property
    def overlap(self) -> Array:
        """sum_s p_ts p_t's."""
        return self.overlaps.products

    @cached_property
    def spread(self) -> Array:
        """By how much a token's product with itself exceeds that with another."""
        return self.apart(self.tokens.products)

    @cached_property
    def dropped(self) -> Array:
        """What dropout adds to squares of one weight, relative to them: on the diagonal alone."""
        p = value(self.block.dropout)
        return np.eye(len(self.seen)) * p / (1 - p)

    @cached_property
    def noisy(self) -> Array:
        """The spread that a query sees behind dropout."""
        own = np.cumsum(np.diag(self.tokens.products))[self.seen - 1] / self.seen
        return np.asarray(self.spread + self.dropped * own)

    @property
    def gain(self) -> float:
        """What W_O and W_V do to a second moment."""
        b = self.block
        return value(b.width * b.value * b.heads * b.head_width * b.out)

    def apart(self, products: Array) -> Array:
        """Products of a token with itself less those of two, means over what is seen."""
        own = np.cumsum(np.diag(products))[self.seen - 1] / self.seen
        others = np.where(self.uniform < 1, 1 - self.uniform, 1)
        return np.where(self.uniform < 1, (own - self.averaged(products)) / others, 0)

    def averaged(self, products: Array) -> Array:
        """Products of what queries average with uniform weights."""
        if self.block.causal == 0:
            return np.full_like(products, products.mean())
        return np.cumsum(np.cumsum(products, 0), 1) / np.outer(*self._counts)

    def shared(self, gradient: Array) -> Array:
        """Products of the gradients that come back to tokens through uniform weights."""
        if self.block.causal == 0:
            return np.full_like(gradient, gradient.mean())
        sent = gradient / np.outer(*self._counts)
        return np.cumsum(np.cumsum(sent[::-1, ::-1], 0), 1)[::-1, ::-1].copy()

    @property
    def _counts(self) -> tuple[Array, Array]:
        return np.diag(self.seen), np.diag(self.seen)


@follow.register
def _(block: Attention, tokens: Tokens) -> Tokens:
    w = _Weights.of(block, tokens)
    own = np.diag(w.spread) * (1 - np.diag(w.overlap))
    average = w.averaged(tokens.products) + (w.overlap - w.uniform) * w.spread
    average += w.overlap * (w.noisy - w.spread)
    average += w.queries * w.key_slope * np.outer(own, own) * w.averaged_slope
    biases = value(block.heads * block.head_width * block.out * block.value_bias + block.out_bias)
    products = w.gain * average + biases
    return replace(tokens, products=products, means=np.zeros(len(own)), gaussian=True)


@back.register
def _(block: Attention, gradient: Array, tokens: Tokens) -> Array:
    w, d = _Weights.of(block, tokens), value(block.width)
    one_query = np.eye(len(gradient), dtype=bool)
    ratio = np.where(w.uniform < 1, (1 - w.overlap) / np.where(w.uniform < 1, 1 - w.uniform, 1), 0)
    values = w.shared(gradient * ratio)
    np.fill_diagonal(values, np.diag(w.shared(gradient * (1 + w.dropped) * w.overlap / w.uniform)))
    noise = w.overlaps.noise
    moved = np.where(one_query, 1, 1 - 1 / w.seen) * noise / w.uniform
    kept = 1.0 if (place := block.places) is None else place.kept
    pushed = gradient * d * kept * w.queries * w.key_slope * w.noisy * moved
    keys = -w.shared(pushed / np.maximum(w.seen - 1, 1))
    np.fill_diagonal(keys, np.diag(w.shared(pushed)))
    alike = 1.0 if place is None else place.alike
    moved = alike * w.apart(w.keys) * w.spread * (1 - w.overlap) ** 2 / d
    queries = gradient * d * w.query_slope * (moved + w.turned * w.noisy * noise)
    return np.asarray(w.gain * (values + keys + queries))
