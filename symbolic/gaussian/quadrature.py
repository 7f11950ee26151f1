"""Adaptive Gauss-Legendre quadrature in ball arithmetic, on parts of the line.

Source: Johansson (2018), Numerical integration in arbitrary-precision ball arithmetic, as
`acb.integral`. Its ends are exact here: the variable is shifted so that a kink lies at zero.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count, pairwise
from math import ceil

from flint import acb, arb, ctx
from sympy import Rational

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.domains import prove_finite
from varlaw.symbolic.gaussian.endpoints import Endpoint
from varlaw.symbolic.gaussian.parts import Part, Scale
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.waves import Line, has_fast_waves, integral_of_waves

LOW = 64  # bits, for bounds
EVALUATIONS_PER_BIT = 400
FAR_OFF = arb(2) ** 32  # times the tolerance


def integral(
    function: Callable[[acb, bool], acb],
    low: arb,
    high: arb,
    tolerance: arb,
    most: int | None = None,
) -> acb:
    """The integral between two ends that may be inexact, by at most so many evaluations.

    Raises NoEnclosure where so many tell nothing.
    """
    most = most or EVALUATIONS_PER_BIT * ctx.prec
    evaluations = count()

    def counted(z: acb, analytic: bool) -> acb:
        next(evaluations)
        return function(z, analytic)

    total = acb.integral(
        counted, acb(low.mid()), acb(high.mid()), abs_tol=tolerance, eval_limit=most
    )
    if next(evaluations) >= most and total.real.rad() > FAR_OFF * tolerance:
        raise NoEnclosure(f"the function varies too fast for {most} evaluations of it")
    for end in (low, high):
        if not end.is_exact():
            size = arb(function(acb(end), False).abs_upper()) * arb(end.rad())
            total += acb(size * arb(0, 1), size * arb(0, 1))
    return total


def mean_on_part(part: Part, scale: Scale, goal: int) -> arb:
    """E[f(Z); Z in the part], without its tails, with a radius near 2^-goal.

    Where f is not known to be finite, it may have a singularity at an end that is not cut off.
    """
    try:
        return _mean(part, scale, goal)
    except NoEnclosure:
        inner, ends = _without_ends(part, scale)
        if not ends:
            raise
    return _mean(inner, scale, goal) + sum((end.mean(scale, goal) for end in ends), arb(0))


def _without_ends(part: Part, scale: Scale) -> tuple[Part, list[Endpoint]]:
    """The part without the neighbourhoods of those ends that are not cut off."""
    low, high = part.ends
    width = Rational(1)
    while not 3 * ball(width) < high - low:
        width /= 2
    piece, x = part.piece, part.program.variable
    lower, upper, step = piece.lower, piece.upper, width * scale.deviation
    ends = []
    if part.left is None:
        ends.append(Endpoint(piece.expression, x, lower, 1, width))
        lower, low = lower + step, part.low + ball(width)
    if part.right is None:
        ends.append(Endpoint(piece.expression, x, upper, -1, width))
        upper, high = upper - step, part.high - ball(width)
    inner = Piece(lower, upper, piece.expression)
    return replace(part, piece=inner, low=low, high=high), ends


def _mean(part: Part, scale: Scale, goal: int) -> arb:
    base, stretch, length, origin, pace = _parameter(part, scale)
    cuts = [arb(0), arb(length)]
    peak = (-base / stretch).mid()
    if 0 < peak < length:
        cuts.insert(1, peak)
    with ctx.workprec(LOW):
        first, last = origin, origin + pace * length
        prove_finite(part.program, part.piece, first.min(last), first.max(last))
    unit = abs(stretch) / (2 * arb.pi()).sqrt()
    tolerance = (arb(2) ** -goal / unit).mid()
    f, x = part.program.expression, part.program.variable
    if has_fast_waves(f, x):
        try:
            line = Line(base, stretch, length, origin, pace)
            return integral_of_waves(f, x, line, tolerance, EVALUATIONS_PER_BIT * ctx.prec) * unit
        except NoEnclosure:
            pass
    function = part.program.on_complexes()
    start, pull, place, slope = acb(base), acb(stretch), acb(origin), acb(pace)

    def integrand(u: acb, analytic: bool) -> acb:
        t = start + pull * u
        return function(place + slope * u, analytic) * (t * t * -0.5).exp()

    total = acb(0)
    for a, b in pairwise(cuts):
        total += integral(integrand, a, b, tolerance)
    if not total.imag.contains(0):
        raise NoEnclosure(f"{part.program.expression} is not real everywhere")
    return total.real * unit


def _parameter(part: Part, scale: Scale) -> tuple[arb, arb, float, arb, arb]:
    """(base, stretch, length, origin, pace): t = base + stretch u, x = origin + pace u."""
    mean, deviation, one = ball(scale.mean), ball(scale.deviation), arb(1)
    lower, upper = part.piece.lower, part.piece.upper
    if part.left is not None and part.right is not None:
        base = arb(part.left)
        return base, one, part.right - part.left, mean + deviation * base, deviation
    if part.right is not None:
        base = scale.standard(lower)
        return base, one, _float_above(part.right - base), ball(lower), deviation
    if part.left is not None:
        base = scale.standard(upper)
        return base, -one, _float_above(base - part.left), ball(upper), -deviation
    width = ball(upper - lower)
    return scale.standard(lower), width / deviation, 1.0, ball(lower), width


def _float_above(value: arb) -> float:
    """A short float that is not below the value."""
    return ceil(float(value.upper()) * 1024 + 1) / 1024
