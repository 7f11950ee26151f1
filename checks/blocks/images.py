"""Convolutions, pooling and norms over positions run for real.

A batch of images has the shape (images, positions in each direction, channels).
"""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from varlaw.checks.blocks.running import Batch, Draw, run, whole
from varlaw.symbolic.blocks.convolution import Conv, ConvTransposed
from varlaw.symbolic.blocks.norm import GroupNorm, InstanceNorm
from varlaw.symbolic.blocks.pooling import AveragePool, GlobalAveragePool, MaxPool
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.window import Window
from varlaw.symbolic.gaussian.arrays import on_arrays
from varlaw.symbolic.language import read_function


@run.register
def _(block: Conv, x: Batch, draw: Draw) -> Batch:
    return _convolved(
        block, _padded(x, whole(block.window.padding)), whole(block.window.stride), draw
    )


@run.register
def _(block: ConvTransposed, x: Batch, draw: Draw) -> Batch:
    """A convolution with stride 1 of the positions with zeros between them."""
    stride, dims = whole(block.window.stride), whole(block.dims)
    apart = np.zeros((len(x), *((n - 1) * stride + 1 for n in x.shape[1:-1]), x.shape[-1]))
    apart[(slice(None), *(slice(None, None, stride),) * dims)] = x
    around = whole(block.window.kernel) - 1 - whole(block.window.padding)
    return _convolved(block, _padded(apart, around), 1, draw)


@run.register
def _(block: AveragePool, x: Batch, draw: Draw) -> Batch:
    return _windows(x, block.window, whole(block.dims)).mean(_last(whole(block.dims)))


@run.register
def _(block: MaxPool, x: Batch, draw: Draw) -> Batch:
    largest = _windows(x, block.window, whole(block.dims)).max(_last(whole(block.dims)))
    return on_arrays(block.function, read_function("x")[1])(largest)


@run.register
def _(block: GlobalAveragePool, x: Batch, draw: Draw) -> Batch:
    if math.prod(x.shape[1:-1]) != whole(block.positions):
        raise BlockError(f"{math.prod(x.shape[1:-1])} positions into a pool of {block.positions}")
    return np.asarray(x.mean(_positions(x)))


@run.register
def _(block: InstanceNorm, x: Batch, draw: Draw) -> Batch:
    axes = _positions(x)
    return np.asarray((x - x.mean(axes, keepdims=True)) / x.std(axes, keepdims=True))


@run.register
def _(block: GroupNorm, x: Batch, draw: Draw) -> Batch:
    grouped = x.reshape(*x.shape[:-1], whole(block.groups), -1)
    axes = (*_positions(x), grouped.ndim - 1)
    apart = (grouped - grouped.mean(axes, keepdims=True)) / grouped.std(axes, keepdims=True)
    return np.asarray(apart.reshape(x.shape))


def _convolved(block: Conv, padded: Batch, stride: int, draw: Draw) -> Batch:
    groups, dims, kernel = whole(block.groups), whole(block.dims), whole(block.window.kernel)
    ins, outs = whole(block.channels_in) // groups, whole(block.channels_out) // groups
    taps = _slid(padded, kernel, stride, dims)
    where = taps.shape[: dims + 1]
    taps = taps.reshape(-1, groups, ins * kernel**dims).transpose(1, 0, 2)
    w = draw.weights(block.var, groups, ins * kernel**dims, outs, law=block.law)
    y = (taps @ w).transpose(1, 0, 2).reshape(*where, groups * outs)
    return np.asarray(y + draw.weights(block.bias, groups * outs))


def _windows(x: Batch, window: Window, dims: int) -> Batch:
    return _slid(x, whole(window.kernel), whole(window.stride), dims)


def _slid(x: Batch, kernel: int, stride: int, dims: int) -> Batch:
    """All windows: (images, places in each direction, channels, positions in the window)."""
    slid = sliding_window_view(x, (kernel,) * dims, axis=tuple(range(1, dims + 1)))
    return slid[(slice(None), *(slice(None, None, stride),) * dims)]


def _padded(x: Batch, width: int) -> Batch:
    return np.pad(x, [(0, 0), *[(width, width)] * (x.ndim - 2), (0, 0)])


def _positions(x: Batch) -> tuple[int, ...]:
    """The axes of positions."""
    return tuple(range(1, x.ndim - 1))


def _last(count: int) -> tuple[int, ...]:
    """So many axes at the end."""
    return tuple(range(-count, 0))
