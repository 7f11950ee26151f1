"""Means of two positive numbers, as functions that open into their formulas."""

from typing import Any

from sympy import Expr, sqrt

from varlaw.symbolic.notation import raised
from varlaw.symbolic.sequences import Defined


class _Mean(Defined):
    is_positive = True
    label = ""

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        inner = ", ".join(map(printer.doprint, self.args))
        return raised(rf"\operatorname{{{self.label}}}\left({inner}\right)", exp)


class arithmetic_mean(_Mean):
    """(a + b) / 2."""

    label = "A"

    @property
    def definition(self) -> Expr:
        a, b = self.args
        return (a + b) / 2


class geometric_mean(_Mean):
    """sqrt(a b)."""

    label = "G"

    @property
    def definition(self) -> Expr:
        a, b = self.args
        return sqrt(a * b)


class harmonic_mean(_Mean):
    """2 / (1/a + 1/b)."""

    label = "H"

    @property
    def definition(self) -> Expr:
        a, b = self.args
        return 2 / (1 / a + 1 / b)


class contraharmonic_mean(_Mean):
    """(a^2 + b^2) / (a + b); introductions call its reciprocal's law the quadratic mean."""

    label = "C"

    @property
    def definition(self) -> Expr:
        a, b = self.args
        return (a**2 + b**2) / (a + b)
