"""Derivatives of functions with kinks and jumps, under a Gaussian.

At a jump the weak derivative has a point mass. E[f'] counts it, and so does Stein's lemma, while
the derivative almost everywhere does not know of it; E[f'^2] is infinite there.
"""

from itertools import pairwise

from sympy import Add, Expr, Symbol, oo

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.moment import Moment, moment
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.slopes import slope
from varlaw.symbolic.terms import indicator

INFINITE = "infinite: the function jumps"


def derivative(f: Expr, x: Symbol) -> Expr:
    """f' almost everywhere, without the point masses of the jumps of f.

    Raises NotClosed where the kinks of f, or their order, are not known.
    """
    slopes = []
    for piece in pieces_of(f, x):
        part = slope(piece.expression, x)
        if piece.lower != -oo:
            part *= indicator(x - piece.lower, ">")
        if piece.upper != oo:
            part *= indicator(piece.upper - x, ">")
        slopes.append(part)
    return Add(*slopes)


def jumps(f: Expr, x: Symbol) -> tuple[Expr, ...]:
    """The points where f jumps. Raises NotClosed where that is not known."""
    return tuple(
        right.lower
        for left, right in pairwise(pieces_of(f, x))
        if not _vanishes((right.expression - left.expression).subs(x, right.lower), right.lower)
    )


def mean_derivative(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Moment:
    """E[f'] with the point masses of jumps: E[(Z - mean) f(Z)]/variance, by Stein's lemma.

    The mean of the derivative almost everywhere is `moment(derivative(f, x), ...)`; the two are the
    same unless f jumps. Raises what `moment` raises.

        >>> from sympy import Integer
        >>> from varlaw.symbolic.activations import step
        >>> x = Symbol("x", real=True)
        >>> print(mean_derivative(step(x), x, Integer(0), Integer(1)))
        sqrt(2)/(2*sqrt(pi))
    """
    return moment((x - mean) * f / variance, mean, variance, variable=x.name)


def derivative_second_moment(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Moment:
    """E[f'^2], whose exact value is oo where f jumps.

    The value almost everywhere is `moment(derivative(f, x)**2, ...)`. Raises what `moment` raises,
    and NotClosed where it is not known whether f jumps.
    """
    square = derivative(f, x) ** 2
    if jumps(f, x) and not variance.is_zero:
        return Moment(square, x, mean, variance, None, oo, INFINITE)
    return moment(square, mean, variance, variable=x.name)


def _vanishes(gap: Expr, point: Expr) -> bool:
    """Whether a gap between two pieces is zero."""
    if gap.expand() == 0:
        return True
    if gap.is_nonzero:
        return False
    try:
        if not ball(gap).contains(0):
            return False
    except NoEnclosure:
        pass
    raise NotClosed(f"whether the function jumps at {point} is not known")
