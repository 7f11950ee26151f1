"""Small networks in a parametrisation, trained for a few steps.

A net is an input layer, hidden layers (in a row, or residual blocks of one layer) and a readout,
tanh between them, without biases; its loss is a fixed combination of the outputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sympy import Integer

from varlaw.symbolic.parametrisation.adam import epsilon
from varlaw.symbolic.parametrisation.layers import Kind, Optimizer, ParametrisationError
from varlaw.symbolic.parametrisation.parametrisation import Parametrisation
from varlaw.symbolic.parametrisation.sizes import DEPTH, WIDTH
from varlaw.symbolic.parametrisation.table import table

Array = NDArray[np.float64]
INPUT = np.array([1.0, -0.5, 0.25, 1.5])
TARGET = np.tile([1.0, -1.0], 8)  # the loss's derivative by the outputs
RATE = 0.02
BETAS = 0.9, 0.999


@dataclass(frozen=True)
class Network:
    """The factors of a parametrisation at a width and a depth, as numbers."""

    parametrisation: Parametrisation
    width: int
    depth: int
    frozen: bool = False  # the input layer and the readout
    epsilon: float = 0.0  # Adam's, before the factor of its layer
    scaled: bool = True  # whether there is such a factor

    @cached_property
    def factors(self) -> dict[Kind, tuple[float, float, float]]:
        """Multiplier, initial standard deviation and learning rate of each kind of layer."""
        found = {}
        for row in table(self.parametrisation):
            multiplier, std, rate = row.at(Integer(self.width), Integer(self.depth))
            moves = row.kind is Kind.HIDDEN or not self.frozen
            found[row.kind] = multiplier, std, RATE * rate * moves
        return found

    @property
    def branch(self) -> float:
        """The multiplier of a branch."""
        return float(self.depth**-self.parametrisation.branch)

    @property
    def epsilons(self) -> list[float]:
        """Adam's epsilon of every layer."""
        at = {WIDTH: Integer(self.width), DEPTH: Integer(self.depth)}
        p = self.parametrisation
        factors = {k: float(epsilon(p, k).xreplace(at)) for k in set(self.kinds())}
        return [self.epsilon * (factors[k] if self.scaled else 1.0) for k in self.kinds()]

    def kinds(self) -> list[Kind]:
        """The kinds of layers from input to output."""
        hidden = [Kind.HIDDEN] * self.depth * (Kind.HIDDEN in self.parametrisation.layers)
        return [Kind.INPUT, *hidden, Kind.OUTPUT]

    def weights(self, rng: Generator) -> list[Array]:
        """Fresh Gaussian weights of every layer, before the multipliers."""
        n, factors = self.width, self.factors
        shapes = {
            Kind.INPUT: (n, len(INPUT)),
            Kind.HIDDEN: (n, n),
            Kind.OUTPUT: (len(TARGET), n),
        }
        return [factors[k][1] * rng.standard_normal(shapes[k]) for k in self.kinds()]


Trained = Callable[[Network, list[Array], int], tuple[list[Array], list[Array]]]


def forward(net: Network, weights: Sequence[Any], tanh: Callable[[Any], Any], x: Any) -> list[Any]:
    """The stream behind each layer, the branch of the first block, and the outputs at the end."""
    factors, residual = net.factors, net.parametrisation.residual
    streams = [factors[Kind.INPUT][0] * (weights[0] @ x)]
    branches = []
    for w in weights[1:-1]:
        branches.append(factors[Kind.HIDDEN][0] * (w @ tanh(streams[-1])))
        streams.append(streams[-1] + net.branch * branches[-1] if residual else branches[-1])
    outputs = factors[Kind.OUTPUT][0] * (weights[-1] @ tanh(streams[-1]))
    return [*streams, *branches[:1], outputs]


def gradients(net: Network, weights: list[Array]) -> list[Array]:
    """The loss's gradients by the weights, by the chain rule."""
    factors, residual = net.factors, net.parametrisation.residual
    streams = forward(net, weights, np.tanh, INPUT)[: len(weights) - 1]
    found = [factors[Kind.OUTPUT][0] * np.outer(TARGET, np.tanh(streams[-1]))]
    slope = factors[Kind.OUTPUT][0] * (weights[-1].T @ TARGET) / np.cosh(streams[-1]) ** 2
    scale = factors.get(Kind.HIDDEN, (0.0,))[0] * (net.branch if residual else 1.0)
    for w, x in zip(reversed(weights[1:-1]), reversed(streams[:-1]), strict=True):
        found.append(scale * np.outer(slope, np.tanh(x)))
        slope = residual * slope + scale * (w.T @ slope) / np.cosh(x) ** 2
    found.append(factors[Kind.INPUT][0] * np.outer(slope, INPUT))
    return found[::-1]


def trained(net: Network, weights: list[Array], steps: int) -> tuple[list[Array], list[Array]]:
    """What `forward` gives before and after some steps, in NumPy."""
    before = forward(net, weights, np.tanh, INPUT)
    rates = [net.factors[kind][2] for kind in net.kinds()]
    optimizer, weights = net.parametrisation.optimizer, [w.copy() for w in weights]
    first, second = BETAS if optimizer is Optimizer.ADAM else (0.0, 0.0)
    small = net.epsilons if net.epsilon else [0.0] * len(weights)
    means = [np.zeros_like(w) for w in weights]
    squares = [np.zeros_like(w) for w in weights]
    for t in range(1, steps + 1):
        for k, g in enumerate(gradients(net, weights)):
            if optimizer is Optimizer.SGD:
                weights[k] -= rates[k] * g
                continue
            means[k] = first * means[k] + (1 - first) * g
            squares[k] = second * squares[k] + (1 - second) * g**2
            root = np.sqrt(squares[k] / (1 - second**t)) + small[k]
            step = np.divide(means[k] / (1 - first**t), root, out=np.zeros_like(g), where=root > 0)
            weights[k] -= rates[k] * step
    return before, forward(net, weights, np.tanh, INPUT)


def backend_of(name: str) -> Trained:
    """The function that trains, by the name of its library. Raises ParametrisationError."""
    if name == "numpy":
        return trained
    try:
        from varlaw.checks.training.torch_networks import trained as in_torch
    except ImportError:
        raise ParametrisationError(
            "PyTorch is not installed: pip install 'varlaw[torch]'"
        ) from None
    return in_torch
