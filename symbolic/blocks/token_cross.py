"""Cross attention token by token: what n queries average of S tokens; gradients back to both."""

from dataclasses import dataclass, replace
from functools import cached_property, singledispatch

import numpy as np

from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.cross import CrossAttention, Targets
from varlaw.symbolic.blocks.overlap_integrals import Overlaps, overlaps
from varlaw.symbolic.blocks.residual import Parallel, Residual
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.tokens import Tokens, back, follow, value
from varlaw.symbolic.gaussian.arrays import Array


def logit_variance(block: CrossAttention, tokens: Tokens) -> float:
    """The mean over queries and tokens of the variance of a logit."""
    weights = _Weights.of(block, tokens)
    return float(np.diag(weights.queries).mean() * np.diag(weights.keys).mean())


@singledispatch
def to_memory(block: Block, gradient: Array, tokens: Tokens) -> Array | float:
    """E[g_s g_s'] that goes from the output of a block to the tokens its cross attention reads.

    `tokens` enter the block.
    """
    return 0.0


@to_memory.register
def _(block: Sequential, gradient: Array, tokens: Tokens) -> Array | float:
    entering: list[Tokens] = [tokens]
    found: list[Array | float] = []
    for part in block.parts[:-1]:
        entering.append(follow(part, entering[-1]))
    for part, state in zip(reversed(block.parts), reversed(entering), strict=True):
        found.append(to_memory(part, gradient, state))
        gradient = back(part, gradient, state)
    return sum(found)


@to_memory.register
def _(block: Residual, gradient: Array, tokens: Tokens) -> Array | float:
    return value(block.b) ** 2 * to_memory(block.branch, gradient, tokens)


@to_memory.register
def _(block: Parallel, gradient: Array, tokens: Tokens) -> Array | float:
    return sum(to_memory(branch, gradient, tokens) for branch in block.branches)


@dataclass(frozen=True)
class _Weights:
    """Softmax weights of pairs of queries over S tokens, of which any two are taken for alike.

    The covariance of logits is that of `queries` times that of `keys`; `key_slope` and
    `query_slope` are what the derivatives by features have beside them.
    """

    block: CrossAttention
    read: Tokens
    keys: Array
    queries: Array
    key_slope: float
    query_slope: Array

    @classmethod
    def of(cls, block: CrossAttention, tokens: Tokens) -> "_Weights":
        if tokens.memory is None:
            raise BlockError("cross attention reads another stream: targets(...) begins the second")
        x, read = tokens.products, tokens.memory
        if len(read.means) != round(value(block.tokens)):
            raise BlockError(
                f"cross attention over {block.tokens} tokens reads {len(read.means)} of them"
            )
        strength = value(block.scale) ** 2 * value(block.head_width)
        keys = value(block.width * block.key) * read.products
        queries = value(block.width * block.query) * x + value(block.query_bias)
        k, q = 1.0, np.ones(len(x))
        if block.qk_norm == 1:
            keys += value(block.key_bias)
            k, q = np.diag(keys).mean(), np.sqrt(np.diag(queries))
        apart = strength / np.outer(q, q)
        return cls(
            block,
            read,
            keys / k,
            apart * queries,
            value(block.key) / k,
            apart * value(block.query),
        )

    @property
    def seen(self) -> int:
        """S."""
        return len(self.keys)

    @cached_property
    def overlaps(self) -> Overlaps:
        covariances = self.queries * _apart(self.keys)
        seen = np.full(len(covariances), self.seen)
        return overlaps(np.diag(covariances), covariances, seen)

    @property
    def overlap(self) -> Array:
        """sum_s p_ts p_t's."""
        return self.overlaps.products

    @property
    def spread(self) -> float:
        """By how much a token's product with itself exceeds that with another."""
        return _apart(self.read.products)

    @property
    def gain(self) -> float:
        """What W_O and W_V do to a second moment."""
        b = self.block
        return value(b.width * b.value * b.heads * b.head_width * b.out)


def _apart(products: Array) -> float:
    """The mean product of a token with itself less that of two."""
    n, own = len(products), float(np.diag(products).mean())
    return own if n == 1 else (own - float(products.mean())) * n / (n - 1)


@follow.register
def _(block: Targets, tokens: Tokens) -> Tokens:
    n = round(value(block.tokens))
    products = value(block.scale**2 * block.var) * np.eye(n)
    return Tokens(products, np.zeros(n), replace(tokens, memory=None))


@follow.register
def _(block: CrossAttention, tokens: Tokens) -> Tokens:
    w = _Weights.of(block, tokens)
    uniform = 1 / w.seen
    average = w.read.products.mean() + (w.overlap - uniform) * w.spread
    own = w.spread * (1 - np.diag(w.overlap))
    average += w.queries * w.key_slope * np.outer(own, own)
    biases = value(block.heads * block.head_width * block.out * block.value_bias + block.out_bias)
    products = w.gain * average + biases
    return replace(tokens, products=products, means=np.zeros(len(average)), gaussian=True)


@back.register
def _(block: CrossAttention, gradient: Array, tokens: Tokens) -> Array:
    w, d = _Weights.of(block, tokens), value(block.width)
    covariance = d * w.spread * _apart(w.keys) * w.query_slope
    noise = w.overlaps.noise
    return np.asarray(w.gain * gradient * covariance * ((1 - w.overlap) ** 2 / d + noise))


@to_memory.register
def _(block: CrossAttention, gradient: Array, tokens: Tokens) -> Array | float:
    w, d = _Weights.of(block, tokens), value(block.width)
    n, one_query = w.seen, np.eye(len(gradient), dtype=bool)
    moved = np.where(one_query, 1, 1 - 1 / n) * w.overlaps.noise
    pushed = d * w.queries * w.key_slope * w.spread * moved
    own = float((gradient * (w.overlap + pushed)).sum()) / n
    pair = float((gradient * (1 - w.overlap - pushed)).sum()) / n / max(n - 1, 1)
    found = np.full((n, n), w.gain * pair)
    np.fill_diagonal(found, w.gain * own)
    return found
