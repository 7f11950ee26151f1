"""Attention run for real: heads with shared keys and values, causal masks, QK-norm."""

import numpy as np

from varlaw.checks.blocks.running import Batch, Draw, number, run, whole
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.state import BlockError


@run.register
def _(block: Attention, x: Batch, draw: Draw) -> Batch:
    if block.position is not None:
        raise BlockError("a simulation gives means over positions: leave out position")
    q, k, v = heads(block, x, draw)
    logits = q @ k.transpose(0, 2, 1)
    if block.causal == 1:
        logits[:, ~np.tri(len(x), dtype=bool)] = -np.inf
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    averages = (weights @ v).transpose(1, 0, 2).reshape(len(x), -1)
    inner, d = whole(block.heads * block.head_width), whole(block.width)
    return run(Linear(inner, d, var=block.out, bias=block.out_bias), averages, draw)


def heads(block: Attention, x: Batch, draw: Draw) -> tuple[Batch, Batch, Batch]:
    """Queries times their scale, keys and values: (heads, tokens, head width)."""
    own, shared = block.head_width, block.kv_heads
    q, k, v = (
        _apart(run(Linear(block.width, many * own, var=var, bias=bias), x, draw), whole(own))
        for many, var, bias in (
            (block.heads, block.query, block.query_bias),
            (shared, block.key, block.key_bias),
            (shared, block.value, block.value_bias),
        )
    )
    if block.qk_norm == 1:
        q, k = (y / np.sqrt((y**2).mean(-1, keepdims=True)) for y in (q, k))
    k, v = (np.repeat(y, len(q) // len(y), axis=0) for y in (k, v))
    return number(block.scale) * q, k, v


def _apart(x: Batch, head_width: int) -> Batch:
    """(heads, tokens, head width) of (tokens, heads * head width)."""
    return x.reshape(len(x), -1, head_width).transpose(1, 0, 2)
