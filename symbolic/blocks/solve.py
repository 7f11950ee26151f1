"""Which value of a parameter keeps the second moment forward, backward, or both in the mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import Dummy, Expr, Max, Min, Symbol, log, together

from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.crossing import Crossing, NoCrossing, Search
from varlaw.symbolic.blocks.enclosed import is_nil
from varlaw.symbolic.blocks.lines import depends
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.stream import sizes
from varlaw.symbolic.blocks.whole import powers
from varlaw.symbolic.language_text import typed

Side = Callable[[Block, State], Expr]


def forward_ratio(block: Block, state: State | None = None) -> Expr:
    """The second moment at the output over that at the input."""
    entering = state or start()
    return tidy(block.forward(entering).second_moment / entering.second_moment)


def backward_ratio(block: Block, state: State | None = None) -> Expr:
    """The second moment of the gradient at the input over that at the output."""
    return block.backward(Gradient(second_moment=ONE), state or start()).second_moment


SIDES: Mapping[str, Side] = {"forward": forward_ratio, "backward": backward_ratio}


@dataclass(frozen=True)
class Compromise:
    """A mean of the forward ratio f and the backward ratio b that is to be 1.

    `excess` is 0 where the mean, with the weight w for f and 1 - w for b, is 1. `loss` is a
    function of a ratio of which w loss(f) + (1 - w) loss(b) is least there, for ratios that are
    multiples of one power of the parameter (`least` proves it).
    """

    excess: Callable[[Expr, Expr, Expr], Expr]
    loss: Callable[[Expr], Expr]


COMPROMISES = {
    "arithmetic": Compromise(lambda f, b, w: w * f + (1 - w) * b - 1, lambda r: r - log(r)),
    "geometric": Compromise(lambda f, b, w: f**w * b ** (1 - w) - 1, lambda r: log(r) ** 2),
    "quadratic": Compromise(
        lambda f, b, w: w * f**2 + (1 - w) * b**2 - 1, lambda r: r**2 - log(r**2)
    ),
    "contraharmonic": Compromise(
        lambda f, b, w: (w * f**2 + (1 - w) * b**2) / (w * f + (1 - w) * b) - 1,
        lambda r: (r - 1) ** 2,
    ),
}
KEEPS = ("forward", "backward", *COMPROMISES)


def least(name: str) -> bool:
    """Whether a compromise is where its loss is least, proved for ratios f = a v and b = c v.

    The slope of the loss in log v is of the sign of `excess` times a positive factor: it is a
    positive multiple of a function that rises with v through 0 where the mean is 1.
    """
    a, c, v = (Symbol(letter, positive=True) for letter in "acv")
    w = Symbol("w", positive=True)
    share = w / (1 + w)  # any weight between 0 and 1
    one = COMPROMISES[name]
    slope = v * sum(
        weight * one.loss(ratio).diff(v) for weight, ratio in ((share, a * v), (1 - share, c * v))
    )
    if name == "geometric":  # log of a mean of powers
        rising = share * log(a * v) + (1 - share) * log(c * v)
        return is_nil((slope - 2 * rising).expand()) and bool((v * rising.diff(v)).simplify() == 1)
    excess = together(one.excess(a * v, c * v, share))
    factor = tidy(slope / excess)
    quotient = tidy((excess + 1) / v) if name != "quadratic" else tidy((excess + 1) / v**2)
    return bool(factor.is_positive and v not in quotient.free_symbols and quotient.is_positive)


def solve(
    block: Block,
    name: str,
    keep: str = "forward",
    state: State | None = None,
    weight: Expr = ONE / 2,
    factor: Expr = ONE,
) -> Expr:
    """The positive value of the parameter at which the ratio is the factor: see `solution`."""
    return solution(block, name, keep, state, weight, factor).value


@lru_cache(maxsize=64)
def solution(
    block: Block,
    name: str,
    keep: str = "forward",
    state: State | None = None,
    weight: Expr = ONE / 2,
    factor: Expr = ONE,
) -> Crossing:
    """The positive value of the parameter at which the ratio is the factor, with what is known.

    `keep` is "forward", "backward", or the mean of the two ratios that is to be the factor:
    "arithmetic" (Glorot and Bengio 2010, section 4.2.1, for one layer), "geometric", "quadratic" or
    "contraharmonic", in which the forward ratio has the weight given. The value is put back and
    checked; where its sign depends on other names it is a solution where it is positive. Without a
    closed form it is a decimal with proved digits, times powers of names that only set a scale, and
    "no value" is proved between 2^-18 and 2^12; of sizes without a number it is what it tends to
    where they are large. Raises NoCrossing where there is none, BlockError where there is more than
    one, or none that can be found.
    """
    ratio, target = _mean(block, keep, state, weight, factor)
    return Search(Symbol(name, positive=True), keep, sizes(block)).at(ratio, target)


@dataclass(frozen=True)
class Range:
    """The values of a name that keep a ratio between 1/factor and the factor.

    From `low`, or from 0 where that is None, to `high`, or without bound where that is None.
    """

    low: Expr | None
    high: Expr | None

    def __and__(self, other: "Range") -> "Range":
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return Range(Max(*lows) if lows else None, Min(*highs) if highs else None)


def within(block: Block, name: str, side: str, factor: Expr, state: State | None = None) -> Range:
    """The values that keep the ratio of a side between 1/factor and the factor, which is above 1.

    Raises BlockError where the ratio is not proved to rise with the name, or to fall, or where an
    end is not found.
    """
    beyond = Dummy(positive=True)  # of a factor with names
    one = 1 + beyond if factor.free_symbols else factor
    ends: list[Crossing | NoCrossing] = []
    for target in (one, 1 / one):
        try:
            end = solution(block, name, side, state, factor=target)
        except NoCrossing as error:
            ends.append(error)
            continue
        ends.append(end)
        if end.rises is None:
            break  # the other end takes long, and would not help
    (rises, *others) = {end.rises for end in ends if isinstance(end, Crossing)} or {None}
    if others or rises is None:
        raise BlockError(f"the {side} ratio is not proved to rise with {name}, or to fall")
    low, high = ends[::-1] if rises else ends
    open_below = isinstance(low, NoCrossing) and not all(end.from_zero for end in ends)
    if open_below or (isinstance(high, NoCrossing) and any(end.searched for end in ends)):
        raise BlockError(f"the {side} ratio is not known for all {name}, however small or large")
    values = (end.value if isinstance(end, Crossing) else None for end in (low, high))
    return Range(*(v if v is None else tidy(v.subs(beyond, factor - 1)) for v in values))


def losses(
    block: Block, name: str, state: State | None = None, factor: Expr = ONE
) -> dict[str, Expr]:
    """What each compromise makes least, as a function of a ratio r.

    None where the ratios are not multiples of one power of the parameter.
    """
    v, r = Symbol(name, positive=True), Symbol("r", positive=True)
    *ratios, target = _ratios(block, state, factor)
    if any(depends(ratio, v) for ratio in ratios):
        return {}
    powers = {tidy(v * ratio.diff(v) / ratio) for ratio in ratios}
    if len(powers) > 1 or powers.pop().free_symbols:
        return {}
    return {keep: one.loss(r / target) for keep, one in COMPROMISES.items() if least(keep)}


def _mean(
    block: Block, keep: str, state: State | None, weight: Expr, factor: Expr
) -> tuple[Expr, Expr]:
    """A ratio, or a mean of two, and what it is to be; some are squares of means."""
    if keep in SIDES:
        return _sides(block, [SIDES[keep]], state, factor)
    f, b, target = _ratios(block, state, factor)
    if f == b or is_nil(f - b):
        return f, target
    if keep == "geometric" and weight == ONE / 2:
        return tidy(f * b), target**2
    mean = COMPROMISES[keep].excess(f, b, weight) + 1
    return mean, target**2 if keep == "quadratic" else target


def _ratios(block: Block, state: State | None, factor: Expr) -> tuple[Expr, Expr, Expr]:
    """The ratios of both sides, and what they are to be."""
    return _sides(block, list(SIDES.values()), state, factor)


def _sides(block: Block, sides: list[Side], state: State | None, factor: Expr) -> tuple[Expr, ...]:
    """Ratios and what they are to be: of one layer, where they are the same at any second moment.

    Those of all layers are powers of them.
    """
    if isinstance(block, Repeat):
        inside = replace(state or start(), second_moment=block.q)
        layer = [_ratio(block.block, side, inside) for side in sides]
        if not any(block.q in ratio.free_symbols for ratio in layer):
            return *layer, factor ** (1 / block.depth)
    return *(_ratio(block, side, state or start()) for side in sides), factor


@lru_cache(maxsize=64)
def _ratio(block: Block, side: Side, state: State) -> Expr:
    return side(block, state)


def bounded_from(
    block: Block, name: str, keep: str = "forward", state: State | None = None
) -> Expr:
    """The least exponent a of the depth L, as in L^(-a), that keeps a ratio bounded as L grows.

    For a layer q -> A q + B (or a factor A of gradients) A^L is bounded where L (A - 1) is, and
    L B besides, as for residual branches scaled by L^(-a) from a = 1/2 on. Raises BlockError for
    blocks that are not repeated, and where the powers of L are not linear in the exponent.
    """
    if not isinstance(block, Repeat) or not isinstance(block.depth, Symbol):
        raise BlockError("an exponent is that of the depth of repeat(F, L), with a name for L")
    entering = state or start()
    if keep == "forward":
        linear = block.recurrence(entering).linear
        if linear is None:
            raise BlockError("the second moment is not a linear recurrence in depth")
        changes = [linear[0] - 1, linear[1]]
    else:
        changes = [block.product(entering).factor - 1]
    a, depth = Symbol(name, positive=True), block.depth
    bounds = []
    for change in changes:
        terms = powers(change, depth)
        if terms is None or not all(c.is_positive for c, _ in terms):
            raise BlockError(f"{typed(change)} is no positive sum of powers of {depth}")
        bounds += [_least_exponent(p, a, name, keep) for _, p in terms]
    if not bounds:
        raise BlockError(f"the {keep} ratio does not depend on {name}")
    return max(bounds)


def _least_exponent(power: Expr, a: Symbol, name: str, keep: str) -> Expr:
    """The least a with which a power of L falls as 1/L does."""
    slope = power.diff(a)
    if slope.free_symbols or not slope.is_negative:
        raise BlockError(f"no exponent {name} keeps the {keep} ratio bounded in the depth")
    return tidy((-1 - power.subs(a, 0)) / slope)
