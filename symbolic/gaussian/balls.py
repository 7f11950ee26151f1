"""Numbers as balls: an enclosure of a SymPy expression without free symbols, in Arb arithmetic.

The walk over the expression is our own: no `evalf`, which guesses its precision, no `lambdify`,
which executes names. What a ball cannot be found for is an error, never a guess.
"""

from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from flint import acb, acb_series, arb, ctx, fmpz, fmpz_poly
from sympy import (
    Abs,
    Add,
    ComplexRootOf,
    Ei,
    Expr,
    Float,
    Function,
    Integer,
    Max,
    Min,
    Mul,
    Pow,
    Rational,
    Symbol,
    acos,
    asin,
    asinh,
    atan,
    atanh,
    cos,
    cosh,
    erf,
    erfc,
    erfi,
    erfinv,
    exp,
    gamma,
    log,
    nan,
    sign,
    sin,
    sinh,
    tan,
    tanh,
    zoo,
)
from sympy.core.numbers import Catalan, EulerGamma, Exp1, GoldenRatio, Pi

from varlaw.symbolic.gaussian.owen import owen_t

FAR = 1000
FAR_BELOW = -3  # where the terms of a small probability cancel
CANCELLED = 24  # bits that they may lose


class NoEnclosure(ValueError):
    """An enclosure cannot be found; the message says why, in one line."""


class NotFinite(NoEnclosure):
    """A ball grew without bound, at this precision at least."""


class Located(Expr):
    """A number without a formula, which knows an enclosure of itself at the current precision."""

    is_real = True
    is_finite = True
    is_commutative = True

    @property
    def is_number(self) -> bool:
        return not self.free_symbols

    def is_at(self, point: Expr) -> bool:
        """Whether it is known to be the number `point`."""
        return self == point

    def _eval_evalf(self, precision: int) -> Float:
        with ctx.workprec(precision):
            digits = int(precision * 0.3)
            return Float(self.enclosure().mid().str(digits, radius=False), digits)

    def enclosure(self) -> arb:
        raise NotImplementedError


FUNCTIONS = {
    exp: "exp",
    log: "log",
    erf: "erf",
    erfc: "erfc",
    erfi: "erfi",
    Ei: "ei",
    sin: "sin",
    cos: "cos",
    tan: "tan",
    sinh: "sinh",
    cosh: "cosh",
    tanh: "tanh",
    asin: "asin",
    acos: "acos",
    atan: "atan",
    asinh: "asinh",
    atanh: "atanh",
    gamma: "gamma",
}  # SymPy's functions, and the methods of balls that are the same functions


def ball(expression: Expr) -> arb:
    """A ball that contains the real number `expression`, at the current precision.

    Raises NoEnclosure where the expression holds a symbol, is not real, or is outside of what is
    known here.

    >>> from sympy import sqrt
    >>> ball(sqrt(2) ** 2 - 2).contains(0)
    True
    """
    return _ball(expression, ctx.prec)


@lru_cache(maxsize=4096)
def _ball(expression: Expr, precision: int) -> arb:
    """`precision` is the current one, named here as a key of the memory."""
    value = _walk(expression)
    if not value.is_finite():
        raise NoEnclosure(f"{expression} is not a finite real number")
    return value


def _walk(expression: Expr) -> arb:
    match expression:
        case Integer():
            return arb(fmpz(int(expression)))
        case Rational():
            return arb(fmpz(int(expression.p))) / fmpz(int(expression.q))
        case Float():
            return ball(Rational(expression))
        case Pi():
            return arb.pi()
        case Exp1():
            return arb.const_e()
        case EulerGamma():
            return arb.const_euler()
        case Catalan():
            return arb.const_catalan()
        case GoldenRatio():
            return (1 + arb(5).sqrt()) / 2
        case Symbol():
            raise NoEnclosure(f"{expression} has no value")
        case Located():
            return expression.enclosure()
        case ComplexRootOf():
            return _real_root(expression)
        case Add():
            total = arb(0)
            for part in expression.args:
                total += ball(part)
            return total
        case Mul():
            product = arb(1)
            for part in expression.args:
                product *= ball(part)
            return product
        case Pow():
            return _power(expression.base, expression.exp)
        case Abs():
            return abs(ball(expression.args[0]))
        case sign():
            return ball(expression.args[0]).sgn()
        case Max() | Min():
            first, *rest = (ball(part) for part in expression.args)
            for value in rest:
                first = first.max(value) if isinstance(expression, Max) else first.min(value)
            return first
    if isinstance(expression, erfc):
        return complementary(ball(expression.args[0]))
    if isinstance(expression, erfinv):
        return ball(expression.args[0]).erfinv()
    if type(expression) in FUNCTIONS:
        found: arb = getattr(ball(expression.args[0]), FUNCTIONS[type(expression)])()
        return found
    if expression.func.__name__ == "Phi2":
        return bivariate_cdf(*(ball(part) for part in expression.args))
    if expression in (zoo, nan):
        raise NoEnclosure("it is divided by zero")
    what = expression.func.__name__ if isinstance(expression, Function) else str(expression)
    raise NoEnclosure(f"no ball arithmetic is known for {what}")


def _power(base: Expr, exponent: Expr) -> arb:
    if exponent.is_Integer:
        return raised(ball(base), int(exponent))
    if exponent.is_Rational and exponent.q == 2:
        return raised(ball(base).sqrt(), int(exponent.p))
    return ball(base) ** ball(exponent)


def _real_root(number: ComplexRootOf) -> arb:
    """A real root of a polynomial with whole coefficients; SymPy counts them from the left."""
    if not number.is_real:
        raise NoEnclosure(f"{number} is not real")
    coefficients = [fmpz(int(c)) for c in number.poly.all_coeffs()[::-1]]
    found: Any = fmpz_poly(coefficients).complex_roots()
    roots: list[arb] = [root.real for root, _ in found if root.imag == 0]
    roots.sort(key=lambda root: float(root.mid()))
    if any(not a < b for a, b in pairwise(roots)):
        raise NoEnclosure(f"the roots of {number.expr} are too close to be told apart")
    return roots[number.index]


Ball = TypeVar("Ball", arb, acb, acb_series)


def raised(value: Ball, exponent: int) -> Ball:
    """A whole power by multiplication: `**` on real balls that touch zero is not a number."""
    if exponent < 0:
        return 1 / raised(value, -exponent)
    result, square = None, value
    while exponent:
        if exponent & 1:
            result = square if result is None else result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return value * 0 + 1 if result is None else result


def bivariate_cdf(h: arb, k: arb, rho: arb) -> arb:
    """P(X < h, Y < k) for standard normal X and Y with correlation rho, as a ball.

    Plackett's identity d/d rho P = the density at (h, k), integrated over rho = sin t:

        Phi(h) Phi(k) + 1/(2 pi) Int_0^asin(rho) exp(-(h^2 + k^2 - 2 h k sin t)/(2 cos(t)^2)) dt.

    That is for where Owen's series are long. Source: Plackett (1954), A reduction formula for
    normal multivariate integrals; Drezner and Wesolowsky (1990). At rho = 1 and -1 the line of the
    two variables.
    """
    below_h, below_k = normal_cdf(h), normal_cdf(k)
    if rho.is_exact() and abs(rho) == 1:
        if rho == 1:
            return below_h.min(below_k)
        return (below_h + below_k - 1).max(arb(0))
    if not abs(rho) < 1:
        raise NoEnclosure(f"a correlation of {rho.str(8)} is not known to be between -1 and 1")
    short = _by_owen(h, k, rho, _scale(below_h, below_k))
    if short is not None and short.rel_accuracy_bits() > ctx.prec - CANCELLED:
        return short
    squares, product = acb(h * h + k * k), acb(h * k)

    def density(t: acb, _: bool) -> acb:
        s = t.sin()
        c = t.cos()
        return ((2 * product * s - squares) / (2 * c * c)).exp()

    # the limit of the integral is inexact: integrate to its midpoint, and add the rest
    edge = rho.asin()
    end, slack = edge.mid(), edge.rad()
    value = acb.integral(density, 0, end, abs_tol=_scale(below_h, below_k))
    rest = density(acb(edge), False).real * slack if slack != 0 else arb(0)
    return below_h * below_k + (value.real + rest * arb(0, 1)) / (2 * arb.pi())


def _by_owen(h: arb, k: arb, rho: arb, tolerance: arb) -> arb | None:
    """The same by Owen's (1956) equation (2.1), where h, k are not 0 and his series short."""
    product = h * k
    if product.contains(0) or not h.min(k) > FAR_BELOW:
        return None
    root = (1 - rho * rho).sqrt()
    first = owen_t(h, (k - rho * h) / (h * root), tolerance)
    second = owen_t(k, (h - rho * k) / (k * root), tolerance)
    if first is None or second is None:
        return None
    both = (normal_cdf(h) + normal_cdf(k)) / 2 - first - second
    return both if product > 0 else both - arb(0.5)


def _scale(below_h: arb, below_k: arb) -> arb:
    """An absolute tolerance: the precision, on the scale of the smaller margin."""
    margin = below_h.min(below_k).abs_upper()
    return arb(2) ** (-ctx.prec) * margin


def normal_cdf(x: arb) -> arb:
    """Phi(x), without cancellation in the lower tail."""
    return complementary(-x / arb(2).sqrt()) / 2


def complementary(x: arb) -> arb:
    """erfc(x) = exp(-x^2) U(1/2, 1/2, x^2)/sqrt(pi), DLMF 7.11.5, where Arb's own loses it all."""
    if not x > FAR:
        return x.erfc()
    half = arb(0.5)
    return (-x * x).exp() * (x * x).hypgeom_u(half, half) / arb.pi().sqrt()
