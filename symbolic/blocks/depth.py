"""All that is known of a repeated block in depth."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from sympy import Dummy, Expr, Symbol

from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.correlation import Phase, correlation_growth, phases
from varlaw.symbolic.blocks.coupled_growth import coupled_gradient
from varlaw.symbolic.blocks.growth import UNKNOWN, Fate, fate, gradient_fate
from varlaw.symbolic.blocks.lines import Enclosable
from varlaw.symbolic.blocks.recurrence import Growth, Recurrence
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Residual
from varlaw.symbolic.blocks.roots import FixedPoints
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.whole import backward_growth, forward_growth

LAYER = Symbol("l", positive=True)


@dataclass(frozen=True)
class Depth:
    """The growth of second moments and gradients, of the correlation, and what there is by layer.

    `points` are the fixed points where no closed form is known and names have values. `ratio` is
    the second moment of the gradient over that of the features after l layers, `share` the part
    of the features' second moment after l layers that layer l wrote: expressions in `l`.
    """

    forward: Growth
    backward: Growth
    points: FixedPoints | None
    phases: list[Phase]
    correlation: Growth
    ratio: Expr | None
    share: Expr | None


def depth(repeat: Repeat, state: State) -> Depth:
    """The laws in depth of a repeated block that a state enters."""
    forward, backward, points = UNKNOWN, UNKNOWN, None
    try:
        path = repeat.recurrence(state)
    except BlockError:
        path = None
    if path is not None:
        going = Fate(path.growth, FixedPoints((), True))
        if path.linear is None and not path.step.free_symbols - {path.variable}:
            going = fate(path)
            forward, points = going.growth, going.points
        forward = going.growth
        if LAYER in path.step.free_symbols:  # a name of the block's, not the layer
            forward = replace(forward, asymptotic=None)
        try:
            product = repeat.product(state)
            backward = product.growth
            if not backward.kind and points is not None and product.path.variable == repeat.q:
                backward = gradient_fate(product, going)
        except BlockError:
            pass
    correlation, coupled = correlation_growth(repeat, state)
    if path is None:
        forward = coupled
    if not backward.kind:
        backward = coupled_gradient(repeat, state, forward, correlation)
    if path is not None and path.step.has(*repeat.depth.free_symbols):
        forward, backward = _of_the_whole(repeat, state, path)
    return Depth(
        _fixed(forward, repeat.depth),
        _fixed(backward, repeat.depth),
        points,
        phases(repeat.block),
        correlation,
        _by_layer(ratio, repeat, state),
        _by_layer(share, repeat, state),
    )


def _of_the_whole(repeat: Repeat, state: State, path: Recurrence) -> tuple[Growth, Growth]:
    """The growth forward and backward with the depth that the layers depend on."""
    if not isinstance(repeat.depth, Symbol):
        return UNKNOWN, UNKNOWN
    forward, backward = forward_growth(path, repeat.depth), UNKNOWN
    with suppress(BlockError):
        backward = backward_growth(repeat.product(state), repeat.depth)
    return forward, backward


def _fixed(growth: Growth, depth: Expr) -> Growth:
    """The class of growth; not known where its rate depends on the depth itself."""
    rate = growth.rate
    return growth if rate is None or not rate.has(*depth.free_symbols) else UNKNOWN


def _by_layer(
    what: Callable[[Repeat, State, Expr], Expr | None], repeat: Repeat, state: State
) -> Expr | None:
    """An expression in the layer `l`; None where the block has another `l` in it."""
    layer = Dummy("layer", positive=True)
    found = what(repeat, state, layer)
    if found is None or LAYER in found.free_symbols - repeat.depth.free_symbols:
        return None
    return tidy(found.xreplace({layer: LAYER}))


def ratio(repeat: Repeat, state: State, layer: Expr = LAYER) -> Expr | None:
    """E[gradient^2]/E[x^2] after `layer` layers, for a gradient of 1 at the end.

    None where no closed form is known. For numbers the depth of the block has one, too.
    """
    try:
        before = repeat.of(layer).forward(state).second_moment
        if before.has(Enclosable):
            return None
        whole = repeat.backward(Gradient(second_moment=ONE), state).second_moment
        first = repeat.of(layer).backward(Gradient(second_moment=ONE), state)
    except BlockError:
        return None
    found = whole / first.second_moment / before
    return None if found.has(Enclosable) else tidy(found)


def share(repeat: Repeat, state: State, layer: Expr = LAYER) -> Expr | None:
    """The part of E[x^2] after `layer` layers that the last of them wrote into the stream.

    None for blocks that are no residual ones.
    """
    kept = _kept(repeat.block)
    if kept is None:
        return None
    try:
        path = repeat.recurrence(state)
    except BlockError:
        return None
    before, after = path.after(layer - 1), path.after(layer)
    return None if before is None or after is None else tidy(1 - kept * before / after)


def _kept(block: Block) -> Expr | None:
    """What of a second moment residual blocks keep: the product of the squared scales."""
    parts = block.parts if isinstance(block, Sequential) else (block,)
    kept = ONE
    for part in parts:
        if not isinstance(part, Residual):
            return None
        kept *= part.a**2
    return kept
