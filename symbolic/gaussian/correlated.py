"""Expectations of f(Z1) g(Z2) at a correlation strictly between -1 and 1.

In standard units, with r = |rho| and s its sign, the density is

    c exp(-(u^2 + v^2)/(2 (1 + r)) - r (u - s v)^2/(2 (1 - r^2))),    c = 1/(2 pi sqrt(1 - r^2)),

so that on a grid the double sum is a convolution: one product of polynomials. Its error follows
from the trapezoid rule in each variable, since off the real axis the density grows by
exp(y^2/(2 (1 - r^2))) at most. Outside of a square the tails are bounded by Hölder's inequality,
E[|f g|; U > L] <= E[|f|^(4/3); U > L]^(3/4) E[g^4]^(1/4). Where f or g has kinks, or no strip is
known, the integrals are nested.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import log
from typing import TypeAlias

from flint import acb, arb, arb_poly, ctx
from sympy import Expr, Symbol

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.common import Side, mean_by_common_part
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, settled, shown
from varlaw.symbolic.gaussian.domains import prove_finite
from varlaw.symbolic.gaussian.enclosure import GUARD, ROUNDS, GaussianMean, joined
from varlaw.symbolic.gaussian.endless import EndlessMean
from varlaw.symbolic.gaussian.grids import Exponentials, Grid, grid_values
from varlaw.symbolic.gaussian.parts import Part
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.quadrature import LOW, integral
from varlaw.symbolic.gaussian.trapezoid import (
    SLACK,
    Line,
    NotSuited,
    Weight,
    flat_line,
    grid,
    line,
    mass,
)

MOST_EVALUATIONS = 2_000  # of the outer integrand, which is an integral itself
CLOSE = 1e-9  # by which a range of floats is wider than one of balls
Two = tuple[Expr, Expr]
Function: TypeAlias = Sequence[Piece] | Expr  # functions may have kinks without end


class Correlated:
    """The expectation for two lists of pieces, at any accuracy."""

    def __init__(
        self,
        functions: tuple[Function, Function],
        x: Symbol,
        rho: Expr,
        deviations: Two,
        means: Two,
    ) -> None:
        self.rho = rho
        places = list(zip(functions, means, deviations, strict=True))
        four, share = arb(4), arb(4) / 3  # conjugate exponents
        self.means = [_mean(f, x, mean, deviation, share) for f, mean, deviation in places]
        self.wide = [_mean(f, x, mean, deviation, four) for f, mean, deviation in places]
        self.scales = [mean.scale for mean in self.means]
        self.method = ""

    def enclosed(self, digits: int) -> Enclosed:
        """So many digits, the accuracy being raised until they are proved."""
        bits, value = bits_for(digits), arb(0)
        goal = bits
        for attempt in range(ROUNDS):
            value = self.value(goal)
            if not value.is_finite() or settled(value, digits):
                break
            if not value.contains(0):
                goal += max(bits + 8 - value.rel_accuracy_bits(), 0) + 24
            elif attempt and 2 * value.abs_upper() < arb(10) ** -digits:
                break
            else:
                goal += 64 if attempt else 24
        return shown(value, digits, self.method)

    def value(self, goal: int) -> arb:
        """A ball with a radius near 2^-goal."""
        with ctx.workprec(LOW):
            rest, sides = arb(0), []
            norms = [self._fourth_moment(mean) ** 0.25 for mean in self.wide]
            for mean, norm in zip(self.means, norms[::-1], strict=True):
                more = max(0.0, float(norm.log().mid()) / log(2)) if norm > 0 else 0.0
                parts = mean.parts(round((goal + more + 3) * 4 / 3))
                beyond = arb(sum((part.tail for part in parts), arb(0)).upper())
                rest += beyond**0.75 * norm if beyond > 0 else arb(0)
                sides.append([part for part in parts if not part.empty])
        with ctx.workprec(goal + GUARD):
            inside = self._inside(sides[0], sides[1], goal)
            return inside + arb(rest.upper()) * arb(0, 1)

    def _fourth_moment(self, mean: GaussianMean) -> arb:
        """A bound on E[f^4]."""
        total, half = arb(0), arb(0.5)
        for part in mean.parts(4):
            total += part.tail
            if not part.empty:
                low, high = (float(end.mid()) for end in part.ends)
                wider = CLOSE * (1 + abs(low) + abs(high))
                flat = Line(
                    partial(_fourth_power, part.program.for_bounds()),
                    ball(mean.scale.mean),
                    ball(mean.scale.deviation),
                    low - wider,
                    high + wider,
                    Weight(half, half),
                )
                try:
                    total += mass(flat, 0.0) / (2 * arb.pi()).sqrt()
                except NotSuited:
                    raise NoEnclosure(
                        f"no bound on the fourth moment of {part.program.expression} is known"
                    ) from None
        return arb(total.upper())

    def _inside(self, f: list[Part], g: list[Part], goal: int) -> arb:
        if len(f) == len(g) == 1 and all(_cut(side[0]) for side in (f, g)):
            try:
                self.method = "trapezoid rule in two variables with a proved error"
                return self._by_grids((f[0], g[0]), goal)
            except NotSuited:
                pass
        r = abs(ball(self.rho))
        signs = (1, 1 if ball(self.rho) > 0 else -1)
        try:
            self.method = "trapezoid rule with a proved error, given what the variables share"
            left, right = (
                Side(parts, scale, r, sign)
                for parts, scale, sign in zip((f, g), self.scales, signs, strict=True)
            )
            return mean_by_common_part(left, right, r, goal)
        except NotSuited:
            pass
        self.method = "nested adaptive quadrature in ball arithmetic"
        total = arb(0)
        for one in f:
            for other in g:
                total += self._nested((one, other), goal + (len(f) * len(g)).bit_length())
        return total

    # two grids

    def _by_grids(self, parts: tuple[Part, Part], goal: int) -> arb:
        with ctx.workprec(LOW):
            grids, relative, masses = self._grids(parts, goal)
        r, step = abs(ball(self.rho)), grids[0].step
        decay = 1 / (2 * (1 + r))
        values = [
            grid_values(part.program, scale, points, decay, lambda t: ctx.prec)
            for part, scale, points in zip(parts, self.scales, grids, strict=True)
        ]
        factor = 1 / (2 * arb.pi() * (1 - r * r).sqrt())
        total = self._convolved(values, (grids[0].first, grids[1].first), step)
        # the error in v at each point u of the grid, and the error in u at each v
        sizes = sum((abs(value) for value in values[0]), arb(0)) * step
        error = factor * (sizes * relative[1] + masses[1] * relative[0])
        return total * factor * step * step + arb(error.upper()) * arb(0, 1)

    def _grids(
        self, parts: tuple[Part, Part], goal: int
    ) -> tuple[list[Grid], list[arb], list[arb]]:
        """Grids of the same step, their errors, and bounds on the integrals on the real axis.

        The integrands are f and g with the weight exp(-t^2/(2 (1 + r))).
        """
        r = abs(ball(self.rho))
        factor = 1 / (2 * arb.pi() * (1 - r * r).sqrt())
        weight = Weight(1 / (2 * (1 + r)), 1 / (2 * (1 - r * r)))
        # so far out that the weights are small, where the density is
        stretch = 1.02 * max(1.0, float((0.75 * (1 + r)).sqrt().mid()))
        lines, masses = [], []
        for part, scale in zip(parts, self.scales, strict=True):
            assert part.left is not None and part.right is not None
            left, right = part.left * stretch, part.right * stretch
            lines.append(line(part.program, scale, left, right, weight, goal))
            masses.append(mass(flat_line(part.program, scale, left, right, weight)))
        factors = [2 * factor * other for other in masses[::-1]]
        widest = 1.0
        for at, other in zip(lines, factors, strict=True):
            widest = min(widest, float(grid(at, goal + 2, other, widest).step.mid()))
        grids = [
            grid(at, goal + 2, other, widest) for at, other in zip(lines, factors, strict=True)
        ]
        errors = [points.error / other for points, other in zip(grids, factors, strict=True)]
        return grids, errors, masses

    def _convolved(self, values: list[list[arb]], firsts: tuple[int, int], step: arb) -> arb:
        """Sum over i and j of F_i G_j K_(i - s j), K_n = exp(-r step^2 n^2/(2 (1 - r^2)))."""
        rho = ball(self.rho)
        (f, g), (f_first, g_first) = values, firsts
        if rho < 0:
            g, g_first = g[::-1], -(g_first + len(g) - 1)
        product = arb_poly(f) * arb_poly(g[::-1])
        # the coefficient of x^m belongs to i - j = lowest + m
        lowest = f_first - g_first - len(g) + 1
        most = max(-lowest, lowest + len(f) + len(g) - 2)
        exponent = -abs(rho) * step * step / (2 * (1 - rho * rho))
        with ctx.extraprec(4 * most.bit_length()):
            kernel = Exponentials([arb(0), arb(0), exponent]).take(most + 1)
        total = arb(0)
        for m, coefficient in enumerate(product.coeffs()):
            total += coefficient * kernel[abs(lowest + m)]
        return total

    # nested integrals

    def _nested(self, parts: tuple[Part, Part], goal: int) -> arb:
        """Int f(u) Int g(v) density dv du over the two parts."""
        places = [(ball(scale.mean), ball(scale.deviation)) for scale in self.scales]
        for part, (mean, deviation) in zip(parts, places, strict=True):
            first, last = (mean + deviation * end for end in part.ends)
            prove_finite(part.program, part.piece, first, last)
        f, g = (part.program.on_complexes() for part in parts)
        (a, b), (c, d) = ((acb(mean), acb(deviation)) for mean, deviation in places)
        rho = acb(ball(self.rho))
        spread = 1 - rho * rho
        fine = arb(2) ** -(goal + 8)

        def outer(u: acb, analytic: bool) -> acb:
            def inner(v: acb, careful: bool) -> acb:
                gap = v - rho * u
                return g(c + d * v, careful) * (-gap * gap / (2 * spread)).exp()

            conditional = integral(inner, *parts[1].ends, fine)
            return f(a + b * u, analytic) * (u * u * -0.5).exp() * conditional

        whole = integral(outer, *parts[0].ends, arb(2) ** -goal, MOST_EVALUATIONS)
        if not whole.is_finite() or whole.real.rad() > arb(2) ** (SLACK - goal):
            raise NoEnclosure("the nested integrals need too much work: ask for fewer digits")
        if not whole.imag.contains(0):
            raise NoEnclosure("a function is not real everywhere")
        return whole.real / (2 * arb.pi() * spread.real.sqrt())


def _mean(f: Function, x: Symbol, mean: Expr, deviation: Expr, power: arb) -> GaussianMean:
    if isinstance(f, Expr):
        return EndlessMean(f, x, mean, deviation, power)
    return GaussianMean(joined(f), x, mean, deviation, power)


def _fourth_power(function: Callable[[acb], acb], z: acb) -> acb:
    return function(z) ** 4


def _cut(part: Part) -> bool:
    return part.left is not None and part.right is not None
