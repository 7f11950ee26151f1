"""Symbols for what polynomials cannot be made of: functions, decimals, powers of a name above."""

from collections.abc import Callable
from typing import TypeVar

from sympy import Basic, Dummy, Expr, Float, Function, NumberSymbol, Pow, Symbol, Tuple

T = TypeVar("T", Expr, Tuple)


def masked(
    expression: T, variable: Symbol, numbers: bool = False
) -> tuple[T, Callable[[Expr], Expr]]:
    """Expressions with a symbol for each such part without the variable, and the way back.

    With `numbers` also for pi and roots of numbers. A symbol is positive where its part is, so that
    signs stay known.
    """
    apart: dict[Expr, Dummy] = {}

    def plain(e: Basic) -> Basic:
        if variable not in e.free_symbols and (
            isinstance(e, Function | Float) or _named(e) or (numbers and _is_irrational(e))
        ):
            sign = {"positive": True} if e.is_positive else {"real": e.is_real}
            return apart.setdefault(e, Dummy(**sign))
        return e.func(*map(plain, e.args)) if e.args and not isinstance(e, Function) else e

    found = plain(expression)
    return found, lambda e: e.xreplace({dummy: part for part, dummy in apart.items()})


def _is_irrational(e: Basic) -> bool:
    """Whether an expression is a constant with a name, or a root of a number."""
    return isinstance(e, NumberSymbol) or (
        isinstance(e, Pow) and e.is_number and not e.exp.is_Integer
    )


def _named(e: Basic) -> bool:
    """Whether an expression is a power whose exponent has names."""
    return isinstance(e, Pow) and bool(e.exp.free_symbols)
