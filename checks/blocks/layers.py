"""Layers run for real: weights drawn, functions applied, features normalised."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from sympy import Expr, Symbol, oo

from varlaw.checks.blocks.running import Batch, Draw, number, run, whole
from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.linear import Dropout, Embedding, Linear
from varlaw.symbolic.blocks.norm import BatchNorm, LayerNorm, RMSNorm
from varlaw.symbolic.blocks.softmax import Softmax
from varlaw.symbolic.gaussian.compiled import compiled
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.pieces import pieces_of


@run.register
def _(block: Linear, x: Batch, draw: Draw) -> Batch:
    w = draw.weights(block.var, whole(block.fan_in), whole(block.fan_out), law=block.law)
    return np.asarray(number(block.scale) * x @ w + draw.weights(block.bias, whole(block.fan_out)))


@run.register
def _(block: Embedding, x: Batch, draw: Draw) -> Batch:
    return number(block.scale) * draw.weights(block.var, len(x), whole(block.width))


@run.register
def _(block: Dropout, x: Batch, draw: Draw) -> Batch:
    p = number(block.p)
    return np.asarray(x * (draw.rng.random(x.shape) >= p) / (1 - p))


@run.register
def _(block: Activation, x: Batch, draw: Draw) -> Batch:
    return on_arrays(block.function, block.variable)(x)


@run.register
def _(block: LayerNorm, x: Batch, draw: Draw) -> Batch:
    return np.asarray((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True))


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
    return np.asarray(x / np.sqrt((x**2).mean(-1, keepdims=True)))


@lru_cache(maxsize=64)
def on_arrays(f: Expr, x: Symbol) -> Callable[[Batch], Batch]:
    """A function on arrays, piece by piece."""
    pieces = joined(pieces_of(f, x))
    bodies = [compiled([piece.expression], [x]) for piece in pieces]
    ends = [math.inf if p.upper == oo else number(p.upper) for p in pieces]

    def at(z: Batch) -> Batch:
        with np.errstate(all="ignore"):
            values = [np.broadcast_to(body(z)[0], z.shape) for body in bodies]
        return np.asarray(np.select([z < end for end in ends], values))

    return at
