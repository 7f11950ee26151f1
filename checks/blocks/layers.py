"""Layers run for real: weights drawn, functions applied, features normalised."""

import math

import numpy as np

from varlaw.checks.blocks.running import Batch, Draw, number, run, whole
from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.cross import Targets
from varlaw.symbolic.blocks.linear import Dropout, Embedding, Linear
from varlaw.symbolic.blocks.norm import BatchNorm, LayerNorm, RMSNorm
from varlaw.symbolic.blocks.shift import Shift
from varlaw.symbolic.blocks.softmax import Softmax
from varlaw.symbolic.blocks.vision import ClassToken, FirstToken, Places
from varlaw.symbolic.gaussian.arrays import on_arrays


@run.register
def _(block: Linear, x: Batch, draw: Draw) -> Batch:
    fan_out = whole(block.fan_out)
    y = number(block.scale) * draw.product(x, block.var, fan_out, block.law)
    return np.asarray(y + draw.weights(block.bias, fan_out))


@run.register
def _(block: Embedding, x: Batch, draw: Draw) -> Batch:
    rows = draw.weights(block.var, len(x), whole(block.width))
    if block.repeats != 0:  # each token is one word with the root of that probability
        same = draw.uniform(len(x)) < math.sqrt(number(block.repeats))
        rows[same] = draw.weights(block.var, whole(block.width))
    rows = number(block.scale) * rows
    if block.positions != 0:
        rows = rows + draw.weights(block.positions, len(x), whole(block.width))
    return rows


@run.register
def _(block: Targets, x: Batch, draw: Draw) -> Batch:
    draw.memory = x
    rows = draw.weights(block.var, whole(block.tokens), whole(block.width))
    return number(block.scale) * rows


@run.register
def _(block: ClassToken, x: Batch, draw: Draw) -> Batch:
    return np.concatenate([draw.weights(block.var, 1, x.shape[-1]), x])


@run.register
def _(block: Places, x: Batch, draw: Draw) -> Batch:
    return np.asarray(x + draw.weights(block.var, *x.shape))


@run.register
def _(block: FirstToken, x: Batch, draw: Draw) -> Batch:
    return x[:1]


@run.register
def _(block: Shift, x: Batch, draw: Draw) -> Batch:
    return np.asarray(x + draw.weights(block.var, x.shape[-1]))


@run.register
def _(block: Dropout, x: Batch, draw: Draw) -> Batch:
    p = number(block.p)
    return np.asarray(x * (draw.uniform(*x.shape) >= p) / (1 - p))


@run.register
def _(block: Activation, x: Batch, draw: Draw) -> Batch:
    return on_arrays(block.function, block.variable)(x)


@run.register
def _(block: LayerNorm, x: Batch, draw: Draw) -> Batch:
    spread = np.sqrt(x.var(-1, keepdims=True) + number(block.eps))
    return np.asarray((x - x.mean(-1, keepdims=True)) / spread)


@run.register
def _(block: Softmax, x: Batch, draw: Draw) -> Batch:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


@run.register
def _(block: BatchNorm, x: Batch, draw: Draw) -> Batch:
    axes = tuple(range(x.ndim - 1))
    return np.asarray((x - x.mean(axes)) / x.std(axes))


@run.register
def _(block: RMSNorm, x: Batch, draw: Draw) -> Batch:
    return np.asarray(x / np.sqrt((x**2).mean(-1, keepdims=True) + number(block.eps)))
