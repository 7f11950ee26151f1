"""Denominators of several waves, for wide balls on either side of 0.

A wide ball of 2 + 2 e^x + e^(2 x) contains 0 where x is positive, and e^(2 x) times one of
2 e^(-2 x) + 2 e^-x + 1 does not: on each side the wave is taken out that outgrows the others.
"""

from sympy import Add, Expr, Integer, Pow, Symbol, exp, log

from varlaw.symbolic.gaussian.pieces import Piece, less
from varlaw.symbolic.slopes import raised

ZERO = Integer(0)


def on_sides(piece: Piece, x: Symbol) -> list[Piece]:
    """The piece, split at 0, with waves that fade away from 0 in its denominators.

    >>> from sympy import oo
    >>> x = Symbol("x", real=True)
    >>> for side in on_sides(Piece(-oo, oo, 1 / (1 + exp(x) + exp(2 * x))), x):
    ...     print(side.expression)
    1/(exp(2*x) + exp(x) + 1)
    exp(-2*x)/(1 + exp(-x) + exp(-2*x))
    """
    sides = [
        Piece(lower, upper, _outgrown(piece.expression, x, side))
        for lower, upper, side in (
            (piece.lower, _least(piece.upper, ZERO), -1),
            (-_least(-piece.lower, ZERO), piece.upper, 1),
        )
        if less(lower, upper)
    ]
    return [piece] if all(side.expression == piece.expression for side in sides) else sides


def _least(one: Expr, other: Expr) -> Expr:
    return one if less(one, other) else other


def _outgrown(f: Expr, x: Symbol, side: int) -> Expr:
    """The function, in its denominators the term taken out that grows most towards a side."""
    return f.replace(
        lambda node: isinstance(node, Pow) and node.exp.is_Integer and node.exp < 0,
        lambda node: _inverse(node, x, side),
    )


def _inverse(node: Pow, x: Symbol, side: int) -> Expr:
    terms = node.base.args if isinstance(node.base, Add) else ()
    waves = [term.as_independent(x, as_Add=False) for term in terms]
    exponents = [wave.args[0] if isinstance(wave, exp) else log(wave) for _, wave in waves]
    rates = [exponent.diff(x) for exponent in exponents]
    if len(rates) < 3 or not all(rate.is_number and rate.is_real for rate in rates):
        return node
    most = max(rates, key=lambda rate: side * rate)
    if most == 0:
        return node
    pairs = zip(waves, exponents, strict=True)
    fading = Add(*(c * exp((exponent - most * x).expand()) for (c, _), exponent in pairs))
    return exp(node.exp * most * x) * raised(fading, node.exp)
