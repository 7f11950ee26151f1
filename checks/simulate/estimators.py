"""What an estimate of a depth law takes, end to end and layer by layer, predicted beforehand.

With Gaussian weights, q_(l+1) given h_l is the mean over n_(l+1) independent units of f(z)^2 with
z ~ N(0, s2 q_l). So the ratio q_(l+1)/V(q_l), V(q) = E[f(z)^2], has mean 1 and variance
excess/n_(l+1), where excess = E[f^4]/E[f^2]^2 - 1 is 5 for ReLU and 2 for no activation.

*End to end*, q_L itself: its relative variance grows like (1 + excess/n)^L - 1. *Layer by layer*,
the ratios of all layers pooled: martingale differences, whose variances add up, to excess/(n L) for
their mean. The second tests the map of a layer and not E[q_L], which is a different quantity:
compare costs on the same one only.

The covariance of two networks that share random numbers is given by the same functions: for mirror
images, with the excess of f(z) and f(-z). The mean of a pair has half the sum of both as variance.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from varlaw.checks.simulate.samplers import Squares


def excess(f: str, g: str | None = None, *, variance: float = 1.0) -> float:
    """E[f^2 g^2]/(E[f^2] E[g^2]) - 1 at z ~ N(0, variance): how one unit's squares vary together.

    For g = f, which it is unless given, the relative variance of f(z)^2. Networks that are mirror
    images have g(z) = f(-z).

    >>> round(excess("relu(x)"), 12), round(excess("relu(x)", "relu(-x)"), 12)
    (5.0, -1.0)
    """
    from varlaw.symbolic.gaussian.moment import moment

    g = g or f
    both, one, other = (
        float(moment(text, variance=variance).digits().digits)
        for text in (f"({f})^2*({g})^2", f"({f})^2", f"({g})^2")
    )
    return both / (one * other) - 1


def spread_end_to_end(widths: Sequence[int], excess: float) -> float:
    """Var[q_L]/E[q_L]^2 for Gaussian weights, where f is positively homogeneous (ReLU, linear).

    The product of 1 + excess/n over the layers, less 1; `widths` are n_0..n_L, and q_0 is fixed.
    With other weight laws it is so up to O(1/n^2) per layer.

    >>> round(math.sqrt(spread_end_to_end([1024] * 51, 5.0)), 3)
    0.525
    """
    return math.expm1(sum(math.log1p(excess / n) for n in widths[1:]))


def spread_by_layers(widths: Sequence[int], excess: float) -> float:
    """The variance of the mean of q_(l+1)/V(q_l) over the layers of one network.

    >>> round(spread_by_layers([1024] * 51, 5.0) * 50 * 1024, 12)
    5.0
    """
    return excess * sum(1 / n for n in widths[1:]) / (len(widths) - 1) ** 2


def networks(spread: float, error: float) -> int:
    """How many networks bring an estimate to a relative standard error.

    `spread` is the relative variance of one network's estimate. For a verdict, see `planned_size`.

    >>> networks(spread_end_to_end([1024] * 51, 5.0), 0.001)
    275766
    >>> networks(spread_by_layers([1024] * 51, 5.0), 0.001)
    98
    """
    if not (0 <= spread < math.inf and error > 0):
        raise ValueError(f"no number of networks for a spread of {spread} and an error of {error}")
    return max(1, math.ceil(spread / error**2))


def layer_ratios(q: Squares, layer: Callable[[Squares], Squares]) -> Squares:
    """The mean of q_(l+1)/V(q_l) over layers and batch, one number per network.

    `q` is as `second_moments` gives it, and `layer` is the map V of the law under test. A network
    that has died (q_l = 0) gives nan, which no confidence sequence takes: left out, it would bias
    the mean.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((q[1:] / layer(q[:-1])).mean(axis=(0, 2)))
