"""Moments by symmetry: at mean 0 only the even part of a function counts.

This holds where E|f| is finite: an odd function such as 1/x has no mean at all. So the even part
is looked for only of functions that are known to grow no faster than an exponential of |x|.
"""

from itertools import pairwise

from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Max,
    Min,
    Mul,
    Pow,
    Symbol,
    atan,
    cancel,
    cos,
    erf,
    erfc,
    exp,
    log,
    preorder_traversal,
    sign,
    sin,
    tanh,
    together,
)

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.programs import program

MOST_NODES = 300
MOST_DEGREE = 6
MOST_CANCELLED = 50  # nodes of what is brought to a common denominator, which is slow
BOUNDED = (atan, cos, erf, erfc, sin, tanh)


def even_part(f: Expr, x: Symbol) -> Expr | None:
    """(f(x) + f(-x))/2; None if it is not known to be simpler, or E|f| to be finite.

    >>> x = Symbol("x", real=True)
    >>> even_part(1 / (1 + exp(-x)), x)
    1/2
    >>> even_part(1 / x, x)
    """
    f = f.replace(_has_one_part, lambda node: node.written_out[0][1])
    if _nodes(f) > MOST_NODES or not tame(f, x) or not _may_help(f, x):
        return None
    half = halved(f, x)
    if _nodes(half) <= MOST_CANCELLED and any(_is_open(power) for power in half.atoms(Pow)):
        half = cancel(together(half))
    return half if _nodes(half) < _nodes(f) else None


def _may_help(f: Expr, x: Symbol) -> bool:
    """Whether the even part may be without functions that have no closed form, seen at numbers.

    Much of the time it is not, and this is told faster than the even part is found.
    """
    return _leaves_polynomial(f, x, 1) or all(_term_helps(t, x) for t in Add.make_args(f))


def _term_helps(term: Expr, x: Symbol) -> bool:
    """Whether of a term, with an even or odd factor A, only A times a polynomial may be left."""
    opened = [p for p in Mul.make_args(term) if p.has(log, tanh, atan) or _has_denominator(p, x)]
    if not opened:
        return True
    known = term / Mul(*opened)
    mirrored = known.subs(x, -x)
    sign = 1 if mirrored == known else -1 if mirrored == -known else 0
    return sign != 0 and _leaves_polynomial(Mul(*opened), x, sign)


def _has_denominator(f: Expr, x: Symbol) -> bool:
    return any(power.exp.is_negative and power.has_free(x) for power in f.atoms(Pow))


def _leaves_polynomial(f: Expr, x: Symbol, sign: int) -> bool:
    """Whether f(x) + sign f(-x) is at some numbers like a polynomial of a low degree."""
    from flint import arb

    try:
        at = program(f, x).on_reals()
    except NoEnclosure:  # kinks, or parameters
        return True
    points = [arb(k) / 3 for k in range(1, MOST_DEGREE + 3)]
    values = [at(point) + sign * at(-point) for point in points]
    while len(values) > 1:
        values = [b - a for a, b in pairwise(values)]
    return bool(values[0].contains(0))


def _nodes(e: Expr) -> int:
    return sum(1 for _ in preorder_traversal(e))


def halved(f: Expr, x: Symbol) -> Expr:
    """(f(x) + f(-x))/2, multiplied out, with as few different functions as is seen at once."""
    return ((_turned(f) + _turned(f.subs(x, -x))) / 2).expand()


def _is_open(power: Pow) -> bool:
    """Whether it is a denominator that `_turned` does not bring to one form."""
    return bool(power.exp.is_negative and power.free_symbols and _shifted(power.base) is None)


def _has_one_part(node: Expr) -> bool:
    return isinstance(node, Activation) and len(node.written_out) == 1


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
    if not f.has_free(x) or f == x:
        return True
    match f:
        case Add() | Mul():
            return all(tame(part, x) for part in f.args)
        case Pow() if f.exp.is_Integer:
            return tame(f.base, x) and (f.exp > 0 or _bounded_below(f.base))
        case exp():
            return f.args[0].is_polynomial(x) and not f.args[0].diff(x).has_free(x)
        case log():
            return tame(f.args[0], x) and _bounded_below(f.args[0])
        case Abs() | Max() | Min() | sign():
            return all(tame(part, x) for part in f.args)
        case Activation() if not any(parameter.free_symbols for parameter in f.args[1:]):
            return tame(f.args[0], x) and all(tame(g, y) for g, y in _sides(f))
    return isinstance(f, BOUNDED) and tame(f.args[0], x)


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
    return bool(constant.is_positive and all(p.is_nonnegative for p in Add.make_args(rest)))
