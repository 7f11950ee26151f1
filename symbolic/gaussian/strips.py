"""How far from the real axis a function stays analytic, by a rule per building block.

Singularities come from divisions, tanh, logarithms and roots. For a sum of exponentials of
commensurable rates, P(e^(g x)), the zeros follow from the roots of the polynomial P; likewise for
a polynomial in x. What no rule covers is left to be verified on balls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import lcm
from typing import Any, NamedTuple

from flint import acb, acb_poly, arb, ctx, fmpz, fmpz_poly
from sympy import Integer

from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.operations import CUT, POLES, Step
from varlaw.symbolic.gaussian.programs import MOST_TERMS, Coefficients, Exponentials, Program

LOST_BITS = 40  # in the roots of polynomials
BITS_PER_POLE = 150  # of tanh of a cubic: so many bits of precision for each pole


@dataclass(frozen=True)
class Strip:
    """Analytic for |Im x| < half_width; `open` registers are still to be verified."""

    half_width: arb
    open: tuple[int, ...]


def strip(program: Program) -> Strip:
    """The widest strip that the rules prove."""
    width, unknown = arb.pos_inf(), []
    sums = program.exponential_sums
    for position, step in enumerate(program.steps, program.first):
        if step.operation in CUT | POLES:
            found = _rule(program, step, sums)
            if found is None:
                unknown.append(position)
            else:
                width = width.min(found)
    return Strip(width, tuple(unknown))


class Pole(NamedTuple):
    """Where a step has a pole of that order; in a row of poles, the first and their distance."""

    point: acb
    order: int
    period: arb | None = None


class Poles(NamedTuple):
    """Poles above the real axis or below it, one of each row; all of those with |Im x| < height."""

    points: list[Pole]
    height: arb


def poles(program: Program, step: Step) -> Poles:
    """The poles of a division or of tanh that rules tell."""
    polynomial = program.polynomials.get(step.left)
    nothing = Poles([], arb(0))
    if step.operation == "tanh" and polynomial is not None and len(polynomial) > 1:
        if len(polynomial) == 4 and ctx.prec > BITS_PER_POLE:
            return _poles_of_cubic(polynomial, ctx.prec // BITS_PER_POLE)
        if len(polynomial) > 2:
            return Poles([Pole(z, 1) for z in _where_odd(polynomial, 0)], arb(0))
        b, a = map(ball, polynomial)
        point = (acb(0, arb.pi() / 2) - b) / a
        return Poles([Pole(point, 1, arb.pi() / abs(a))], arb.pos_inf())
    if step.operation != "inverse":
        return nothing
    if polynomial is not None:
        roots = _roots(polynomial)
        return nothing if roots is None else Poles([Pole(*root) for root in roots], arb.pos_inf())
    sums = program.exponential_sums.get(step.left)
    known = None if sums is None else _commensurable(sums)
    roots = None if known is None else _roots(known[1])
    if known is None or roots is None or any(root.contains(0) for root, _ in roots):
        return nothing
    rate = known[0]
    points = [Pole(z.log() / rate, n, 2 * arb.pi() / abs(rate)) for z, n in roots]
    return Poles(points, arb.pos_inf())


def _where_odd(polynomial: Coefficients, k: int) -> list[acb]:
    """Where a polynomial is i pi (k + 1/2)."""
    coefficients = [acb(ball(c)) for c in polynomial]
    coefficients[0] -= acb(0, arb.pi() * (k + arb(0.5)))
    return acb_poly(coefficients).roots(tol=_fine())


def _fine() -> arb:
    """Roots are found to this accuracy; at first they are only told apart."""
    return arb(2) ** (LOST_BITS - ctx.prec)


def _poles_of_cubic(polynomial: Coefficients, count: int) -> Poles:
    """The poles of tanh(p), for p as in `_tanh_of_cubic`, where |p| < pi (count + 1/2).

    With w = x + i y they have x = 0 or x^2 = 3 y^2 - b/c, so that |p| = |y (b - c y^2)| or
    |y (8 c y^2 - 2 b)|: both are at most y (2 b + 8 c y^2) in size.
    """
    known = _centred(polynomial)
    if known is None:
        return Poles([], arb(0))
    b, c = known
    points = []
    for k in range(count):  # p is real: the conjugates are where it is -i pi (k + 1/2)
        points += [z if z.imag > 0 else z.conjugate() for z in _where_odd(polynomial, k)]
    low, high, most = arb(0), arb(1000), arb.pi() * (count + arb(0.5))
    for _ in range(30):
        middle = ((low + high) / 2).mid()
        if middle * (2 * b + 8 * c * middle * middle) < most:
            low = middle
        else:
            high = middle
    return Poles([Pole(z, 1) for z in points], low)


def _rule(program: Program, step: Step, sums: dict[int, Exponentials]) -> arb | None:
    polynomial = program.polynomials.get(step.left)
    if step.operation == "tanh" and polynomial is not None and len(polynomial) == 2:
        return arb.pi() / (2 * abs(ball(polynomial[1])))
    if step.operation == "tanh" and polynomial is not None and len(polynomial) == 4:
        return _tanh_of_cubic(polynomial)
    if step.operation == "inverse" and polynomial is not None:
        return _width_of_roots(_roots(polynomial), lambda root: abs(root.imag))
    if step.left not in sums:
        return None
    found = _commensurable(sums[step.left])
    if found is None:
        return None
    rate, coefficients = found
    if step.operation == "inverse":
        widths = _width_of_roots(_roots(coefficients), lambda root: abs(root.arg()))
        return None if widths is None else widths / abs(rate)
    # p + q e^w with p, q > 0 is on the negative axis only where Im w is an odd multiple of pi
    simple = len(coefficients) == 2 and all(ball(c) > 0 for c in coefficients)
    return arb.pi() / abs(rate) if simple and step.operation in ("log", "sqrt", "power") else None


def _tanh_of_cubic(polynomial: Coefficients) -> arb | None:
    """A width for tanh(p), p(z) = b w + c w^3 with w = z - z0 and b, c of one sign.

    A pole is where Re p = 0 and Im p is an odd multiple of pi/2. For |Im w| < sqrt(b/(3 c)) the
    real part is zero at Re w = 0 only, and there |Im p| = |y (b - c y^2)| grows with |y|.
    """
    known = _centred(polynomial)
    if known is None:
        return None
    b_size, c_size = known
    width = (b_size / (3 * c_size)).sqrt()
    if not 2 * b_size * width / 3 < arb.pi() / 2:
        width = width.min(arb.pi() / (2 * b_size))
    return width * arb("0.9")  # at the edge the function is large


def _centred(polynomial: Coefficients) -> tuple[arb, arb] | None:
    """|b| and |c| for p(z) = b w + c w^3 with w = z - z0 and b, c of one sign."""
    d, b, a, c = polynomial
    slope = b
    if a != 0 or d != 0:
        centre = -a / (3 * c)
        slope = b + a * centre  # p'(z0)
        if (d + (b + (a + c * centre) * centre) * centre).expand() != 0:
            return None
    b_ball, c_ball = ball(slope), ball(c)
    return (abs(b_ball), abs(c_ball)) if b_ball * c_ball > 0 else None


def _commensurable(terms: Exponentials) -> tuple[arb, Coefficients] | None:
    """(g, coefficients of P) with the sum = e^(..) P(e^(g x)); None for other rates."""
    rates = [rate for rate in terms if rate != 0]
    if not rates:
        return None
    unit = rates[0]
    ratios = {rate: rate / unit for rate in terms}
    if not all(ratio.is_Rational for ratio in ratios.values()):
        return None
    bottom = lcm(*(int(ratio.q) for ratio in ratios.values()))
    powers = {rate: int(ratio * bottom) for rate, ratio in ratios.items()}
    low = min(powers.values())
    if max(powers.values()) - low > MOST_TERMS:
        return None
    coefficients = [Integer(0)] * (max(powers.values()) - low + 1)
    for rate, power in powers.items():
        coefficients[power - low] = terms[rate]
    return ball(unit) / bottom, tuple(coefficients)


def _roots(coefficients: Coefficients) -> list[tuple[acb, int]] | None:
    """Balls that hold all roots, with their orders; None where they cannot be told apart."""
    if len(coefficients) == 2:
        p, q = (ball(c) for c in coefficients)
        return None if q.contains(0) else [(acb(-p / q), 1)]
    if all(c.is_Rational for c in coefficients):
        bottom = lcm(*(int(c.q) for c in coefficients))
        exact = fmpz_poly([fmpz(int(c * bottom)) for c in coefficients])
        pairs: Any = exact.complex_roots()
        return [(root, int(n)) for root, n in pairs]
    try:
        found = acb_poly([ball(c) for c in coefficients]).roots(tol=_fine(), maxprec=4 * ctx.prec)
        return [(root, 1) for root in found]
    except (ValueError, ZeroDivisionError):
        return None


def _width_of_roots(roots: list[tuple[acb, int]] | None, width: Callable[[acb], arb]) -> arb | None:
    """The least width of all roots, from below; None where that is not positive."""
    if roots is None:
        return None
    least = arb.pos_inf()
    for root, _ in roots:
        least = least.min(arb(width(root).lower()))
    return least if least > 0 else None
