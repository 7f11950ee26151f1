"""Poles that the trapezoid rule may leave inside its rectangle, and what they add to the sum.

With u(z) = e^(2 pi i z/h) and the poles z_j of g in the upper half of the rectangle, the contour
integral of the rule (see `trapezoid`) has their residues besides:

    Int g = h Sum g(k h) + 4 pi Im Sum_j Res(g u/(1 - u), z_j) + (the integrals over the edge).

So the grid may be as wide as a height between two rows of poles lets it be. The residues are
coefficients of Laurent series, found by running the program on series in balls around a pole: the
order of the zero in a denominator is known from its polynomial, not from the balls. Source for the
idea: Trefethen and Weideman (2014), SIAM Review 56, section 5; Chiarella and Reichel (1968).
"""

from collections.abc import Sequence
from itertools import pairwise
from math import pi, sqrt
from typing import NamedTuple

from flint import acb, acb_series, arb, ctx

from varlaw.symbolic.gaussian.balls import ball, raised
from varlaw.symbolic.gaussian.operations import POLES, Step
from varlaw.symbolic.gaussian.parts import Scale
from varlaw.symbolic.gaussian.programs import Program
from varlaw.symbolic.gaussian.strips import poles

HIGHEST = 60  # order of a pole
PER_POLE = 40  # points of the grid that take as long as the series at a pole
CLEAR, NEAREST = 1.0, 1e-6  # between the height and a pole
MOST_POLES = 100
ENTIRE = {"exp", "sin", "cos", "erf", "erfc", "erfi"}


class NoResidue(Exception):
    """The poles, or the series at one of them, are not known."""


class Inside(NamedTuple):
    """A pole in units of t, and the register that has a zero or pole of that order there."""

    t: acb
    register: int
    order: int


class Row(NamedTuple):
    """Poles one above the other in units of t, from the first above the real axis."""

    first: Inside
    period: arb | None

    def below(self, height: float) -> list[Inside]:
        """Those that are certainly below the height. Raises NoResidue for a doubtful one."""
        found: list[Inside] = []
        t = self.first.t
        while not t.imag > height:
            if not t.imag < height or len(found) > MOST_POLES:
                raise NoResidue("a pole at the edge")
            found.append(self.first._replace(t=t))
            if self.period is None:
                break
            t += acb(0, self.period)
        return found


def rows(program: Program, scale: Scale) -> tuple[list[Row], arb]:
    """All poles above the real axis, up to a height. Raises NoResidue where none are known."""
    found, ceiling = [], arb.pos_inf()
    mean, deviation = ball(scale.mean), ball(scale.deviation)
    for register, step in enumerate(program.steps, program.first):
        if step.operation not in POLES | ENTIRE | {"add", "mul", "raise"}:
            raise NoResidue(f"{step.operation} has other singularities")
        if step.operation not in POLES:
            continue
        known = poles(program, step)
        ceiling = ceiling.min(known.height / deviation)
        if not ceiling > 0:
            raise NoResidue(f"the poles of {step.operation} are not known")
        for pole in known.points:
            t, period = (pole.point - mean) / deviation, pole.period and pole.period / deviation
            if period is not None:
                t += acb(0, period * -(t.imag / period).mid().floor())
            if t.imag > 0:
                found.append(Row(Inside(t, register, pole.order), period))
            elif period is not None or not t.imag < 0:
                raise NoResidue("a pole near the real axis")
    return found, ceiling


def height_between(
    found: Sequence[Row], ceiling: arb, span: float, nats: float, flat: float
) -> float:
    """The height at which the rule takes the least time; `flat` if that is below all poles.

    `span` is the length of the range in units of t, and e^-nats the accuracy aimed at.
    """
    best = min(sqrt(2 * nats), 0.999 * float(ceiling.lower()))
    levels: list[float] = []
    for row in found:
        level, period = float(row.first.t.imag.mid()), float((row.period or arb.pos_inf()).mid())
        while level < best + CLEAR and len(levels) < MOST_POLES:
            levels.append(level)
            level += period
    levels.sort()

    def cost(height: float, below: int) -> float:
        return span * (nats + height * height / 2) / (2 * pi * height) + PER_POLE * below

    ways = [(cost(flat, 0), flat)]
    for below, (low, high) in enumerate(pairwise([*levels, best + 2 * CLEAR]), 1):
        height = min((low + high) / 2, best) if high < best + CLEAR else best
        if height - low > NEAREST:
            ways.append((cost(height, below), height))
    return min(ways)[1]


def correction(
    program: Program, scale: Scale, step: arb, ends: tuple[arb, arb], inside: Sequence[Inside]
) -> arb:
    """4 pi Im Sum_j Res(g u/(1 - u), z_j) for g = f exp(-t^2/2) and the poles between the ends.

    Raises NoResidue where a series, or the place of a pole, is not known.
    """
    registers = {pole.register for pole in inside}
    if len(registers) > 1 and any(
        p.t.overlaps(q.t) for k, p in enumerate(inside) for q in inside[:k]
    ):
        raise NoResidue("two steps may have a pole at the same place")
    total = arb(0)
    for pole in inside:
        if pole.t.real < ends[0] or pole.t.real > ends[1]:
            continue
        if not (pole.t.real > ends[0] and pole.t.real < ends[1]):
            raise NoResidue("a pole at the side")
        total += _residue(program, scale, step, pole).imag
    return 4 * arb.pi() * total


def _residue(program: Program, scale: Scale, step: arb, pole: Inside) -> acb:
    cap = ctx.cap
    try:
        order = _order(program, pole)
        if order <= 0:
            return acb(0)
        if order > HIGHEST:
            raise NoResidue("a pole of too high an order")
        ctx.cap = length = order + pole.order
        laurent = _laurent(program, scale, pole, length)
        t, pace = pole.t, acb(0, 2 * arb.pi() / step)
        fade = acb_series([(pace - t / 2) * t, pace - t, acb(-0.5)], length).exp()
        wave = acb_series([pace * t, pace], length).exp()
        product = laurent.series * fade / (1 - wave)
        coefficients, place = product.coeffs(), -1 - laurent.start
    finally:
        ctx.cap = cap
    found: acb = coefficients[place] if place < len(coefficients) else acb(0)
    if place >= product.prec or not found.is_finite():
        raise NoResidue("a series with a doubtful zero in a denominator")
    return found


def _order(program: Program, pole: Inside) -> int:
    """The order of the function's pole there, at most: where leading terms cancel it is lower."""
    orders = [0] * program.first
    for position, step in enumerate(program.steps, program.first):
        order = orders[step.left]
        if position == pole.register:
            order = pole.order
        elif step.operation == "add":
            order = max(order, orders[step.right])
        elif step.operation == "mul":
            order += orders[step.right]
        elif step.operation == "raise":
            order *= step.exponent
        elif step.operation == "inverse":
            order = -order
        elif order > 0:
            raise NoResidue("a function of an infinite value")
        else:
            order = 0
        orders.append(order)
    return orders[program.result]


class Laurent(NamedTuple):
    """e^start times a power series in e."""

    start: int
    series: acb_series

    def __add__(self, other: "Laurent") -> "Laurent":  # type: ignore[override]
        start = min(self.start, other.start)
        return Laurent(start, self.from_power(start) + other.from_power(start))

    def __mul__(self, other: "Laurent") -> "Laurent":  # type: ignore[override]
        return Laurent(self.start + other.start, self.series * other.series)

    def from_power(self, start: int) -> acb_series:
        return _shifted(self.series, self.start - start)


def _shifted(series: acb_series, by: int) -> acb_series:
    if by == 0:
        return series
    return acb_series([*[acb(0)] * by, *series.coeffs()], series.prec + by)


def _laurent(program: Program, scale: Scale, pole: Inside, length: int) -> Laurent:
    """The function around a pole, in powers of t - pole.t."""
    mean, deviation = ball(scale.mean), ball(scale.deviation)
    x = acb_series([mean + deviation * pole.t, acb(deviation)], length)
    registers = [Laurent(0, x)]
    registers += [Laurent(0, acb_series([acb(c)], length)) for c in program.constants()]
    for position, step in enumerate(program.steps, program.first):
        order = pole.order if position == pole.register else 0
        registers.append(_step(step, registers, order))
    return registers[program.result]


def _step(step: Step, registers: list[Laurent], order: int) -> Laurent:
    u = registers[step.left]
    match step.operation:
        case "add":
            return u + registers[step.right]
        case "mul":
            return u * registers[step.right]
        case "raise":
            return Laurent(u.start * step.exponent, raised(u.series, step.exponent))
        case "inverse":
            return Laurent(-u.start - order, 1 / _without_zero(u.series, order))
        case "tanh":  # i pi/2 and its like are added to an odd power series
            argument = u.from_power(0)
            if order:
                argument = acb_series([acb(0), *argument.coeffs()[1:]], argument.prec)
            wave = (2 * argument).exp()
            above, below = (wave + 1, wave - 1) if order else (wave - 1, wave + 1)
            return Laurent(-order, above / _without_zero(below, order))
        case name:
            return Laurent(0, getattr(u.from_power(0), name)())


def _without_zero(series: acb_series, order: int) -> acb_series:
    """The series over e^order, where it is known to have a zero of that order."""
    return acb_series(series.coeffs()[order:], series.prec - order) if order else series
