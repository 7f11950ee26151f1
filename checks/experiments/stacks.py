"""Residual stacks whose branches start with RMSNorm, and exact bounds on how they spread.

Behind RMSNorm a branch sees an input h with |h|^2 = d exactly. The columns of its weights are
independent, so that given h its outputs have one second moment, whatever the width; bounds on
fourth moments follow from those of the weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from varlaw.checks.experiments.activations import value
from varlaw.checks.experiments.forward import multiply
from varlaw.checks.experiments.registry import Draws
from varlaw.checks.statistics.sampling import LAWS, Law


@dataclass(frozen=True)
class Drawn:
    """Weights std * x for x of a standardised law; `kurtosis` bounds that of sums of them."""

    law: Law
    variance: float

    @property
    def kurtosis(self) -> float:
        """E[(Sum_i a_i w_i)^4] is at most this times E[(Sum_i a_i w_i)^2]^2, whatever the a_i."""
        return max(3.0, float(self.law.moment(4)))

    def sample(self, rng: Generator, shape: tuple[int, ...]) -> Draws:
        values = self.law.sample(rng, shape)
        values *= self.variance**0.5
        return values


@dataclass(frozen=True)
class Branch:
    """A branch: E[F_i^2] and a bound on E[|F|^4] given its input, and how to draw it."""

    width: int
    second: float
    fourth: float
    numbers: int
    draw: Callable[[Generator, Draws], Draws]

    def scaled(self, factor: float) -> "Branch":
        """The branch times a factor."""
        return Branch(
            self.width,
            factor**2 * self.second,
            factor**4 * self.fourth,
            self.numbers,
            lambda rng, h: factor * self.draw(rng, h),
        )


def outputs(width: int, kurtosis: float) -> float:
    """E[|F|^4]/E[F_1^2]^2 at most, for iid centred outputs of a kurtosis, given what they see."""
    return width * kurtosis + width * (width - 1)


def linear(weights: Drawn, width: int) -> Branch:
    """F = h W."""
    second = width * weights.variance

    def draw(rng: Generator, h: Draws) -> Draws:
        return multiply(h, weights.sample(rng, (width, width, h.shape[1])))

    return Branch(width, second, outputs(width, weights.kurtosis) * second**2, width**2, draw)


def two_layers(
    first: Drawn,
    last: Drawn,
    width: int,
    hidden: int,
    activate: Callable[[Draws], Draws],
    moments: tuple[float, float],
) -> Branch:
    """F = f(h U) W, with E[f^2] and a bound on E[f^4] of one hidden unit."""
    square, fourth = moments
    second = hidden * last.variance * square
    spread = last.variance**2 * (hidden * fourth + hidden * (hidden - 1) * square**2)

    def draw(rng: Generator, h: Draws) -> Draws:
        z = multiply(h, first.sample(rng, (width, hidden, h.shape[1])))
        return multiply(activate(z), last.sample(rng, (hidden, width, h.shape[1])))

    fourth = outputs(width, last.kurtosis) * spread
    return Branch(width, second, fourth, 2 * width * hidden, draw)


def attention(first: Drawn, last: Drawn, width: int) -> Branch:
    """Values and output of a token that attends to itself alone."""
    v = width * first.variance
    return two_layers(first, last, width, width, lambda z: z, (v, first.kurtosis * v**2))


def rectified(first: Drawn, last: Drawn, width: int, hidden: int) -> Branch:
    """Linear-ReLU-Linear with a symmetric first layer, which halves even moments."""
    v = width * first.variance
    moments = v / 2, first.kurtosis * v**2 / 2
    return two_layers(first, last, width, hidden, lambda z: np.maximum(z, 0), moments)


def gelu_layers(v: float, last: Drawn, width: int, hidden: int) -> Branch:
    """Linear-GELU-Linear with Gaussian pre-activations of variance v, given h."""
    moments = value("gelu(x)^2", Fraction(v)), value("gelu(x)^4", Fraction(v))
    first = Drawn(LAWS["normal"], v / width)
    return two_layers(first, last, width, hidden, lambda z: np.asarray(z * ndtr(z)), moments)


def normalised(x: Draws) -> Draws:
    """RMSNorm over the features."""
    return np.asarray(x / np.sqrt(np.mean(x**2, axis=0, keepdims=True)))


@dataclass(frozen=True)
class Stack:
    """x' = (x + F(Norm(x)))/divisor through some branches, from iid entries `scale` x_0.

    `law` is that of x_0, standardised and symmetric. The divisors are numbers; 1 is Pre-Norm.
    """

    branches: Sequence[Branch]
    law: Law
    scale: float = 1.0
    divisors: Sequence[float] = ()

    @property
    def width(self) -> int:
        return self.branches[0].width

    @property
    def numbers(self) -> int:
        return self.width + sum(branch.numbers for branch in self.branches)

    @property
    def work(self) -> int:
        """How many numbers a pass holds at once: those of the largest branch, and vectors."""
        return 4 * self.width + max(branch.numbers for branch in self.branches)

    def divisor(self, t: int) -> float:
        return self.divisors[t] if self.divisors else 1.0

    def run(self, rng: Generator, replicates: int) -> Iterator[tuple[Draws, Draws]]:
        """x_0..x_l, each with the branch F that led to it; before x_0 there is 0."""
        x = self.scale * self.law.sample(rng, (self.width, replicates))
        yield x, np.zeros_like(x)
        for t, branch in enumerate(self.branches):
            added = branch.draw(rng, normalised(x))
            x = (x + added) / self.divisor(t)
            yield x, added

    def ends(self, rng: Generator, replicates: int) -> tuple[Draws, Draws]:
        """x_0 and x_l."""
        passes = self.run(rng, replicates)
        first, _ = next(passes)
        last = first
        for last, _ in passes:  # noqa: B007
            pass
        return first, last

    def squares(self) -> list[tuple[float, float]]:
        """E[|x_t|^2] and a bound on E[|x_t|^4] for t = 0..l.

        The last layers are symmetric, so that odd powers of F vanish:
        E|x + F|^4 = |x|^4 + (2 d + 4) |x|^2 E[F_1^2] + E|F|^4.
        """
        d, scale = self.width, self.scale**2
        fourth = d * float(self.law.moment(4)) + d * (d - 1)
        found = [(d * scale, fourth * scale**2)]
        for t, branch in enumerate(self.branches):
            q, square = found[-1]
            c = self.divisor(t) ** 2
            grown = square + (2 * d + 4) * branch.second * q + branch.fourth
            found.append(((q + d * branch.second) / c, grown / c**2))
        return found

    def size_variance(self, t: int) -> float:
        """A bound on the variance of the mean square of x_t."""
        q, square = self.squares()[t]
        return max(square - q**2, 0.0) / self.width**2

    def overlap_variance(self) -> float:
        """A bound on the variance of x_l.x_0/d: E (x' . x_0)^2 = (x . x_0)^2 + |x_0|^2 E[F_1^2]."""
        (q, square), d = self.squares()[0], self.width
        mean = q
        for t, branch in enumerate(self.branches):
            square = (square + q * branch.second) / self.divisor(t) ** 2
            mean /= self.divisor(t)
        return max(square - mean**2, 0.0) / d**2

    def branch_variance(self, k: int) -> float:
        """A bound on the variance of x_l.F_k/d."""
        q, branch, d = self.squares()[k][0], self.branches[k], self.width
        mean = d * branch.second / self.divisor(k)
        square = (q * branch.second + branch.fourth) / self.divisor(k) ** 2
        for t in range(k + 1, len(self.branches)):
            later = d * branch.second * self.branches[t].second
            square, mean = (square + later) / self.divisor(t) ** 2, mean / self.divisor(t)
        return max(square - mean**2, 0.0) / d**2
