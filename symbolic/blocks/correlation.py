"""Where the correlation of two inputs, or tokens, goes with depth; phases of order and chaos."""

from dataclasses import dataclass

from flint import arb, ctx
from sympy import Dummy, Expr, Symbol, asin, limit, nan, zoo

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.asymptotics import FAILURES, SECONDS, fading
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.enclosed import differs, without
from varlaw.symbolic.blocks.growth import decimal
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Residual
from varlaw.symbolic.blocks.state import ONE, ZERO, BlockError, State, tidy
from varlaw.symbolic.clock import clock
from varlaw.symbolic.gaussian.correlation_map import CorrelationMap, depth_scale
from varlaw.symbolic.gaussian.decimals import Enclosed, shown
from varlaw.symbolic.gaussian.edge_of_chaos import Critical, critical_weight_variances
from varlaw.symbolic.gaussian.fixed_points import FixedPoint, LayerMap

DIGITS = 12
RHO = Symbol("rho", real=True)
PHASES = {-1: "ordered", 0: "critical", 1: "chaotic"}


@dataclass(frozen=True)
class Phase:
    """A layer at a stable fixed point q of its second moment (Schoenholz et al. 2017, section 3).

    `chi` is chi_1, the factor of gradients and the slope of the correlation map at 1. `limit` is
    the correlation that attracts, `rate` the map's slope there, `length` is -1/log(rate) layers.
    Every q is a fixed point where q is None, as for ReLU with He's variance.
    """

    name: str
    q: Expr | None
    chi: Expr
    limit: Expr | None
    rate: Expr | None
    length: Expr | None


def phases(block: Block) -> list[Phase]:
    """The phases at the stable fixed points of an activation and a linear layer, proved.

    None for other blocks, where names have no values, and where q = 0 is what attracts.
    """
    layer = _layer(block)
    if layer is None or (layer.weight_variance + layer.bias_variance).free_symbols:
        return []
    try:
        if layer.identity:
            return [Phase("critical", None, ONE, ONE, ONE, None)]
        points = layer.fixed_points(DIGITS + 8)
        return [_phase(layer, p) for p in points if p.stable and p.exact != 0]
    except FAILURES:
        return []


def critical(block: Block, name: str) -> tuple[Critical, ...]:
    """The values of a weight variance's name at which chi_1 is 1, at a bias variance in numbers.

    `block` is an activation and a linear layer, in either order. Raises BlockError for others.
    """
    layer, v = _layer(block), Symbol(name, positive=True)
    if layer is None:
        raise BlockError("the edge of chaos is that of an activation and a linear layer")
    scale = tidy(layer.weight_variance / v)
    if scale.free_symbols & {v} or v in layer.bias_variance.free_symbols:
        raise BlockError(f"the variance of the weights is not a multiple of {name}")
    if layer.bias_variance.free_symbols:
        raise BlockError("the edge of chaos needs a number for the variance of the biases")
    if scale != 1:
        raise BlockError(f"write var={name}/fan_in: {name} times {scale} is not {name}")
    return critical_weight_variances(layer.function, layer.variable, layer.bias_variance, DIGITS)


def _layer(block: Block) -> LayerMap | None:
    """The variance map of an activation and a linear layer, in either order."""
    parts = block.parts if isinstance(block, Sequential) else ()
    kinds = {type(part): part for part in parts}
    if len(parts) != 2 or set(kinds) != {Activation, Linear}:
        return None
    f, w = kinds[Activation], kinds[Linear]
    assert isinstance(f, Activation) and isinstance(w, Linear)
    return LayerMap(f.function, f.variable, tidy(w.fan_in * w.var), w.bias)


def _phase(layer: LayerMap, point: FixedPoint) -> Phase:
    found = CorrelationMap(layer, point)
    chi = found.chi(DIGITS)
    q = _value(point.exact, point.value)
    if chi is None:
        raise BlockError("the activation jumps")
    if chi.value.contains(1):
        return Phase("critical" if chi.radius == "0" else "", q, decimal(chi), None, None, None)
    attracting = [p for p in found.fixed_points(DIGITS) if p.stable]
    side = 1 if chi.value > 1 else -1
    slope = attracting[0].slope if len(attracting) == 1 else None
    if slope is None:
        return Phase(PHASES[side], q, decimal(chi), None, None, None)
    (settled,) = attracting
    scale = depth_scale(slope, DIGITS)
    return Phase(
        PHASES[side],
        q,
        decimal(chi),
        _value(settled.exact, settled.value),
        decimal(slope),
        None if scale is None else decimal(scale),
    )


def _value(exact: Expr | None, enclosed: Enclosed | None) -> Expr:
    if exact is not None:
        return exact
    assert enclosed is not None
    return decimal(shown(enclosed.value, DIGITS))


UNKNOWN = Growth("")


def correlation_growth(repeat: Repeat, state: State) -> tuple[Growth, Growth]:
    """How the correlation goes with depth where it tends to 1, and the second moment with it.

    The first has the limit 1: "constant", "bounded" (1 - rho is multiplied by the rate per layer),
    or "polynomial" (1 - rho goes like the power of the number of layers). The class is "" where it
    is not known; that of the second moment also where it does not depend on the correlation.
    """
    if state.mean != 0 or state.product is None:
        return UNKNOWN, UNKNOWN
    if tidy(state.product - state.second_moment) == 0:
        return Growth("constant", None, ONE), UNKNOWN
    system = repeat.layer(state).system
    q, c = repeat.q, repeat.c
    if set(system.steps) != {q, c} or repeat.layer(state).out.mean != 0:
        return UNKNOWN, UNKNOWN
    ratio = _of_correlation(system.steps[c] / system.steps[q], q, c)
    if ratio is not None:
        found, factor = _shrinking(ratio), _of_correlation(system.steps[q] / q, q, c)
        if not found.kind or factor is None:
            return found, UNKNOWN
        rate = tidy(factor.subs(RHO, 1))
        return found, Growth("constant") if rate == 1 else Growth("exponential", rate)
    added = _streams(repeat.block, state.memory)
    if added is None:
        return UNKNOWN, UNKNOWN
    found = _spreading(*added)
    rate = tidy(added[0].subs(RHO, 1))
    return found, Growth("linear", rate) if found.kind else UNKNOWN


def _of_correlation(expression: Expr, q: Symbol, c: Symbol) -> Expr | None:
    """An equal function of the correlation c/q; None where it depends on more, or may."""
    if differs(expression, expression, {q, c}):
        return None
    return without(expression.subs(c, RHO * q), {q})


def _shrinking(ratio: Expr) -> Growth:
    """rho -> ratio(rho), at rho = 1."""
    if tidy(ratio - 1) == 0:
        return Growth("bounded", ZERO, ONE)
    slope = _slope_at_one(ratio)
    if slope is None or not _alone(ratio - RHO):
        return UNKNOWN
    if slope == 1:
        return _neutral(ratio)
    return Growth("bounded", slope, ONE) if _certain(1 - slope) else UNKNOWN


def _neutral(ratio: Expr) -> Growth:
    """rho -> ratio(rho) with the slope 1 - k (1 - rho)^s near 1, by the law of `asymptotics`."""
    root = Dummy("u", positive=True)
    gap = (1 - ratio.diff(RHO)).subs(RHO, 1 - root**2)
    for power in (1, 2):
        try:
            with clock(SECONDS):
                found = limit(gap / root**power, root, 0, "+")
        except FAILURES:
            return UNKNOWN
        if found.is_finite and found.is_positive:
            excess = ONE * power / 2
            power, value = fading(-found / (1 + excess), excess)
            return Growth("polynomial", power, ONE, 1 - value)
    return UNKNOWN


def _spreading(whole: Expr, part: Expr) -> Growth:
    """q -> q + whole(rho), c -> c + part(rho): d rho/d log q = part/whole - rho, at rho = 1."""
    slope = _slope_at_one(part, whole)
    if slope is None or not _certain(1 - slope) or not _alone(part / whole - RHO):
        return UNKNOWN
    return Growth("polynomial", tidy(slope - 1), ONE)


def _slope_at_one(part: Expr, whole: Expr = ONE) -> Expr | None:
    """The slope at rho = 1 of a quotient that is 1 there; None where it is not known."""
    if tidy((part - whole).subs(RHO, 1).rewrite(asin)) != 0:
        return None
    slope = (part - whole).diff(RHO)
    at_one = slope.subs(RHO, 1)
    if at_one.has(nan, zoo):  # what is infinite may cancel in the sum
        at_one = slope.expand().subs(RHO, 1)
    return None if at_one.has(nan, zoo) else tidy(tidy(at_one) / tidy(whole.subs(RHO, 1)))


def _alone(gap: Expr) -> bool:
    """Whether rho rises towards 1 from everywhere in [0, 1): by its sign at numbers for names."""
    names = gap.free_symbols - {RHO}
    at = {name: arb(3 + k) for k, name in enumerate(sorted(names, key=str))}
    try:
        with ctx.workprec(80):
            return all(enclosure(gap, at | {RHO: arb(k) / 32}) > 0 for k in range(32))
    except FAILURES:
        return False


def _certain(value: Expr) -> bool:
    return bool(value.is_positive or tidy(value).factor().is_positive)


def _streams(block: Block, memory: State | None) -> tuple[Expr, Expr] | None:
    """What residual branches with norms add to q and c where q is large, as functions of rho."""
    parts = block.parts if isinstance(block, Sequential) else (block,)
    big = Dummy("Q", positive=True)
    whole = part = ZERO
    for residual in parts:
        if not isinstance(residual, Residual) or residual.a != 1:
            return None
        entering = State(second_moment=big, product=RHO * big, memory=memory)
        out = residual.branch.forward(entering)
        sums = [
            without(residual.b**2 * value, {big}) for value in (out.second_moment, out.followed)
        ]
        if out.mean != 0 or sums[0] is None or sums[1] is None:
            return None
        whole, part = whole + sums[0], part + sums[1]
    return whole, part
