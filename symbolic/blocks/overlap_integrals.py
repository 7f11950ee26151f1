"""How much softmax weights overlap, over iid Gaussian logits, by quadrature in double precision.

With S = sum_i e^(x_i), 1/S^k is an integral of t^(k-1) e^(-t S), in which the n logits part: with
u = log t and y = e^(u + x),

    E sum_i p_i^2 = n int E[y^2 e^-y] E[e^-y]^(n-1) du,

and likewise in two variables for two softmaxes of m and n >= m keys, of which m are the same. The
integrands are analytic for |Im u| < pi/2, where the error of the trapezoid rule falls like
e^(-pi^2/step). That is no bound of it: halving the step changes nothing by more than 1e-6 of
itself for variances up to 36, by 1e-3 up to the largest.
"""

import itertools
from collections.abc import Callable
from math import ceil, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.gaussian.arrays import Array

STEP = 0.36  # of log t and of logits
NARROW = 0.75  # of a normal variable, at most
FAR = 9.0  # deviations of a normal variable
SPREAD = 6  # deviation of logits from which on it smooths the integrands
LEAST = 20.0  # -log of what is left out at small t
LARGE = 9.0  # log of a y beyond which e^-y is 0
SAME = 1e-9  # variances and correlations that are one
LARGEST = 256  # variance of logits


def moments(variance: float, counts: Array, step: float = STEP / 2) -> Array:
    """E of sum p^2, sum p^3 and (sum p^2)^2, of softmaxes over several numbers of keys: rows."""
    u, h = _lattice(variance, int(counts.max()), step)
    x, weight = _normal(variance, h)
    y = np.exp(np.minimum(u[:, None] + x, LARGE))
    left = np.exp(-y)
    none, two, three, four = ((y**k * left) @ weight for k in (0, 2, 3, 4))
    n = counts[:, None].astype(float)
    others = none ** (n - 1)
    pairs = (n - 1) * none ** np.maximum(n - 2, 0) @ two**2
    return np.array([others @ two, others @ three / 2, (others @ four + pairs) / 6] * (h * counts))


def shared(variance: float, covariance: float, counts: Array, step: float = STEP) -> Array:
    """E sum_s p_s p'_s of two softmaxes with m and n >= m keys: rows m, columns n - m, of `counts`.

    The first m logits of both have the covariance.
    """
    u, h = _lattice(variance, int(counts.max()), step)
    common, weight = _normal(abs(covariance), h)
    own, own_weight = _normal(max(variance - abs(covariance), 0), h)
    y = np.exp(np.minimum(u[:, None, None] + common[:, None] + own, LARGE))
    left = np.exp(-y)
    none, one = left @ own_weight, (y * left) @ own_weight
    side = slice(None) if covariance >= 0 else slice(None, None, -1)
    both, product = (none * weight) @ none[:, side].T, (one * weight) @ one[:, side].T
    rows = np.empty((len(counts), len(u)))
    before = 1
    for row, m in enumerate(counts):
        product = product * (both if m - before == 1 else both ** (m - before))
        rows[row], before = m * product.sum(0), m
    return np.asarray(h * h * rows @ (none @ weight)[:, None] ** (counts - counts[0]))


class Overlaps(NamedTuple):
    """`products[t, t']` is E sum_s p_ts p_t's of two queries, of one of them on the diagonal.

    `slopes[t]` is E sum_sj (dp_ts/dl_j)^2 = E[sum p^2 - 2 sum p^3 + (sum p^2)^2] by logits l.
    """

    products: Array
    slopes: Array

    @property
    def noise(self) -> Array:
        """What of `products` gradients through the logits take: `slopes` on the diagonal."""
        found = self.products.copy()
        np.fill_diagonal(found, self.slopes)
        return found


def overlaps(variances: Array, covariances: Array, seen: Array) -> Overlaps:
    """Of queries t that see so many keys each: one number, or from each query to the next one more.

    `variances[t]` is that of the logits of a query, `covariances[t, t']` that of the logits of one
    key for two queries, which are taken with the mean of their variances. The values are
    interpolated between those of a few variances and correlations, to some 1e-4 of themselves.
    """
    number = len(variances)
    counts, row = np.unique(seen, return_inverse=True)

    def alone(v: float) -> Array:
        two, three, squared = moments(v, counts)[:, row]
        return np.array([np.log(two), 1 - (2 * three - squared) / two])

    def together(v: float, r: float) -> Array:
        return np.log(shared(v, r * v, counts)[low, apart])

    logs, ratios = _interpolated(alone, counts[row] > 1, variances)
    products = np.diag(np.exp(logs))
    first, second = np.triu_indices(number, 1)
    low, apart = row[first], row[second] - row[first]
    mean = (variances[first] + variances[second]) / 2
    correlation = np.clip(covariances[first, second] / np.where(mean > 0, mean, 1), -1, 1)
    between = np.exp(_interpolated(together, counts[low] > 1, mean, correlation))
    products[first, second] = products[second, first] = between
    return Overlaps(products, np.exp(logs) * ratios)


def _interpolated(
    table: Callable[..., Array], wanted: Array, variance: Array, *correlation: Array
) -> Array:
    """Values at points of their own, by polynomials; right where `wanted`.

    `table` gives those of all points at one variance, and correlation.
    """
    if not wanted.any():
        return table(0.0, *(0.0 for _ in correlation))
    deviations = np.sqrt(variance[wanted])
    low, high = float(deviations.min()), float(deviations.max())
    if high**2 > LARGEST:
        raise BlockError(f"logits of variance {high**2:.3g}; softmax weights up to {LARGEST}")
    axes = [(variance, _nodes(low**2, high**2, high - low))]
    for x in correlation:
        least, most = float(x[wanted].min()), float(x[wanted].max())
        axes.append((x, _nodes(least, most, high * (most - least))))
    total: Any = 0.0
    for place in itertools.product(*(range(len(nodes)) for _, nodes in axes)):
        weight: Any = 1.0
        for n, (x, nodes) in zip(place, axes, strict=True):
            for other in np.delete(nodes, n):
                weight = weight * (np.clip(x, nodes[0], nodes[-1]) - other) / (nodes[n] - other)
        total = total + weight * table(
            *(nodes[n] for n, (_, nodes) in zip(place, axes, strict=True))
        )
    return np.asarray(total)


def _nodes(low: float, high: float, width: float) -> Array:
    """Chebyshev's points with both ends, more of them the wider."""
    if high - low < SAME:
        return np.array([(low + high) / 2])
    turns = np.cos(np.pi * np.linspace(0, 1, 2 + ceil(4 * width)))
    return np.asarray((low + high) / 2 - (high - low) / 2 * turns)


def _lattice(variance: float, most: int, step: float) -> tuple[Array, float]:
    """log t wherever a softmax of up to `most` keys counts, and the step."""
    spread = sqrt(variance)
    h = step * max(1.0, spread / SPREAD)
    low = LEAST + log(most) + min(variance / 2, FAR * spread)
    return np.arange(-low, (FAR - 2) * spread + 4, h), h


def _normal(variance: float, h: float) -> tuple[Array, Array]:
    """Points of a normal variable, and their weights."""
    if variance == 0:
        return np.zeros(1), np.ones(1)
    spread = sqrt(variance)
    apart = min(NARROW, h / spread)
    z = apart * np.arange(-ceil(FAR / apart), ceil(FAR / apart) + 1)
    weight = np.exp(-(z**2) / 2)
    return spread * z, weight / weight.sum()
