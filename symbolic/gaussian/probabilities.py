"""Normal probabilities: the error function, and the bivariate distribution function."""

from sympy import Expr, Integer, Rational, asin, erf, pi, sqrt

ROOT2 = sqrt(2)
ANGLES = {Rational(k, 4): pi / n for k, n in ((1, 6), (2, 4), (3, 3), (4, 2))}  # by sine squared


def error_function(u: Expr) -> Expr:
    """erf(u) of a real u; SymPy would look for an imaginary factor, which takes it long."""
    if u == 0:
        return Integer(0)
    if u.could_extract_minus_sign():
        return -erf(-u, evaluate=False)
    return erf(u, evaluate=False)


def phi2(h: Expr, k: Expr, rho: Expr) -> Expr:
    """P(X < h, Y < k) of standard normals with correlation rho; elementary where h = k = 0."""
    h, k = (Integer(0) if value.is_zero else value for value in (h, k))
    if h == 0 and k == 0:
        minus, size = (-1, -rho) if rho.could_extract_minus_sign() else (1, rho)
        return Integer(1) / 4 + minus * _arcsine(size) / (2 * pi)
    if rho.is_zero:
        return (1 + erf(h / ROOT2)) * (1 + erf(k / ROOT2)) / 4
    return Phi2(*sorted((h, k), key=str), rho)


def _arcsine(size: Expr) -> Expr:
    """asin, without asking whether a number with symbols is 0, or whether a root is a sine."""
    square = size**2
    if square in ANGLES:
        return ANGLES[square]
    return asin(size, evaluate=not (size.free_symbols or square.is_Rational))


class Phi2(Expr):
    """The bivariate normal distribution function P(X < h, Y < k) at correlation rho."""

    is_real = True
    is_positive = True
    is_commutative = True
