"""Expressions for the terminal: names as they are typed, products without signs, ^ for powers."""

from math import prod
from typing import Any

from sympy import Add, Basic, Expr, Function, Integer, Mul, Pow, Rational
from sympy.printing.str import StrPrinter

from varlaw.symbolic.derivation import relation_text, sign_of
from varlaw.symbolic.printers.order import (
    ordered_terms,
    over_number,
    quotient,
    under_one_root,
)
from varlaw.symbolic.terms import Slope

SYMBOLS = {"Sum[": "Σ[", "Prod[": "Π[", "delta[": "δ["}


class PlainMath(StrPrinter):
    """SymPy's printer of text with the textbook's order of factors."""

    def _print_Relational(self, expr: Any) -> str:
        return f"{self.doprint(expr.lhs)} {sign_of(expr)} {self.doprint(expr.rhs)}"

    def _print_Function(self, expr: Any) -> str:
        name = getattr(expr, "label", "") or type(expr).__name__
        return f"{name}({', '.join(map(self.doprint, expr.args))})"

    def _print_Add(self, expr: Add, order: Any = None) -> str:
        above, divisor = over_number(expr)
        if divisor != 1:
            return f"({self.doprint(above)})/{divisor}"
        first, *others = map(self.doprint, ordered_terms(expr))
        return " ".join([first, *(f"- {t[1:]}" if t.startswith("-") else f"+ {t}" for t in others)])

    def _print_Mul(self, expr: Expr) -> str:
        product = quotient(expr)
        parts = [over_number(f) if isinstance(f, Add) else (f, 1) for f in product.above]
        divisor = product.divisor * prod(number for _, number in parts)
        above = self.row(product.number, tuple(f for f, _ in parts))
        sign = "-" if product.negative else ""
        roots = under_one_root(product.above, product.below)
        if roots and product.number == divisor == 1:
            top, bottom, exponent = roots
            above = self.bracketed(top) if isinstance(top, Add) else self.doprint(top)
            inner = f"{above}/{self.factor(bottom)}"
            half = exponent == Rational(1, 2)
            return sign + (f"sqrt({inner})" if half else f"({inner})^({exponent})")
        below = self.row(divisor, product.below)
        if below == "1":
            return sign + above
        simple = len(product.below) + (divisor != 1) == 1
        return f"{sign}{above}/{below}" if simple else f"{sign}{above}/({below})"

    def row(self, number: int, factors: tuple[Expr, ...]) -> str:
        texts = [str(number)] if number != 1 or not factors else []
        return " ".join([*texts, *map(self.factor, factors)])

    def factor(self, expr: Expr) -> str:
        return self.bracketed(expr) if isinstance(expr, (Add, Mul)) else str(self.doprint(expr))

    def _print_Pow(self, expr: Pow, rational: bool = False) -> str:
        base, exponent = expr.args
        if exponent.is_Rational and exponent.is_negative:
            return self._print_Mul(expr)
        if exponent == Rational(1, 2):
            return f"sqrt({self.doprint(base)})"
        shown = self.doprint(exponent)
        plain = exponent.is_Symbol or (exponent.is_Integer and exponent >= 0)
        wide = isinstance(base, (Add, Mul, Pow, Slope)) or (
            base.is_number and not isinstance(base, (Integer, Function))
        )
        shown = shown if plain else f"({shown})"
        return f"{self.bracketed(base) if wide else self.doprint(base)}^{shown}"

    def bracketed(self, expr: Expr) -> str:
        return f"({self.doprint(expr)})"


def plain_text(expression: Basic) -> str:
    """An expression or a relation as text for people."""
    text = str(PlainMath().doprint(expression))
    for ascii_, symbol in SYMBOLS.items():
        text = text.replace(ascii_, symbol)
    return text


def explicit(expression: Basic) -> str:
    """An expression or relation as text for programs: every `*` written, `^` for powers."""
    if hasattr(expression, "lhs"):
        return relation_text(expression)
    return str(expression).replace("**", "^")
