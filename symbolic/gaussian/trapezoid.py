"""The trapezoid rule with a proved error, for functions analytic in a strip around the real axis.

For g real on the real axis, and analytic on the rectangle of real parts a = (p - 1/2) h to
b = (q + 1/2) h and imaginary parts -d to d, the contour integral of g(z) cot(pi z/h)/(2i) gives

    |h Sum_{k=p}^{q} g(k h) - Int_a^b g(x) dx| <= 2 Int |g(z)| / |e^(-2 pi i z/h) - 1| |dz|

over the edge of its upper half but the real axis. On the top the denominator is at least
e^(2 pi d/h) - 1; on the sides, half way between two points of the grid, it is 1 + e^(2 pi y/h).
Nothing is needed beyond the rectangle but the tail on the real axis. Source for the idea:
Trefethen and Weideman (2014), The exponentially convergent trapezoidal rule, SIAM Review 56.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import ceil, exp, log, pi, sqrt

from flint import acb, arb, ctx

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.grids import Grid, grid_values, seconds
from varlaw.symbolic.gaussian.parts import Part, Scale
from varlaw.symbolic.gaussian.programs import Program
from varlaw.symbolic.gaussian.residues import NoResidue, correction, height_between, rows
from varlaw.symbolic.gaussian.strips import strip

LOW = 64  # bits, for bounds
MOST_POINTS, POINTS_PER_BIT = 200_000, 60  # the larger of the two
MOST_BOXES = 4_000
MANY_BITS = 600  # from where on a strip is looked for even if it must be verified on balls
CUTS = (-11.0, -6.5, -3.5, -1.5, 0.0, 1.5, 3.5, 6.5, 11.0)  # of the top edge, to begin with
DEEPEST = 14
SAMPLED = 4  # from so many cuts on the middle is looked at: the samples may have missed a peak
SIDE_DEEPEST = 8
HALVINGS = 10  # of the height
MOST_SECONDS = 120.0  # for the values on a grid
SLACK = 10  # bits that the error may be larger than aimed at
LOOSE, LOOSEST, SHARE = 100.0, 1e6, 0.1  # a bound may be so much above a value, or so much
# of the accuracy aimed at: only its logarithm counts


class NotSuited(Exception):
    """The rule cannot be used, or would need too many points."""


class NotBounded(NotSuited):
    """No bound was found at this height; there may be one at a lower one."""


@dataclass(frozen=True)
class Weight:
    """|w(t + i y)| <= exp(-decay t^2 + rise y^2): (1/2, 1/2) for exp(-t^2/2)."""

    decay: arb
    rise: arb


@dataclass(frozen=True)
class Line:
    """f(offset + slope t), analytic for |Im t| <= height near left < Re t < right; for bounds."""

    function: Callable[[acb], acb]
    offset: arb
    slope: arb
    left: float
    right: float
    weight: Weight
    height: float = 0.0

    def size(self, t: arb, y: arb | float) -> arb:
        """The upper end of |f| on the ball t + i y."""
        z = acb(self.offset + self.slope * t, self.slope * y)
        return arb(self.function(z).abs_upper())

    def fade(self, t: arb | float) -> arb:
        return (-self.weight.decay * t * t).exp()

    def sampled(self) -> float:
        """The logarithm of the largest sample of |f| and the decay, on the top edge."""
        best = arb(0)
        for k in range(-4, 5):
            t = arb((self.right if k > 0 else -self.left) * k * abs(k) / 16)
            best = best.max(self.size(t, self.height) * self.fade(t))
        if not best.is_finite():
            return float("inf")
        return float(best.log().mid()) if best > 0 else -1e9


def flat_line(program: Program, scale: Scale, left: float, right: float, weight: Weight) -> Line:
    """The real axis."""
    mean, deviation = ball(scale.mean), ball(scale.deviation)
    return Line(program.for_bounds(), mean, deviation, left, right, weight)


def line(
    program: Program,
    scale: Scale,
    left: float,
    right: float,
    weight: Weight,
    bits: int,
    size: int = 0,
) -> Line:
    """The line with a height at which the grid can be nearly as wide as possible.

    The accuracy aimed at is 2^-bits, for a function of a size near 2^size. Raises NotSuited where
    the singularities are not known.
    """
    with ctx.workprec(LOW):
        found = strip(program)
        if found.open and bits + size < MANY_BITS:
            raise NotSuited("no rule for the singularities")
        flat = flat_line(program, scale, left, right, weight)
        nats, rise = (bits + size) * log(2), float(weight.rise.mid())
        limit = float((found.half_width / abs(flat.slope)).lower())
        best = sqrt(nats / rise)  # where exp(rise d^2 - 2 pi d/h) is least, h being as good
        if limit < best and not found.open:
            return replace(flat, height=limit * (1 - min(0.25, 5 / nats)))
        ratings = []
        for share in (1.0, 0.8, 0.6, 0.45, 0.3, 0.2):
            candidate = replace(flat, height=min(best, limit) * share)
            above = candidate.sampled() + rise * candidate.height**2 - size * log(2)
            ratings.append((candidate.height / (max(above, 0.0) + nats), candidate))
        chosen = max(ratings, key=lambda rating: rating[0])[1]
        if found.open:
            _verify(chosen, program.on_complexes())
        return chosen


def grid(at: Line, bits: int, factor: arb, widest: float = 1.0) -> Grid:
    """The grid on which the error, times `factor`, is nearly 2^-bits; no wider than `widest`."""
    with ctx.workprec(LOW):
        loose = min(max(LOOSE, exp(min(SHARE * bits * log(2), 20.0))), LOOSEST)
        top = mass(at, loose=loose) * (at.weight.rise * at.height**2).exp() * factor
        nats = max(float((1 + 4 * top * arb(2) ** bits).log().mid()), 1e-9)
        widest = min(widest, 2 * pi * at.height / nats)
        step = arb(widest)
        first, last = -ceil(-at.left / widest - 0.5), ceil(at.right / widest - 0.5)
        if last - first > max(MOST_POINTS, POINTS_PER_BIT * bits):
            raise NotSuited("too many points")
        error = 2 * top / ((2 * arb.pi() * at.height / step).exp() - 1)
        for edge in ((first - arb(0.5)) * step, (last + arb(0.5)) * step):
            error += 2 * factor * _side(at, edge, step)
        if not error < arb(2) ** (SLACK - bits):
            raise NotBounded("no small bound on the error")
        return Grid(step, first, last, arb(error.upper()))


def _lower_grid(at: Line, bits: int, factor: arb) -> Grid:
    """The grid at the height of the line, or at a lower one where there is a bound."""
    for _ in range(HALVINGS):
        try:
            return grid(at, bits, factor)
        except NotBounded:
            at = replace(at, height=at.height / 2)
    return grid(at, bits, factor)


def mass(at: Line, margin: float = 1.0, loose: float = LOOSE) -> arb:
    """A bound on the integral of |f| times the decay along the top, by intervals cut as needed."""
    fine = arb(exp(min(max(at.sampled(), -700), 700)))  # only steers the cutting
    left, right = at.left - margin, at.right + margin
    inner = [c for c in CUTS if left < c < right]
    stack = [(low, high, 0) for low, high in pairwise([left, *inner, right])]
    total = arb(0)
    for _ in range(MOST_BOXES):
        if not stack:
            return arb(total.upper())
        low, high, depth = stack.pop()
        middle, half = (low + high) / 2, (high - low) / 2 * 1.0000001
        share = at.fade(max(0.0, abs(middle) - half)) * (2 * half)
        part = at.size(arb(middle, half), at.height) * share
        if depth >= SAMPLED and part.is_finite():
            fine = fine.max(share * at.size(arb(middle), at.height))
        if part <= loose * fine:
            total += part
        elif depth < DEEPEST:
            stack += [(low, middle, depth + 1), (middle, high, depth + 1)]
        else:
            break
    raise NotBounded("the function varies too fast in its strip, or is not bounded there")


def _side(at: Line, x: arb, step: arb) -> arb:
    """A bound on Int_0^height |f(x + i y) w(x + i y)| / (1 + e^(2 pi y/h)) dy."""
    count = max(2, ceil(at.height))
    ends = [*(at.height * k / count for k in range(count)), at.height]
    stack, total = [(low, high, 0) for low, high in pairwise(ends)], arb(0)
    while stack:
        low, high, depth = stack.pop()
        size = at.size(x, arb(low).union(high))
        if not size.is_finite():
            if depth == SIDE_DEEPEST:
                raise NotBounded("the function is not bounded at the sides of its strip")
            middle = (low + high) / 2
            stack += [(low, middle, depth + 1), (middle, high, depth + 1)]
            continue
        # the exponent is convex in y: it is largest at an end of each interval
        exponents = [(at.weight.rise * y - 2 * arb.pi() / step) * y for y in (low, high)]
        total += size * exponents[0].max(exponents[1]).exp() * (arb(high) - low)
    return total * at.fade(x)


def _verify(at: Line, function: Callable[[acb, bool], acb]) -> None:
    """Proof, on balls, that f is analytic in the upper half of the rectangle."""
    stack = [(arb(at.left - 1.0), arb(at.right + 1.0), arb(0), arb(at.height))]
    for _ in range(MOST_BOXES):
        if not stack:
            return
        low, high, bottom, top = stack.pop()
        box = acb(at.offset + at.slope * low.union(high), at.slope * bottom.union(top))
        if function(box, True).is_finite():
            continue
        if high - low > top - bottom:
            middle = ((low + high) / 2).mid()
            stack += [(low, middle, bottom, top), (middle, high, bottom, top)]
        else:
            middle = ((bottom + top) / 2).mid()
            stack += [(low, high, bottom, middle), (low, high, middle, top)]
    raise NotSuited("the function was not shown to be analytic in its strip")


def mean_on_line(
    part: Part, scale: Scale, bits: int, size: int, guard: int, even: bool = False
) -> arb:
    """E[f(Z)] on a part that is cut off on both sides, without the tails.

    The error is nearly 2^-bits for a function of a size near 2^size. `even` says that f is, and
    that the mean is 0. Raises NotSuited.
    """
    assert part.left is not None and part.right is not None
    half = arb(0.5)
    left, right = part.left, part.right
    if even:
        right = max(-left, right)
        left = -right
    at = line(part.program, scale, left, right, Weight(half, half), bits, size)
    points, inside = _grid_and_residues(part.program, scale, at, bits, size, even)
    _look_at_time(seconds(part.program, points, bits), bits)
    needed = partial(part.needed, bits + guard)
    values = grid_values(part.program, scale, points, half, needed, even)
    result = (sum(values, arb(0)) * points.step + inside) / (2 * arb.pi()).sqrt()
    if not result.is_finite():
        raise NoEnclosure(f"{part.program.expression} is not finite on the whole line")
    return result + points.error * arb(0, 1)


def _look_at_time(needed: float, bits: int) -> None:
    """Raise NoEnclosure where the values would take too long; they grow like digits^2.7."""
    if needed > MOST_SECONDS:
        possible = round(0.3 * bits * (MOST_SECONDS / needed) ** (1 / 2.7), -2)
        raise NoEnclosure(
            f"so many digits would take about {needed / 60:.0f} minutes; ask for {possible:.0f}"
        )


def _grid_and_residues(
    program: Program, scale: Scale, at: Line, bits: int, size: int, even: bool
) -> tuple[Grid, arb]:
    """The grid, and what the poles add that are left between it and the height of the rule."""
    factor = 1 / (2 * arb.pi()).sqrt()
    try:
        found, ceiling = rows(program, scale)
        span = at.right - at.left if not even else at.right
        height = height_between(found, ceiling, span, (bits + size) * log(2), at.height)
        if height > at.height:
            inside = [pole for row in found for pole in row.below(height)]
            points = grid(replace(at, height=height), bits, factor)
            ends = (points.first - arb(0.5)) * points.step, (points.last + arb(0.5)) * points.step
            added = correction(program, scale, points.step, ends, inside)
            if added.rad() < arb(2) ** (SLACK - bits):
                return points, added
    except (NoResidue, NotSuited):
        pass
    with ctx.workprec(LOW):
        return _lower_grid(at, bits, factor), arb(0)
