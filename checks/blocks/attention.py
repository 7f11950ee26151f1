"""Attention run for real."""

import math

import numpy as np

from varlaw.checks.blocks.running import Batch, Draw, run, whole
from varlaw.symbolic.blocks.attention import Attention


@run.register
def _(block: Attention, x: Batch, draw: Draw) -> Batch:
    d = whole(block.width)
    q, k, v = (x @ draw.weights(var, d, d) for var in (block.query, block.key, block.value))
    logits = q @ k.T / math.sqrt(d)
    weights = np.exp(logits - logits.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.asarray(weights @ v @ draw.weights(block.out, d, d))
