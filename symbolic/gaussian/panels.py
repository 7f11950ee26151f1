"""E[f(Z1) g(Z2)] in double precision for functions with kinks, by Gauss-Legendre quadrature.

With Z1 = s u and Z2 = t (rho u + q w), q = sqrt(1 - rho^2), u and w independent standard normals,
the integral over w is split at the kinks of g, where it is smooth for every rho; that over u at the
kinks of f, and into panels that get narrower towards the places where g has its kinks at w = 0.
What two resolutions do not agree on is not a number.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb
from sympy import Symbol

from varlaw.symbolic.gaussian.compiled import compiled
from varlaw.symbolic.gaussian.pieces import Piece

Array = Any
REACHES = (9.0, 13.0)  # how far out, in standard deviations
NODES = 16
SMALLEST = 1e-300
LEVELS = 4
AGREE = 4e-15
EDGE = 1e-17  # of E[f^2], at the ends


class Kinked:
    """A function in pieces, on arrays."""

    def __init__(self, pieces: Sequence[Piece], x: Symbol) -> None:
        self.kinks = np.array([float(piece.lower) for piece in pieces[1:]])
        self.parts = [compiled([piece.expression], [x]) for piece in pieces]

    def part(self, which: int, x: Array) -> Array:
        (value,) = self.parts[which](x)
        return np.broadcast_to(value, x.shape)

    def on_panels(self, x: Array, middles: Array) -> Array:
        """The values at rows of points, none of which has a kink in it."""
        which = np.searchsorted(self.kinks, middles)
        values = np.empty_like(x)
        for k in np.unique(which).tolist():
            values[which == k] = self.part(k, x[which == k])
        return values


@lru_cache(maxsize=8)
def _legendre(count: int) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1], which NumPy has to 14 digits only."""
    pairs = [arb.legendre_p_root(count, k, weight=True) for k in reversed(range(count))]
    nodes, weights = np.array([[float(value) for value in pair] for pair in pairs]).T
    return (nodes + 1) / 2, weights / 2


def _density(u: Array) -> Array:
    return np.exp(-u * u / 2) / (2 * np.pi) ** 0.5


@np.errstate(all="ignore")
def mean_of_product(f: Kinked, g: Kinked, rho: float, s: float, t: float) -> float:
    """E[f(Z1) g(Z2)] for deviations s and t, in units of sqrt(E[f^2] E[g^2]) to some 1e-15.

    Not a number where that is not reached.
    """
    for reach in REACHES:
        squares = [_square(h, scale, reach) for h, scale in ((f, s), (g, t))]
        if all(share < EDGE for _, share in squares):
            break
    else:
        return float("nan")
    size = float(np.sqrt(squares[0][0] * squares[1][0]))
    before = _at_level(f, g, rho, s, t, reach, 0)
    for level in range(1, LEVELS):
        value = _at_level(f, g, rho, s, t, reach, level)
        if abs(value - before) <= AGREE * size:
            return value
        before = value
    return float("nan")


def _square(f: Kinked, scale: float, reach: float) -> tuple[float, float]:
    """(E[f^2], the share of it that the density has at the ends)."""
    u, weights, middles = _nodes(f.kinks / scale, reach, 1)
    values = f.on_panels(scale * u, scale * middles) ** 2 * _density(u)
    total = float((values * weights).sum())
    ends = max(abs(values[0, 0]), abs(values[-1, -1]))
    return total, float(ends / total) if total > 0 else float("nan")


def _nodes(points: Array, reach: float, level: int) -> tuple[Array, Array, Array]:
    """Nodes and weights, a row a panel, and the middles of the panels."""
    base = np.arange(-reach, reach + 1)
    edges = np.unique(np.concatenate([base, points[np.abs(points) < reach]]))
    for _ in range(level):
        edges = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
    nodes, weights = _legendre(NODES)
    width = np.diff(edges)[:, None]
    return edges[:-1, None] + width * nodes, width * weights, (edges[1:] + edges[:-1]) / 2


def _at_level(
    f: Kinked, g: Kinked, rho: float, s: float, t: float, reach: float, level: int
) -> float:
    q = ((1 - rho) * (1 + rho)) ** 0.5
    centres = g.kinks / (rho * t) if rho else np.empty(0)
    steps = q / max(abs(rho), SMALLEST) * 2.0 ** np.arange(-1, 60)
    steps = np.concatenate([[0.0], steps[steps < 1], -steps[steps < 1]])
    points = np.concatenate([f.kinks / s, (centres[:, None] + steps).ravel()])
    u, weights, middles = _nodes(points, reach, level)
    values = f.on_panels(s * u, s * middles) * _density(u) * weights
    if q == 0:
        inner = g.on_panels(t * rho * u, t * rho * middles)
    else:
        inner = _given(g, rho * u.ravel(), q, t, reach, NODES * (level + 2)).reshape(u.shape)
    return float((values * inner).sum())


def _given(g: Kinked, along: Array, q: float, t: float, reach: float, count: int) -> Array:
    """E[g(t (along + q w))] for standard normal w."""
    nodes, weights = _legendre(count)
    kinks = np.clip((g.kinks[:, None] / t - along) / q, -reach, reach)
    edge = np.full((1, len(along)), reach)
    ends = np.concatenate([-edge, kinks, edge])
    total = np.zeros(len(along))
    for which in range(len(g.parts)):
        for side in (-1, 1):  # the density has its peak at an end
            low, high = (np.clip(side * end, 0, None) for end in ends[which : which + 2][::side])
            width = high - low
            there = width > 0
            w = side * (low[there, None] + width[there, None] * nodes)
            values = g.part(which, t * (along[there, None] + q * w)) * _density(w)
            total[there] += (values @ weights) * width[there]
    return total
