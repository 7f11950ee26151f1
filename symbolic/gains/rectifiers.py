"""Shapes of ReLU and leaky ReLU, which have parameters of their own or too few of them."""

from collections.abc import Callable

from flint import arb, ctx
from sympy import Expr, Integer, Rational, pi, sqrt

from varlaw.symbolic.gains.gain import Value
from varlaw.symbolic.gains.network import Residual
from varlaw.symbolic.gains.shape import DKS, TAT, NoShape, Shape, fixed, known, told
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.decimals import bits_for

ZERO, ONE = Integer(0), Integer(1)
MOST = pi / (pi - 1)  # C'(1) of a centred ReLU that is not shifted
FAR, EXTRA = Integer(12), 400  # of b/a for ReLU, and the bits that may cancel there


def _slope_of(part: Expr) -> Expr:
    """The slope a at which (1 - a)^2/(1 + a^2) takes a value between 0 and 1."""
    return (1 - sqrt(part * (2 - part))) / (1 - part)


def leaky_dks(target: Expr, depth: int) -> Shape:
    """DKS for leaky ReLU: without a shift Q'(1) = 1, and C'(1) grows as the slope falls."""
    zeta = target ** Rational(1, depth)
    if not zeta < MOST:
        raise NoShape("leaky ReLU has a C'(1) below pi/(pi - 1) = 1.46694: take a smaller target")
    slope = _slope_of(pi * (1 - 1 / zeta))
    mean = (1 - slope) / sqrt(2 * pi)
    found = {
        "negative slope": slope,
        "input scale": ONE,
        "input shift": Integer(0),
        "output scale": 1 / sqrt((1 + slope**2) / 2 - mean**2),
        "output shift": -mean,
    }
    parameters = {name: known(value) for name, value in found.items()}
    return Shape((*DKS, told("C'(1)", target, depth, "^")), parameters)


def leaky_tat(target: Expr, depth: int | Residual, digits: int) -> Shape:
    """TAT for leaky ReLU: C_f(0) falls as the slope grows, so that there is one slope."""
    condition = f"C(0) = {target}" if depth == 1 else f"C_f(0) = {target}"
    with ctx.workprec(bits_for(digits) + 64):
        goal = ball(target)
        least = _of_depth(ZERO, depth)
        if not least > goal:
            raise NoShape(
                f"the target is out of reach: {_layers(depth)} of ReLU, the most that a slope "
                f"below 0 can do, bring C_f(0) to {least.str(6, radius=False)}"
            )
        low, high = _falls_to(lambda a: _of_depth(a, depth), goal, ZERO, ONE, digits)
        slope = ball(low).union(ball(high))
    exact = _slope_of(pi * target) if depth == 1 else None
    gain = None if exact is None else sqrt(2 / (1 + exact**2))
    parameters = {
        "negative slope": Value(exact, lambda: slope),
        "input scale": known(ONE),
        "input shift": known(Integer(0)),
        "output scale": Value(gain, lambda: (2 / (1 + slope**2)).sqrt()),
        "output shift": known(Integer(0)),
    }
    return Shape((*TAT, condition), parameters)


def _layers(depth: int | Residual) -> str:
    return f"{depth} layers" if isinstance(depth, int) else "so many blocks"


def _of_depth(slope: Expr, depth: int | Residual) -> arb:
    """C_f(0) behind so many layers of leaky ReLU."""
    a = ball(slope)
    part, c = (1 - a) ** 2 / (1 + a**2), arb(0)

    def layer(c: arb) -> arb:  # in mean-value form, since the slope of a layer is below 1
        middle = c.mid()
        found = middle + part * ((1 - middle**2).sqrt() - middle * middle.acos()) / arb.pi()
        return found + (1 - part * c.acos() / arb.pi()) * (c - middle)

    if isinstance(depth, Residual):
        return depth.through(c, layer, ball)
    for _ in range(depth):
        c = layer(c)
    return c


def relu_dks(target: Expr, depth: int, digits: int) -> Shape:
    """DKS for ReLU, whose f(a x + b) depends on t = b/a only up to a factor: b is 1 or -1.

    C'(1) = P/V falls as t grows, with P = Phi(t) and the variance V of f in units of a^2.
    """
    zeta = target ** Rational(1, depth)

    def parts(t: Rational) -> tuple[arb, arb, arb, arb]:
        u = ball(t)
        density = (-u * u / 2).exp() / (2 * arb.pi()).sqrt()
        above = (-u / arb(2).sqrt()).erfc() / 2
        mean = u * above + density
        return density, above, mean, (1 + u * u) * above + u * density - mean**2

    def slope(t: Rational) -> arb:
        _, above, _, variance = parts(t)
        return above / variance

    with ctx.workprec(bits_for(digits) + EXTRA):
        low, high = _falls_to(slope, ball(zeta), -FAR, FAR, digits)
        if low * high <= 0:
            raise NoShape("C'(1) = pi/(pi - 1) is that of ReLU without a shift")
        t = ball(low).union(ball(high))
        ends = [parts(end) for end in (low, high)]
        density, above, mean, variance = (one.union(two) for one, two in zip(*ends, strict=True))
    scale, shift = abs(1 / t), ONE if low > 0 else -ONE
    parameters = {
        "input scale": fixed(scale),
        "input shift": known(shift),
        "output scale": fixed(1 / (scale * variance.sqrt())),
        "output shift": fixed(-scale * mean),
    }
    others = {"Q'(1)": fixed((above - mean * density) / variance)}
    conditions = ("Q(1) = 1", "C(0) = 0", told("C'(1)", target, depth, "^"))
    note = "f(a x + b) depends on b/a only, up to a factor, so that Q'(1) = 1 cannot be asked for"
    return Shape(conditions, parameters, others, note)


def _falls_to(
    f: Callable[[Rational], arb], goal: arb, low: Rational, high: Rational, digits: int
) -> tuple[Rational, Rational]:
    """Two near points between which a falling function takes a value: bisection in balls."""
    if not f(low) > goal > f(high):
        raise NoShape("the target is out of reach")
    while high - low > Rational(1, 10 ** (digits + 8)):
        middle = (low + high) / 2
        value = f(middle)
        if value > goal:
            low = middle
        elif value < goal:
            high = middle
        else:
            return low, high
    return low, high
