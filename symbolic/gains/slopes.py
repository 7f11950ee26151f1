"""The derivative of a function almost everywhere, its jumps, and whether it is odd."""

from functools import lru_cache
from itertools import pairwise

from flint import ctx
from sympy import Expr, Integer, Rational, Symbol, cancel, nan, oo, zoo

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.terms import indicator

POINT = Rational(5, 13)
BITS = 200  # two one-sided values that differ are told apart at this precision


def slope_of(f: Expr, x: Symbol) -> Expr:
    """f' almost everywhere: the derivative of each piece, where the piece holds.

    Raises NotClosed where the pieces of f are not known.
    """
    total: Expr = Integer(0)
    for piece in joined(pieces_of(f, x)):
        total += piece.expression.diff(x) * _inside(piece, x)
    return total


def jumps_of(f: Expr, x: Symbol) -> tuple[Expr, ...]:
    """The points where f jumps or is unbounded. Raises NotClosed where that is not known.

    >>> from varlaw.symbolic.activations import hardshrink, relu
    >>> x = Symbol("x", real=True)
    >>> jumps_of(relu(x), x), jumps_of(hardshrink(x), x)
    ((), (-1/2, 1/2))
    """
    found = []
    for left, right in pairwise(joined(pieces_of(f, x))):
        point = right.lower
        step = (right.expression.subs(x, point) - left.expression.subs(x, point)).expand()
        if step.is_zero:
            continue
        if step.has(oo, -oo, zoo, nan):
            found.append(point)
            continue
        if step.free_symbols:
            raise NotClosed(f"whether the function jumps at {point} depends on its parameters")
        with ctx.workprec(BITS):
            if ball(step).contains(0):
                raise NotClosed(f"whether the function jumps at {point} is not known")
        found.append(point)
    return tuple(found)


@lru_cache(maxsize=256)
def is_odd(f: Expr, x: Symbol) -> bool:
    """Whether f(-x) = -f(x), as far as the pieces show it."""
    pieces = joined(pieces_of(f, x))
    mirrored = [Piece(-p.upper, -p.lower, -p.expression.subs(x, -x)) for p in reversed(pieces)]
    return all(
        (one.lower, one.upper) == (two.lower, two.upper)
        and not _differ(one.expression, two.expression, x)
        and cancel(one.expression - two.expression).expand() == 0
        for one, two in zip(pieces, mirrored, strict=True)
    )


def _differ(one: Expr, other: Expr, x: Symbol) -> bool:
    """Whether two functions surely differ at a point."""
    with ctx.workprec(BITS):
        try:
            return not ball((one - other).subs(x, POINT)).contains(0)
        except (NoEnclosure, ValueError):
            return False


def _inside(piece: Piece, x: Symbol) -> Expr:
    """1 between the ends of a piece, else 0."""
    above = indicator(x - piece.lower, ">") if piece.lower != -oo else Integer(1)
    return above * (indicator(piece.upper - x, ">") if piece.upper != oo else Integer(1))
