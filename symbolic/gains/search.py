"""Where roots of equations in Gaussian moments may be: Newton's method in doubles.

Nothing found here is believed: it is where proofs start.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from numpy.typing import NDArray
from sympy import Expr, Rational, Symbol, oo

from varlaw.symbolic.gains.roots import SCALE, SHIFT, UNKNOWNS, Moments, evaluated
from varlaw.symbolic.gaussian.compiled import compiled
from varlaw.symbolic.gaussian.pieces import Piece

REACH, POINTS = 9, 3601  # of the trapezoid rule
STEPS = 40
CLOSE = 1e-3  # roots that are nearer, relative to a, are one
LARGEST = 20.0
HALF = 0.5  # of a, and of a unit of b: a step at most
Array = NDArray[np.float64]
Point = tuple[float, float]


class Search:
    """Newton's method on equations, from a list of scales and shifts."""

    def __init__(
        self,
        equations: Sequence[Expr],
        moments: Moments,
        constants: dict[Symbol, float],
    ) -> None:
        """Raises NotCompiled for functions that NumPy does not have."""
        self.equations = equations
        self.jacobian = [[moments.derivative(e, by) for by in UNKNOWNS] for e in equations]
        self.moments, self.constants = moments, constants
        self.functions = {
            name: [(p, compiled([p.expression], [moments.variable])) for p, _ in pieces]
            for name, pieces in moments.functions.items()
        }
        self.u: Array = np.linspace(-REACH, REACH, POINTS)
        self.weights: Array = (
            np.exp(-(self.u**2) / 2) * (self.u[1] - self.u[0]) / np.sqrt(2 * np.pi)
        )

    def roots(self, starts: Iterable[tuple[Rational, Rational]]) -> list[Point]:
        """The different points at which the method settles, by their scale."""
        found: list[Point] = []
        with np.errstate(all="ignore"):
            for start in starts:
                end = self._settled(float(start[0]), float(start[1]))
                if end is not None and not any(_same(end, other) for other in found):
                    found.append(end)
        return sorted(found)

    def _settled(self, a: float, b: float) -> Point | None:
        for _ in range(STEPS):
            values, slopes = self._system(a, b)
            try:
                step = np.linalg.solve(slopes, values)
            except np.linalg.LinAlgError:
                return None
            largest = max(abs(step[0]) / a, abs(step[1]), HALF)
            step *= HALF / largest
            a, b = a - float(step[0]), b - float(step[1])
            if not 1e-4 < a < LARGEST or not abs(b) < LARGEST:
                return None
            if largest == HALF and np.abs(step).max() < CLOSE * a / 100:
                return a, b
        return None

    def _system(self, a: float, b: float) -> tuple[Array, Array]:
        known = {**self.constants, SCALE: a, SHIFT: b}
        x = a * self.u + b
        outputs = {name: self._output(name, x) for name in self.functions}
        for e in (*self.equations, *(e for row in self.jacobian for e in row)):
            for part in e.free_symbols - set(known):
                name, order = self.moments.orders[part]
                hermite = hermeval(self.u, [0] * order + [1])
                known[part] = float((self.weights * outputs[name] * hermite).sum())
        values = np.array([evaluated(e, known, float) for e in self.equations])
        slopes = [[evaluated(e, known, float) for e in row] for row in self.jacobian]
        return values, np.array(slopes)

    def _output(self, name: str, x: Array) -> Array:
        total = np.zeros_like(x)
        for piece, function in self.functions[name]:
            inside = _within(piece, x)
            total[inside] = function(x[inside])[0]
        return total


def _within(piece: Piece, x: Array) -> NDArray[np.bool_]:
    low = -np.inf if piece.lower == -oo else float(piece.lower)
    high = np.inf if piece.upper == oo else float(piece.upper)
    return (x >= low) & (x < high)


def _same(one: Point, other: Point) -> bool:
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) < CLOSE * one[0]
