"""Layers run for real: weights drawn, functions applied, features normalised."""

import numpy as np

from varlaw.checks.blocks.running import Batch, Draw, number, run, whole
from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.linear import Dropout, Embedding, Linear
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.shift import Shift
from varlaw.symbolic.gaussian.arrays import on_arrays


@run.register
def _(block: Linear, x: Batch, draw: Draw) -> Batch:
    w = draw.weights(block.var, whole(block.fan_in), whole(block.fan_out))
    return np.asarray(x @ w + draw.weights(block.bias, whole(block.fan_out)))


@run.register
def _(block: Embedding, x: Batch, draw: Draw) -> Batch:
    return draw.weights(block.var, len(x), whole(block.width))


@run.register
def _(block: Shift, x: Batch, draw: Draw) -> Batch:
    return np.asarray(x + draw.weights(block.var, x.shape[-1]))


@run.register
def _(block: Dropout, x: Batch, draw: Draw) -> Batch:
    p = number(block.p)
    return np.asarray(x * (draw.rng.random(x.shape) >= p) / (1 - p))


@run.register
def _(block: Activation, x: Batch, draw: Draw) -> Batch:
    return on_arrays(block.function, block.variable)(x)


@run.register
def _(block: LayerNorm, x: Batch, draw: Draw) -> Batch:
    spread = np.sqrt(x.var(-1, keepdims=True) + number(block.eps))
    return np.asarray((x - x.mean(-1, keepdims=True)) / spread)


@run.register
def _(block: RMSNorm, x: Batch, draw: Draw) -> Batch:
    return np.asarray(x / np.sqrt((x**2).mean(-1, keepdims=True) + number(block.eps)))
