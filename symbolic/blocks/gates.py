"""Gates of experts: the softmax over the k largest of n Gaussian logits, by quadrature."""

from collections.abc import Callable
from functools import lru_cache
from math import comb, log, sqrt

import numpy as np
from scipy.special import log_ndtr

from varlaw.symbolic.gaussian.arrays import Array

Powers = Callable[[int], Array]  # E[(t e^l)^n exp(-t e^l)] of a logit l above the least
STEP = 0.36  # of the logarithm of the variable that takes up the quotient
Z = np.linspace(-9, 9, 121)  # the least of the chosen logits, as a normal variable
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(96)
FAR = 10.0  # deviations of a logit


@lru_cache(maxsize=256)
def squared_gates(variance: float, experts: int, top: int) -> float:
    """E sum_i g_i^2 over the `top` largest of so many iid logits, g their softmax; in [1/k, 1].

    Given that the least of the chosen is z, the others are independent above it, and
    1/S^2 = int t e^(-t S) dt. Double precision, right to 1e-6 for variances up to 36, as
    half the steps show.
    """

    def inner(least: Array, of: Powers) -> Array:
        rest = top - 1
        return least**2 * of(0) ** rest + rest * of(2) * of(0) ** max(rest - 1, 0)

    return _mean(variance, experts, top, inner)


@lru_cache(maxsize=256)
def gate_slopes(variance: float, experts: int, top: int) -> float:
    """E sum_ij (g_i (delta_ij - g_j))^2 of the same: the squares of the softmax's Jacobian.

    That is E[s_2 - 2 s_3 + s_2^2] for s_n = sum_i g_i^n, by the same integrals.
    """
    rest = top - 1

    def cubes(least: Array, of: Powers) -> Array:
        return (least**3 * of(0) ** rest + rest * of(3) * of(0) ** max(rest - 1, 0)) / 2

    def squares(least: Array, of: Powers) -> Array:
        own = least**4 * of(0) ** rest + rest * of(4) * of(0) ** max(rest - 1, 0)
        pairs = 2 * rest * least**2 * of(2) * of(0) ** max(rest - 1, 0)
        others = rest * (rest - 1) * of(2) ** 2 * of(0) ** max(rest - 2, 0)
        return (own + pairs + others) / 6

    two = squared_gates(variance, experts, top)
    three, four = (_mean(variance, experts, top, inner) for inner in (cubes, squares))
    return two - 2 * three + four


def _mean(
    variance: float, experts: int, top: int, inner: Callable[[Array, Powers], Array]
) -> float:
    """The integral over log t of what the least logit and powers of t times the others make."""
    s = sqrt(variance)
    u = np.arange(-20 - log(top) - 12 * s, 4, STEP)
    ends = (FAR - Z)[:, None] / 2
    apart = ends * (1 + POINTS)  # of a chosen logit from the least of them
    density = np.exp(-((Z[:, None] + apart) ** 2) / 2) * ends * WEIGHTS / sqrt(2 * np.pi)
    y = np.exp(np.minimum(u[:, None, None] + s * apart, 9))
    left = np.exp(-y) * density
    least = np.exp(u)[:, None]

    @lru_cache
    def of(power: int) -> Array:
        return np.asarray((y**power * left).sum(-1))

    below = np.exp((experts - top) * log_ndtr(Z) - Z**2 / 2) / sqrt(2 * np.pi)
    chosen = experts * comb(experts - 1, top - 1) * STEP * (Z[1] - Z[0])
    return float(chosen * (below * (np.exp(-least) * inner(least, of)).sum(0)).sum())
