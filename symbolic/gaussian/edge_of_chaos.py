"""The edge of chaos: weight variances at which chi_1 = 1 at a fixed point of the variance map.

At a given bias variance b the two conditions q = w E[f^2] + b and w E[f'^2] = 1, for x ~ N(0, q),
leave one equation in q: (q - b) E[f'^2] = E[f^2] (Schoenholz et al. 2017, section 3).
"""

from dataclasses import dataclass

from flint import arb, ctx
from sympy import Expr, Integer, Rational, Symbol, oo

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.correlation_map import between, derivative_of, drift
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, digits_of, shown
from varlaw.symbolic.gaussian.fixed_points import DIGITS, LOW, LayerMap, changes

ZERO, ONE = Integer(0), Integer(1)


@dataclass(frozen=True)
class Critical:
    """A critical weight variance, with the fixed point q of the variance map; exact if known."""

    exact: Expr | None
    weight_variance: Enclosed
    q: Enclosed


def critical_weight_variances(
    f: Expr, x: Symbol, bias_variance: Expr = ZERO, digits: int = DIGITS
) -> tuple[Critical, ...]:
    """Weight variances w where chi_1 = w E[f'(x)^2] is 1, to so many proved digits.

    Without bias that at q = 0 is exact: 1/f'(0)^2 for smooth f, 2 for ReLU (there at every q).
    Others are found by their signs, for q between 2^-18 and 2^12. Where f jumps there are none.

    >>> from sympy import tanh
    >>> z = Symbol("z", real=True)
    >>> (found,) = critical_weight_variances(tanh(z), z, Rational(1, 25))
    >>> found.weight_variance.digits, found.q.digits
    ('1.70079637213670', '0.512078504233902')
    """
    slope = derivative_of(f, x)
    if slope is None:
        return ()
    plain, steep = LayerMap(f, x), LayerMap(slope, x)
    found = []
    steepness = plain.steepness_at_zero
    if bias_variance == 0 and steepness not in (None, 0, oo):
        exact = 1 / steepness
        found.append(Critical(exact, digits_of(exact, digits), digits_of(ZERO, digits)))

    def gap(s: Rational, precision: int) -> arb:
        with ctx.workprec(precision):
            return (ball(s) ** 2 - ball(bias_variance)) * steep.mean(ONE, s) - plain.mean(ONE, s)

    def sign(s: Rational) -> int:
        try:
            value = gap(s, LOW)
        except (NoEnclosure, Divergent):
            return 0
        return 1 if value > 0 else -1 if value < 0 else 0

    bits = bits_for(digits) + 8
    for low, high in changes(sign):
        left, right = between(gap, low, high, bits)
        with ctx.workprec(bits):
            size = steep.mean(ONE, (left + right) / 2) + drift(steep, left, right)
            q = shown(ball(left).union(ball(right)) ** 2, digits)
            found.append(Critical(None, shown(1 / size, digits), q))
    return tuple(found)
