"""Moments of blocks derived block by block: what a reader follows with a pencil."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from inspect import signature

from sympy import Expr, Symbol

from varlaw.symbolic.blocks.block import Block, Sequential, names
from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.state import ONE, ZERO, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.walk import Site, has_parts, inside
from varlaw.symbolic.blocks.written import written

LETTERS = "quvr", "ghkw"  # of second moments forward and backward; the first that is free
ITERATIONS = (Iterated, IteratedProduct, Coupled, CoupledBack)
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

    def __init__(self, block: Block, state: State, probe: Gradient | None = None) -> None:
        sent = probe or Gradient(second_moment=ONE)
        taken = {s.name for s in names(state.second_moment, block.forward(state).second_moment)}
        taken |= {s.name for s in names(sent.product)}
        taken |= {s.name for s in names(*_parameters(block))}
        own = {s.name for s in state.second_moment.free_symbols}
        self._letters = [_free(letters, taken - own) for letters in LETTERS]
        self._counts = [0, 0]
        self._depth = 0
        self.forward: list[Chapter] = [Chapter("")]
        self.backward: list[Chapter] = []
        gradient: Gradient | None = sent
        try:
            block.backward(sent, state)
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
        layer, names_ = block.layer(site.state), self._inner(block)
        entering = replace(
            layer.entering,
            **{
                name: getattr(layer.entering, name).xreplace(names_)
                for name in ("second_moment", "mean", "product")
                if getattr(layer.entering, name) is not None
            },
        )
        gradient = None
        if site.gradient is not None:
            passed = block._passed(layer, site.gradient.product != 0, site.gradient.pooled)
            product = ZERO if passed.product == 0 else names_[block.h]
            gradient = replace(site.gradient, second_moment=names_[block.g], product=product)
        inner, depth = names_[block.q], _text(block.depth)
        self._depth += 1
        self.forward.append(Chapter(f"each of {depth} layers, from {inner}", depth=self._depth))
        part = self._tell(Site("", block.block, entering, gradient), inner)
        self._depth -= 1
        after = self._symbol(0)
        self.forward.append(Chapter(f"{depth} layers", depth=self._depth))
        for name, step in layer.system.steps.items():
            self._next(self.forward, names_[name], step.xreplace(names_))
        value = _known(site.out.second_moment)
        self._add(self.forward, Line(after, value, value, f"after {depth} layers"))
        return _Node(site, before, after, (part,))

    def _inner(self, block: Repeat) -> dict[Expr, Expr]:
        """The symbols of moments into (or, of gradients, out of) a layer at any depth."""
        index = "lkj"[min(self._depth, 2)]
        letters = {block.q: self._letters[0], block.g: self._letters[1]}
        letters |= {block.m: "m", block.c: "c", block.h: "h"}
        return {old: _named(f"{letter}_{index}", old) for old, letter in letters.items()}

    def _next(self, chapters: list[Chapter], name: Expr, step: Expr) -> None:
        """How a moment goes from layer to layer."""
        left = _named(f"{str(name).partition('_')[0]}_next", name)
        self._add(chapters, Line(left, step, step, f"from layer to layer, {name}"))

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
        sent = node.parts[0].site.gradient
        assert site.gradient is not None and sent is not None
        inner = sent.second_moment
        self._depth += 1
        self.backward.append(
            Chapter(f"each of {depth} layers, back from {inner}", depth=self._depth)
        )
        self._back(node.parts[0], inner)
        self._depth -= 1
        left = self._symbol(1)
        self.backward.append(Chapter(f"{depth} layers, back", depth=self._depth))
        passed = block.block.backward(sent, node.parts[0].site.state)
        self._next(self.backward, inner, passed.second_moment)
        if sent.product != 0:
            self._next(self.backward, sent.product, passed.product)
        value = _known(block.backward(site.gradient, site.state).second_moment)
        self._add(self.backward, Line(left, value, value, f"before {depth} layers"))
        return left


def _named(name: str, like: Expr) -> Symbol:
    """A symbol that is positive if another one is, and real else."""
    return Symbol(name, positive=True) if like.is_positive else Symbol(name, real=True)


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
    return None if value.has(*ITERATIONS) else value


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
