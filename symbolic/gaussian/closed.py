"""Closed forms of E[f(Z)] for Gaussian Z, by an algorithm on terms.

Each term x^n exp(a x^2 + b x) Prod erf(..) on an interval is brought to a truncated moment of
another Gaussian by completing the square; powers come down by Stein's lemma

    E[(X - m) g(X)] = v E[g'(X)] - v [phi g] at the ends of the interval,

which also takes one error function off at a time. What is left are probabilities: the normal
distribution function for one interval, the bivariate one for an error function on an interval or
for two error functions on the line.
"""

from dataclasses import dataclass
from itertools import chain

from sympy import (
    Add,
    ComplexRootOf,
    Expr,
    I,
    Integer,
    Symbol,
    asin,
    cos,
    erf,
    exp,
    gamma,
    log,
    oo,
    pi,
    polygamma,
    preorder_traversal,
    sin,
    sqrt,
)

from varlaw.symbolic.abbreviations import Abbreviation, unabbreviated
from varlaw.symbolic.gaussian.balls import Located
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.gaussian.rational import half_line_mean
from varlaw.symbolic.gaussian.sums import Affine, Shape, Terms, terms_of
from varlaw.symbolic.gaussian.symmetry import even_part
from varlaw.symbolic.language_text import typed

ROOT2 = sqrt(2)
MOST_WORK = 100_000


class Divergent(ValueError):
    """The moment is infinite or undefined."""


def closed_form(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    """E[f(Z)] for Z ~ N(mean, variance), where there is a closed form.

    `mean` and `variance` may hold symbols (the variance a positive one). Raises NotClosed where no
    closed form is known, Divergent where the integral does not converge, ValueError for a variance
    that is not positive.
    """
    if variance.is_zero:
        return f.subs(x, mean)
    if not variance.is_positive:
        raise ValueError(f"the variance {variance} is not known to be positive")
    try:
        found = _by_terms(f, x, mean, variance)
    except NotClosed as why:
        even = even_part(f, x) if mean.is_zero else None
        if even is None:
            raise
        try:
            found = _by_terms(even, x, mean, variance)
        except NotClosed:
            raise why from None
    return unabbreviated(found)


def _by_terms(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    total: Expr = Integer(0)
    work, numeric = 0, not (f.free_symbols - {x} or mean.free_symbols or variance.free_symbols)
    for piece in pieces_of(f, x):
        try:
            terms = terms_of(piece.expression, x)
        except NotClosed as why:
            try:
                total += half_line_mean(piece, x, mean, variance)
            except NotClosed:
                raise why from None
            continue
        _look_at_growth(piece, terms, x, mean, variance)
        work += sum(_work(shape, piece) for shape in terms)
        if numeric and work > MOST_WORK:  # with parameters there is no other answer
            raise NotClosed("the closed form would be too long")
        for shape, coefficient in terms.items():
            total += coefficient * _integral(shape, piece.lower, piece.upper, mean, variance)
    if any(not isinstance(v, Abbreviation) for v in total.atoms(ComplexRootOf, Located)):
        raise NotClosed("the kinks of {} are roots without a closed form", f)
    total = _real(total)
    if total.has(I):
        raise NotClosed("no closed form in real functions is known for {}", f)
    return total


def _work(shape: Shape, piece: Piece) -> int:
    """About how much there is to do for a term: sizes count twice, as they come in products."""
    parts = (shape.quadratic, shape.linear, piece.lower, piece.upper, *chain(*shape.erfs))
    size = sum(1 for part in parts for _ in preorder_traversal(part))
    return int(size**2 * (shape.power + 1) * 3 ** len(shape.erfs))


def _look_at_growth(piece: Piece, terms: Terms, x: Symbol, mean: Expr, variance: Expr) -> None:
    """Raise Divergent if terms outgrow the density; terms with error functions may cancel."""
    far = [
        shape for shape in terms if not _converges(shape, piece.lower, piece.upper, mean, variance)
    ]
    if not far:
        return
    fastest = typed(exp(far[0].quadratic * x**2 + far[0].linear * x))
    if any(shape.erfs for shape in far):
        raise NotClosed(f"no closed form is known where {fastest} alone grows too fast")
    raise Divergent(f"{fastest} grows too fast for the variance {typed(variance)}")


def _converges(shape: Shape, lower: Expr, upper: Expr, mean: Expr, variance: Expr) -> bool:
    """Whether a term, but for its error functions, does not outgrow the density at infinite ends.

    Raises NotClosed where that is not known.
    """
    precision = 1 / variance - 2 * shape.quadratic
    if _is_positive(precision) or (lower.is_finite and upper.is_finite):
        return True
    if precision.is_negative:
        return False
    if not precision.expand().is_zero:
        raise NotClosed(f"whether {precision} is positive is not known")
    rate = (shape.linear + mean / variance).expand()
    for end, falls in ((upper, rate.is_negative), (lower, rate.is_positive)):
        if not end.is_finite and not falls:
            if not rate.is_zero and rate.is_real and falls is None:
                raise NotClosed(f"the sign of {rate} is not known")
            return False
    return True


def _integral(shape: Shape, lower: Expr, upper: Expr, mean: Expr, variance: Expr) -> Expr:
    """E of one term on an interval, by completing the square."""
    precision = 1 / variance - 2 * shape.quadratic
    if not _is_positive(precision):
        if precision.expand().is_zero:
            return _without_square(shape, lower, upper, mean, variance)
        raise NotClosed("no closed form is known with such a growth between two points")
    widening = 1 - 2 * shape.quadratic * variance if shape.quadratic != 0 else Integer(1)
    v = variance / widening
    m, square = Integer(0), Integer(0)  # not as products with 0: see `_height`
    tilt = mean / variance + shape.linear if mean != 0 else shape.linear
    if tilt != 0:
        m = (v * tilt).expand() if v.is_number else v * tilt
        square = m**2 / v
    if mean != 0:
        square -= mean**2 / variance
    scale = exp(square.expand() / 2) / sqrt(widening)
    if m.has(I) and (lower, upper) != (-oo, oo):
        raise NotClosed("a wave on a part of the line")
    if shape.side:
        return scale * _one_sided(shape, lower, upper, m, v)
    return scale * Normal(m, v, lower, upper).moment(shape.power, shape.erfs)


def _is_positive(e: Expr) -> bool:
    """As SymPy knows, but faster for a sum of positive terms."""
    return all(part.is_positive for part in Add.make_args(e)) or bool(e.is_positive)


def _without_square(shape: Shape, lower: Expr, upper: Expr, mean: Expr, variance: Expr) -> Expr:
    """E of x^n exp(linear x) where the density's square is gone: an integral of x^n exp(b x)."""
    rate = (shape.linear + mean / variance).expand()
    if shape.erfs or shape.side or rate.has(I):
        raise NotClosed("no closed form is known where the density's square is cancelled")

    def edge(point: Expr, n: int) -> Expr:
        return point**n * exp(rate * point) if point.is_finite else Integer(0)

    total: Expr = Integer(0)
    if rate.is_zero:
        n = shape.power + 1
        total = (upper**n - lower**n) / n
    else:
        for n in range(shape.power + 1):  # by parts: I_n = [x^n e^(b x)/b] - n/b I_(n - 1)
            total = (edge(upper, n) - edge(lower, n)) / rate - n * total / rate
    return total * exp(-(mean**2) / (2 * variance)) / sqrt(2 * pi * variance)


def _one_sided(shape: Shape, lower: Expr, upper: Expr, m: Expr, v: Expr) -> Expr:
    """E[x^n |x|^p log|x|^l] on a side of zero at mean 0: derivatives by p of a gamma function."""
    if (lower, upper) != ((Integer(0), oo) if shape.side > 0 else (-oo, Integer(0))):
        raise NotClosed("a root or a logarithm on another part of the line than a side of zero")
    power = shape.power + shape.size
    if shape.erfs or not m.is_zero or shape.logs > 2:
        raise NotClosed("no closed form is known with such a root or logarithm")
    if not (power + 1).is_positive:
        raise NotClosed(f"whether the power {power} is larger than -1 is not known")
    half = (power + 1) / 2
    value = v ** (power / 2) * 2 ** (power / 2 - 1) * gamma(half) / sqrt(pi)
    slope = (log(2 * v) + polygamma(0, half)) / 2
    factor = [Integer(1), slope, slope**2 + _trigamma(half) / 4][shape.logs]
    if factor.has(polygamma):
        raise NotClosed("no closed form is known with a logarithm and such a power")
    return shape.side**shape.power * value * factor


def _trigamma(z: Expr) -> Expr:
    """polygamma(1, z), brought down to 1/2 where z is a half of an odd number."""
    steps = int(z) if z.is_Rational and z.q == 2 else 0
    return polygamma(1, z - steps) - sum((z - k) ** -2 for k in range(1, steps + 1))


@dataclass(frozen=True)
class Normal:
    """X ~ N(m, v) on an interval: E[X^n Prod erf(alpha X + beta); lower < X < upper]."""

    m: Expr
    v: Expr
    lower: Expr
    upper: Expr

    @property
    def whole(self) -> bool:
        return (self.lower, self.upper) == (-oo, oo)

    def moment(self, power: int, erfs: tuple[Affine, ...]) -> Expr:
        memory: dict[tuple[int, tuple[Affine, ...]], Expr] = {}
        return self._moment(power, erfs, memory)

    def _moment(self, n: int, erfs: tuple[Affine, ...], memory: dict) -> Expr:  # type: ignore[type-arg]
        key = (n, erfs)
        if key not in memory:
            memory[key] = self.chance(erfs) if n == 0 else self._lowered(n, erfs, memory)
        return memory[key]

    def _lowered(self, n: int, erfs: tuple[Affine, ...], memory: dict) -> Expr:  # type: ignore[type-arg]
        """X^n by Stein's lemma applied to X^(n-1) Prod erf."""
        total = self.m * self._moment(n - 1, erfs, memory) if self.m != 0 else Integer(0)
        if n > 1:
            total += (n - 1) * self.v * self._moment(n - 2, erfs, memory)
        for k, (alpha, beta) in enumerate(erfs):
            others = erfs[:k] + erfs[k + 1 :]
            linear = -2 * alpha * beta if beta != 0 else beta
            shape = Shape(n - 1, -(alpha**2), linear, others)
            inner = _integral(shape, self.lower, self.upper, self.m, self.v)
            if inner != 0:
                total += self.v * 2 * alpha / sqrt(pi) * exp(-(beta**2)) * inner
        edges = self._edge(self.upper, n - 1, erfs) - self._edge(self.lower, n - 1, erfs)
        return total - self.v * edges if edges != 0 else total

    def _edge(self, point: Expr, n: int, erfs: tuple[Affine, ...]) -> Expr:
        """x^n phi(x) Prod erf at an end of the interval."""
        if point in (oo, -oo) or (point == 0 and n > 0):
            return Integer(0)
        density = exp(-((point - self.m) ** 2) / (2 * self.v)) / sqrt(2 * pi * self.v)
        value = density * point**n
        for alpha, beta in erfs:
            value *= erf(alpha * point + beta)
        return value

    def chance(self, erfs: tuple[Affine, ...]) -> Expr:
        """E[Prod erf; lower < X < upper]."""
        if not erfs:
            return self._below(self.upper) - self._below(self.lower)
        if len(erfs) == 1 and self.whole:
            return erf(self._height(*erfs[0]))
        if len(erfs) == 1:
            return self._erf_below(self.upper, erfs[0]) - self._erf_below(self.lower, erfs[0])
        if len(erfs) == 2 and self.whole:
            return self._two(*erfs)
        if self.whole and len(erfs) % 2 and all(self._height(*e) == 0 for e in erfs):
            return Integer(0)
        raise NotClosed("more error functions than closed forms are known for")

    def _spread(self, alpha: Expr) -> Expr:
        return sqrt(1 + 2 * alpha**2 * self.v)

    def _height(self, alpha: Expr, beta: Expr) -> Expr:
        """(alpha m + beta)/spread; to multiply by 0 takes SymPy long: it asks if all is finite."""
        centre = alpha * self.m + beta if self.m != 0 else beta
        return centre / self._spread(alpha) if centre != 0 else centre

    def _below(self, point: Expr) -> Expr:
        """P(X < point)."""
        if point == oo:
            return Integer(1)
        if point == -oo:
            return Integer(0)
        return (1 + erf((point - self.m) / (ROOT2 * sqrt(self.v)))) / 2

    def _erf_below(self, point: Expr, factor: Affine) -> Expr:
        """E[erf(alpha X + beta); X < point] = 2 P(X < point, Y < ..) - P(X < point)."""
        alpha, beta = factor
        if point == -oo:
            return Integer(0)
        height = ROOT2 * self._height(alpha, beta)
        if point == oo:
            return erf(height / ROOT2)
        edge, rho = (
            (point - self.m) / sqrt(self.v),
            -ROOT2 * alpha * sqrt(self.v) / self._spread(alpha),
        )
        return 2 * phi2(edge, height, rho) - self._below(point)

    def _two(self, first: Affine, second: Affine) -> Expr:
        """E[erf erf] on the whole line, by the bivariate normal distribution function."""
        h, k = (ROOT2 * self._height(*factor) for factor in (first, second))
        rho = 2 * first[0] * second[0] * self.v / (self._spread(first[0]) * self._spread(second[0]))
        return 4 * phi2(h, k, rho) - _phi2_margins(h, k)


def _phi2_margins(h: Expr, k: Expr) -> Expr:
    """2 Phi(h) + 2 Phi(k) - 1."""
    return 1 + erf(h / ROOT2) + erf(k / ROOT2)


def phi2(h: Expr, k: Expr, rho: Expr) -> Expr:
    """P(X < h, Y < k) of standard normals with correlation rho; elementary where h = k = 0."""
    h, k = (Integer(0) if value.is_zero else value for value in (h, k))
    if h == 0 and k == 0:
        minus, size = (-1, -rho) if rho.could_extract_minus_sign() else (1, rho)
        angle = asin(size, evaluate=not size.free_symbols)  # else it is asked, slowly, if it is 0
        return Integer(1) / 4 + minus * angle / (2 * pi)
    if rho.is_zero:
        return (1 + erf(h / ROOT2)) * (1 + erf(k / ROOT2)) / 4
    return Phi2(*sorted((h, k), key=str), rho)


class Phi2(Expr):
    """The bivariate normal distribution function P(X < h, Y < k) at correlation rho."""

    is_real = True
    is_positive = True
    is_commutative = True


def _real(total: Expr) -> Expr:
    """Pairs of complex exponentials written as waves."""
    if not total.has(I):
        return total

    def wave(argument: Expr) -> Expr:
        argument = argument.expand()
        turn = argument.coeff(I)
        flat = argument - I * turn
        return exp(flat) * (cos(turn) + I * sin(turn))

    return total.expand().replace(exp, wave).expand()
