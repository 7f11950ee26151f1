"""E of one term x^n exp(a x^2 + b x) Prod erf(..) on an interval, for a Gaussian variable.

It is brought to a truncated moment of another Gaussian by completing the square; powers come down
by Stein's lemma

    E[(X - m) g(X)] = v E[g'(X)] - v [phi g] at the ends of the interval,

which also takes one error function off at a time. What is left are probabilities: the normal
distribution function for one interval, the bivariate one for an error function on an interval or
for two error functions on the line.
"""

from dataclasses import dataclass

from sympy import Add, Expr, I, Integer, erf, exp, gamma, log, oo, pi, polygamma, sqrt

from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.gaussian.probabilities import ROOT2, error_function, phi2
from varlaw.symbolic.gaussian.sums import Affine, Shape


def integral(shape: Shape, lower: Expr, upper: Expr, mean: Expr, variance: Expr) -> Expr:
    """E of one term on an interval, by completing the square."""
    precision = 1 / variance - 2 * shape.quadratic
    if not is_positive(precision):
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


def is_positive(e: Expr) -> bool:
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

    @property
    def _is_side_of_zero(self) -> bool:
        return (self.lower, self.upper) in ((-oo, 0), (0, oo))

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
            inner = integral(shape, self.lower, self.upper, self.m, self.v)
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
        if all(self._height(*e) == 0 for e in erfs):
            if self.whole and len(erfs) % 2:
                return Integer(0)
            if len(erfs) == 2 and self.m == 0 and self._is_side_of_zero:
                return self._two(*erfs) / 2  # the integrand is even
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
        return (1 + error_function((point - self.m) / (ROOT2 * sqrt(self.v)))) / 2

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
        return 4 * phi2(h, k, rho) - 1 - erf(h / ROOT2) - erf(k / ROOT2)
