"""Deep fully connected nets without biases, and some activations."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]  # float32 or float64
Activate = Callable[[Values, Values], object]  # f(z, out), as NumPy's own functions of one array

linear: Activate = np.positive
tanh: Activate = np.tanh


def relu(z: Values, out: Values) -> None:
    """max(z, 0)."""
    np.maximum(z, 0, out=out)


@dataclass(frozen=True)
class Net:
    """h_(l+1) = activate(h_l W_l), where W_l has n_l rows and entries of variance s2/n_l.

    `widths` are n_0..n_L, `s2` is 2 at He's variance and 1 at LeCun's. `activate(z, out)`
    works entry by entry, also where out is z. Raises ValueError for widths or variances that are
    not positive.
    """

    widths: tuple[int, ...]
    activate: Activate
    s2: float

    def __post_init__(self) -> None:
        if len(self.widths) < 2 or min(self.widths) < 1:
            raise ValueError(f"a net has two or more positive widths, not {self.widths}")
        if not 0 < self.s2 < math.inf:
            raise ValueError(f"s2 is a positive number, not {self.s2}")

    def std(self, layer: int) -> float:
        """The std of the entries of W_l."""
        return math.sqrt(self.s2 / self.widths[layer])


def constant(width: int, depth: int, activate: Activate, s2: float) -> Net:
    """A net of one width throughout."""
    return Net((width,) * (depth + 1), activate, s2)
