"""The part of a network that a name is solved for, and which of its names are sizes."""

from collections.abc import Iterator
from dataclasses import dataclass

from sympy import Symbol

from varlaw.symbolic.blocks.block import Block, Sequential, names, through
from varlaw.symbolic.blocks.linear import Embedding
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import State

SIZES = ("tokens", "width", "fan_in", "fan_out")


@dataclass(frozen=True)
class Part:
    """Blocks and what enters them; `rest` is what follows them, None if they are the whole."""

    block: Block
    state: State
    rest: Block | None = None


def part_for(block: Block, state: State, name: str) -> Part:
    """What a name is solved for: the blocks behind an embedding, as far as the name matters.

    The second moment of the rows of an embedding is that of no input. Where the second moment at
    the end does not depend on the name, as behind a last norm, it is that of the most blocks from
    the start at which it does.
    """
    unknown, parts = Symbol(name, positive=True), [block]
    if isinstance(block, Sequential):
        parts = list(block.parts)
    if len(parts) > 1 and isinstance(parts[0], Embedding):
        rows = through(parts[0], state)
        if unknown not in names(rows.second_moment):
            state = rows
            del parts[0]
    whole = list(parts)
    rest: list[Block] = []
    while parts and unknown not in names(through(_joined(parts), state).second_moment):
        rest.insert(0, parts.pop())
    if not parts:
        return Part(_joined(whole), state)
    return Part(_joined(parts), state, _joined(rest) if rest else None)


def sizes(block: Block) -> frozenset[Symbol]:
    """The names of widths, of numbers of tokens and of depths."""
    found = {getattr(one, name, None) for one in _all(block) for name in SIZES}
    found |= {one.depth for one in _all(block) if isinstance(one, Repeat)}
    return frozenset(one for one in found if isinstance(one, Symbol))


def _all(block: Block) -> Iterator[Block]:
    """A block and all that it is made of."""
    yield block
    for value in vars(block).values():
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Block):
                yield from _all(inner)


def _joined(parts: list[Block]) -> Block:
    return parts[0] if len(parts) == 1 else Sequential(tuple(parts))
