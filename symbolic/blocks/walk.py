"""A walk over the blocks that a network is made of: what enters each, what gradient comes back."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, singledispatch
from types import MappingProxyType
from typing import Any, TypeGuard, TypeVar

from flint import ctx
from sympy import Basic, Dummy, Expr, Float, Function, Integer, Symbol

from varlaw.symbolic.blocks.block import Block, Sequential, names
from varlaw.symbolic.blocks.enclosed import accurate
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual, gated
from varlaw.symbolic.blocks.state import ZERO, BlockError, Gradient, Regime, State, joint, tidy
from varlaw.symbolic.gaussian.balls import ball

Flow = TypeVar("Flow", State, Gradient)
PLACES = 20  # digits of numbers that are not rational, layer after layer
BITS = 68  # of such a number
MOST_OPERATIONS = 1000
Q, G = Dummy("q", positive=True), Dummy("g", positive=True)
LAYER = Symbol("l", positive=True)
M, C, H = Dummy("m", real=True), Dummy("c", real=True), Dummy("h", real=True)


@dataclass(frozen=True)
class Site:
    """A block where it stands in a network.

    `path` is its place, such as "3.prenorm.linear1": layers are counted from 0, and blocks of one
    kind in a row from 1. `state` enters it; `gradient` is at its output, None where none was sent.
    """

    path: str
    block: Block
    state: State
    gradient: Gradient | None = None

    @cached_property
    def out(self) -> State:
        """The state at the output."""
        return self.block.forward(self.state)

    @cached_property
    def passed(self) -> Gradient | None:
        """The gradient at the input, None where none was sent."""
        return None if self.gradient is None else self.block.backward(self.gradient, self.state)


def walk(block: Block, state: State, gradient: Gradient | None = None) -> Iterator[Site]:
    """The blocks that have no parts, in the order of the forward pass.

    Without a gradient only states are followed. Numbers in repeated layers are decimals of 20
    digits where they are not rational. A repetition of symbolic depth L has one layer, l, which
    stands for those from 1 to L - 2. Raises BlockError where a map is not covered.
    """
    return (site for site in visits(block, state, gradient) if not has_parts(site.block))


def visits(block: Block, state: State, gradient: Gradient | None = None) -> Iterator[Site]:
    """All blocks but rows of them, each before its parts. Raises as `walk` does."""
    root = "" if isinstance(block, Repeat) else place("", block)
    return _visits(Site(root, block, state, gradient))


def _visits(site: Site) -> Iterator[Site]:
    if not isinstance(site.block, Sequential):
        yield site
    if isinstance(site.block, Repeat):
        yield from _layers(site.block, site)
        return
    for part in inside(site.block, site):
        yield from _visits(replace(part, path=_joined(site.path, part.path)))


@singledispatch
def inside(block: Block, site: Site) -> list[Site]:
    """The parts of a block at its site, each with its place in it; none of a layer."""
    return []


@inside.register
def _(block: Sequential, site: Site) -> list[Site]:
    parts = _flat(block)
    kinds = [kind(part) for part in parts]
    count, seen = Counter(kinds), Counter[str]()
    states, gradient, found = [site.state], site.gradient, []
    for part in parts[:-1]:
        states.append(_forward(part, states[-1]))
    for part, state in zip(reversed(parts), reversed(states), strict=True):
        found.append(Site("", part, state, gradient))
        if gradient is not None and len(found) < len(parts):
            gradient = _backward(part, state, gradient)
    for place_, name in enumerate(kinds):
        seen[name] += 1
        label = f"{name}{seen[name]}" if count[name] > 1 else name
        found[~place_] = replace(found[~place_], path=label)
    return found[::-1]


@inside.register
def _(block: Residual, site: Site) -> list[Site]:
    gradient = site.gradient and scaled(site.gradient, block.b**2)
    return [Site(place("", block.branch), block.branch, _branch(site.state), gradient)]


@inside.register
def _(block: Parallel, site: Site) -> list[Site]:
    state = _branch(site.state)
    return [
        Site(place(f"{n}", one), one, state, site.gradient)
        for n, one in enumerate(block.branches, 1)
    ]


@inside.register
def _(block: Gate, site: Site) -> list[Site]:
    state = _branch(site.state)
    return [
        Site(
            place(name, one),
            one,
            state,
            site.gradient and gated(site.gradient, other.forward(state)),
        )
        for name, one, other in (
            ("left", block.left, block.right),
            ("right", block.right, block.left),
        )
    ]


def kind(block: Block) -> str:
    """What a block is called in a path."""
    if isinstance(block, Residual):
        parts = _flat(block.branch)
        first, last = (isinstance(part, LayerNorm | RMSNorm) for part in (parts[0], parts[-1]))
        return ("sandwich" if last else "prenorm") if first else "residual"
    return type(block).__name__.lower()


def place(label: str, block: Block) -> str:
    """The place of a part with a label of its own; a row's parts stand at its label."""
    return label if isinstance(block, Sequential) else _joined(label, kind(block))


def has_parts(block: Block) -> bool:
    """Whether a block is made of blocks."""
    made = inside.dispatch(type(block)) is not inside.dispatch(Block)
    return made or isinstance(block, Repeat)


def _layers(block: Repeat, site: Site) -> Iterator[Site]:
    """The sites of a layer in symbols, and in their place what comes to each layer."""
    for number, state, gradient in _inputs(block, site.state, site.gradient):
        for one in _sites(_layer(block.block, state, gradient)):
            yield Site(
                _joined(site.path, str(number), one.path),
                one.block,
                _put(one.state, state, gradient),
                one.gradient and _put(one.gradient, state, gradient),
            )


def _inputs(
    block: Repeat, state: State, gradient: Gradient | None
) -> Iterator[tuple[Expr, State, Gradient | None]]:
    """The number of each layer, the state into it and the gradient out of it."""
    if not _counted(block):
        if LAYER in block.depth.free_symbols | names(state.second_moment):
            raise BlockError(f"the name {LAYER} is that of a layer: use another one")
        after = block.of(LAYER + 1).forward(state)
        later = block.of(block.depth - 1 - LAYER)
        passed = None if gradient is None else later.backward(gradient, after)
        yield LAYER, block.of(LAYER).forward(state), passed
        return
    states = _states(block, state)[:-1]
    gradients: list[Gradient | None] = [None] * len(states)
    if gradient is not None:
        gradients[:] = _gradients(block, states, gradient)[1:]
    yield from zip(map(Integer, range(len(states))), states, gradients, strict=True)


def _counted(block: Block) -> TypeGuard[Repeat]:
    """Whether a block is a repetition that is walked layer by layer."""
    return isinstance(block, Repeat) and isinstance(block.depth, Integer)


def _forward(block: Block, state: State) -> State:
    """The state at the output, layer by layer where a block is repeated."""
    return _states(block, state)[-1] if _counted(block) else block.forward(state)


def _backward(block: Block, state: State, gradient: Gradient) -> Gradient:
    if _counted(block):
        return _gradients(block, _states(block, state)[:-1], gradient)[0]
    return block.backward(gradient, state)


def _states(block: Repeat, state: State) -> list[State]:
    """The state into each layer, and that out of the last one."""
    states = [state]
    for _ in range(int(block.depth)):
        states.append(_put(_layer(block.block, states[-1], None).out, states[-1], None))
    return states


def _gradients(block: Repeat, states: Sequence[State], gradient: Gradient) -> list[Gradient]:
    """The gradient into the first layer, and that out of each layer."""
    found = [gradient]
    for state in reversed(states):
        passed = _layer(block.block, state, found[-1]).passed
        assert passed is not None
        found.append(_put(passed, state, found[-1]))
    return found[::-1]


def _layer(block: Block, state: State, gradient: Gradient | None) -> Site:
    """A layer with symbols for the moments that come in, and for those of the gradient."""
    product = None if state.product is None else Q if state.product == state.second_moment else C
    mean = ZERO if state.mean == 0 else M
    fresh: dict[str, Any] = dict.fromkeys(State.REGIMES.values(), Regime())
    generic = replace(state, second_moment=Q, mean=mean, product=product, **fresh)
    if gradient is not None:
        product = ZERO if gradient.product == 0 else H
        gradient = replace(gradient, second_moment=G, product=product)
    return _site(block, generic, gradient)


@lru_cache(maxsize=64)
def _site(block: Block, state: State, gradient: Gradient | None) -> Site:
    return Site(place("", block), block, state, gradient)


@lru_cache(maxsize=64)
def _sites(layer: Site) -> list[Site]:
    return list(_visits(layer))


def _put(flow: Flow, state: State, gradient: Gradient | None) -> Flow:
    """A state or a gradient with moments in place of their symbols."""
    values = {Q: state.second_moment, M: state.mean, C: state.product}
    regimes: dict[Basic, Regime] = dict(zip((Q, M, C), state.regimes.values(), strict=True))
    if gradient is not None:
        values |= {G: gradient.second_moment, H: gradient.product}
        regimes |= dict(zip((G, H), gradient.regimes.values(), strict=True))
    changed: dict[str, Any] = {}
    for name, regime in flow.REGIMES.items():
        if isinstance(value := getattr(flow, name), Expr):
            changed[name] = _valued(value, values)
            entering: list[Regime] = [regimes[s] for s in value.free_symbols if s in regimes]
            changed[regime] = joint([getattr(flow, regime), *entering])
    return replace(flow, **changed)


def _valued(value: Expr, values: Mapping[Expr, Expr | None]) -> Expr:
    """A moment of a layer with values in place of symbols; of numbers at once where it is long."""
    given = {s: at for s in value.free_symbols if (at := values.get(s)) is not None}
    if value.has(Function) and all(at.is_Rational or at.is_Float for at in given.values()):
        found = decimal(value, given)
        if found is not None:
            return found
    return _settled(value.xreplace(values))


def _settled(value: Expr) -> Expr:
    """A number as a fraction or a decimal, an expression shortened."""
    if not value.free_symbols:
        return value if value.is_Rational else decimal(value) or value.evalf(PLACES)
    if value.count_ops() > MOST_OPERATIONS:
        raise BlockError("the moments of a layer are too large expressions: give names values")
    return tidy(value)


def decimal(value: Expr, at: Mapping[Basic, Expr] = MappingProxyType({})) -> Expr | None:
    """A number as a decimal, of symbols with numbers in their place; None where none is found.

    By balls, which meet each expression once where many are nested.
    """
    found = accurate(lambda: enclosure(value, {s: ball(one) for s, one in at.items()}), BITS)
    if found is None:
        return None
    with ctx.workprec(BITS):
        return Float(found.mid().str(PLACES, radius=False), PLACES)


def _flat(block: Block) -> list[Block]:
    """The blocks in a row, those of rows in it included."""
    if isinstance(block, Sequential):
        return [inner for part in block.parts for inner in _flat(part)]
    return [block]


def _branch(state: State) -> State:
    return state.become(mixed=False, symmetric=False)


def scaled(gradient: Gradient, factor: Expr) -> Gradient:
    """A gradient whose second moment and product are multiplied by a factor."""
    return gradient.become(
        second_moment=tidy(factor * gradient.second_moment),
        product=tidy(factor * gradient.product),
    )


def _joined(*labels: str) -> str:
    return ".".join(label for label in labels if label)
