"""Expressions as NumPy functions: the one place that calls `lambdify`.

`lambdify` executes the names of symbols, so every symbol is a Dummy before it is called.
"""

from collections.abc import Callable, Sequence
from typing import Any

from scipy.special import erf, erfc
from sympy import Dummy, Expr, Function, Symbol, lambdify

from varlaw.symbolic.gaussian.balls import FUNCTIONS

Compiled = Callable[..., Any]


_MODULES = [{"erf": erf, "erfc": erfc}, "numpy"]
HERE = {"erf", "erfc", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos"}


class NotCompiled(ValueError):
    """The expression has no NumPy function."""


def compiled(expressions: Sequence[Expr], symbols: Sequence[Symbol]) -> Compiled:
    """A function of arrays that gives the values of the expressions, in a list.

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
            if FUNCTIONS.get(type(node)) not in HERE:
                raise NotCompiled(f"{node.func.__name__} is not a function of NumPy")
    return lambdify(list(safe.values()), bodies, modules=_MODULES, cse=True)
