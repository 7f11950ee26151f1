"""The class of growth of a nonlinear recurrence: which end or fixed point draws it, and how fast.

Between neighbouring fixed points the sign of step - q does not change, so that an increasing step
leads from a value to the next fixed point (or end) on the side of that sign.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

from flint import arb, ctx
from sympy import Expr, Float, Integer, Symbol, exp, powsimp

from varlaw.symbolic.blocks.asymptotics import FAILURES, LAYERS, Ends, Term, fading, growing, steady
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.recurrence import Growth, Product, Recurrence
from varlaw.symbolic.blocks.roots import OCTAVES, FixedPoint, FixedPoints, fixed_points
from varlaw.symbolic.blocks.state import ONE, ZERO
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.decimals import Enclosed, shown
from varlaw.symbolic.gaussian.fixed_points import LOW

UNKNOWN = Growth("")
DIGITS = 12
BITS = 80


@dataclass(frozen=True)
class Fate:
    """Where a recurrence goes: its growth, the point that draws it, and all fixed points.

    `drawn` is the fixed point, 0 or None for values that grow without bound; `known` says whether
    the class was found.
    """

    growth: Growth
    points: FixedPoints
    drawn: FixedPoint | Expr | None = None

    @property
    def known(self) -> bool:
        return bool(self.growth.kind)


def fate(path: Recurrence) -> Fate:
    """Where a recurrence with a numeric step goes; the class "" where that is not known.

    From a number the way is that of its sign; from a name, that of the only point that attracts.
    """
    step, q = steady(path.step), path.variable
    points = fixed_points(step, q)
    zero, far = _at_zero(step, q), _far_out(step, q)
    drawing: list[tuple[Growth | None, FixedPoint | Expr | None]] = [
        (zero, ZERO),
        *((_inside(point), point) for point in points.found),
        (far, None),
    ]
    if path.first.free_symbols:
        attracting = [one for one in drawing if one[0] is not None]
        if len(attracting) != 1 or attracting[0][0] == UNKNOWN:
            return Fate(UNKNOWN, points)
    else:
        place = _next(replace(path, step=step), points)
        if place is None or drawing[place][0] is None:
            return Fate(UNKNOWN, points)
        attracting = [drawing[place]]
    growth, drawn = attracting[0]
    assert growth is not None
    if isinstance(drawn, FixedPoint) and _falls(step, q):
        return Fate(UNKNOWN, points)
    return Fate(growth, points, drawn)


def _falls(step: Expr, q: Symbol) -> bool:
    """Whether the step falls from one power of 2 to the next somewhere, or may not be looked at."""
    try:
        with ctx.workprec(LOW):
            low, high = OCTAVES
            values = [enclosure(step, {q: arb(2) ** k}) for k in range(low, high + 1)]
    except FAILURES:
        return True
    return any(before > after for before, after in pairwise(values))


def _next(path: Recurrence, points: FixedPoints) -> int | None:
    """The place, 0 for zero, of the next point on the side to which the first value moves."""
    try:
        with ctx.workprec(BITS):
            first = ball(path.first)
            gap = enclosure(path.step, {path.variable: first}) - first
            below = [bool(first > point.value.value) for point in points.found]
            apart = all(not first.overlaps(point.value.value) for point in points.found)
    except FAILURES:
        return None
    if gap.contains(0) or not apart:
        return None
    return sum(below) + (1 if gap > 0 else 0)


def _inside(point: FixedPoint) -> Growth | None:
    """The growth towards a fixed point; None where it repels."""
    if point.stable is None:
        return UNKNOWN
    if not point.stable:
        return None
    assert point.slope is not None
    return Growth("bounded", decimal(point.slope), decimal(point.value))


def _at_zero(step: Expr, q: Symbol) -> Growth | None:
    """The growth towards 0; None where 0 repels."""
    terms = Ends(step, q).near_zero
    if not terms:
        return UNKNOWN
    first, *rest = terms
    if first.power != 1:
        return None if first.power < 1 else Growth("bounded", ZERO, ZERO)
    side = _against_one(first.coefficient)
    if side is None:
        return UNKNOWN
    if side:
        return None if side > 0 else Growth("exponential", first.coefficient)
    if not rest:
        return UNKNOWN
    if _sign(rest[0].coefficient) >= 0:
        return None
    power, value = fading(rest[0].coefficient, rest[0].power - 1)
    return Growth("polynomial", power, ZERO, value)


def _far_out(step: Expr, q: Symbol) -> Growth | None:
    """The growth without bound; None where large values come back."""
    leading = Ends(step, q).far_out
    if leading is None:
        return UNKNOWN
    if leading.power != 1:
        return None if leading.power < 1 else UNKNOWN
    side = _against_one(leading.coefficient)
    if side is None:
        return UNKNOWN
    if side:
        return None if side < 0 else Growth("exponential", leading.coefficient)
    added = Ends(step - q, q).far_out
    if added is None or added.power >= 1:
        return UNKNOWN
    if _sign(added.coefficient) < 0:
        return None
    return unbounded(added)


def unbounded(added: Term) -> Growth:
    """The growth of q -> q + b q^p far out."""
    if added.power == 0:
        return Growth("linear", added.coefficient)
    power, value = growing(added)
    kind = "sqrt" if power == ONE / 2 else "polynomial"
    return Growth(kind, power, None, value)


def gradient_fate(product: Product, forward: Fate) -> Growth:
    """The growth of gradients: by the factor where the second moments go.

    At a neutral end, where the factor is 1 + c q^s, the product of 1 + c q_l^s along q_l = k l^a
    goes like the power c k^s of l for a s = -1, and its logarithm like c k^s l^(1 + a s)/(1 + a s)
    for a s > -1, as in streams of tanh (Yang and Schoenholz 2017, section 4).
    """
    factor, q = product.factor, product.path.variable
    if not forward.known:
        return UNKNOWN
    if isinstance(forward.drawn, FixedPoint):
        try:
            with ctx.workprec(BITS):
                rate = shown(enclosure(factor, {q: forward.drawn.value.value}), DIGITS)
        except FAILURES:
            return UNKNOWN
        return UNKNOWN if rate.value.contains(1) else Growth("exponential", decimal(rate))
    terms = _at_end(factor, q, forward.drawn == ZERO)
    if not terms or terms[0].power != 0:
        return UNKNOWN
    side = _against_one(terms[0].coefficient)
    if side is None:
        return UNKNOWN
    if side:
        return Growth("exponential", terms[0].coefficient)
    value = forward.growth.asymptotic
    if forward.growth.kind == "linear" and forward.growth.rate is not None:
        value = forward.growth.rate * LAYERS
    if value is None or len(terms) < 2:
        return UNKNOWN
    change = powsimp(terms[1].coefficient * value ** terms[1].power * LAYERS)
    if not change.free_symbols:
        return Growth("polynomial", change)
    power = (LAYERS * change.diff(LAYERS) / change).simplify()
    if not (power.is_number and power.is_positive):
        return UNKNOWN
    return Growth("subexponential", power, None, exp(change / power))


def _at_end(factor: Expr, q: Symbol, zero: bool) -> list[Term]:
    """The first two terms of a factor near 0, or far out; fewer where they are not known."""
    if zero:
        return Ends(factor, q).near_zero or []
    first = Ends(factor, q).far_out
    if first is None or first.power != 0:
        return [] if first is None else [first]
    second = Ends(factor - first.coefficient, q).far_out
    return [first] if second is None else [first, second]


def decimal(value: Enclosed) -> Expr:
    """The digits of an enclosed number."""
    if value.digits == "0":
        return Integer(0)
    return Float(value.digits, len(value.digits.partition("e")[0].replace(".", "").lstrip("-0")))


def _against_one(value: Expr) -> int | None:
    """The sign of value - 1; None where it is not known."""
    if value == 1:
        return 0
    sign = _sign(value - 1)
    return sign or None


def _sign(value: Expr) -> int:
    """The proved sign of a number; 0 where there is none."""
    try:
        with ctx.workprec(LOW):
            found = ball(value)
    except FAILURES:
        return 0
    return 1 if found > 0 else -1 if found < 0 else 0
