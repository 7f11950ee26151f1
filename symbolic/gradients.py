"""Derivatives of expressions in entries of random arrays, by one entry or by a symbol."""

from functools import lru_cache

from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Integral,
    Mul,
    Pow,
    Symbol,
    cos,
    erf,
    exp,
    log,
    sin,
    tanh,
)

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Delta, IndexSum, factors, indicator, terms


class NoGradient(ValueError):
    """An expression is of a kind that has no rule of differentiation here."""


@lru_cache(maxsize=4096)
def gradient(e: Expr, by: Entry | Symbol) -> Expr:
    """de/dby, where sums over a Kronecker delta are already collapsed: d y_j/d w_ij = x_i.

    The indices of `by` are taken to lie in the range of the sums that meet them. Raises NoGradient.
    """
    if not _depends(e, by):
        return Integer(0)
    match e:
        case Symbol():
            return Integer(1)
        case Entry():
            pairs = zip(e.indices, by.indices, strict=True)
            return Mul(*(Delta(a, b) for a, b in pairs))
        case Named():
            return gradient(e.definition, by)
        case Add():
            return Add(*(gradient(part, by) for part in e.args))
        case Mul():
            parts = e.args
            return Add(
                *(Mul(*parts[:k], gradient(p, by), *parts[k + 1 :]) for k, p in enumerate(parts))
            )
        case Pow() if not _depends(e.exp, by):
            return e.exp * e.base ** (e.exp - 1) * gradient(e.base, by)
        case IndexSum() if not any(by in r.free_bounds for r in e.ranges):
            inner = e.avoiding(by.free_symbols)
            slope = gradient(inner.summand, by)
            if not slope.has(Delta):
                return IndexSum(slope, *inner.ranges)
            parts = terms(slope.expand())
            return Add(*(_collapsed(IndexSum(part, *inner.ranges)) for part in parts))
        case Integral() if len(e.limits) == 1 and not any(end.has(by) for end in e.limits[0]):
            return Integral(gradient(e.function, by), *e.limits)
        case Activation():
            return derivative(e) * gradient(e.args[0], by)
        case tanh() | exp() | log() | erf() | sin() | cos():
            return e.fdiff() * gradient(e.args[0], by)
        case _:
            raise NoGradient(f"not covered: the derivative of {e}")


def _depends(e: Expr, by: Entry | Symbol) -> bool:
    """Whether an expression holds the symbol, or any entry of the array."""
    if isinstance(by, Symbol):
        return e.has(by)
    return any(entry.array.name == by.array.name for entry in e.atoms(Entry))


def derivative(f: Activation) -> Expr:
    """f'(z) at the function's own argument, with indicators of the sides of a kink at 0."""
    x = Dummy("x", real=True)
    parts = f.func(x, *f.args[1:]).written_out
    slopes = [whole.diff(x).xreplace({x: f.args[0]}) for _, whole in parts]
    if len(parts) == 1:
        return slopes[0]
    if len(parts) > 2 or parts[1][0] != 0:
        raise NoGradient(f"not covered: the kinks of {f}")
    z = f.args[0]
    return slopes[0] * indicator(z, "<") + slopes[1] * indicator(z, ">")


def _collapsed(total: Expr) -> Expr:
    """Sum_k c_k delta_ki = c_i for every delta with an index of the sum."""
    number, rest = total.as_coeff_Mul()
    if not isinstance(rest, IndexSum):
        return total
    for r in rest.ranges:
        for delta in (f for f in factors(rest.summand) if isinstance(f, Delta)):
            for index, other in (delta.args, delta.args[::-1]):
                if r.indices == (index,) and not r.excluded:
                    left = [s for s in rest.ranges if s != r]
                    inside = (rest.summand / delta).xreplace({index: other})
                    return _collapsed(number * IndexSum(inside, *left))
    return total
