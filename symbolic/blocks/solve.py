"""Which value of a parameter keeps the second moment forward, backward, or both in the mean."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from sympy import Dummy, Expr, Poly, Symbol, log, together
from sympy.polys.polyerrors import PolynomialError

from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.enclosed import is_nil
from varlaw.symbolic.blocks.growth import decimal
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.lines import depends
from varlaw.symbolic.blocks.masked import masked
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.roots import OCTAVES, roots
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.whole import powers
from varlaw.symbolic.clock import OutOfTime, clock
from varlaw.symbolic.language_text import typed

SECONDS = 1.0  # for a numerator: a longer one has no root in closed form


def forward_ratio(block: Block, state: State | None = None) -> Expr:
    """The second moment at the output over that at the input."""
    entering = state or start()
    return tidy(block.forward(entering).second_moment / entering.second_moment)


def backward_ratio(block: Block, state: State | None = None) -> Expr:
    """The second moment of the gradient at the input over that at the output."""
    return block.backward(Gradient(second_moment=ONE), state or start()).second_moment


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
) -> Expr:
    """The positive value of the parameter at which the ratio is 1.

    `keep` is "forward", "backward", or the mean of the two ratios that is to be 1: "arithmetic"
    (Glorot and Bengio 2010, section 4.2.1, for one layer), "geometric", "quadratic" or
    "contraharmonic", in which the forward ratio has the weight given. The value is put back and
    checked; where its sign depends on other names it is a solution where it is positive. Without a
    closed form it is a decimal with proved digits, and "no value" is proved between 2^-18 and 2^12.
    Raises BlockError where there is none, more than one, or none that can be found.
    """
    v, excess = Symbol(name, positive=True), _excess(block, keep, state, weight)
    ratio = f"the {keep} ratio"
    if v not in excess.free_symbols:
        raise BlockError(f"{ratio} {typed(tidy(excess + 1))} does not depend on {name}")
    plain, back = masked(excess, v)
    polynomial = _polynomial(plain, v)
    found = None if polynomial is None else _roots(polynomial)
    if found is None:
        return _numeric(excess, v, ratio)
    if not found:
        raise BlockError(f"no positive {name} makes {ratio} {typed(tidy(excess + 1))} equal to 1")
    if len(found) > 1:
        shown = " or ".join(typed(back(root)) for root in found)
        if not all(root.is_positive for root in found):
            raise BlockError(f"{ratio} is 1 at {name} = {shown}, of which either may be positive")
        raise BlockError(f"{name} = {shown} all make the ratio 1")
    if not tidy(plain.subs(v, found[0])).equals(0):
        raise BlockError(f"{name} = {typed(back(found[0]))} could not be checked")
    return back(found[0])


def losses(block: Block, name: str, state: State | None = None) -> dict[str, Expr]:
    """What each compromise makes least, as a function of a ratio r.

    None where the ratios are not multiples of one power of the parameter.
    """
    v, r = Symbol(name, positive=True), Symbol("r", positive=True)
    ratios = [_ratio(block, side, state) for side in (forward_ratio, backward_ratio)]
    if any(ratio.has(Iterated, IteratedProduct, Coupled, CoupledBack) for ratio in ratios):
        return {}
    powers = {tidy(v * ratio.diff(v) / ratio) for ratio in ratios}
    if len(powers) > 1 or powers.pop().free_symbols:
        return {}
    return {keep: one.loss(r) for keep, one in COMPROMISES.items() if least(keep)}


def _excess(block: Block, keep: str, state: State | None, weight: Expr) -> Expr:
    """What is 0 where a ratio, or a mean of two, is 1."""
    if keep == "forward":
        return _ratio(block, forward_ratio, state) - 1
    if keep == "backward":
        return _ratio(block, backward_ratio, state) - 1
    f, b = (_ratio(block, side, state) for side in (forward_ratio, backward_ratio))
    if f == b:
        return f - 1
    if keep == "geometric" and weight == ONE / 2:
        return tidy(f * b) - 1
    return COMPROMISES[keep].excess(f, b, weight)


@lru_cache(maxsize=64)
def _ratio(block: Block, side: Callable[[Block, State], Expr], state: State | None) -> Expr:
    """The ratio of a block; of one layer, where that is the same at any second moment."""
    if isinstance(block, Repeat):
        inside = replace(state or start(), second_moment=block.q)
        ratio = side(block.block, inside)
        if block.q not in ratio.free_symbols:
            return ratio
    return side(block, state or start())


def _polynomial(excess: Expr, v: Symbol) -> Poly | None:
    """The numerator as a polynomial in v; None where it is none, or is not found soon."""
    if depends(excess, v):
        return None
    try:
        with clock(SECONDS):
            return Poly(together(excess).as_numer_denom()[0], v).primitive()[1]
    except (PolynomialError, OutOfTime):
        return None


def _roots(polynomial: Poly) -> list[Expr] | None:
    """The roots of a x^k + b and of a quadratic that are positive, or may be; None of others.

    With positive a and b >= 0 only the greater root of a x^2 + b x + c may be.
    """
    terms = dict(polynomial.terms())
    degree, lowest = polynomial.degree(), min(power for (power,) in terms)
    if len(terms) == 1:
        return []
    if len(terms) == 2:
        base = tidy(-terms[(lowest,)] / terms[(degree,)])
        found = [] if base.is_nonpositive else [tidy(base ** (ONE / (degree - lowest)))]
    elif degree == 2 and len(terms) == 3:
        a, b, c = (terms[(power,)] for power in (2, 1, 0))
        root = Dummy()
        one, other = (tidy((-b + sign * root) / (2 * a)) for sign in (1, -1))
        found = [one] if a.is_positive and b.is_nonnegative else [one, other]
        found = [v.subs(root, tidy(b**2 - 4 * a * c) ** (ONE / 2)) for v in found]
    else:
        return None
    return [root for root in found if root.is_positive is not False]


def _numeric(excess: Expr, v: Symbol, ratio: str) -> Expr:
    """The root by proved signs, to the digits that are proved."""
    if others := excess.free_symbols - {v}:
        listed = ", ".join(sorted(map(str, others)))
        raise BlockError(f"{ratio} is not solved for {v} in closed form: give numbers for {listed}")
    solved = roots(excess, v)
    low, high = OCTAVES
    if len(solved.found) > 1:
        values = " or ".join(root.value.digits for root in solved.found)
        raise BlockError(f"{v} = {values} all make the ratio 1")
    if not solved.found:
        how = "" if solved.complete else " was found that"
        raise BlockError(
            f"no {v} from 2^{low} to 2^{high}{how} makes {ratio} equal to 1"
            + (", which is proved" if solved.complete else "")
        )
    return decimal(solved.found[0].value)


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
