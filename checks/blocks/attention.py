"""Attention run for real: heads with shared keys and values, causal masks, QK-norm."""

import numpy as np

from varlaw.checks.blocks.running import Batch, Draw, number, run, whole
from varlaw.symbolic.blocks.alibi import Alibi
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.cross import CrossAttention
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.state import BlockError


@run.register
def _(block: Attention, x: Batch, draw: Draw) -> Batch:
    if block.position is not None:
        raise BlockError("a simulation gives means over positions: leave out position")
    q, k, v = heads(block, x, draw)
    logits = q @ k.transpose(0, 2, 1) + biases(block, len(x), draw)
    if block.causal == 1:
        logits[:, ~np.tri(len(x), dtype=bool)] = -np.inf
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    if block.dropout != 0:
        p = number(block.dropout)
        weights *= (draw.uniform(*weights.shape) >= p) / (1 - p)
    averages = (weights @ v).transpose(1, 0, 2).reshape(len(x), -1)
    inner, d = whole(block.heads * block.head_width), whole(block.width)
    return run(Linear(inner, d, var=block.out, bias=block.out_bias), averages, draw)


def heads(block: Attention, x: Batch, draw: Draw) -> tuple[Batch, Batch, Batch]:
    """Queries times their scale, keys and values: (heads, tokens, head width)."""
    own, shared, read = block.head_width, block.kv_heads, _read(block, x, draw)
    q, k, v = (
        _apart(run(Linear(block.width, many * own, var=var, bias=bias), of, draw), whole(own))
        for of, many, var, bias in (
            (x, block.heads, block.query, block.query_bias),
            (read, shared, block.key, block.key_bias),
            (read, shared, block.value, block.value_bias),
        )
    )
    if block.qk_norm == 1:
        q, k = (y / np.sqrt((y**2).mean(-1, keepdims=True)) for y in (q, k))
    q, k = (_turned(y, number(block.rotary)) for y in (q, k))
    k, v = (np.repeat(y, len(q) // len(y), axis=0) for y in (k, v))
    return number(block.scale) * q, k, v


def biases(block: Attention, tokens: int, draw: Draw) -> Batch:
    """Biases of logits by distance, (heads, tokens, tokens): those of all layers of one block."""
    distance = np.subtract.outer(np.arange(tokens), np.arange(tokens))
    if isinstance(block, Alibi):
        slopes = np.array(_slopes(whole(block.heads)), np.float32)
        return np.asarray(-slopes[:, None, None] * distance.astype(np.float32))
    if block.relative == 0:
        return np.zeros((1, 1, 1), np.float32)
    kinds = _buckets(distance, whole(block.buckets), whole(block.furthest), block.causal == 1)
    if block not in draw.shared:
        shape = whole(block.heads), int(kinds.max()) + 1
        drawn = draw.rng.standard_normal(shape) * np.sqrt(number(block.relative))
        draw.shared[block] = drawn.astype(np.float32)
    return draw.shared[block][:, kinds]


def _slopes(heads: int) -> list[float]:
    """A geometric sequence from 2^(-8/heads) on; more heads than a power of 2 fill its gaps."""
    if heads & (heads - 1) == 0:
        return [2 ** (-8 * (head + 1) / heads) for head in range(heads)]
    below = 1 << (heads.bit_length() - 1)
    return _slopes(below) + _slopes(2 * below)[0::2][: heads - below]


def _buckets(distance: Batch, buckets: int, furthest: int, causal: bool) -> Batch:
    """T5's buckets of distances t - s, one after another; without buckets the distance itself."""
    if buckets == 0:
        return np.asarray(distance - distance.min())
    if not causal:
        later = _buckets(np.maximum(-distance, 0), buckets // 2, furthest, True)
        sooner = _buckets(np.maximum(distance, 0), buckets // 2, furthest, True)
        return np.where(distance < 0, later + buckets // 2, sooner)
    small = buckets // 2
    edges = small * (furthest / small) ** (np.arange(1, buckets - small) / (buckets - small))
    far = small + np.searchsorted(edges, distance, side="right")
    return np.where(distance < small, np.maximum(distance, 0), far)


def _turned(x: Batch, base: float) -> Batch:
    """Rotary positions: feature j and the one half a head further are turned by t base^(-2j/d)."""
    if base == 0:
        return x
    half = x.shape[-1] // 2
    angle = np.outer(np.arange(x.shape[1]), base ** (-np.arange(half) / half)).astype(x.dtype)
    one, two = x[..., :half], x[..., half:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([one * cos - two * sin, two * cos + one * sin], -1)


def _read(block: Attention, x: Batch, draw: Draw) -> Batch:
    """The tokens that keys and values are made of."""
    if not isinstance(block, CrossAttention):
        return x
    if draw.memory is None:
        raise BlockError("cross attention reads another stream: targets(...) begins the second")
    return draw.memory


def _apart(x: Batch, head_width: int) -> Batch:
    """(heads, tokens, head width) of (tokens, heads * head width)."""
    return x.reshape(len(x), -1, head_width).transpose(1, 0, 2)
