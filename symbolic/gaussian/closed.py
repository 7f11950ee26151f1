"""Closed forms of E[f(Z)] for Gaussian Z, by an algorithm on terms.

Each term x^n exp(a x^2 + b x) Prod erf(..) on an interval is brought to a truncated moment of
another Gaussian by completing the square; powers come down by Stein's lemma

    E[(X - m) g(X)] = v E[g'(X)] - v [phi g] at the ends of the interval,

which also takes one error function off at a time. What is left are probabilities: the normal
distribution function for one interval, the bivariate one for an error function on an interval or
for two error functions on the line.
"""

from dataclasses import dataclass

from sympy import ComplexRootOf, Expr, I, Integer, Symbol, asin, cos, erf, exp, oo, pi, sin, sqrt

from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.sums import Affine, Shape, terms_of

ROOT2 = sqrt(2)


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
    total: Expr = Integer(0)
    for piece in pieces_of(f, x):
        for shape, coefficient in terms_of(piece.expression, x).items():
            total += coefficient * _integral(shape, piece.lower, piece.upper, mean, variance)
    if total.has(ComplexRootOf):
        raise NotClosed(f"the kinks of {f} are roots without a closed form")
    return _real(total)


def _integral(shape: Shape, lower: Expr, upper: Expr, mean: Expr, variance: Expr) -> Expr:
    """E of one term on an interval, by completing the square."""
    precision = 1 / variance - 2 * shape.quadratic
    if precision.is_nonpositive and lower.is_finite and upper.is_finite:
        raise NotClosed(
            f"no closed form is known with exp({shape.quadratic} x^2) between two points"
        )
    if precision.is_nonpositive:
        raise Divergent(f"exp({shape.quadratic} x^2) grows too fast for the variance {variance}")
    if not precision.is_positive:
        raise NotClosed(f"whether {precision} is positive is not known")
    v = 1 / precision
    m = (
        (v * (mean / variance + shape.linear)).expand()
        if v.is_number
        else v * (mean / variance + shape.linear)
    )
    scale = sqrt(v / variance) * exp((m**2 / v - mean**2 / variance).expand() / 2)
    if m.has(I) and (lower, upper) != (-oo, oo):
        raise NotClosed("a wave on a part of the line")
    return scale * Normal(m, v, lower, upper).moment(shape.power, shape.erfs)


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
            memory[key] = self._chance(erfs) if n == 0 else self._lowered(n, erfs, memory)
        return memory[key]

    def _lowered(self, n: int, erfs: tuple[Affine, ...], memory: dict) -> Expr:  # type: ignore[type-arg]
        """X^n by Stein's lemma applied to X^(n-1) Prod erf."""
        total = self.m * self._moment(n - 1, erfs, memory)
        if n > 1:
            total += (n - 1) * self.v * self._moment(n - 2, erfs, memory)
        for k, (alpha, beta) in enumerate(erfs):
            others = erfs[:k] + erfs[k + 1 :]
            shape = Shape(n - 1, -(alpha**2), -2 * alpha * beta, others)
            inner = _integral(shape, self.lower, self.upper, self.m, self.v)
            total += self.v * 2 * alpha / sqrt(pi) * exp(-(beta**2)) * inner
        return total - self.v * (
            self._edge(self.upper, n - 1, erfs) - self._edge(self.lower, n - 1, erfs)
        )

    def _edge(self, point: Expr, n: int, erfs: tuple[Affine, ...]) -> Expr:
        """x^n phi(x) Prod erf at an end of the interval."""
        if point in (oo, -oo):
            return Integer(0)
        density = exp(-((point - self.m) ** 2) / (2 * self.v)) / sqrt(2 * pi * self.v)
        value = density * point**n
        for alpha, beta in erfs:
            value *= erf(alpha * point + beta)
        return value

    def _chance(self, erfs: tuple[Affine, ...]) -> Expr:
        """E[Prod erf; lower < X < upper]."""
        if not erfs:
            return self._below(self.upper) - self._below(self.lower)
        if len(erfs) == 1 and self.whole:
            ((alpha, beta),) = erfs
            return erf((alpha * self.m + beta) / sqrt(1 + 2 * alpha**2 * self.v))
        if len(erfs) == 1:
            return self._erf_below(self.upper, erfs[0]) - self._erf_below(self.lower, erfs[0])
        if len(erfs) == 2 and self.whole:
            return self._two(*erfs)
        if self.whole and len(erfs) % 2 and all(alpha * self.m + beta == 0 for alpha, beta in erfs):
            return Integer(0)
        raise NotClosed("more error functions than closed forms are known for")

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
        spread = sqrt(1 + 2 * alpha**2 * self.v)
        height = ROOT2 * (alpha * self.m + beta) / spread
        if point == oo:
            return erf(height / ROOT2)
        edge, rho = (point - self.m) / sqrt(self.v), -ROOT2 * alpha * sqrt(self.v) / spread
        return 2 * phi2(edge, height, rho) - self._below(point)

    def _two(self, first: Affine, second: Affine) -> Expr:
        """E[erf erf] on the whole line, by the bivariate normal distribution function."""
        spreads = [sqrt(1 + 2 * a**2 * self.v) for a, _ in (first, second)]
        h, k = (
            ROOT2 * (a * self.m + b) / s for (a, b), s in zip((first, second), spreads, strict=True)
        )
        rho = 2 * first[0] * second[0] * self.v / (spreads[0] * spreads[1])
        return 4 * phi2(h, k, rho) - _phi2_margins(h, k)


def _phi2_margins(h: Expr, k: Expr) -> Expr:
    """2 Phi(h) + 2 Phi(k) - 1."""
    return 1 + erf(h / ROOT2) + erf(k / ROOT2)


def phi2(h: Expr, k: Expr, rho: Expr) -> Expr:
    """P(X < h, Y < k) of standard normals with correlation rho; elementary where h = k = 0."""
    h, k = (Integer(0) if value.is_zero else value for value in (h, k))
    if h == 0 and k == 0:
        return Integer(1) / 4 + asin(rho) / (2 * pi)
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
