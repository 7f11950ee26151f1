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
    d, own = whole(block.width), whole(block.head_width)
    inner, shared = whole(block.heads) * own, whole(block.kv_heads) * own
    layers = [
        Linear(d, size, var=var, bias=bias)
        for size, var, bias in (
            (inner, block.query, block.query_bias),
            (shared, block.key, block.key_bias),
            (shared, block.value, block.value_bias),
        )
    ]
    averages = attend(
        *(run(layer, x, draw) for layer in layers),
        head_width=own,
        scale=number(block.scale),
        qk_norm=block.qk_norm,
        causal=block.causal,
    )
    return run(Linear(inner, d, var=block.out, bias=block.out_bias), averages, draw)


def attend(
    queries: Batch,
    keys: Batch,
    values: Batch,
    *,
    head_width: int,
    scale: float,
    qk_norm: bool = False,
    causal: bool = False,
) -> Batch:
    """softmax(scale q.k) v, head after head, for arrays (tokens, heads * head_width).

    Keys and values of fewer heads are shared by queries in a row.
    """
    q, k, v = (_apart(x, head_width) for x in (queries, keys, values))
    if qk_norm:
        q, k = (x / np.sqrt((x**2).mean(-1, keepdims=True)) for x in (q, k))
    k, v = (np.repeat(x, len(q) // len(x), axis=0) for x in (k, v))
    logits = (scale * q) @ k.transpose(0, 2, 1)
    if causal:
        logits[:, ~np.tri(len(queries), dtype=bool)] = -np.inf
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.asarray((weights @ v).transpose(1, 0, 2).reshape(len(queries), -1))


def _apart(x: Batch, head_width: int) -> Batch:
    """(heads, tokens, head_width) of (tokens, heads * head_width)."""
    return x.reshape(len(x), -1, head_width).transpose(1, 0, 2)
