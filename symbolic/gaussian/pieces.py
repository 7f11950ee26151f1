"""A function of one variable, split where activations and absolute values have their kinks."""

from dataclasses import dataclass
from functools import reduce

from sympy import Abs, Expr, Heaviside, Max, Min, S, Symbol, oo, sign

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.terms import Indicator


class NotClosed(ValueError):
    """A function or a moment is outside what the closed forms cover; the message says why."""


@dataclass(frozen=True)
class Piece:
    """An expression that holds between two points."""

    lower: Expr
    upper: Expr
    expression: Expr


def pieces_of(f: Expr, x: Symbol) -> tuple[Piece, ...]:
    """`f` as expressions without kinks on intervals that follow one another from -oo to oo.

    Raises NotClosed where an argument with a kink is not affine in x, or the order of two kinks
    is open.
    """
    return tuple(_split(Piece(-oo, oo, f), x))


def _split(piece: Piece, x: Symbol) -> list[Piece]:
    piece = Piece(piece.lower, piece.upper, _constants_settled(piece.expression, x))
    node = _innermost(piece.expression, x)
    if node is None:
        return [piece]
    parts = _parts(node)
    if len(parts) == 1:
        return _split(_with(piece, node, parts[0][1]), x)
    argument = node.args[0] if not isinstance(node, (Max, Min)) else node.args[0] - _rest(node)
    if x not in argument.free_symbols:
        return _split(_with(piece, node, _part_at(argument, parts)), x)
    slope, offset = _affine(argument, x)
    edges = [((start - offset) / slope, expression) for start, expression in parts[1:]]
    below = parts[0][1]
    if slope.is_negative:
        values = [below, *(e for _, e in edges)][::-1]
        points = [p for p, _ in edges][::-1]
    elif slope.is_positive:
        values, points = [below, *(e for _, e in edges)], [p for p, _ in edges]
    else:
        raise NotClosed(f"the sign of {slope}, the slope of {argument}, is not known")
    found = []
    for k, value in enumerate(values):
        lower = piece.lower if k == 0 else _larger(piece.lower, points[k - 1])
        upper = piece.upper if k == len(points) else _smaller(piece.upper, points[k])
        if _less(lower, upper):
            found += _split(Piece(lower, upper, piece.expression.xreplace({node: value})), x)
    return found


def _constants_settled(f: Expr, x: Symbol) -> Expr:
    """Activations of numbers replaced by their values; of parameters they may stay."""
    fixed = [n for n in f.atoms(Activation) if not n.free_symbols and not n.args[0].has(Activation)]
    return f.xreplace({n: _part_at(n.args[0], n.written_out) for n in fixed})


def _with(piece: Piece, node: Expr, value: Expr) -> Piece:
    return Piece(piece.lower, piece.upper, piece.expression.xreplace({node: value}))


_KINKED = (Activation, Abs, Max, Min, Heaviside, sign, Indicator)


def _innermost(f: Expr, x: Symbol) -> Expr | None:
    """A function with parts whose argument holds no other one; None if there is none."""
    nodes = [node for node in f.atoms(*_KINKED) if x in node.free_symbols]
    inner = [n for n in nodes if not any(a.has(*_KINKED) and x in a.free_symbols for a in n.args)]
    return min(inner, key=str) if inner else None


def _rest(node: Expr) -> Expr:
    return reduce(node.func, node.args[1:])


def _parts(node: Expr) -> tuple[tuple[Expr, Expr], ...]:
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
        case Max():
            return (-oo, _rest(node)), (S.Zero, z)
        case _:
            return (-oo, z), (S.Zero, _rest(node))


def _part_at(argument: Expr, parts: tuple[tuple[Expr, Expr], ...]) -> Expr:
    """The part that holds at an argument that does not depend on the variable."""
    chosen = parts[0][1]
    for start, expression in parts[1:]:
        if _less(start, argument):
            chosen = expression
        elif not _less(argument, start) and argument != start:
            raise NotClosed(f"whether {argument} exceeds {start} is not known")
        elif argument == start:
            chosen = expression
    return chosen


def _affine(argument: Expr, x: Symbol) -> tuple[Expr, Expr]:
    slope = argument.diff(x)
    if x in slope.free_symbols:
        raise NotClosed(f"a kink at an argument that is not affine: {argument}")
    return slope, argument.subs(x, 0)


def _less(a: Expr, b: Expr) -> bool:
    """Whether a < b; False where they are equal. Raises NotClosed where that is open."""
    if a == b:
        return False
    if a == -oo or b == oo:
        return True
    if a == oo or b == -oo:
        return False
    difference = b - a
    if difference.is_positive:
        return True
    if difference.is_nonpositive:
        return False
    raise NotClosed(f"the order of the kinks {a} and {b} is not known")


def _larger(a: Expr, b: Expr) -> Expr:
    return b if _less(a, b) else a


def _smaller(a: Expr, b: Expr) -> Expr:
    return a if _less(a, b) else b
