"""Rows of the table of activations that are elementary functions under their own names.

The language reads these names as the functions of SymPy, so that nothing has two forms there; a
row is for those who ask the table, by name, for parts, parity and the libraries' names.
"""

from typing import Any

import sympy
from sympy import oo

from varlaw.symbolic.activation import Activation, Parts


class tanh(Activation):
    """tanh(z)."""

    label, parity = "tanh", "odd"
    known = {"torch": "Tanh", "keras": "tanh", "jax": "tanh", "timm": "tanh"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, sympy.tanh(z)),)


class erf(Activation):
    """The error function erf(z)."""

    label, parity = "erf", "odd"
    known = {"torch": "erf", "jax": "erf"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, sympy.erf(z)),)


class sin(Activation):
    """sin(z)."""

    label, parity = "sin", "odd"
    known = {"torch": "sin", "jax": "sin"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, sympy.sin(z)),)


class cos(Activation):
    """cos(z)."""

    label, parity = "cos", "even"
    known = {"torch": "cos", "jax": "cos"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, sympy.cos(z)),)


class exp(Activation):
    """e^z."""

    label = "exp"
    known = {"torch": "exp", "keras": "exponential", "jax": "exp"}

    @staticmethod
    def parts(z: Any, *_: Any) -> Parts:
        return ((-oo, sympy.exp(z)),)
