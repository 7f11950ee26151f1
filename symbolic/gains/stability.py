"""Where the variances of pre-activations settle, layer after layer, at a gain of the weights.

With weights of variance g^2/fan-in and no biases, the second moment v of a pre-activation becomes
g^2 E[f(x)^2], x ~ N(0, v), in the wide limit (Poole et al. 2016, section 2). A gain that keeps one
v does not keep the others unless f is homogeneous, and may be unstable there: matching one layer
says nothing about depth.
"""

from dataclasses import dataclass

from flint import ctx
from sympy import Expr, Integer, sqrt

from varlaw.symbolic.gains.gain import DIGITS, Gains, NoGain, Value, shortened
from varlaw.symbolic.gains.levels import unit_level
from varlaw.symbolic.gains.published import published_for
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.decimals import Enclosed
from varlaw.symbolic.gaussian.fixed_points import LayerMap
from varlaw.symbolic.language import Text, read

GUARD = 5  # digits beyond those asked for, so that what is computed from them has these
BITS = 64  # to see whether a slope is below 1


@dataclass(frozen=True)
class Settled:
    """A fixed point `variance` of v -> g^2 E[f(x)^2] with the map's slope there.

    `whose` says where the gain g is from, `root` is the root second moment of f at the fixed point.
    `every` says that all v are fixed points. Exact forms are None where none is known, digits where
    they are not defined.
    """

    whose: str
    gain: Value
    variance: Value
    slope: Value
    every: bool = False

    @property
    def stability(self) -> str:
        """Stable where the slope is below 1 in size, unstable above, neutral at 1."""
        if self.slope.exact is not None and self.slope.exact.is_infinite:
            return "unstable"
        if self.slope.exact in (1, -1):
            return "neutral"
        assert self.slope.enclosure is not None
        with ctx.workprec(BITS):
            size = abs(self.slope.enclosure())
        return "stable" if size < 1 else "unstable" if size > 1 else "not known"

    @property
    def root(self) -> Value:
        """The root second moment of the activation's output, sqrt(v)/g; its std if f is odd."""
        variance, gain = self.variance, self.gain
        exact = None
        if variance.exact is not None and gain.exact is not None:
            exact = sqrt(variance.exact) / gain.exact
        if variance.enclosure is None or gain.enclosure is None:
            return Value(exact, None)
        v, g = variance.enclosure, gain.enclosure
        return Value(exact, lambda: v().sqrt() / g())


def settled(gains: Gains, digits: int = DIGITS) -> tuple[Settled, ...]:
    """The fixed points at the gains of weights that libraries publish, and at the one that keeps v.

    The last is where the outputs are kept at second moment 1, if they get there. There are none
    for pre-activations whose mean is not 0, and for a function with parameters.
    """
    if gains.mean != 0 or (gains.function.free_symbols | gains.variance.free_symbols) != {
        gains.variable
    }:
        return ()
    own = kept(gains)
    found: list[Settled] = []
    for entry in published_for(gains.function, gains.variable):
        weight = read(entry.literal)
        if entry.weights and not _same(own.gain.exact, weight):
            found += settles(gains, weight, entry.publisher, digits)
    return (*found, own, *_outputs_kept(gains, own))


def _outputs_kept(gains: Gains, own: Settled) -> tuple[Settled, ...]:
    """The fixed point at which the outputs, not the pre-activations, have second moment 1.

    The gain is the root of its variance. None where no such variance was found, and where it is the
    one at hand already.
    """
    if own.every or gains.base("E[f^2]").exact == 1:
        return ()
    try:
        level = unit_level(gains)
    except NoGain:
        return ()
    gain, exact = level.deviation, level.deviation.exact
    enclosure = gain.enclosure
    assert enclosure is not None, "there are no parameters"
    square = Value(None if exact is None else exact**2, lambda: enclosure() ** 2)
    return (Settled("outputs at 1", gain, square, level.slope),)


def kept(gains: Gains) -> Settled:
    """The fixed point at the variance v given: the gain sqrt(v/E[f^2]), and the slope there.

    The slope is E[f^2 (x^2/v - 1)]/(2 E[f^2]), by Stein's lemma, also where f has kinks or jumps.
    """
    f, x, v = gains.function, gains.variable, gains.variance
    second, weighted = gains.base("E[f^2]"), gains.moment(f**2 * (x**2 / v - 1))
    slope = None
    if second.exact is not None and weighted.exact is not None:
        slope = shortened(weighted.exact / (2 * second.exact))
    gain = None if second.exact is None else sqrt(v / second.exact)
    if second.enclosure is None or weighted.enclosure is None:
        raise NoGain("a fixed point with parameters has no digits: give them values")
    whole, part = second.enclosure, weighted.enclosure
    return Settled(
        "second-moment gain",
        Value(gain, lambda: (ball(v) / whole()).sqrt()),
        _known(v),
        Value(slope, lambda: part() / (2 * whole())),
        second.exact is not None and LayerMap(f, x, v / second.exact).identity,
    )


def settles(
    gains: Gains, gain: Text, whose: str = "given", digits: int = DIGITS
) -> tuple[Settled, ...]:
    """The fixed points at a gain g of the weights.

    >>> from varlaw.symbolic.gains.gain import gain
    >>> zero, other = settles(gain("tanh"), "5/3")
    >>> zero.stability, other.stability, other.variance.digits(10).digits
    ('unstable', 'stable', '1.178480490')
    """
    weight = read(gain)
    if not weight.is_positive or weight.free_symbols:
        raise NoGain(f"the gain {weight} is not a positive number")
    layer = LayerMap(gains.function, gains.variable, weight**2)
    if layer.identity:
        return (Settled(whose, _known(weight), _known(gains.variance), _known(Integer(1)), True),)
    return tuple(
        Settled(
            whose,
            _known(weight),
            _either(point.exact, point.value),
            _either(point.exact_slope, point.slope),
        )
        for point in layer.fixed_points(digits + GUARD)
    )


def _known(exact: Expr) -> Value:
    return Value(exact, lambda: ball(exact))


def _either(exact: Expr | None, enclosed: Enclosed | None) -> Value:
    if exact is not None:
        return Value(exact, None if exact.is_infinite else lambda: ball(exact))
    if enclosed is None:
        return Value(None, None)
    value = enclosed.value
    return Value(None, lambda: value)


def _same(one: Expr | None, two: Expr) -> bool:
    return one is not None and (one**2 - two**2).expand() == 0
