"""Sizes as powers of the width n: sums of n terms, and the exponent of n in what comes out.

A tiny calculus: a product adds exponents, a sum of n aligned terms adds 1, one of n terms with
independent signs adds 1/2.
"""

from typing import Any

from sympy import Expr, log, sqrt

from varlaw.symbolic.notation import raised
from varlaw.symbolic.sequences import Defined


class _Sum(Defined):
    """Base of the functions of a size and the width."""

    label = ""

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        inner = ", ".join(map(printer.doprint, self.args))
        return raised(rf"\operatorname{{{self.label}}}\left({inner}\right)", exp)


class coherent(_Sum):
    """The size of a sum of n aligned terms of size x: n x."""

    label, is_positive = "coherent", True

    @property
    def definition(self) -> Expr:
        x, n = self.args
        return n * x


class incoherent(_Sum):
    """The size of a sum of n terms of size x with independent signs: sqrt(n) x."""

    label, is_positive = "incoherent", True

    @property
    def definition(self) -> Expr:
        x, n = self.args
        return sqrt(n) * x


class order(_Sum):
    """The exponent e of a size n^e: log(x)/log(n)."""

    label, is_real = "order", True

    @property
    def definition(self) -> Expr:
        x, n = self.args
        return log(x) / log(n)
