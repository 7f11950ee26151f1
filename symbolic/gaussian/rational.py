"""Rational functions on the half line above or below the mean, such as powers of softsign."""

from sympy import (
    Add,
    Dummy,
    Ei,
    Expr,
    Integer,
    Poly,
    PolynomialError,
    Symbol,
    apart,
    erfi,
    exp,
    gamma,
    oo,
    pi,
    sqrt,
)

from varlaw.symbolic.gaussian.crossings import NotClosed
from varlaw.symbolic.gaussian.pieces import Piece

MOST_DEGREE = 12


def half_line_mean(piece: Piece, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    """E[f(Z); Z on the piece] for Z ~ N(mean, variance), f rational, the piece a half line there.

    By partial fractions. Int_0^oo e^(-y^2/(2 v))/(y + c) dy is the Goodwin-Staton integral
    e^(-z^2) (pi erfi(z) - Ei(z^2))/2 at z = c/sqrt(2 v) (DLMF 7.5.13), from which those of higher
    powers follow by parts. Raises NotClosed for any other function or piece.
    """
    f, side = piece.expression, 1 if piece.upper == oo else -1
    near, far = (piece.lower, piece.upper) if side > 0 else (piece.upper, piece.lower)
    if near != mean or far.is_finite or not f.is_rational_function(x):
        raise NotClosed("no closed form is known with {}", f)
    y = Dummy("y", positive=True)
    total: Expr = Integer(0)
    for term in Add.make_args(_apart(f.subs(x, mean + side * y), y)):
        coefficient, power = term.as_independent(y, as_Add=False)
        base, exponent = power.as_base_exp()
        if (base == y and exponent.is_nonnegative) or power == 1:
            total += coefficient * _half_moment(exponent if base == y else Integer(0), variance)
        else:
            total += coefficient * _pole(base, exponent, y, variance)
    return total


def _apart(f: Expr, y: Symbol) -> Expr:
    try:
        above, below = f.together().as_numer_denom()
        if max(Poly(above, y).degree(), Poly(below, y).degree()) > MOST_DEGREE:
            raise NotClosed("no closed form is known with {}", f)
        return apart(above / below, y)
    except (PolynomialError, NotImplementedError):
        raise NotClosed("no closed form is known with {}", f) from None


def _half_moment(n: Expr, v: Expr) -> Expr:
    """E[Y^n; Y > 0] for Y ~ N(0, v)."""
    return v ** (n / 2) * 2 ** (n / 2 - 1) * gamma((n + 1) / 2) / sqrt(pi)


def _pole(base: Expr, exponent: Expr, y: Symbol, v: Expr) -> Expr:
    """E[base^exponent; Y > 0] for Y ~ N(0, v) and an affine base that is not zero there."""
    slope = base.diff(y)
    if slope.has(y) or slope == 0 or not (exponent.is_Integer and exponent < 0):
        raise NotClosed("no closed form is known with {}", base**exponent)
    c = base.subs(y, 0) / slope
    if not c.is_positive:
        raise NotClosed(f"no closed form is known where {base} may be zero")
    z = c / sqrt(2 * v)
    lower, value = sqrt(pi * v / 2), exp(-(z**2)) * (pi * erfi(z) - Ei(z**2)) / 2
    for k in range(1, int(-exponent)):  # by parts, I_k being that of (y + c)^-k e^(-y^2/(2 v))
        lower, value = value, ((c**-k - (lower - c * value) / v) / k).expand()
    return slope**exponent * value.expand() / sqrt(2 * pi * v)
