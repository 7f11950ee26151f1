"""Moments of blocks derived block by block: what a reader follows with a pencil."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from inspect import signature

from sympy import Expr, Symbol

from varlaw.symbolic.blocks.block import Block, Sequential, names
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.state import ONE, ZERO, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.walk import Site, has_parts, inside
from varlaw.symbolic.blocks.written import written

LETTERS = "quvr", "ghkw"  # of second moments forward and backward; the first that is free
JOINED = {Residual: "x + F(x)", Parallel: "sum of the branches", Gate: "product of the branches"}


@dataclass(frozen=True)
class Line:
    """A moment after (or, backward, before) a block: its map, and the value it comes to.

    Both are None where there is no closed form. `what` is the block in its notation, or what joins
    its parts.
    """

    left: Symbol
    map: Expr | None
    value: Expr | None
    what: str


@dataclass(frozen=True)
class Chapter:
    """Lines under a lead, of which `depth` says how many repeated blocks they are in."""

    lead: str
    lines: list[Line] = field(default_factory=list)
    depth: int = 0


@dataclass(frozen=True)
class _Node:
    """A block with the symbols of the second moment before and after it."""

    site: Site
    before: Expr
    after: Expr
    parts: "tuple[_Node, ...]" = ()


class Derivation:
    """The second moments of a block after each of its parts, and gradients backward."""

    def __init__(self, block: Block, state: State) -> None:
        taken = {s.name for s in names(state.second_moment, block.forward(state).second_moment)}
        taken |= {s.name for s in names(*_parameters(block))}
        own = {s.name for s in state.second_moment.free_symbols}
        self._letters = [_free(letters, taken - own) for letters in LETTERS]
        self._counts = [0, 0]
        self._depth = 0
        self.forward: list[Chapter] = [Chapter("")]
        self.backward: list[Chapter] = []
        gradient: Gradient | None = Gradient(second_moment=ONE)
        try:
            block.backward(Gradient(second_moment=ONE), state)
        except BlockError:
            gradient = None
        tree = self._tell(Site("", block, state, gradient), state.second_moment)
        if gradient is not None:
            self._chapters = self.backward
            self.backward.append(Chapter(""))
            self._back(tree, ONE)
        self.forward = [chapter for chapter in self.forward if chapter.lines]
        self.backward = [chapter for chapter in self.backward if chapter.lines]

    def _symbol(self, side: int) -> Symbol:
        self._counts[side] += 1
        return Symbol(f"{self._letters[side]}{self._counts[side]}", positive=True)

    def _layer_symbol(self, side: int) -> Symbol:
        return Symbol(f"{self._letters[side]}_{'lkj'[min(self._depth, 2)]}", positive=True)

    def _add(self, chapters: list[Chapter], line: Line) -> None:
        if chapters[-1].depth != self._depth:
            chapters.append(Chapter("", depth=self._depth))
        chapters[-1].lines.append(line)

    def _tell(self, site: Site, before: Expr) -> _Node:
        """Lines forward, part by part."""
        block = site.block
        if isinstance(block, Repeat):
            return self._repeated(block, site, before)
        if isinstance(block, Sequential):
            parts, at = [], before
            for part in _row(block, site):
                parts.append(self._tell(part, at))
                at = parts[-1].after
            return _Node(site, before, at, tuple(parts))
        parts = [self._tell(part, before) for part in inside(block, site)]
        value = site.out.second_moment
        if has_parts(block):
            joined = _joined(block, site, before, parts)
            what = JOINED.get(type(block), type(block).__name__.lower())
            if isinstance(block, Residual):
                what = _residual(block)
        else:
            joined = block.forward(replace(site.state, second_moment=before)).second_moment
            what = written(block)
        if joined == before:
            return _Node(site, before, before, tuple(parts))
        after = self._symbol(0)
        self._add(self.forward, Line(after, joined, value, what))
        return _Node(site, before, after, tuple(parts))

    def _repeated(self, block: Repeat, site: Site, before: Expr) -> _Node:
        """Lines of one layer in symbols, then what many layers come to."""
        inner = self._layer_symbol(0)
        generic, _ = block._layer(site.state)
        gradient = None
        if site.gradient is not None:
            gradient = Gradient(second_moment=self._layer_symbol(1))
        entering = replace(generic, second_moment=inner)
        self._depth += 1
        self.forward.append(
            Chapter(f"each of {_text(block.depth)} layers, from {inner.name}", depth=self._depth)
        )
        part = self._tell(Site("", block.block, entering, gradient), inner)
        self._depth -= 1
        after = self._symbol(0)
        path = block.recurrence(site.state)
        step = path.step.subs(path.variable, inner)
        self.forward.append(Chapter(f"{_text(block.depth)} layers", depth=self._depth))
        next_ = Symbol(f"{self._letters[0]}_next", positive=True)
        self._add(self.forward, Line(next_, step, step, f"from layer to layer, {inner.name}"))
        value = _known(site.out.second_moment)
        self._add(self.forward, Line(after, value, value, f"after {_text(block.depth)} layers"))
        return _Node(site, before, after, (part,))

    def _back(self, node: _Node, after: Expr) -> Expr:
        """Lines backward, and the gradient at the input in symbols."""
        site, block = node.site, node.site.block
        assert site.gradient is not None
        if isinstance(block, Repeat):
            return self._back_repeated(node, block)
        if isinstance(block, Sequential):
            for part in reversed(node.parts):
                after = self._back(part, after)
            return after
        value = block.backward(site.gradient, site.state).second_moment
        if has_parts(block):
            sent = [_sent(block, node, after, k) for k in range(len(node.parts))]
            back = [self._back(part, one) for part, one in zip(node.parts, sent, strict=True)]
            through = sum(back, ZERO)
            if isinstance(block, Residual):
                through += block.a**2 * after
            what = _residual(block) if isinstance(block, Residual) else "branches added"
            if not isinstance(block, Residual | Parallel | Gate):
                through, what = value, type(block).__name__.lower()
        else:
            state = replace(site.state, second_moment=node.before)
            through = block.backward(replace(site.gradient, second_moment=after), state)
            through, what = through.second_moment, written(block)
        if through == after:
            return after
        left = self._symbol(1)
        self._add(self.backward, Line(left, tidy(through), value, what))
        return left

    def _back_repeated(self, node: _Node, block: Repeat) -> Expr:
        site, depth = node.site, _text(block.depth)
        assert site.gradient is not None
        inner = self._layer_symbol(1)
        self._depth += 1
        self.backward.append(
            Chapter(f"each of {depth} layers, back from {inner.name}", depth=self._depth)
        )
        self._back(node.parts[0], inner)
        self._depth -= 1
        left = self._symbol(1)
        product = block.product(site.state)
        factor = product.factor.subs(product.path.variable, node.parts[0].before)
        self.backward.append(Chapter(f"{depth} layers, back", depth=self._depth))
        through = Symbol(f"{self._letters[1]}_next", positive=True)
        what = f"from layer to layer, {inner.name}"
        self._add(self.backward, Line(through, factor * inner, factor * inner, what))
        value = _known(block.backward(site.gradient, site.state).second_moment)
        self._add(self.backward, Line(left, value, value, f"before {depth} layers"))
        return left


def _row(block: Sequential, site: Site) -> list[Site]:
    """The blocks of a row, each with what enters it and the gradient at its output."""
    states, gradients = [site.state], [site.gradient]
    for part in block.parts[:-1]:
        states.append(part.forward(states[-1]))
    for part, state in zip(block.parts[:0:-1], states[:0:-1], strict=True):
        gradient = gradients[-1]
        gradients.append(None if gradient is None else part.backward(gradient, state))
    flows = zip(block.parts, states, reversed(gradients), strict=True)
    return [Site("", part, state, gradient) for part, state, gradient in flows]


def _joined(block: Block, site: Site, before: Expr, parts: list[_Node]) -> Expr:
    """How a block puts its parts together, in symbols; the value where that is not known."""
    moments, value = [part.after for part in parts], site.out.second_moment
    means = [part.site.out.mean for part in parts]
    match block:
        case Residual(a=a, b=b):
            cross = 2 * a * b * site.state.mean * means[0]
            return a**2 * before + b**2 * moments[0] + cross
        case Parallel():
            total = sum(means, ZERO)
            return sum(moments, ZERO) + total**2 - sum((mean**2 for mean in means), ZERO)
        case Gate():
            return moments[0] * moments[1]
    return value


def _sent(block: Block, node: _Node, after: Expr, part: int) -> Expr:
    """The gradient that a block sends into one of its parts."""
    match block:
        case Residual(b=b):
            return b**2 * after
        case Gate():
            return after * node.parts[1 - part].after
    return after


def _known(value: Expr) -> Expr | None:
    """A value in closed form; None where it is an iteration."""
    return None if value.has(Iterated, IteratedProduct) else value


def _residual(block: Residual) -> str:
    if (block.a, block.b) == (1, 1):
        return JOINED[Residual]
    return f"a x + b F(x), a = {_text(block.a)}, b = {_text(block.b)}"


def _text(value: Expr) -> str:
    from varlaw.symbolic.language_text import typed

    return typed(value)


def _free(letters: str, taken: set[str]) -> str:
    """The first letter that no name of the formulas begins with."""
    starts = {name[0] for name in taken}
    return next((letter for letter in letters if letter not in starts), letters[0] * 2)


def _parameters(block: Block) -> Iterator[Expr]:
    """The expressions in a block and all blocks in it."""
    for name in signature(type(block)).parameters:
        value = getattr(block, name, None)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Block):
                yield from _parameters(one)
            elif isinstance(one, Expr):
                yield one
