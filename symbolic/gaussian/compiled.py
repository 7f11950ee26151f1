"""Expressions as NumPy functions: the one place that calls `lambdify`.

`lambdify` executes the names of symbols, so every symbol is a Dummy before it is called.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import digamma, erf, erfc, polygamma, zeta
from sympy import Dummy, Expr, Function, Symbol, harmonic, lambdify
from sympy import polygamma as Polygamma

from varlaw.symbolic.gaussian.balls import FUNCTIONS

Compiled = Callable[..., Any]


_MODULES = [{"erf": erf, "erfc": erfc}, "numpy"]
HERE = {"erf", "erfc", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos"}

SUMS = (harmonic, Polygamma)  # over positions


class NotCompiled(ValueError):
    """The expression has no NumPy function."""


def _harmonic(n: Any, order: int = 1) -> Any:
    """Of any n, by DLMF 5.4.14 and 25.11.4."""
    return digamma(n + 1) + np.euler_gamma if order == 1 else zeta(order) - zeta(order, n + 1)


def _polygamma(order: int, x: Any) -> Any:
    """SciPy's takes 20 times as long for order 1, x > 0: DLMF 5.15.5 and 5.15.8, to 13 digits."""
    if order != 1:
        return polygamma(order, x)
    y = x + SHIFT
    first = sum(1 / (x + k) ** 2 for k in range(SHIFT))
    return first + np.polyval(TAIL, 1 / y**2) / y + 1 / (2 * y**2)


SHIFT = 12
TAIL = [5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6, 1]  # Bernoulli numbers, the last ones first


_ROOT = Function("root")
_REAL = {
    "root": lambda x: np.sqrt(np.maximum(x, 0)),
    "acos": lambda x: np.arccos(np.clip(x, -1, 1)),
    "asin": lambda x: np.arcsin(np.clip(x, -1, 1)),
    "harmonic": _harmonic,
    "polygamma": _polygamma,
}


def compiled(
    expressions: Sequence[Expr], symbols: Sequence[Symbol], *, real: bool = False
) -> Compiled:
    """A function of arrays that gives the values of the expressions, in a list.

    Where all values are `real`, what leaves the domain of a root or of acos by a rounding error is
    put back into it, as a correlation of 1 is, and sums over positions (harmonic numbers, polygamma
    functions) are known.

    Raises NotCompiled for another symbol, and for functions that NumPy does not have.

    >>> import numpy as np
    >>> x = Symbol("x")
    >>> [float(v) for v in compiled([x**2, x + 1], [x])(np.array(3.0))]
    [9.0, 4.0]
    """
    safe = {symbol: Dummy() for symbol in symbols}
    bodies = [e.xreplace(safe) for e in expressions]
    for body in bodies:
        if body.free_symbols - set(safe.values()):
            raise NotCompiled(f"{body} has parameters without values")
        for node in body.atoms(Function):
            if FUNCTIONS.get(type(node)) not in HERE and not (real and isinstance(node, SUMS)):
                raise NotCompiled(f"{node.func.__name__} is not a function of NumPy")
    modules = [_REAL, *_MODULES] if real else _MODULES
    bodies = [_rooted(body) for body in bodies] if real else bodies
    return lambdify(list(safe.values()), bodies, modules=modules, cse=True)


def _rooted(body: Expr) -> Expr:
    """With a function of its own for roots of what has symbols."""
    return body.replace(
        lambda e: e.is_Pow and e.exp.is_Rational and e.exp.q == 2 and bool(e.free_symbols),
        lambda e: _ROOT(e.base) ** e.exp.p,
    )
