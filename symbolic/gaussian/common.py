"""E[f(Z1) g(Z2)] where f or g has kinks, by what the two variables have in common.

In standard units, with r = |rho| and s its sign, Z1 = sqrt(r) W + sqrt(1 - r) A and Z2 =
s sqrt(r) W + sqrt(1 - r) B with independent W, A and B. So the expectation is that of F(W) G(W)
with F(w) = E[f | W = w], which is entire however rough f is: off the real axis its kernel grows
by exp(r y^2/(2 (1 - r))). For functions cut off where |f| <= M and |g| <= N the trapezoid rule for
F G times the density is off by at most, for every y > 0,

    2 M N exp(y^2 (1 + r)/(2 (1 - r))) / (exp(2 pi y/h) - 1).

Source for the rule: Trefethen and Weideman (2014), SIAM Review 56.
"""

from collections.abc import Sequence
from math import ceil, log, pi, sqrt

from flint import acb, arb, ctx

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.domains import prove_finite
from varlaw.symbolic.gaussian.parts import Part, Scale
from varlaw.symbolic.gaussian.quadrature import LOW, integral
from varlaw.symbolic.gaussian.trapezoid import NotSuited

MOST_POINTS = 2_000
CELLS = 64
MOST_CELLS = 4_000


class Side:
    """One of the functions, on its parts: its size, and its mean given the common variable."""

    def __init__(self, parts: Sequence[Part], scale: Scale, r: arb, sign: int) -> None:
        self.parts, self.scale = parts, scale
        self.pull, self.spread = sign * r.sqrt(), 1 - r
        with ctx.workprec(LOW):
            self.size = max((self._size(part) for part in parts), default=arb(0))

    def _size(self, part: Part) -> arb:
        """A bound on |f| on a part. Raises NoEnclosure where f is not known to be finite there."""
        mean, deviation = ball(self.scale.mean), ball(self.scale.deviation)
        low, high = part.ends
        prove_finite(part.program, part.piece, mean + deviation * low, mean + deviation * high)
        function, width = part.program.on_reals(), (high - low) / CELLS
        cells = [(low + width * k).union(low + width * (k + 1)) for k in range(CELLS)]
        best = arb(0)
        for _ in range(MOST_CELLS):
            if not cells:
                return best
            cell = cells.pop()
            value = function(mean + deviation * cell)
            if value.is_finite():
                best = best.max(arb(value.abs_upper()))
            else:
                middle = arb(cell.mid())
                cells += [arb(cell.lower()).union(middle), middle.union(arb(cell.upper()))]
        raise NoEnclosure(f"{part.program.expression} is not known to be bounded")

    def given(self, w: arb, tolerance: arb) -> arb:
        """E[f | W = w], with a radius near the tolerance."""
        centre, spread = acb(self.pull * w), acb(self.spread)
        place, slope = acb(ball(self.scale.mean)), acb(ball(self.scale.deviation))
        total = acb(0)
        for part in self.parts:
            function = part.program.on_complexes()

            def integrand(t: acb, analytic: bool) -> acb:
                gap = t - centre
                return function(place + slope * t, analytic) * (-gap * gap / (2 * spread)).exp()  # noqa: B023

            total += integral(integrand, *part.ends, tolerance)
        if not total.imag.contains(0):
            raise NoEnclosure("a function is not real everywhere")
        return total.real / (2 * arb.pi() * self.spread).sqrt()


def mean_by_common_part(one: Side, other: Side, r: arb, goal: int) -> arb:
    """The mean of the product at correlation r or -r, with a radius near 2^-goal.

    Raises NotSuited where that takes too many points.
    """
    size = arb((one.size * other.size).upper())
    if size == 0:
        return arb(0)
    rise = float(((1 + r) / (2 * (1 - r))).mid())
    nats = (goal + 2) * log(2) + max(float(size.log().mid()), 0.0)
    height, reach = sqrt(nats / rise), sqrt(2 * nats)
    step = arb(2 * pi * height / (nats + rise * height * height))
    last = ceil(reach / float(step.mid()))
    if 2 * last > MOST_POINTS:
        raise NotSuited("too many points")
    with ctx.workprec(LOW):
        y = arb(height)
        off = 2 * (y * y * (1 + r) / (2 * (1 - r))).exp() / ((2 * arb.pi() * y / step).exp() - 1)
        beyond = (step * last / arb(2).sqrt()).erfc()  # of the sum, by the integral of the density
        error = arb((size * (off + beyond)).upper())
    fine = arb(2) ** -(goal + 6)
    tolerances = [fine / max(side.size.mid(), arb(1)) for side in (other, one)]
    total = arb(0)
    for k in range(-last, last + 1):
        w = step * k
        values = [side.given(w, near) for side, near in zip((one, other), tolerances, strict=True)]
        total += values[0] * values[1] * (-w * w / 2).exp()
    return total * step / (2 * arb.pi()).sqrt() + error * arb(0, 1)
