"""Biases that fall with distance token by token, and their means that `Alibi` takes."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from sympy import Expr

from varlaw.symbolic.blocks.alibi import Alibi
from varlaw.symbolic.blocks.overlaps import rounded
from varlaw.symbolic.blocks.state import ONE, BlockError
from varlaw.symbolic.blocks.tokens import Tokens, back, follow, value
from varlaw.symbolic.gaussian.arrays import Array


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
        return rounded(float((own**2).mean()))

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
        return rounded(float(np.diagonal(values, axis1=1, axis2=2).mean()))

    def _paired(self, values: Array) -> Expr:
        n = values.shape[1]
        if n == 1:
            return ONE
        whole = values.sum() - np.diagonal(values, axis1=1, axis2=2).sum()
        return rounded(float(whole) / len(values) / n / (n - 1))


def slopes(heads: int) -> Array:
    """m_h."""
    even = 2 ** int(np.log2(heads))
    first = 2.0 ** (-8 * np.arange(1, even + 1) / even)
    rest = 2.0 ** (-4 * np.arange(1, 2 * (heads - even), 2) / even)
    return np.concatenate([first, rest])


@lru_cache(maxsize=16)
def near(tokens: int, heads: int) -> Near:
    place = np.arange(tokens)
    apart = np.subtract.outer(place, place)
    biases = -slopes(heads)[:, None, None] * apart
    grown = np.where(apart < 0, 0.0, np.exp(np.where(apart < 0, 0.0, biases)))
    return Near(grown / grown.sum(-1, keepdims=True))


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
