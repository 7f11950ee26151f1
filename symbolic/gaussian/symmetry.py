"""Moments by symmetry: at mean 0 only the even part of a function counts.

This holds where E|f| is finite: an odd function such as 1/x has no mean at all. So the even part
is looked for only of functions that are known to grow no faster than an exponential of |x|.
"""

from flint import arb, ctx
from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Integer,
    Max,
    Min,
    Mul,
    Pow,
    Symbol,
    atan,
    cos,
    erf,
    erfc,
    exp,
    log,
    sign,
    sin,
    tanh,
)

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.gaussian.pieces import pieces_of
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.quotients import NoQuotient, Quotients, parity
from varlaw.symbolic.gaussian.strips import poles
from varlaw.symbolic.occurrences import depends
from varlaw.symbolic.slopes import is_affine

MOST_NODES = 300
NEAR, NEAR_BITS, GROWN = (1e-3, 1e-9), 100, 1e4  # distances from a pole, and what tells it
OPEN = (atan, log)  # no closed form is known with them; of tanh there are exponentials left
BOUNDED = (atan, cos, erf, erfc, sin, tanh)


def even_part(f: Expr, x: Symbol) -> Expr | None:
    """(f(x) + f(-x))/2; None if no closed form is in sight, or E|f| is not known to be finite.

    >>> x = Symbol("x", real=True)
    >>> even_part(1 / (1 + exp(-x)), x)
    1/2
    >>> even_part(1 / x, x)
    """
    if keeps_a_pole(f, x) or _nodes(f) > MOST_NODES or not tame(f, x):
        return None
    if parity(f, x) == -1:
        return Integer(0)
    try:
        quotients = Quotients(f, x)
        half = (quotients.of(f) + quotients.of(f, mirrored=True)).lowest
    except NoQuotient:
        return None
    if any(isinstance(g, OPEN) and depends(g, x) for g in quotients.left(half.above)):
        return None
    if len(half.below) > 1 and any(depends(g, x) for g in quotients.left(half.below)):
        return None
    return quotients.expression(half) / 2


def keeps_a_pole(f: Expr, x: Symbol) -> bool:
    """Whether f(z) + f(-z) is seen to have a pole, as no closed form that is known has one.

    The balls of it near a pole of f grow without end; if not, more work will tell.
    """
    try:
        (piece,) = pieces_of(f, x)
        code = program(piece.expression, x)
        with ctx.workprec(NEAR_BITS):
            found = next((p for step in code.steps if (p := poles(code, step).points)), None)
            if found is None:
                return False
            pole, run = min(found, key=lambda p: float(abs(p.point.imag).mid())), code.for_bounds()
            sizes = []
            for distance in NEAR:
                z = pole.point.mid() + distance
                sizes.append((run(z) + run(-z)).abs_lower())
            return bool(sizes[1] > GROWN * sizes[0].max(arb(1)))
    except (ValueError, ZeroDivisionError):
        return False


def _nodes(e: Expr) -> int:
    return 1 + sum(_nodes(part) if part.args else 1 for part in e.args)


def halved(f: Expr, x: Symbol) -> Expr:
    """(f(x) + f(-x))/2, multiplied out, with as few different functions as is seen at once."""
    return ((_turned(f) + _turned(f.subs(x, -x))) / 2).expand()


def _turned(f: Expr) -> Expr:
    """Odd and even activations of -u, log(1 + e^-u) and 1/(1 + e^-u) by those of u."""
    return f.replace(lambda node: _opposite(node) is not None, _opposite)


def _opposite(node: Expr) -> Expr | None:
    match node:
        case Activation() if node.parity is not None and node.args[0].could_extract_minus_sign():
            mirrored = node.func(-node.args[0], *node.args[1:])
            return -mirrored if node.parity == "odd" else mirrored
        case Pow() if node.exp.is_Integer and node.exp.is_negative:
            u = _shifted(node.base)
            if u is not None and u.could_extract_minus_sign():
                return (1 - 1 / (1 + exp(-u))) ** -node.exp
        case log():
            u = _shifted(node.args[0])
            if u is not None and u.could_extract_minus_sign():
                return u + log(1 + exp(-u))
    return None


def _shifted(e: Expr) -> Expr | None:
    """u for 1 + e^u."""
    if isinstance(e, Add) and len(e.args) == 2 and e.args[0] == 1 and isinstance(e.args[1], exp):
        u: Expr = e.args[1].args[0]
        return u
    return None


def tame(f: Expr, x: Symbol) -> bool:
    """Whether |f| is finite everywhere and at most like an exponential of |x|."""
    return f == x or not f.args or _tame(f, x) or not depends(f, x)


def _tame(f: Expr, x: Symbol) -> bool:
    match f:
        case Add() | Mul():
            return all(tame(part, x) for part in f.args)
        case Pow() if f.exp.is_Integer:
            return tame(f.base, x) and (f.exp > 0 or _bounded_below(f.base))
        case exp():
            return is_affine(f.args[0], x)
        case log():
            return tame(f.args[0], x) and _bounded_below(f.args[0])
        case Abs() | Max() | Min() | sign():
            return all(tame(part, x) for part in f.args)
        case Activation() if len(f.written_out) == 1:
            return tame(f.written_out[0][1], x)
        case Activation() if not any(parameter.free_symbols for parameter in f.args[1:]):
            return tame(f.args[0], x) and all(tame(g, y) for g, y in _sides(f))
    return isinstance(f, BOUNDED) and (tame(f.args[0], x) or f.args[0].is_rational_function(x))


def _sides(f: Activation) -> list[tuple[Expr, Symbol]]:
    """The parts of an activation; with a kink at 0, as functions of the distance from there."""
    near, t = Dummy("w", positive=True), Dummy("t", real=True)
    if f.kinks != (0,):
        return [(part, t) for _, part in f.parts(t, *f.args[1:])]
    below, above = f.parts(-near, *f.args[1:])[0][1], f.parts(near, *f.args[1:])[1][1]
    return [(below, near), (above, near)]


def _bounded_below(f: Expr) -> bool:
    """Whether f is at least a positive number."""
    constant, rest = f.as_coeff_Add()
    return bool(constant > 0) and all(_is_nonnegative(part) for part in Add.make_args(rest))


def _is_nonnegative(f: Expr) -> bool:
    """As SymPy knows, but faster for exponentials, whole powers, and their products."""
    match f:
        case Mul():
            return all(_is_nonnegative(part) for part in f.args) or bool(f.is_nonnegative)
        case Pow() if f.exp.is_Integer:
            even, base = f.exp % 2 == 0, f.base
            return even or _is_nonnegative(base) or _bounded_below(base)
    return isinstance(f, exp) or bool(f.is_nonnegative)
