"""The derivative of an expression by one entry of a random array, before it is worked out."""

from typing import Any

from sympy import Basic, Expr

from varlaw.symbolic.arrays import Entry


class Gradient(Expr):
    """d of/d by: the partial derivative by one weight, all else held fixed."""

    is_real = True
    is_commutative = True

    def __new__(cls, of: Expr, by: Entry) -> "Gradient":
        return Expr.__new__(cls, of, by)

    @property
    def of(self) -> Expr:
        return self.args[0]

    @property
    def by(self) -> Entry:
        return self.args[1]

    @property
    def free_symbols(self) -> set[Basic]:
        return self.of.free_symbols | self.by.free_symbols

    def _sympystr(self, printer: Any) -> str:
        of, by = map(printer.doprint, self.args)
        return f"d/d{by} ({of})"

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        of, by = map(printer.doprint, self.args)
        body = rf"\frac{{\mathrm{{d}}}}{{\mathrm{{d}} {by}}} \left({of}\right)"
        return body if exp is None else rf"\left({body}\right)^{{{exp}}}"
