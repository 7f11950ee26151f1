"""Residual networks with linear branches, their passes, and the exact moments of their streams.

Norm divides by the population root second moment, a number that the expectation calculus gives
for the stream at hand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, sqrt

from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, Scaled, exact
from varlaw.checks.experiments.registry import Draws
from varlaw.checks.experiments.streams import Stream
from varlaw.checks.statistics.sampling import Law

ONE = Integer(1)


@dataclass(frozen=True)
class Start:
    """The law of the entries of x_0 or of a probe: `scale` times a law."""

    law: Law
    scale: Fraction = Fraction(1)

    def sample(self, rng: Generator, shape: tuple[int, ...]) -> Draws:
        return self.law.sample(rng, shape) * float(self.scale)

    def moments(self, width: int) -> Stream:
        return Stream.begin(self.law, width, self.scale)


UNIT = Start(SIGNS)


@dataclass(frozen=True)
class Layer:
    """x' = (x + F)/outer with F = (x/inner) W; the squares of the divisors are exact."""

    weights: Scaled
    inner: Expr = ONE
    outer: Expr = ONE

    def moments(self, stream: Stream, capture: bool = False) -> Stream:
        """The moments of x' from those of x. The same map serves the pass backwards."""
        variance = exact(self.weights.factor) / self.inner
        grown = stream.residual(self.weights.base, variance, capture=capture)
        return grown.scaled(1 / self.outer)

    def branch(self, rng: Generator, stream: Draws, transposed: bool = False) -> Draws:
        """F with fresh weights, or its Jacobian's product with a probe."""
        width, replicates = stream.shape
        drawn = self.weights.sample(rng, (width, width, replicates))
        drawn = drawn.swapaxes(0, 1) if transposed else drawn
        return multiply(stream, drawn) / float(sqrt(self.inner))

    def join(self, stream: Draws, branch: Draws) -> Draws:
        return np.asarray((stream + branch) / float(sqrt(self.outer)))


@dataclass(frozen=True)
class Network:
    """Layers of one width, after x_0."""

    width: int
    start: Start
    layers: tuple[Layer, ...]

    @property
    def numbers(self) -> int:
        """How many random numbers one pass takes."""
        return self.width + len(self.layers) * self.width**2

    def forward(self, rng: Generator, replicates: int) -> tuple[list[Draws], list[Draws]]:
        """x_0..x_l and F_0..F_(l-1)."""
        stream, branches = [self.start.sample(rng, (self.width, replicates))], []
        for layer in self.layers:
            branches.append(layer.branch(rng, stream[-1]))
            stream.append(layer.join(stream[-1], branches[-1]))
        return stream, branches

    def backward(self, rng: Generator, replicates: int) -> Draws:
        """A probe at the output pulled back to the input by the chain rule."""
        probe = self.start.sample(rng, (self.width, replicates))
        for layer in reversed(self.layers):
            probe = layer.join(probe, layer.branch(rng, probe, transposed=True))
        return probe

    def moments(self, capture: int | None = None, mark: int | None = None) -> Stream:
        """The moments of x_l; c is x_0, or F_k for k = `capture`, or x_k for k = `mark`."""
        return self._through(self.layers, capture, mark)

    def backward_moments(self) -> Stream:
        """The moments of the probe pulled back."""
        return self._through(self.layers[::-1])

    def _through(
        self, layers: Sequence[Layer], capture: int | None = None, mark: int | None = None
    ) -> Stream:
        stream = self.start.moments(self.width)
        for t, layer in enumerate(layers):
            stream = layer.moments(stream.marked() if t == mark else stream, t == capture)
        return stream


def build(width: int, depth: int, start: Start, make: Callable[[Stream], Layer]) -> Network:
    """A network whose layers are made one after the other from the moments of their inputs."""
    layers, stream = [], start.moments(width)
    for _ in range(depth):
        layers.append(make(stream))
        stream = layers[-1].moments(stream)
    return Network(width, start, tuple(layers))


def post_norm(weights: Law, width: int, depth: int, s2: Number, start: Start = UNIT) -> Network:
    """x' = Norm(x + x W), with branches of second moment s2 for x of second moment 1."""
    branch = Scaled(weights, exact(s2) / width)

    def make(stream: Stream) -> Layer:
        return Layer(branch, outer=Layer(branch).moments(stream).second_moment)

    return build(width, depth, start, make)


def pre_norm(weights: Law, width: int, depth: int, s2: Number, start: Start = UNIT) -> Network:
    """x' = x + Norm(x) W, with branches of second moment s2."""
    branch = Scaled(weights, exact(s2) / width)
    return build(width, depth, start, lambda stream: Layer(branch, inner=stream.second_moment))
