"""The variance map of a layer, q -> w E[f(sqrt(q) Z)^2] + b, and its fixed points.

Here q is the second moment of a pre-activation, w = fan-in times the variance of a weight, and b
the variance of a bias (Poole et al. 2016, section 2; Schoenholz et al. 2017, section 2). By Stein's
lemma the derivatives in q need no derivative of f, so that f may have kinks and jumps: with
y = x/sqrt(q) and x ~ N(0, q),

    2 q d/dq E[f(x)^2] = E[f(x)^2 (y^2 - 1)],
    4 q^2 d^2/dq^2 E[f(x)^2] = E[f(x)^2 (y^4 - 6 y^2 + 3)].
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log

from flint import arb, ctx
from sympy import Expr, Integer, Poly, PolynomialError, Rational, Symbol, oo, sqrt

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent, closed_form
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, digits_of, shown
from varlaw.symbolic.gaussian.enclosure import GaussianMean, joined
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.gaussian.probabilities import Phi2
from varlaw.symbolic.gaussian.programs import Program, program

DIGITS = 15
LOW = 40  # bits, to see signs and to bound second derivatives
SCANNED = (-9, 6)  # sqrt(q) is looked for between these powers of 2
PER_OCTAVE = 4
ENOUGH = 16  # bits that a closed form may lose
ROUNDS = 60
ZERO, ONE = Integer(0), Integer(1)


@dataclass(frozen=True)
class FixedPoint:
    """A fixed point of a map with the slope of the map there; exact forms where they are known.

    The digits are None where the map has parameters without values, the slope's also where it is
    infinite (`exact_slope` is oo) or not known.
    """

    exact: Expr | None
    value: Enclosed | None
    exact_slope: Expr | None
    slope: Enclosed | None

    @property
    def stable(self) -> bool | None:
        """Whether the slope is below 1 in size; None where it is 1, or not known."""
        if self.slope is None:
            return False if self.exact_slope == oo else None
        size = abs(self.slope.value)
        return True if size < 1 else False if size > 1 else None


@dataclass(frozen=True)
class LayerMap:
    """q -> weight_variance E[f(x)^2] + bias_variance for x ~ N(0, q).

    >>> from sympy import tanh
    >>> x = Symbol("x", real=True)
    >>> zero, other = LayerMap(tanh(x), x, Rational(25, 9)).fixed_points()
    >>> other.value.digits, other.slope.digits
    ('1.17848049038591', '0.430899386364746')
    >>> zero.exact, zero.exact_slope
    (0, 25/9)
    """

    function: Expr
    variable: Symbol
    weight_variance: Expr = ONE
    bias_variance: Expr = ZERO

    @cached_property
    def q(self) -> Symbol:
        """The variable of `exact`."""
        return Symbol("q", positive=True)

    @cached_property
    def exact(self) -> Expr | None:
        """The map as an expression in `q`; None where no closed form is known."""
        try:
            square = closed_form(self.function**2, self.variable, ZERO, self.q)
        except (NotClosed, Divergent):
            return None
        return (self.weight_variance * square + self.bias_variance).expand()

    @property
    def identity(self) -> bool:
        """Whether every q is a fixed point, as for ReLU with the variance 2/m."""
        return self.exact is not None and (self.exact - self.q).expand() == 0

    def value(self, q: Expr) -> arb:
        """The map at a number q > 0, as a ball at the current precision."""
        return self._value(sqrt(q))

    def slope(self, q: Expr) -> arb:
        """The slope of the map at a number q > 0, as a ball at the current precision."""
        return self._slope(sqrt(q))

    def _value(self, deviation: Expr) -> arb:
        known = self._from_exact(0, deviation)
        if known is not None:
            return known
        return ball(self.weight_variance) * self.mean(ONE, deviation) + ball(self.bias_variance)

    def _slope(self, deviation: Expr) -> arb:
        known = self._from_exact(1, deviation)
        if known is not None:
            return known
        square = deviation**2
        mean = self.mean(self.variable**2 / square - 1, deviation)
        return ball(self.weight_variance) * mean / (2 * ball(square))

    @cached_property
    def _programs(self) -> tuple[Program, ...]:
        """The closed form and its derivative, to run on balls."""
        if self.exact is None or self.exact.has(Phi2):
            return ()
        return program(self.exact, self.q), program(self.exact.diff(self.q), self.q)

    def _from_exact(self, order: int, deviation: Expr) -> arb | None:
        """The map or its slope from the closed form, unless cancellation leaves too little."""
        if not self._programs:
            return None
        found = self._programs[order].on_reals()(ball(deviation) ** 2)
        accurate = found.is_finite() and found.rel_accuracy_bits() > ctx.prec - ENOUGH
        return found if accurate else None

    def mean(self, weight: Expr, deviation: Expr) -> arb:
        """E[f(x)^2 weight(x)] for x ~ N(0, deviation^2), as a ball at the current precision."""
        pieces = [
            Piece(p.lower, p.upper, p.expression**2 * weight)
            for p in joined(pieces_of(self.function, self.variable))
        ]
        mean = GaussianMean(pieces, self.variable, ZERO, deviation)
        return mean.enclosed(max(int(ctx.prec * 0.301), 2)).value

    def fixed_points(self, digits: int = DIGITS) -> tuple[FixedPoint, ...]:
        """The fixed points, in order, with so many proved digits; none where `identity` holds.

        Where the map is a polynomial of degree 2 at most these are all of them, in closed form;
        else zero, and those found by the sign of V(q) - q between 2^-18 and 2^12: a change of sign
        in ball arithmetic proves each, and a derivative without zeros that there is one only in its
        ball. Raises NoEnclosure where parameters without values keep it from being solved.
        """
        if self.identity:
            return ()
        solved = self._solved(digits)
        if solved is not None:
            return solved
        if (self.weight_variance + self.bias_variance).free_symbols:
            raise NoEnclosure("the fixed points have no closed form: give the parameters values")
        found = [self._enclosed(low, high, digits) for low, high in self._brackets()]
        return (*self._at_zero(digits), *found)

    def _solved(self, digits: int) -> tuple[FixedPoint, ...] | None:
        """The fixed points of a map that is a polynomial of degree 2 at most."""
        if self.exact is None:
            return None
        try:
            polynomial = Poly(self.exact - self.q, self.q)
        except PolynomialError:
            return None
        if not 1 <= polynomial.degree() <= 2:
            return () if polynomial.degree() == 0 else None
        a, b, c = (polynomial.coeff_monomial(self.q**k) for k in (2, 1, 0))
        root = sqrt(b**2 - 4 * a * c)
        roots = [-c / b] if a == 0 else [(-b - root) / (2 * a), (-b + root) / (2 * a)]
        found = []
        for q in dict.fromkeys(root.cancel() for root in roots):
            if q.is_negative or q.is_real is False:
                continue
            slope = self.exact.diff(self.q).subs(self.q, q).cancel()
            found.append(FixedPoint(q, _digits(q, digits), slope, _digits(slope, digits)))
        return tuple(sorted(found, key=lambda point: (point.exact != 0, str(point.exact))))

    def _at_zero(self, digits: int) -> tuple[FixedPoint, ...]:
        """q = 0, if it is fixed."""
        steepness = self.steepness_at_zero
        if self.bias_variance != 0 or steepness is None:
            return ()
        slope, zero = self.weight_variance * steepness, digits_of(ZERO, digits)
        return (FixedPoint(ZERO, zero, slope, None if slope == oo else _digits(slope, digits)),)

    @property
    def steepness_at_zero(self) -> Expr | None:
        """The mean of f'(0)^2 on the two sides, to which E[f^2]/q tends; None if f(0) is not 0."""
        x, pieces = self.variable, pieces_of(self.function, self.variable)
        before = next(p.expression for p in pieces if p.upper.is_extended_nonnegative)
        after = next(p.expression for p in pieces if p.upper.is_extended_positive)
        if any(side.subs(x, 0) != 0 for side in (before, after)):
            return None
        slopes = [side.diff(x).subs(x, 0) for side in (before, after)]
        if not all(slope.is_finite for slope in slopes):
            return oo
        return (slopes[0] ** 2 + slopes[1] ** 2) / 2

    def _brackets(self) -> list[tuple[Rational, Rational]]:
        """Neighbouring standard deviations sqrt(q) between which V(q) - q changes its sign."""
        return changes(self._sign)

    def _sign(self, s: Rational, bits: int = LOW) -> int:
        """The sign of V(q) - q at q = s^2; 0 where it is not known."""
        with ctx.workprec(bits):
            try:
                gap = self._value(s) - ball(s) ** 2
            except (NoEnclosure, Divergent):
                return 0
            return 1 if gap > 0 else -1 if gap < 0 else 0

    def _step(self, s: Rational) -> arb:
        """What Newton's method takes from s."""
        gap = self._value(s) - ball(s) ** 2
        return gap / (self._slope(s) - 1) / (2 * ball(s))

    def _enclosed(self, low: Rational, high: Rational, digits: int) -> FixedPoint:
        """The fixed point between two points of different signs: Newton's method, then a proof."""
        below, bits = self._sign(low), bits_for(digits) + 24
        point, accurate = (low + high) / 2, 8
        for _ in range(ROUNDS):
            with ctx.workprec(min(max(2 * accurate, LOW), bits)):
                step = self._step(point)
                following = dyadic(ball(point) - step) if step.is_finite() else low
            if low < following < high:
                accurate = _accurate(step / ball(point), bits)
            else:
                sign = self._sign(point)
                low, high = (point, high) if sign == below else (low, point)
                following, accurate = (low + high) / 2, 8
            point = following
            if 2 * accurate >= bits:
                break
        with ctx.workprec(bits):
            fine = bits + _accurate(self._slope(point) - 1, bits)  # near slope 1 it is hard to see
        with ctx.workprec(fine):
            point = dyadic(ball(point) - self._step(point))
        margin = dyadic(ball(point)) / 2 ** (bits - 12)
        for _ in range(ROUNDS):
            left, right = point - margin, point + margin
            if self._sign(left, fine + 8) == below == -self._sign(right, fine + 8):
                return self._proved(left, right, digits)
            margin *= 8
            if margin > point:
                break
        raise NoEnclosure(f"a fixed point near {float(point) ** 2:.6g} could not be proved")

    def _proved(self, left: Rational, right: Rational, digits: int) -> FixedPoint:
        """The fixed point between two deviations; the slope between them proves that it is one."""
        with ctx.workprec(bits_for(digits) + 32):
            slope = self.slope_between(left, right)
            if slope.contains(1):
                raise NoEnclosure(
                    f"whether there are two fixed points near {float(left) ** 2:.6g} is not known"
                )
            value = ball(left**2).union(ball(right**2))
        return FixedPoint(None, shown(value, digits), None, shown(slope, digits))

    def slope_between(self, left: Rational, right: Rational) -> arb:
        """A ball of the map's slopes between two deviations sqrt(q), by its second derivative."""
        with ctx.workprec(LOW):
            y = self.variable**2 / left**2
            density = ball(right / left)  # of the densities, at most
            most = self.mean(y**2 + 6 * y + 3, right) * density
            curvature = ball(self.weight_variance) * most / (4 * ball(left) ** 4)
            drift = arb((curvature * ball(right**2 - left**2)).abs_upper())
        return self._slope((left + right) / 2) + drift * arb(0, 1)


def changes(sign: Callable[[Rational], int]) -> list[tuple[Rational, Rational]]:
    """Neighbouring deviations between which a sign changes; a sign that is not known is 0."""
    first, last = SCANNED
    points = [
        Rational(2) ** octave * (1 + Rational(part, PER_OCTAVE))
        for octave in range(first, last)
        for part in range(PER_OCTAVE)
    ]
    signs = [(s, sign(s)) for s in points]
    known = [pair for pair in signs if pair[1]]
    return [(low, high) for (low, below), (high, above) in pairwise(known) if below != above]


def dyadic(value: arb) -> Rational:
    """The midpoint of a ball."""
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    return Rational(mantissa) * Rational(2) ** exponent


def _digits(number: Expr, digits: int) -> Enclosed | None:
    return None if number.free_symbols else digits_of(number, digits)


def _accurate(step: arb, most: int) -> int:
    """The bits that a step of Newton's method leaves as they are."""
    size = step.abs_upper()
    return min(most, max(8, -round(float(size.log().mid()) / log(2)))) if size > 0 else most
