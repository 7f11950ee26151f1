"""Means over features that were normalised over N samples, which are not Gaussian for small N.

Of Gaussian features the normalised N samples of one are sqrt(N) times a direction that is uniform
among those that sum to 0: two of them are sqrt(n) times two coordinates, of correlation -1/n, of a
uniform point of the unit sphere in n = N - 1 dimensions. A coordinate is sin(u), of a density like
cos(u)^(n - 2); means of two are sums over Legendre's polynomials of n dimensions, P_k(1) = 1, each
with the mean of its square over 1: E[f f'] = Sum_k N_k E[f P_k]^2 P_k(rho) (Müller 1998, Analysis
of Spherical Symmetries in Euclidean Spaces, theorem of Funk and Hecke), of which the rest is
bounded by what E[f^2] = Sum_k N_k E[f P_k]^2 leaves.
"""

from functools import lru_cache
from math import ceil, factorial
from typing import Any

from flint import acb, arb, ctx, fmpq, fmpq_poly
from sympy import Expr, Float, Integer, Lambda, sqrt

from varlaw.symbolic.blocks.enclosed import evaluated
from varlaw.symbolic.blocks.lines import Balls, Enclosable
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball, raised
from varlaw.symbolic.gaussian.fixed_points import LOW
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.quadrature import integral
from varlaw.symbolic.language_text import Numeral, typed

DIGITS = 12  # that are written
MOST_TERMS = 200
BITS = 72
LOST = 24  # bits that the rest of a sum may take
CANCELLED = 1.3  # bits that a polynomial takes with each degree
TOGETHER = 64  # degrees for which moments are found with the same bits


class OnSphere(Numeral, Enclosable):
    """A mean of f over normalised samples: (f, number of samples). It is written as a number."""

    is_real = True
    is_number = True
    nargs = 2

    def _eval_evalf(self, prec: int) -> Expr | None:
        return evaluated(self, prec)

    @property
    def decimal(self) -> Expr:
        return self.evalf(DIGITS)

    def _sympystr(self, printer: Any) -> str:
        return str(printer.doprint(self.decimal))

    def _eval_is_positive(self) -> bool | None:
        return bool(self.rough > 0) or (False if self.rough < 0 else None)

    def _eval_is_negative(self) -> bool | None:
        return bool(self.rough < 0) or (False if self.rough > 0 else None)

    @property
    def rough(self) -> arb:
        """A ball at a low precision."""
        with ctx.workprec(LOW):
            return self.enclosure({})


class SphereMean(OnSphere):
    """E[f(y)] of one sample."""

    def enclosure(self, at: Balls) -> arb:
        law, samples = self.args
        return _moment(law, int(samples) - 1, 0, ctx.prec)


class SpherePair(OnSphere):
    """E[f(y) f(y')] of two samples."""

    def enclosure(self, at: Balls) -> arb:
        law, samples = self.args
        return _pair(law, int(samples) - 1, ctx.prec)


@lru_cache(maxsize=256)
def mean(law: Lambda, samples: int) -> Expr:
    """E[f(y)] of one sample, 4 of them at least. Raises BlockError where it is not finite."""
    found = SphereMean(law, Integer(samples))
    try:
        known = found.rough.is_finite()
    except (NoEnclosure, NotClosed):
        known = False
    if not known:
        of = f"{samples} normalised samples"
        raise BlockError(f"E[{typed(law.expr)}] over {of} is not known to be finite")
    return found


@lru_cache(maxsize=256)
def pair(law: Lambda, samples: int) -> tuple[Expr, bool]:
    """E[f(y) f(y')] of two samples, and whether its digits are proved.

    Of f with kinks the sum takes too many terms: the number has the digits that these prove.
    """
    mean(law, samples)
    if len(_pieces(law, samples - 1)) == 1:
        return SpherePair(law, Integer(samples)), True
    with ctx.workprec(BITS):
        found = _pair(law, samples - 1, BITS)
        digits = int(max(min(found.rel_accuracy_bits(), BITS), 0) * 0.301)
        return Float(found.mid().str(max(digits, 1), radius=False), DIGITS), digits >= DIGITS


def _pieces(law: Lambda, n: int) -> tuple[Any, ...]:
    end = sqrt(Integer(n))
    return pieces_of(law.expr, law.variables[0], -end, end)


@lru_cache(maxsize=4096)
def _moment(law: Lambda, n: int, power: int, precision: int) -> arb:
    """E[f(sqrt(n) t) t^power] for a coordinate t of a point of the sphere."""
    with ctx.workprec(precision + LOST):
        root, total = acb(arb(n).sqrt()), acb(0)
        half = arb(n) / 2
        whole = arb.pi().sqrt() * (half - arb(0.5)).gamma() / half.gamma()
        tolerance = (whole * root.real**-power).mid() * arb(2) ** -precision
        for piece in _pieces(law, n):
            f = program(piece.expression, law.variables[0]).on_complexes()

            def integrand(u: acb, analytic: bool, f: Any = f) -> acb:
                t = u.sin()
                return f(root * t, analytic) * raised(t, power) * raised(u.cos(), n - 2)

            low, high = (_angle(end, n, ctx.prec) for end in (piece.lower, piece.upper))
            total += integral(integrand, low, high, tolerance)
        return total.real / whole


@lru_cache(maxsize=1024)
def _angle(end: Expr, n: int, precision: int) -> arb:
    """The u of sqrt(n) sin(u), a kink or an end of the range."""
    if end**2 == n:
        return arb.pi() / 2 * (1 if end.is_positive else -1)
    found = (ball(end) / arb(n).sqrt()).asin()
    if not found.is_finite():
        raise NoEnclosure("a kink is too close to the end of the range")
    return found


@lru_cache(maxsize=256)
def _pair(law: Lambda, n: int, precision: int) -> arb:
    """The sum over polynomials, with what is left."""
    x = law.variables[0]
    square = _moment(Lambda(x, law.expr**2), n, 0, precision + LOST)
    kinks = len(_pieces(law, n)) > 1
    rho, total, known = fmpq(-1, n), arb(0), arb(0)
    before, now = fmpq_poly([0]), fmpq_poly([1])
    for k in range(MOST_TERMS):
        degrees = MOST_TERMS if kinks else (k // TOGETHER + 1) * TOGETHER
        bits = precision + LOST + ceil(CANCELLED * degrees)
        with ctx.workprec(bits):
            found = arb(0)
            for power, coefficient in enumerate(now.coeffs()):
                if coefficient != 0:
                    found += _moment(law, n, power, bits) * arb(coefficient)
            part = _dimension(k, n) * found * found
            total += part * arb(now(rho))
            known += part
            rest = (square - known).abs_upper() * _largest(k + 1, n)
        if rest < abs(total) * arb(2) ** (LOST - precision):
            break
        times = fmpq_poly([0, fmpq(2 * k + n - 2, k + n - 2)])
        before, now = now, times * now - fmpq(k, k + n - 2) * before
    return total + arb(0, 1) * arb(rest.abs_upper())


def _dimension(k: int, n: int) -> int:
    """The number of harmonics of degree k."""
    if k == 0:
        return 1
    return (2 * k + n - 2) * factorial(k + n - 3) // factorial(k) // factorial(n - 2)


def _largest(k: int, n: int) -> arb:
    """A bound of |P_j(-1/n)| for j >= k.

    P_j(t) = E[(t + i sqrt(1 - t^2) s)^j] for a coordinate s in n - 1 dimensions (Laplace), where
    the size t^2 + (1 - t^2) s^2 of the square is at most 1: for even j a sum of moments of s.
    """
    square, half, moment = arb(fmpq(1, n * n)), k // 2, arb(1)
    total, choose = arb(0), arb(1)
    for i in range(half + 1):
        total += choose * square ** (half - i) * (1 - square) ** i * moment
        moment *= arb(2 * i + 1) / (n - 1 + 2 * i)
        choose *= arb(half - i) / (i + 1)
    return total
