"""Expressions as text of the language: what `typed` writes, the reader gives back."""

from typing import Any

from sympy import Basic, Expr, Heaviside, Mul, Symbol
from sympy.printing.str import StrPrinter

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.occurrences import contains
from varlaw.symbolic.terms import Indicator

NAMES = {"Abs": "abs", "Max": "max", "Min": "min", "Heaviside": "step", "gamma": "Gamma"}
OPPOSITE = {">": "<", "<": ">", "=": "="}
DENIED = {">": "<=", "<": ">=", "=": "!="}


class TypedMath(StrPrinter):
    """SymPy's printer of text, with the language's names; powers are left to `typed`."""

    def _print_Exp1(self, expr: Basic) -> str:
        return "e"

    def _print_Dummy(self, expr: Symbol) -> str:
        return str(expr.name)

    def _print_Function(self, expr: Any) -> str:
        name, arguments = type(expr).__name__, expr.args[: 1 if expr.func is Heaviside else None]
        if isinstance(expr, Activation) and arguments[1:] == expr.defaults:
            arguments = arguments[:1]
        return f"{NAMES.get(name, name)}({', '.join(map(self.doprint, arguments))})"

    _print_Abs = _print_Max = _print_Min = _print_Heaviside = _print_Function

    def _print_Indicator(self, expr: Any) -> str:
        """1[x > a], with the constants on the right."""
        left, sign, right = sides(expr)
        return f"1[{self.doprint(left)} {sign} {self.doprint(right)}]"

    def _print_Phi2(self, expr: Any) -> str:
        return f"Phi2({', '.join(map(self.doprint, expr.args))})"


class Numeral:
    """A number that has no formula but its `decimal`."""

    decimal: Expr


def in_decimals(expression: Expr) -> Expr:
    """An expression with decimals for the numbers that have no formula."""
    if not contains(expression, Numeral):
        return expression
    return expression.xreplace({number: number.decimal for number in expression.atoms(Numeral)})


def typed(expression: Expr | str) -> str:
    """The text of an expression in the language, with every product written; signs as they are."""
    if isinstance(expression, str):
        return expression
    return str(TypedMath({"order": None}).doprint(in_decimals(expression))).replace("**", "^")


def chains(condition: Expr, x: Symbol) -> list[list[Any]]:
    """A condition as chains of expressions and signs, such as [a, "<", x, "<", b].

    The condition is a product of functions that are 1 where it holds, as the reader gives it.
    """
    found = []
    for factor in Mul.make_args(condition):
        for node in factor.atoms(Indicator):
            left, sign, right = sides(node, x)
            found.append([left, sign if factor == node else DENIED[sign], right])
    below = [chain for chain in found if chain[0] == x and chain[1][0] == ">"]
    above = [chain for chain in found if chain[0] == x and chain[1][0] == "<"]
    if len(found) == 2 and below and above:
        (_, sign, left), (_, other, right) = *below, *above
        return [[left, sign.replace(">", "<"), x, other, right]]
    return sorted(found, key=str)


def sides(node: Indicator, x: Symbol | None = None) -> tuple[Expr, str, Expr]:
    """1[left > right], with x on its own to the left if it can be, else constants to the right."""
    argument, sign = node.args[0], node.relation
    rest = argument.coeff(x, 0) if x is not None and argument.diff(x) in (1, -1) else None
    left = argument.as_coeff_Add()[1] if rest is None else argument - rest
    right = left - argument
    if left.could_extract_minus_sign():
        return -left, OPPOSITE[sign], -right
    return left, sign, right
