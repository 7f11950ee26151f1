"""LaTeX of single expressions and relations, written so that `read_latex` gives them back."""

from typing import Any

from sympy import (
    Abs,
    Add,
    Basic,
    Expr,
    Function,
    Integer,
    Integral,
    Mul,
    Pow,
    Rational,
    Symbol,
    ilcm,
)
from sympy.printing.latex import LatexPrinter

from varlaw.symbolic.arrays import Entry, Moment
from varlaw.symbolic.derivation import sign_of
from varlaw.symbolic.notation import PLAIN, Notation, raised, script
from varlaw.symbolic.printers.order import (
    HEADS,
    LARGE,
    Quotient,
    holds,
    ordered_terms,
    over_number,
    quotient,
    under_one_root,
)
from varlaw.symbolic.sequences import Branch, Named, Term
from varlaw.symbolic.terms import Covariance, Expectation, Variance

SIGNS = {"=": "=", ">=": r"\ge", "<=": r"\le", "->": r"\to", "~": r"\sim", ">": ">", "<": "<"}
CLOSED = (Symbol, Entry, Term, Named, Moment, Expectation, Variance, Covariance, Branch, Function)


class LatexMath(LatexPrinter):
    """SymPy's LaTeX printer with the textbook's order of factors and the author's notation."""

    def __init__(self, notation: Notation = PLAIN, over: bool = False) -> None:
        super().__init__()
        self.notation = notation
        self.over = over  # (m + n)/2 over one line, which reads back as a product

    def _print_Symbol(self, expr: Symbol, style: str = "plain") -> str:
        return self.notation.label(expr.name).written()

    _print_Dummy = _print_Symbol

    def _print_Function(self, expr: Function, exp: str | None = None) -> str:
        name = getattr(expr, "label", "") or type(expr).__name__.replace("_", "-")
        inner = ", ".join(map(self.doprint, expr.args))
        return raised(rf"\operatorname{{{name}}}\left({inner}\right)", exp)

    _print_log = _print_Function

    def _print_Abs(self, expr: Abs, exp: str | None = None) -> str:
        return raised(rf"\operatorname{{abs}}\left({self.doprint(expr.args[0])}\right)", exp)

    def _print_Relational(self, expr: Any) -> str:
        return f"{self.doprint(expr.lhs)} {SIGNS[sign_of(expr)]} {self.doprint(expr.rhs)}"

    def _print_Integral(self, expr: Integral) -> str:
        ((variable, *bounds),) = expr.limits
        lower, upper = map(self.doprint, bounds)
        sign = r"\int" + script("_", lower) + script("^", upper)
        body = self.doprint(expr.function)
        if isinstance(expr.function, Add) or body.startswith("-"):
            body = rf"\left({body}\right)"
        return rf"{sign} {body} \, \mathrm{{d}}{self.doprint(variable)}"

    # Sums, products, powers

    def _print_Add(self, expr: Add, order: Any = None) -> str:
        above, divisor = over_number(expr) if self.over else (expr, 1)
        if divisor != 1:
            return rf"\frac{{{self.doprint(above)}}}{{{divisor}}}"
        return " ".join(text for text, _ in self.signed_terms(expr))

    def signed_terms(self, expr: Add) -> list[tuple[str, Expr]]:
        """The terms of a sum in order; their texts after the first begin with their sign."""
        first, *others = [(self.doprint(term), term) for term in ordered_terms(expr)]
        return [
            first,
            *(
                (f"- {t[1:].lstrip()}" if t.startswith("-") else f"+ {t}", term)
                for t, term in others
            ),
        ]

    def _print_Mul(self, expr: Expr) -> str:
        return self.sign(expr) + " ".join(self.parts(quotient(expr)))

    def sign(self, expr: Expr) -> str:
        return "-" if quotient(expr).negative else ""

    def parts(self, product: Quotient) -> list[str]:
        """A product without its sign: a fraction, then the factors that stand beside it."""
        above, below, number, divisor = (
            product.above,
            product.below,
            product.number,
            product.divisor,
        )
        if divisor == 1 and not below:
            return self.row(number, above)
        large = HEADS if not below else LARGE
        inside = [f for f in above if not holds(f, large)]
        outside = [f for f in above if holds(f, large)]
        roots = under_one_root(inside, below) if number == divisor == 1 else None
        if roots:
            top, bottom, exponent = roots
            line = rf"\frac{{{self.doprint(top)}}}{{{self.doprint(bottom)}}}"
            if exponent == Rational(1, 2):
                line = rf"\sqrt{{{line}}}"
            else:
                line = raised(rf"\left({line}\right)", self.exponent(exponent))
        else:
            line = rf"\frac{{{self.line(number, inside)}}}{{{self.line(divisor, below)}}}"
        return [line, *(self.row(1, outside, alone=False) if outside else [])]

    def line(self, number: int, factors: Any) -> str:
        """A product between braces."""
        if number == 1 and len(factors) == 1:
            return self.doprint(factors[0])
        return " ".join(self.row(number, factors))

    def row(self, number: int, factors: Any, alone: bool = True) -> list[str]:
        """Factors side by side; what has to be is in brackets."""
        rest = list(factors)
        texts = [str(number)] if number != 1 or not rest else []
        for place, factor in enumerate(rest):
            last = place == len(rest) - 1
            wide = isinstance(factor, (Add, Mul)) or (isinstance(factor, LARGE) and not last)
            text = self.bracketed(factor, wide and (len(rest) > 1 or number != 1 or not alone))
            digit = texts and text[:1].isdigit()
            texts.append(rf"\cdot {text}" if digit else text)
        return texts

    def _print_Pow(self, expr: Pow) -> str:
        base, exponent = expr.args
        if exponent.is_Rational and exponent.is_negative:
            return self._print_Mul(expr)
        if exponent == Rational(1, 2) and not self._squared(base):
            return rf"\sqrt{{{self.doprint(base)}}}"
        if self._squared(base):
            return self.notation.label(base.name).written(power=self.exponent(2 * exponent))
        power = self.exponent(exponent)
        if isinstance(base, Symbol):
            return self.notation.label(base.name).written(power=power)
        if isinstance(base, CLOSED):
            return str(self._print(base, exp=power))
        closed = isinstance(base, Integer) and base >= 0
        return raised(self.bracketed(base, not closed), power)

    def _squared(self, base: Expr) -> bool:
        return isinstance(base, Symbol) and self.notation.label(base.name).square

    def exponent(self, expr: Expr) -> str:
        """An exponent on one line: (k - l)/2, not a sum of fractions."""
        divisor = ilcm(1, 1, *(part.as_coeff_Mul()[0].q for part in Add.make_args(expr)))
        if expr.is_Integer or divisor == 1:
            return str(self.doprint(expr))
        above = Add(*(divisor * part for part in Add.make_args(expr)))
        return f"{self.bracketed(above, isinstance(above, Add), plain=True)}/{divisor}"

    def bracketed(self, expr: Expr, needed: bool, plain: bool = False) -> str:
        text = self.doprint(expr)
        if not needed:
            return str(text)
        return f"({text})" if plain else rf"\left({text}\right)"


def latex(expression: Basic, notation: Notation = PLAIN) -> str:
    """The LaTeX of an expression or a relation, without dollars."""
    return str(LatexMath(notation).doprint(expression))
