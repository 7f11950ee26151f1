"""Symbols for what polynomials cannot be made of: functions, decimals, powers of a name above."""

from collections.abc import Callable
from typing import TypeVar

from sympy import Basic, Dummy, Expr, Float, Function, Pow, Symbol, Tuple

T = TypeVar("T", Expr, Tuple)


def masked(expression: T, variable: Symbol) -> tuple[T, Callable[[Expr], Expr]]:
    """Expressions with a symbol for each such part without the variable, and the way back.

    A symbol is positive where its part is, so that signs stay known.
    """
    apart: dict[Expr, Dummy] = {}

    def plain(e: Basic) -> Basic:
        if variable not in e.free_symbols and (isinstance(e, Function | Float) or _named(e)):
            sign = {"positive": True} if e.is_positive else {"real": e.is_real}
            return apart.setdefault(e, Dummy(**sign))
        return e.func(*map(plain, e.args)) if e.args and not isinstance(e, Function) else e

    found = plain(expression)
    return found, lambda e: e.xreplace({dummy: part for part, dummy in apart.items()})


def _named(e: Basic) -> bool:
    """Whether an expression is a power whose exponent has names."""
    return isinstance(e, Pow) and bool(e.exp.free_symbols)
