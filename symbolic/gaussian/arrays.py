"""Functions of the language on NumPy arrays, piece by piece."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy import Expr, Symbol, oo

from varlaw.symbolic.gaussian.compiled import compiled
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.pieces import pieces_of

Array = NDArray[Any]


@lru_cache(maxsize=64)
def on_arrays(f: Expr, x: Symbol) -> Callable[[Array], Array]:
    """A function of one variable, on arrays of floats, whose precision is kept.

    Raises NotClosed where its pieces are not known.
    """
    pieces = joined(pieces_of(f, x))
    bodies = [compiled([piece.expression], [x]) for piece in pieces]
    ends = [math.inf if p.upper == oo else float(p.upper) for p in pieces]

    def at(z: Array) -> Array:
        with np.errstate(all="ignore"):
            values = [np.broadcast_to(body(z)[0], z.shape) for body in bodies]
        found = values[0] if len(values) == 1 else np.select([z < end for end in ends], values)
        return np.asarray(found, z.dtype)

    return at
