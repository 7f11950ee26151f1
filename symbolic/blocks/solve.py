"""Which value of a parameter keeps the second moment forward, backward, or both in the mean."""

from collections.abc import Callable
from dataclasses import replace

from sympy import Expr, Poly, Symbol, together
from sympy.polys.polyerrors import PolynomialError

from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State, tidy
from varlaw.symbolic.language_text import typed


def forward_ratio(block: Block, state: State | None = None) -> Expr:
    """The second moment at the output over that at the input."""
    entering = state or start()
    return tidy(block.forward(entering).second_moment / entering.second_moment)


def backward_ratio(block: Block, state: State | None = None) -> Expr:
    """The second moment of the gradient at the input over that at the output."""
    return block.backward(Gradient(second_moment=ONE), state or start()).second_moment


def _arithmetic(block: Block, state: State | None) -> Expr:
    return (forward_ratio(block, state) + backward_ratio(block, state)) / 2


def _geometric(block: Block, state: State | None) -> Expr:
    return forward_ratio(block, state) * backward_ratio(block, state)


KEEPS: dict[str, Callable[[Block, State | None], Expr]] = {
    "forward": forward_ratio,
    "backward": backward_ratio,
    "arithmetic": _arithmetic,
    "geometric": _geometric,
}


def solve(block: Block, name: str, keep: str = "forward", state: State | None = None) -> Expr:
    """The positive value of the parameter at which the ratio is 1.

    `keep` is "forward", "backward", or the mean of the two ratios that is to be 1: "arithmetic"
    (Glorot and Bengio 2010, section 4.2.1, for one layer) or "geometric". The value is put back and
    checked. Raises BlockError where there is none, more than one, or none that can be found.
    """
    v, ratio = Symbol(name, positive=True), _ratio(block, keep, state)
    if v not in ratio.free_symbols:
        raise BlockError(f"the {keep} ratio {typed(ratio)} does not depend on {name}")
    try:
        polynomial = Poly(together(ratio - 1).as_numer_denom()[0], v)
    except PolynomialError:
        raise BlockError(f"the {keep} ratio {typed(ratio)} is not solved for {name}") from None
    roots = [root for root in _roots(polynomial) if root.is_positive]
    if not roots:
        raise BlockError(f"no positive {name} makes the {keep} ratio {typed(ratio)} equal to 1")
    if len(roots) > 1:
        raise BlockError(f"{name} = {' or '.join(map(typed, roots))} all make the ratio 1")
    if not tidy(ratio.subs(v, roots[0]) - 1).equals(0):
        raise BlockError(f"{name} = {typed(roots[0])} could not be checked")
    return roots[0]


def _ratio(block: Block, keep: str, state: State | None) -> Expr:
    """The ratio of a block; of one layer, where that is the same at any second moment."""
    if isinstance(block, Repeat):
        inside = replace(state or start(), second_moment=block.q)
        ratio = KEEPS[keep](block.block, inside)
        if block.q not in ratio.free_symbols:
            return ratio
    return KEEPS[keep](block, state)


def _roots(polynomial: Poly) -> list[Expr]:
    """The real roots of a x^k + b that may be positive, and those of a quadratic."""
    terms = dict(polynomial.terms())
    degree, lowest = polynomial.degree(), min(power for (power,) in terms)
    if len(terms) == 2:
        base = tidy(-terms[(lowest,)] / terms[(degree,)])
        return [tidy(base ** (ONE / (degree - lowest)))]
    if degree == 2 and len(terms) == 3:
        a, b, c = (terms[(power,)] for power in (2, 1, 0))
        root = tidy(b**2 - 4 * a * c) ** (ONE / 2)
        return [tidy((-b + root) / (2 * a)), tidy((-b - root) / (2 * a))]
    return []
