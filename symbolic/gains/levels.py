"""Where the outputs of an activation have a given second moment, and the layer map's slope there.

Weights of variance v/fan-in behind inputs of second moment 1 give pre-activations N(0, v) in the
wide limit, and outputs of second moment 1 where E[f(x)^2] = 1. A relative error of the second
moment grows per layer by d log E[f^2]/d log v (Poole et al. 2016, section 2).
"""

from dataclasses import dataclass
from functools import cache

from flint import arb, ctx
from sympy import Expr, Integer, Rational, Symbol, sqrt

from varlaw.symbolic.gains.gain import Gains, NoGain, Value
from varlaw.symbolic.gains.slopes import is_odd
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.correlation_map import between
from varlaw.symbolic.gaussian.fixed_points import LOW, LayerMap, changes
from varlaw.symbolic.language_text import typed

ONE = Integer(1)


@dataclass(frozen=True)
class Level:
    """A deviation sqrt(v) at which E[f^2] has a given value, and d log E[f^2]/d log v there."""

    deviation: Value
    slope: Value


def levels(function: Expr, x: Symbol, target: Expr = ONE) -> tuple[Level, ...]:
    """The deviations of x ~ N(0, v) at which E[f(x)^2] is `target`, between 2^-9 and 2^6.

    A change of sign in ball arithmetic proves each; a power of v is solved in closed form.

    >>> from sympy import tanh
    >>> x = Symbol("x", real=True)
    >>> (found,) = levels(tanh(x), x, Rational(1, 2))
    >>> found.deviation.digits(6).digits, found.slope.digits(6).digits
    ('1.33711', '0.358528')
    """
    layer = LayerMap(function, x)
    if layer.exact is not None:
        factor, power = layer.exact.as_coeff_exponent(layer.q)
        if power != 0 and not factor.has(layer.q):
            return (Level(_known((target / factor) ** (1 / (2 * power))), _known(power)),)

    def gap(s: Rational, bits: int) -> arb:
        with ctx.workprec(bits):
            return layer.value(s**2) - ball(target)

    def sign(s: Rational) -> int:
        try:
            found = gap(s, LOW)
        except (NoEnclosure, Divergent):
            return 0
        return 1 if found > 0 else -1 if found < 0 else 0

    def level(low: Rational, high: Rational) -> Level:
        @cache
        def ends(bits: int) -> tuple[Rational, Rational]:
            return between(gap, low, high, bits)

        def deviation() -> arb:
            left, right = ends(ctx.prec)
            return ball(left).union(ball(right))

        def slope() -> arb:
            return deviation() ** 2 * layer.slope_between(*ends(ctx.prec)) / ball(target)

        return Level(Value(None, deviation), Value(None, slope))

    return tuple(level(low, high) for low, high in changes(sign))


@cache
def variance_level(gains: Gains, target: Expr) -> Level:
    """The same for Var[f], of a function that is odd but for a constant, as a sigmoid is."""
    f, x = gains.function, gains.variable
    centred = f - f.subs(x, 0)
    if not is_odd(centred, x):
        raise NoGain(f"the mean of {typed(f)} depends on the variance")
    return _only(levels(centred, x, target))


@cache
def unit_level(gains: Gains) -> Level:
    """The level 1 of E[f^2]. Raises NoGain where none was found, or more than one."""
    f, x, v = gains.function, gains.variable, gains.variance
    if gains.base("E[f^2]").exact == 1:
        return Level(_known(sqrt(v)), Value(None, lambda: ball(v) * LayerMap(f, x).slope(v)))
    return _only(levels(f, x))


def _only(found: tuple[Level, ...]) -> Level:
    if len(found) != 1:
        raise NoGain(f"{len(found)} variances that give this level were found")
    return found[0]


def _known(exact: Expr) -> Value:
    return Value(exact, lambda: ball(exact))
