"""A function of one variable, split where activations and absolute values have their kinks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cmp_to_key, lru_cache
from itertools import pairwise
from math import ceil, floor, inf

from flint import arb
from sympy import (
    Abs,
    Expr,
    Heaviside,
    Integer,
    Max,
    Min,
    Pow,
    Rational,
    S,
    Symbol,
    log,
    oo,
    sign,
)

from varlaw.symbolic.activation import KINKED, Activation, Parts
from varlaw.symbolic.gaussian.balls import Located, NoEnclosure, ball
from varlaw.symbolic.gaussian.crossings import NotClosed, crossings, sign_of
from varlaw.symbolic.occurrences import contains, depends
from varlaw.symbolic.slopes import raised
from varlaw.symbolic.terms import Indicator

__all__ = ["NotClosed", "Piece", "parts_of", "pieces_of"]


@dataclass(frozen=True)
class Piece:
    """An expression that holds between two points."""

    lower: Expr
    upper: Expr
    expression: Expr


Intervals = list[tuple[Expr, Expr, Expr]]


@lru_cache(maxsize=256)
def pieces_of(f: Expr, x: Symbol, lower: Expr = -oo, upper: Expr = oo) -> tuple[Piece, ...]:
    """`f` as expressions without kinks on intervals that follow one another, on the line or a part.

    Raises NotClosed where it is open where an argument crosses a kink, or in which order two do.
    """
    return tuple(_split(Piece(lower, upper, f), x))


def _split(piece: Piece, x: Symbol) -> list[Piece]:
    piece = Piece(piece.lower, piece.upper, _constants_settled(piece.expression, x))
    node = _innermost(piece.expression, x)
    if node is None:
        return [piece]
    parts, from_above = parts_of(node), node.from_above if isinstance(node, Activation) else ()
    if len(parts) == 1:
        return _split(_with(piece, node, parts[0][1]), x)
    argument = node.args[0] - node.args[1] if isinstance(node, (Max, Min)) else node.args[0]
    if not depends(argument, x):
        return _split(_with(piece, node, _part_at(argument, parts, from_above)), x)
    found = []
    for lower, upper, value in _intervals(argument, parts, x, piece):
        lower, upper = _larger(piece.lower, lower), _smaller(piece.upper, upper)
        if less(lower, upper):
            found += _split(_with(Piece(lower, upper, piece.expression), node, value), x)
    return found


def _intervals(argument: Expr, parts: Parts, x: Symbol, piece: Piece) -> Intervals:
    """(from, to, part that holds there), in order, all over the piece."""
    values = [value for _, value in parts]
    if argument == x:
        starts = [start for start, _ in parts]
        return list(zip(starts, [*starts[1:], oo], values, strict=True))
    slope = argument.diff(x)
    if depends(slope, x):
        return _curved(argument, parts, x, piece)
    offset = argument.subs(x, 0)
    points = [(start - offset) / slope for start, _ in parts[1:]]
    if slope.is_negative:
        points, values = points[::-1], values[::-1]
    elif not slope.is_positive:
        raise NotClosed(f"the sign of {slope}, the slope of {argument}, is not known")
    return list(zip([-oo, *points], [*points, oo], values, strict=True))


def _curved(argument: Expr, parts: Parts, x: Symbol, piece: Piece) -> Intervals:
    """The intervals for an argument that is not affine: its crossings, and a test between them."""
    goals = [(argument, start) for start, _ in parts[1:]]
    goals += [(inside, S.Zero) for inside in _must_be_positive(argument)]
    points: list[Expr] = []
    span = _outwards(piece.lower, floor, -inf), _outwards(piece.upper, ceil, inf)
    for inner, value in goals:
        points += crossings(inner, value, x, span)
    points = [p for p in dict.fromkeys(points) if less(piece.lower, p) and less(p, piece.upper)]
    points = in_order(points)
    found = []
    for lower, upper in pairwise([piece.lower, *points, piece.upper]):
        signs = _signs(argument, [start for start, _ in parts[1:]], x, lower, upper)
        holds = [part for sign, (_, part) in zip(signs, parts[1:], strict=True) if sign > 0]
        found.append((lower, upper, [parts[0][1], *holds][-1]))
    return found


def _outwards(end: Expr, rounding: Callable[[float], int], otherwise: float) -> float:
    """A whole number beyond an end, infinite if the end is not a number."""
    return float(rounding(float(ball(end).mid()))) if end.is_finite and end.is_number else otherwise


def _must_be_positive(argument: Expr) -> list[Expr]:
    """What roots and logarithms are taken of."""
    powers = [node.base for node in argument.atoms(Pow) if not node.exp.is_Integer]
    return powers + [node.args[0] for node in argument.atoms(log)]


def _signs(argument: Expr, starts: list[Expr], x: Symbol, lower: Expr, upper: Expr) -> list[int]:
    """The signs of argument - start between two points, at one where none of them is zero."""
    middle = _between(lower, upper)
    for point in (middle, _between(lower, middle), _between(middle, upper)):
        value = argument.subs(x, point)
        if not value.is_number and value.is_real is False:  # nothing is known of the signs there
            raise NotClosed(f"{argument} is not real everywhere")
        signs = [sign_of(value - start) for start in starts]
        if 0 not in signs:  # where it is, the argument only touches the start
            return signs
    raise NotClosed(f"where {argument} crosses its kinks is not known")


def _between(lower: Expr, upper: Expr) -> Expr:
    """A point between two others, a rational one between numbers."""
    if -oo in (lower, upper) or oo in (lower, upper):
        if lower == -oo:
            return Integer(0) if upper == oo else _near(upper, floor) - 1
        return _near(lower, ceil) + 1
    middle = (lower + upper) / 2
    if not middle.is_number:
        return middle
    near = float(ball(middle).mid())
    for places in (1, 8, 50):  # the shorter, the better
        point = Rational(round(near * 2**places), 2**places)
        if less(lower, point) and less(point, upper):
            return point
    raise NotClosed(f"{lower} and {upper} are too close to be told apart")


def _near(point: Expr, rounding: Callable[[float], int]) -> Expr:
    return Integer(rounding(float(ball(point).mid()))) if point.is_number else point


def _constants_settled(f: Expr, x: Symbol) -> Expr:
    """Activations of numbers replaced by their values; of parameters they may stay."""
    while contains(f, Activation) and (
        fixed := [
            n
            for n in f.atoms(Activation)
            if not n.free_symbols and not contains(n.args[0], Activation)
        ]
    ):
        f = f.xreplace({n: _part_at(n.args[0], n.written_out, n.from_above) for n in fixed})
    return f


def _with(piece: Piece, node: Expr, value: Expr) -> Piece:
    return Piece(piece.lower, piece.upper, _put(piece.expression, node, value))


def _put(f: Expr, node: Expr, value: Expr) -> Expr:
    """f with a value for a node; 0 and 1 drop out, as SymPy would ask if the rest is finite."""
    if f == node:
        return value
    parts = [_put(part, node, value) if part.args else part for part in f.args]
    if all(new is old for new, old in zip(parts, f.args, strict=True)):
        return f
    if f.is_Mul and S.Zero in parts:
        return S.Zero
    if f.is_Add or f.is_Mul:
        parts = [part for part in parts if part != f.identity]
        if len(parts) < 2:
            return parts[0] if parts else f.identity
    return raised(*parts) if f.is_Pow else f.func(*parts)


def _innermost(f: Expr, x: Symbol) -> Expr | None:
    """A function with parts whose argument holds no other one; None if there is none."""
    if not contains(f, KINKED):
        return None
    for part in f.args:
        found = _innermost(part, x)
        if found is not None:
            return found
    return f if isinstance(f, KINKED) and depends(f, x) else None


def parts_of(node: Expr) -> Parts:
    """A function with kinks as (start, part) pairs in its argument."""
    z = node.args[0]
    match node:
        case Activation():
            return node.written_out
        case Abs():
            return (-oo, -z), (S.Zero, z)
        case sign():
            return (-oo, S.NegativeOne), (S.Zero, S.One)
        case Heaviside():
            return (-oo, S.Zero), (S.Zero, S.One)
        case Indicator():
            on, off = (S.Zero, S.One) if node.relation == ">" else (S.One, S.Zero)
            return ((-oo, S.Zero),) if node.relation == "=" else ((-oo, on), (S.Zero, off))
        case _:  # of the first two of several, one remains
            first, second, *others = node.args
            low, high = (second, first) if isinstance(node, Max) else (first, second)
            return (-oo, node.func(low, *others)), (S.Zero, node.func(high, *others))


def _part_at(argument: Expr, parts: Parts, from_above: tuple[int, ...]) -> Expr:
    """The part that holds at an argument that does not depend on the variable."""
    chosen = parts[0][1]
    for position, (start, expression) in enumerate(parts[1:]):
        if less(start, argument) or (argument == start and position in from_above):
            chosen = expression
        elif not less(argument, start) and argument != start:
            raise NotClosed(f"whether {argument} exceeds {start} is not known")
    return chosen


def in_order(points: Iterable[Expr]) -> list[Expr]:
    """Different points from the left to the right. Raises NotClosed where that is open."""
    return sorted(points, key=cmp_to_key(lambda a, b: -1 if less(a, b) else 1))


def less(a: Expr, b: Expr) -> bool:
    """Whether a < b; False where they are equal. Raises NotClosed where that is open."""
    if a == b:
        return False
    if a == -oo or b == oo:
        return True
    if a == oo or b == -oo:
        return False
    difference = b - a
    if difference.is_number and not difference.is_Rational:
        gap = _gap(difference)
        if not gap.contains(0):
            return bool(gap > 0)
    if difference.is_positive:
        return True
    if difference.is_nonpositive or _is_at(a, b) or _is_at(b, a):
        return False
    raise NotClosed(f"the order of the kinks {a} and {b} is not known")


def _is_at(number: Expr, point: Expr) -> bool:
    return isinstance(number, Located) and point.is_number and number.is_at(point)


def _gap(difference: Expr) -> arb:
    try:
        return ball(difference)
    except NoEnclosure:
        return arb(0, 1)


def _larger(a: Expr, b: Expr) -> Expr:
    return b if less(a, b) else a


def _smaller(a: Expr, b: Expr) -> Expr:
    return a if less(a, b) else b
