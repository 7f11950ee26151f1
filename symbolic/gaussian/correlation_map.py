"""The correlation map of a layer, c -> (w E[f(z1) f(z2)] + b)/q, and the edge of chaos.

Here z1 and z2 are N(0, q) with correlation c, and q is a fixed point of the variance map, so that
c = 1 is a fixed point (Poole et al. 2016, section 2.2; Schoenholz et al. 2017, sections 2 and 3).
All Taylor coefficients of the map at 0 are squares (Mehler), so that it is convex on [0, 1]: there
it has one other fixed point at most, and one below 1 attracts exactly where chi_1 = w E[f'(z)^2],
the slope at 1, exceeds 1. Negative fixed points are mirror images, of an odd f without bias.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from flint import arb, ctx
from sympy import Add, Expr, Integer, Rational, Symbol, oo

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.bivariate import kernel
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, digits_of, shown
from varlaw.symbolic.gaussian.fixed_points import DIGITS, LOW, FixedPoint, LayerMap, dyadic
from varlaw.symbolic.gaussian.pair import PairMoment
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.shorter import shorter
from varlaw.symbolic.terms import indicator

ZERO, ONE = Integer(0), Integer(1)
ROUNDS = 40
WIDENINGS = 16  # by a factor of 8, where a root is ill-conditioned
Gap = Callable[[Rational, int], arb]  # at a number, with so many bits


@dataclass(frozen=True)
class CorrelationMap:
    """The correlation map of a layer at one fixed point of its variance map.

    >>> from sympy import Rational, tanh
    >>> x = Symbol("x", real=True)
    >>> layer = LayerMap(tanh(x), x, Integer(2), Rational(1, 25))
    >>> chaotic = CorrelationMap(layer, layer.fixed_points()[0])
    >>> [(p.value.digits, p.slope.digits) for p in chaotic.fixed_points(6)]
    [('0.664170', '0.955280'), ('1.00000', '1.05794')]
    """

    layer: LayerMap
    point: FixedPoint

    @cached_property
    def exact(self) -> Expr | None:
        """The map as an expression in `c`; None where no closed form or no exact q is known."""
        q = self.point.exact
        if q is None or q == 0:
            return None
        f, x, layer = self.layer.function, self.layer.variable, self.layer
        try:
            mean = kernel(f, f, x, self.c, (q, q))
        except (NotClosed, Divergent, ValueError):
            return None
        return shorter((layer.weight_variance * mean + layer.bias_variance) / q)

    @property
    def c(self) -> Symbol:
        """The variable of `exact`."""
        return Symbol("c", real=True)

    @cached_property
    def derivative(self) -> Expr | None:
        """f', in its parts; None where f jumps, so that chi_1 is infinite."""
        return derivative_of(self.layer.function, self.layer.variable)

    def chi(self, digits: int = DIGITS) -> Enclosed | None:
        """chi_1, the slope of the map at c = 1; None where it is infinite."""
        if self.derivative is None:
            return None
        left, right = self._ends(digits)
        with ctx.workprec(bits_for(digits) + 32):
            size = self._steep.mean(ONE, (left + right) / 2)
            slope = ball(self.layer.weight_variance) * size
            return shown(slope + drift(self._steep, left, right), digits)

    def fixed_points(self, digits: int = DIGITS) -> tuple[FixedPoint, ...]:
        """The fixed points in [0, 1], with so many proved digits; at 1 the slope is chi_1.

        Raises NoEnclosure where chi_1 is too close to 1 to be told from it, unless it is 1 in
        closed form.
        """
        chi = self.chi(digits)
        one = FixedPoint(ONE, digits_of(ONE, digits), oo if chi is None else None, chi)
        if chi is not None and chi.value <= 1:
            return (one,)
        if chi is not None and chi.value.contains(1):
            if self.exact is not None and self.exact.diff(self.c).limit(self.c, 1, "-") == 1:
                return (FixedPoint(ONE, one.value, ONE, digits_of(ONE, digits)),)
            raise NoEnclosure(f"whether chi_1 = {chi.value.str(8)} exceeds 1 is not known")
        if self.layer.bias_variance == 0 and is_odd(self.layer.function, self.layer.variable):
            zero = digits_of(ZERO, digits)
            return FixedPoint(ZERO, zero, None, self._slope(ZERO, ZERO, digits)), one
        return self._below_one(digits), one

    @cached_property
    def _steep(self) -> LayerMap:
        """The layer with f' for f."""
        assert self.derivative is not None
        layer = self.layer
        return LayerMap(self.derivative, layer.variable, layer.weight_variance)

    def _ends(self, digits: int) -> tuple[Rational, Rational]:
        """Standard deviations around sqrt(q), nearer than the digits of the point."""
        if self.point.exact is not None:
            with ctx.workprec(2 * bits_for(digits) + 64):
                middle = dyadic(ball(self.point.exact).sqrt())
            margin = middle / 2 ** (bits_for(digits) + 48)
            return middle - margin, middle + margin
        assert self.point.value is not None
        with ctx.workprec(2 * bits_for(digits) + 64):
            root = self.point.value.value.sqrt()
            return dyadic(arb(root.lower())), dyadic(arb(root.upper()))

    def _below_one(self, digits: int) -> FixedPoint:
        """The fixed point in [0, 1), in terms of t with c = 2 t/(1 + t^2): 1 - c^2 is a square."""
        bits = bits_for(digits) + 8
        left, right = self._ends(digits)
        middle = (left + right) / 2
        slack = drift(self.layer, left, right)
        weight, bias = self.layer.weight_variance, self.layer.bias_variance

        def gap(t: Rational, precision: int) -> arb:
            c = 2 * t / (1 + t**2)
            with ctx.workprec(precision):
                size = ball(weight) * self._pair(self.layer.function, c, middle) + ball(bias)
                return size + slack - ball(c) * ball(left).union(ball(right)) ** 2

        high = ONE - Rational(1, 2**4)
        while not gap(high, 2 * LOW) < 0:
            high = 1 - (1 - high) / 8
            if high > 1 - Rational(1, 2**40):
                raise NoEnclosure("a fixed point close to c = 1 was not told apart from it")
        at_zero = gap(ZERO, bits + 24).contains(0)  # the map is not negative there
        low, high = _near_zero(gap, bits) if at_zero else between(gap, ZERO, high, bits)
        ends = [2 * t / (1 + t**2) for t in (low, high)]
        with ctx.workprec(bits + 16):
            value = shown(ball(ends[0]).union(ball(ends[1])), digits)
        return FixedPoint(None, value, None, self._slope(ends[0], ends[1], digits))

    def _slope(self, low: Rational, high: Rational, digits: int) -> Enclosed | None:
        """w E[f' f'] from c = low to high, where it grows; None where f jumps, unless `exact`."""
        left, right = self._ends(digits)
        with ctx.workprec(bits_for(digits) + 16):
            if self.derivative is None:
                if self.exact is None:
                    return None
                slope = program(self.exact.diff(self.c), self.c).on_reals()
                return shown(slope(ball(low).union(ball(high))), digits)
            means = [
                self._pair(self._steep.function, c, (left + right) / 2)
                for c in dict.fromkeys((low, high))
            ]
            steep = ball(self.layer.weight_variance) * means[0].union(means[-1])
            return shown(steep + drift(self._steep, left, right), digits)

    def _pair(self, f: Expr, c: Rational, deviation: Rational) -> arb:
        """E[f(z1) f(z2)] as a ball, at the current precision."""
        q = deviation**2
        pair = PairMoment(f, f, self.layer.variable, c, (q, q), (ZERO, ZERO), None, "")
        return pair.digits(max(int(ctx.prec * 0.301), 2)).value


def drift(layer: LayerMap, left: Rational, right: Rational) -> arb:
    """By how much w E[f f] may change between two deviations, whatever the correlation is.

    With y in standard units, 2 q |d/dq E[f f]| <= E[f^2 (y^2 + 3)] by Cauchy and Schwarz.
    """
    with ctx.workprec(LOW):
        y = layer.variable**2 / left**2
        most = layer.mean(y + 3, right) * ball(right / left) ** 2
        slope = ball(layer.weight_variance) * most / (2 * ball(left) ** 2)
        return arb((slope * ball(right**2 - left**2)).abs_upper()) * arb(0, 1)


def _near_zero(gap: Gap, bits: int) -> tuple[Rational, Rational]:
    """From 0 to a point just above a root that is at 0, or not told apart from it."""
    for power in range(bits, 8, -3):
        if gap(Rational(1, 2**power), bits + 24) < 0:
            return ZERO, Rational(1, 2**power)
    raise NoEnclosure("a fixed point close to c = 0 could not be proved")


def between(gap: Gap, low: Rational, high: Rational, bits: int) -> tuple[Rational, Rational]:
    """Two points near one another, of different proved signs: the Illinois method.

    Their distance is near 2^-bits, more where the signs are hard to tell. Raises NoEnclosure where
    the signs at the ends are the same, or unknown.
    """
    precision = bits + 24
    at_low, at_high = gap(low, precision), gap(high, precision)
    if not (at_low > 0 and at_high < 0) and not (at_low < 0 and at_high > 0):
        raise NoEnclosure(f"no change of sign between {float(low):.6g} and {float(high):.6g}")
    side, small, rising = 0, Rational(1, 2**bits), bool(at_low < 0)
    for _ in range(ROUNDS):
        with ctx.workprec(precision):
            share = at_low / (at_low - at_high)
            middle = low + dyadic(share) * (high - low)
            middle = Rational(round(middle * 2 ** (precision + 8)), 2 ** (precision + 8))
        if not low < middle < high:
            middle = (low + high) / 2
        value = gap(middle, precision)
        for margin in (small * 8**power for power in range(WIDENINGS if value.contains(0) else 3)):
            if abs(value.mid()) > 2**8 * ball(margin) or value.rad() > ball(margin):
                continue
            a, b = max(low, middle - margin), min(high, middle + margin)
            ends = gap(a, precision), gap(b, precision)
            if (ends[0] < 0 < ends[1]) if rising else (ends[0] > 0 > ends[1]):
                return a, b
        if value < 0 if rising else value > 0:
            low, at_low, at_high = middle, value, at_high / 2 if side == 1 else at_high
            side = 1
        elif value > 0 if rising else value < 0:
            high, at_high, at_low = middle, value, at_low / 2 if side == -1 else at_low
            side = -1
        else:
            break
    raise NoEnclosure(f"a root between {float(low):.6g} and {float(high):.6g} could not be proved")


def derivative_of(f: Expr, x: Symbol) -> Expr | None:
    """f' almost everywhere, with indicators of its parts; None where f jumps."""
    pieces = pieces_of(f, x)
    for before, after in pairwise(pieces):
        gap = (after.expression - before.expression).subs(x, before.upper)
        if gap.expand() != 0 and not ball(gap).contains(0):
            return None
    slopes = []
    for piece in pieces:
        slope = piece.expression.diff(x)
        for end, relation in ((piece.lower, ">"), (piece.upper, "<")):
            slope *= indicator(x - end, relation) if end.is_finite else 1
        slopes.append(slope)
    return Add(*slopes)


def is_odd(f: Expr, x: Symbol) -> bool:
    """Whether f(-x) = -f(x), as far as a look tells."""
    if isinstance(f, Activation):
        return f.parity == "odd" and f.args[0] == x
    return (f + f.subs(x, -x)).expand() == 0


def depth_scale(slope: Enclosed, digits: int = DIGITS) -> Enclosed | None:
    """The layers -1/log(slope) in which a deviation falls by e; None unless 0 < slope < 1."""
    if not (slope.value > 0 and slope.value < 1):
        return None
    with ctx.workprec(bits_for(digits) + 32):
        return shown(-1 / slope.value.log(), digits)
