"""Means over features that were normalised over N samples, which are not Gaussian for small N.

Of Gaussian features the normalised N samples of one are sqrt(N) times a direction that is uniform
among those that sum to 0: two of them are sqrt(n) times two coordinates, of correlation -1/n, of a
uniform point of the unit sphere in n = N - 1 dimensions.
"""

from functools import lru_cache
from math import sqrt

import numpy as np
from scipy.special import roots_gegenbauer
from sympy import Expr, Float, Lambda

from varlaw.symbolic.gaussian.arrays import on_arrays

NODES = 300
DIGITS = 6


@lru_cache(maxsize=256)
def mean(law: Lambda, samples: int) -> Expr:
    """E[f(y)] of one sample, by Gauss's rule for its density (1 - t^2)^((n - 3)/2)."""
    n = samples - 1
    t, weights = _rule(n)
    return Float(float(_values(law, sqrt(n) * t) @ weights), DIGITS)


@lru_cache(maxsize=256)
def pair(law: Lambda, samples: int) -> Expr:
    """E[f(y) f(y')] of two samples."""
    n = samples - 1
    (t, weights), (s, others), rho = _rule(n), _rule(n - 1), -1 / n
    second = rho * t[:, None] + sqrt(1 - rho**2) * np.sqrt(1 - t**2)[:, None] * s
    inner = _values(law, sqrt(n) * second) @ others
    return Float(float((_values(law, sqrt(n) * t) * inner) @ weights), DIGITS)


@lru_cache(maxsize=64)
def _rule(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights for a coordinate of a uniform point of the sphere in n dimensions."""
    points, weights = roots_gegenbauer(NODES, n / 2 - 1)
    return points, weights / weights.sum()


def _values(law: Lambda, at: np.ndarray) -> np.ndarray:
    return np.broadcast_to(on_arrays(law.expr, law.variables[0])(at), at.shape)
