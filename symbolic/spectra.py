"""Heads for the spectra of square random matrices: traces of powers, the largest singular value."""

from typing import Any

from sympy import Basic, Expr, Integer, Symbol, Tuple

from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.notation import written


class Spectral(Expr):
    """Base of what depends on all entries of an n x n array, of which one stands for all."""

    is_real = True
    is_nonnegative = True
    is_commutative = True

    @property
    def entry(self) -> Entry:
        return self.args[0]

    @property
    def array(self) -> RandomArray:
        return self.entry.array

    @property
    def size(self) -> Symbol:
        return self.args[1]

    @property
    def free_symbols(self) -> set[Basic]:
        return super().free_symbols - Tuple(*self.entry.indices).free_symbols


class Trace(Spectral):
    """tau_k = tr (w^T w)^k / n: the mean of the k-th powers of the squared singular values."""

    def __new__(cls, entry: Entry, size: Expr, power: Expr) -> Expr:
        return Integer(1) if power == 0 else Expr.__new__(cls, entry, size, power)

    @property
    def power(self) -> Expr:
        return self.args[2]

    def _sympystr(self, printer: Any) -> str:
        return f"tau[{printer.doprint(self.power)}]"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return written("tau", (self.power,), printer, exp)


class Norm(Spectral):
    """The operator norm of w: its largest singular value, s_max."""

    def __new__(cls, entry: Entry, size: Expr) -> Expr:
        return Expr.__new__(cls, entry, size)

    def _sympystr(self, printer: Any) -> str:
        return "s_max"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return written("s_max", (), printer, exp)
