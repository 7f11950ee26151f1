"""Rational functions on the half line above or below the mean, such as powers of softsign."""

from collections import defaultdict
from collections.abc import Iterator

from flint import fmpq, fmpq_poly
from sympy import (
    Add,
    Dummy,
    Ei,
    Expr,
    Integer,
    Mul,
    Poly,
    PolynomialError,
    Pow,
    Rational,
    Symbol,
    apart,
    erfi,
    exp,
    oo,
    pi,
    sqrt,
)

from varlaw.symbolic.gaussian.crossings import NotClosed
from varlaw.symbolic.gaussian.pieces import Piece

MOST_DEGREE = 12
Term = tuple[Expr, Expr | None, int]  # b (y + c)^n as (b, c, n); b y^n as (b, None, n)


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
    try:
        terms = list(partial_fractions(f, x, mean + side * y, y))
    except TypeError:  # other numbers than rational ones
        terms = list(_by_sympy(f.subs(x, mean + side * y), y))
    even, odd = Integer(0), Integer(0)
    poles: dict[Expr, Expr] = defaultdict(lambda: Integer(0))
    for b, c, n in terms:
        one, root, pole = _raised(n, variance) if c is None else _at_pole(c, -n, variance)
        even, odd = even + b * root, odd + b * one
        if c is not None:
            poles[c] += b * pole
    staton = (factor * _goodwin_staton(c / sqrt(2 * variance)) for c, factor in poles.items())
    return even / 2 + (odd + Add(*staton)) / sqrt(2 * pi * variance)


def _goodwin_staton(z: Expr) -> Expr:
    return exp(-(z**2)) * (pi * erfi(z) - Ei(z**2)) / 2


def _raised(n: int, v: Expr) -> tuple[Expr, Expr, Expr]:
    """Int_0^oo y^n e^(-y^2/(2 v)) dy as a sum of 1 and sqrt(pi v/2) with these coefficients."""
    value, start = Integer(1), 2 if n % 2 else 1
    for k in range(start, n, 2):
        value *= k * v
    return (value * v, Integer(0), Integer(0)) if n % 2 else (Integer(0), value, Integer(0))


def _at_pole(c: Expr, n: int, v: Expr) -> tuple[Expr, Expr, Expr]:
    """Int_0^oo (y + c)^-n e^(-y^2/(2 v)) dy: coefficients of 1, sqrt(pi v/2), and its n = 1."""
    if not c.is_positive:
        raise NotClosed("no closed form is known where the variable plus {} may be zero", c)
    zero, one = Integer(0), Integer(1)
    before, value = (zero, one, zero), (zero, zero, one)
    for k in range(1, n):  # by parts
        whole = (c**-k, zero, zero)
        following = tuple(
            (w - (b - c * a) / v) / k for w, b, a in zip(whole, before, value, strict=True)
        )
        before, value = value, following
    return value


def partial_fractions(f: Expr, x: Symbol, at: Expr, y: Symbol) -> Iterator[Term]:
    """The terms of f(at), at = a + y or a - y with a rational a.

    Raises TypeError for other numbers than rational ones, NotClosed where poles are not rational.
    """
    yield from _by_flint(*_quotient(f, x, at, y))


def _quotient(f: Expr, x: Symbol, at: Expr, y: Symbol) -> tuple[fmpq_poly, fmpq_poly]:
    """Numerator and denominator of f(at) as polynomials in y; TypeError for other numbers."""
    match f:
        case Rational():
            return fmpq_poly([fmpq(int(f.p), int(f.q))]), fmpq_poly([1])
        case Symbol() if f == x:
            slope, offset = at.coeff(y), at.subs(y, 0)
            if not offset.is_Rational:
                raise TypeError(f"{offset} is not rational")
            return fmpq_poly([fmpq(int(offset.p), int(offset.q)), int(slope)]), fmpq_poly([1])
        case Add() | Mul():
            above, below = _quotient(f.args[0], x, at, y)
            for part in f.args[1:]:
                other, under = _quotient(part, x, at, y)
                above = above * other if f.is_Mul else above * under + other * below
                below *= under
            return above, below
        case Pow() if f.exp.is_Integer and abs(f.exp) <= MOST_DEGREE:
            above, below = (part ** abs(int(f.exp)) for part in _quotient(f.base, x, at, y))
            return (above, below) if f.exp > 0 else (below, above)
    raise TypeError(f"{f} is no quotient of polynomials with rational coefficients")


def _by_flint(above: fmpq_poly, below: fmpq_poly) -> Iterator[Term]:
    """Partial fractions with rational poles. Raises NotClosed where there are others."""
    if max(above.degree(), below.degree()) > MOST_DEGREE:
        raise NotClosed("no closed form is known for a quotient of such a degree")
    whole, above = divmod(above, below)
    yield from ((_number(b), None, n) for n, b in enumerate(whole.coeffs()) if b != 0)
    for factor, order in below.factor()[1] if above.degree() >= 0 else ():
        if factor.degree() != 1:
            raise NotClosed("no closed form is known with a pole that is no rational number")
        c = factor[0] / factor[1]
        shift = fmpq_poly([-c, 1])
        top, bottom = above(shift), below(shift)
        for n, b in enumerate(_series(top, [bottom[k + order] for k in range(order)])):
            if b != 0:
                yield _number(b), _number(c), n - order


def _series(above: fmpq_poly, below: list[fmpq]) -> list[fmpq]:
    """The first coefficients of the power series above/below."""
    found: list[fmpq] = []
    for n in range(len(below)):
        rest = above[n] - sum((below[k] * found[n - k] for k in range(1, n + 1)), fmpq(0))
        found.append(rest / below[0])
    return found


def _number(value: fmpq) -> Rational:
    return Rational(int(value.p), int(value.q))


def _by_sympy(f: Expr, y: Symbol) -> Iterator[Term]:
    """Partial fractions with parameters. Raises NotClosed where there are none."""
    try:
        above, below = f.together().as_numer_denom()
        if max(Poly(above, y).degree(), Poly(below, y).degree()) > MOST_DEGREE:
            raise NotClosed("no closed form is known with {}", f)
        terms = Add.make_args(apart(above / below, y))
    except (PolynomialError, NotImplementedError):
        raise NotClosed("no closed form is known with {}", f) from None
    for term in terms:
        coefficient, power = term.as_independent(y, as_Add=False)
        base, n = power.as_base_exp()
        if base == y and n.is_nonnegative:
            yield coefficient, None, int(n)
        elif power == 1:
            yield coefficient, None, 0
        else:
            slope = base.diff(y)
            if slope.has(y) or slope == 0 or not (n.is_Integer and n < 0):
                raise NotClosed("no closed form is known with {}", power)
            yield coefficient * slope**n, base.subs(y, 0) / slope, int(n)
