"""One network run several times, whose Gaussian matrices are drawn along its inputs alone."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import qr
from sympy import Expr

from varlaw.checks.blocks.running import Batch, Draw, number

OVERHEAD = 10_000  # random numbers that take the time of a network, or of the directions of inputs
NOTHING = 1e-12  # of an input that is a combination of those seen before


def cost(fan_in: int, fan_out: int, inputs: int) -> int:
    """Random numbers in whose time so many inputs go through a matrix."""
    return min(fan_in * fan_out, inputs * (fan_in + fan_out) + OVERHEAD)


@dataclass
class Matrix:
    """Iid standard normal weights, (fan_in, fan_out), known along the inputs that went through.

    In any orthonormal basis they have the same law, so that new inputs draw rows for the
    directions that they add, and all of them see one and the same matrix.
    """

    fan_in: int
    fan_out: int

    def __post_init__(self) -> None:
        self.basis = np.empty((0, self.fan_in))
        self.images = np.empty((0, self.fan_out))

    def product(self, x: Batch, rng: np.random.Generator) -> Batch:
        """x W, for x of shape (inputs, fan_in)."""
        along, rest = np.zeros((len(x), len(self.basis))), x
        for _ in range(2 if len(self.basis) else 0):  # twice: to rounding errors of the rest
            more = rest @ self.basis.T
            along, rest = along + more, rest - more @ self.basis
        y = along @ self.images
        q, r, order = qr(rest.T, mode="economic", pivoting=True, check_finite=False)
        new = int((np.abs(np.diag(r)) > NOTHING * max(np.linalg.norm(x, axis=-1))).sum())
        fresh = rng.standard_normal((new, self.fan_out))
        y[order] += r[:new].T @ fresh
        self.basis = np.vstack([self.basis, q[:, :new].T])
        self.images = np.vstack([self.images, fresh])
        return np.asarray(y)


@dataclass
class Seen(Draw):
    """The weights of one network; `again()` runs it once more, on up to so many inputs in all."""

    inputs: int = 1
    kept: list[Any] = field(default_factory=list)
    place: int = 0

    def again(self) -> "Seen":
        self.place = 0
        return self

    def weights(self, variance: Expr, *shape: int, law: str = "") -> Batch:
        return np.asarray(self._once(lambda: Draw.weights(self, variance, *shape, law=law)))

    def uniform(self, *shape: int) -> Batch:
        return np.asarray(self._once(lambda: Draw.uniform(self, *shape)))

    def product(self, x: Batch, variance: Expr, fan_out: int, law: str = "") -> Batch:
        fan_in = x.shape[-1]
        plain = cost(fan_in, fan_out, self.inputs) == fan_in * fan_out
        if plain or (law or self.law) != "normal":
            return super().product(x, variance, fan_out, law)
        matrix = self._once(lambda: Matrix(fan_in, fan_out))
        y = matrix.product(x.reshape(-1, fan_in), self.rng)
        y *= math.sqrt(number(variance))
        return y.reshape(*x.shape[:-1], fan_out).astype(x.dtype, copy=False)

    def fixed(self, found: Batch) -> Batch:
        return np.asarray(self._once(lambda: found))

    def _once(self, made: Callable[[], Any]) -> Any:
        if self.place == len(self.kept):
            self.kept.append(made())
        self.place += 1
        return self.kept[self.place - 1]
