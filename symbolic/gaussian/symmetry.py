"""Moments by symmetry: at mean 0 only the even part of a function counts.

This holds where E|f| is finite: an odd function such as 1/x has no mean at all. So the even part
is looked for only of functions that are known to grow no faster than an exponential of |x|.
"""

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
    sign,
    sin,
    tanh,
    together,
)

from varlaw.symbolic.activation import Activation

MOST_OPERATIONS = 150
BOUNDED = (atan, cos, erf, erfc, sin, tanh)


def even_part(f: Expr, x: Symbol) -> Expr | None:
    """(f(x) + f(-x))/2; None if it is not known to be simpler, or E|f| to be finite.

    >>> x = Symbol("x", real=True)
    >>> even_part(1 / (1 + exp(-x)), x)
    1/2
    >>> even_part(1 / x, x)
    """
    f = f.replace(_has_one_part, lambda node: node.written_out[0][1])
    if f.count_ops() > MOST_OPERATIONS or not _tame(f, x):
        return None
    half = (_turned(_turned(f) + _turned(f.subs(x, -x))) / 2).expand()
    half = cancel(together(half))
    return half if half.count_ops() < f.count_ops() else None


def _has_one_part(node: Expr) -> bool:
    return isinstance(node, Activation) and len(node.written_out) == 1


def _turned(f: Expr) -> Expr:
    """Odd and even activations of -u as those of u."""
    return f.replace(
        lambda node: (
            isinstance(node, Activation)
            and node.parity is not None
            and node.args[0].could_extract_minus_sign()
        ),
        lambda node: node.func(-node.args[0], *node.args[1:]) * (-1 if node.parity == "odd" else 1),
    )


def _tame(f: Expr, x: Symbol) -> bool:
    """Whether |f| is finite everywhere and at most like an exponential of |x|."""
    if not f.has_free(x) or f == x:
        return True
    match f:
        case Add() | Mul():
            return all(_tame(part, x) for part in f.args)
        case Pow() if f.exp.is_Integer:
            return _tame(f.base, x) and (f.exp > 0 or _bounded_below(f.base))
        case exp():
            return f.args[0].is_polynomial(x) and not f.args[0].diff(x).has_free(x)
        case log():
            return _tame(f.args[0], x) and _bounded_below(f.args[0])
        case Abs() | Max() | Min() | sign():
            return all(_tame(part, x) for part in f.args)
        case Activation() if not any(parameter.free_symbols for parameter in f.args[1:]):
            return _tame(f.args[0], x) and all(_tame(g, y) for g, y in _sides(f))
    return isinstance(f, BOUNDED) and _tame(f.args[0], x)


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
