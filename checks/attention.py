"""Attention run for real, in NumPy: heads with shared keys and values, causal masks, QK-norm."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def attend(
    queries: Array,
    keys: Array,
    values: Array,
    *,
    head_width: int,
    scale: float,
    qk_norm: bool = False,
    causal: bool = False,
) -> Array:
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


def _apart(x: Array, head_width: int) -> Array:
    """(heads, tokens, head_width) of (tokens, heads * head_width)."""
    return x.reshape(len(x), -1, head_width).transpose(1, 0, 2)
