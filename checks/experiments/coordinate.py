"""The coordinate check: small networks of growing width, one training step, sizes of changes.

A layer has the effective weights n^-a W, with W drawn at standard deviation n^-b, and the learning
rate n^-c (Yang and Hu 2021, definition 3.2). The loss is the output itself, and each layer's change
is that by its own step: the law on a layer speaks of that.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from varlaw.checks.statistics.sampling import Law, stream

Array = NDArray[np.float64]
Function = tuple[Callable[[Array], Array], Callable[[Array], Array]]  # with its derivative

LINEAR: Function = (lambda z: z, np.ones_like)
TANH: Function = (np.tanh, lambda z: np.asarray(1 - np.tanh(z) ** 2))


@dataclass(frozen=True)
class Exponents:
    """The exponents of the width of one layer: factor n^-a, weights n^-b, learning rate n^-c."""

    a: float
    b: float
    c: float


Parametrisation = Mapping[str, Exponents]  # of "input", "readout" and, if there is one, "hidden"


def changes(
    rng: Generator,
    width: int,
    replicates: int,
    layers: Parametrisation,
    optimiser: str,
    weights: Law,
    inputs: Array,
    activation: Function = LINEAR,
) -> dict[str, Array]:
    """The root mean square change of each layer's output by its own first step, per replicate.

    `optimiser` is "sgd" or "adam" (whose first step is the sign of the gradient).
    """
    names = [name for name in ("input", "hidden", "readout") if name in layers]
    f, derivative = activation
    sizes = [len(inputs), *[width] * (len(names) - 1), 1]
    drawn = [
        weights.sample(rng, (replicates, sizes[k + 1], sizes[k])) * width ** -layers[name].b
        for k, name in enumerate(names)
    ]
    factors = [width ** -layers[name].a for name in names]
    outputs, before = [np.broadcast_to(inputs, (replicates, len(inputs)))], []
    for factor, w in zip(factors, drawn, strict=True):
        before.append(factor * np.einsum("rji,ri->rj", w, outputs[-1]))
        outputs.append(f(before[-1]))
    gradient = np.ones((replicates, 1))  # of the loss by the output before the layer at hand
    found: dict[str, Array] = {}
    for k in reversed(range(len(names))):
        raw = factors[k] * np.einsum("rj,ri->rji", gradient, outputs[k])
        step = (np.sign(raw) if optimiser == "adam" else raw) * width ** -layers[names[k]].c
        moved = factors[k] * np.einsum("rji,ri->rj", step, outputs[k])
        found[names[k]] = np.sqrt((moved**2).mean(axis=1))
        if k:
            gradient = factors[k] * np.einsum("rji,rj->ri", drawn[k], gradient)
            gradient = gradient * derivative(before[k - 1])
    return found


def slopes(
    layers: Parametrisation,
    optimiser: str,
    weights: Law,
    *,
    widths: Sequence[int] = (64, 128, 256, 512),
    draws: int = 8,
    seed: int = 0,
    activation: Function = TANH,
) -> dict[str, tuple[float, float]]:
    """The measured exponent of each layer's change, and its standard error.

    The slope of log change against log width by least squares, from independent draws at each
    width; the error is that of the residuals. Raises ValueError for fewer than three widths.
    """
    if len(set(widths)) < 3:
        raise ValueError(f"an exponent needs at least three widths, not {len(set(widths))}")
    inputs = np.array([1.0, -0.5, 0.25, 1.5])
    logs: dict[str, list[Array]] = {name: [] for name in layers}
    for width in widths:
        rng = stream(seed, "coordinate", optimiser, width)
        moved = changes(rng, width, draws, layers, optimiser, weights, inputs, activation)
        for name, values in moved.items():
            logs[name].append(np.log(values))
    x = np.repeat(np.log(np.array(widths, dtype=float)), draws)
    return {name: slope(x, np.concatenate(rows)) for name, rows in logs.items()}


def slope(x: Array, y: Array) -> tuple[float, float]:
    """The slope of y against x by least squares, and its standard error from the residuals."""
    x = x - x.mean()
    found = float(x @ y / (x @ x))
    left = y - y.mean() - found * x
    return found, math.sqrt(float(left @ left) / (len(x) - 2) / float(x @ x))
