"""Enclosures of E[f(Z1) g(Z2)] for jointly Gaussian Z1 and Z2."""

from collections.abc import Sequence

from flint import arb, ctx
from sympy import Expr, S, Symbol, sqrt

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.correlated import Correlated, Function
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, settled, shown
from varlaw.symbolic.gaussian.enclosure import GUARD, ROUNDS, enclose
from varlaw.symbolic.gaussian.endless import enclose_function
from varlaw.symbolic.gaussian.pieces import Piece

NEAREST = 2.0**-24  # to 1 that a correlation may be: the number of points goes like the root of it
PLACES = 640  # bits, to see which of two kinks comes first
Pair = tuple[Expr, Expr]


def enclose2(
    f: Function,
    g: Function,
    x: Symbol,
    rho: Expr,
    variances: Pair,
    digits: int,
    means: Pair = (S.Zero, S.Zero),
) -> Enclosed:
    """E[f(Z1) g(Z2)] for Gaussian Z1, Z2 with correlation rho, to so many proved digits.

    `f` and `g` are pieces in x from -oo to oo, or both functions of x, whose kinks may be endless.
    Raises NoEnclosure where no enclosure is found, ValueError where |rho| > 1 or a variance is
    negative.

    >>> from sympy import Rational, Symbol, oo, tanh
    >>> z = Symbol("z")
    >>> squash = [Piece(-oo, oo, tanh(z))]
    >>> enclose2(squash, squash, z, Rational(3, 10), (S.One, S.One), 12).digits
    '0.110668385547'
    """
    if 0 in variances or rho == 0:
        return _independent(f, g, x, variances, digits, means)
    if not all(ball(v) > 0 for v in variances):
        raise ValueError(f"the variances {variances[0]} and {variances[1]} are not positive")
    deviations = sqrt(variances[0]), sqrt(variances[1])
    if rho in (1, -1):
        slope = rho * deviations[1] / deviations[0]
        offset = means[1] - slope * means[0]
        if isinstance(f, Expr):
            assert isinstance(g, Expr)
            product = f * g.subs(x, slope * x + offset)
            return enclose_function(product, x, means[0], variances[0], digits)
        assert not isinstance(g, Expr)
        along = _along(f, g, x, slope, offset)
        return enclose(along, x, means[0], variances[0], digits)
    with ctx.workprec(PLACES):
        apart = 1 - abs(ball(rho))
    if not apart > 0:
        raise ValueError(f"a correlation is between -1 and 1, not {rho}")
    if apart < NEAREST:
        raise NoEnclosure(f"a correlation as near to {'1' if rho > 0 else '-1'} takes too long")
    return Correlated((f, g), x, rho, deviations, means).enclosed(digits)


def _independent(
    f: Function, g: Function, x: Symbol, variances: Pair, digits: int, means: Pair
) -> Enclosed:
    """The product of two expectations."""
    value, more = arb(0), digits + 5
    for _ in range(ROUNDS):
        with ctx.workprec(bits_for(more) + GUARD):
            value = arb(1)
            for pieces, mean, variance in zip((f, g), means, variances, strict=True):
                found = enclose_function if isinstance(pieces, Expr) else enclose
                value *= found(pieces, x, mean, variance, more).value
        if settled(value, digits) or value.contains(0):
            break
        more *= 2
    return shown(value, digits, "product of two enclosures")


def _along(
    f: Sequence[Piece], g: Sequence[Piece], x: Symbol, slope: Expr, offset: Expr
) -> list[Piece]:
    """The pieces of f(x) g(slope x + offset)."""
    moved = []
    for piece in g:
        ends = [(end - offset) / slope for end in (piece.lower, piece.upper)]
        lower, upper = ends if ball(slope) > 0 else ends[::-1]
        moved.append(Piece(lower, upper, piece.expression.subs(x, slope * x + offset)))
    pieces = []
    for one in f:
        for other in moved:
            lower = one.lower if _not_above(other.lower, one.lower) else other.lower
            upper = other.upper if _not_above(other.upper, one.upper) else one.upper
            if not _not_above(upper, lower):
                pieces.append(Piece(lower, upper, one.expression * other.expression))
    return pieces


def _not_above(a: Expr, b: Expr) -> bool:
    """Whether a <= b."""
    if a == b or not (a.is_finite and b.is_finite):
        return bool(a <= b)
    with ctx.workprec(PLACES):
        gap = ball(b) - ball(a)
    if not gap.contains(0):
        return bool(gap > 0)
    if (b - a).simplify() == 0:
        return True
    raise NoEnclosure(f"whether the kinks {a} and {b} coincide is not known")
