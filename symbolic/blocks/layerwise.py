"""Second moments through a network of numbers, layer by layer: stream, branches, logits, gradients.

Positions and pairs of tokens are followed one by one (`Tokens`), in the wide limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from varlaw.symbolic.blocks import token_attention, token_cross
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.cross import CrossAttention, Targets
from varlaw.symbolic.blocks.linear import Embedding
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Residual
from varlaw.symbolic.blocks.state import ONE, BlockError, State
from varlaw.symbolic.blocks.tokens import Tokens, added, alike, back, follow, value
from varlaw.symbolic.blocks.vision import Patches
from varlaw.symbolic.gaussian.arrays import Array

MOST_UNITS = 10_000


@dataclass(frozen=True)
class Layer:
    """A layer's output: second moments of the stream, of the branch that was added, of logits.

    Means over positions; `product` is the mean over pairs of tokens. `gradient` is the second
    moment of the gradient of an entry at the output, for 1 at the end of the network; None where
    it is not covered. `branch` and `logits` are None where there are none.
    """

    name: str
    second_moment: float
    product: float
    branch: float | None
    logits: float | None
    gradient: float | None


def layers(block: Block, state: State) -> list[Layer]:
    """The layers of a network that `state` enters, each token with it; an embedding needs none.

    Raises BlockError for names without values and for blocks that are not followed by token.
    """
    several = list(units(block))
    if isinstance(several[0][1], Embedding):
        state = State(second_moment=ONE)
    rows, path = [], [alike(state, tokens_of(block))]
    for name, unit in zip(_names(several), (unit for _, unit in several), strict=True):
        inner = attention_in(unit)
        logits = None
        if inner is not None:
            attention, before = inner
            logits = _logit_variance(attention, follow(before, path[-1]))
        branch = None
        if isinstance(unit, Residual):
            out = follow(unit.branch, path[-1])
            branch = out.second_moment
            path.append(added(unit, path[-1], out))
        else:
            path.append(follow(unit, path[-1]))
        rows.append((name, path[-1], branch, logits))
    gradients = _gradients([unit for _, unit in several], path)
    return [
        Layer(name, tokens.second_moment, tokens.product, branch, logits, gradient)
        for (name, tokens, branch, logits), gradient in zip(rows, gradients, strict=True)
    ]


def _gradients(several: list[Block], path: list[Tokens]) -> list[float | None]:
    """The gradient at the output of each unit, from the last one to the first.

    An encoder's is the sum of those that all cross attention sends to it.
    """
    gradient = np.eye(len(path[-1].means))
    sent: Array | float = 0.0
    found: list[float | None] = [1.0]
    for unit, tokens in zip(reversed(several[1:]), reversed(path[1:-1]), strict=True):
        try:
            if isinstance(unit, Targets):
                gradient, sent = sent + np.zeros_like(tokens.products), 0.0
            else:
                sent += token_cross.to_memory(unit, gradient, tokens)
                gradient = back(unit, gradient, tokens)
        except BlockError:
            return [None] * (len(several) - len(found)) + found[::-1]
        found.append(float(np.diag(gradient).mean()))
    return found[::-1]


def units(block: Block, place: str = "") -> Iterator[tuple[str, Block]]:
    """The blocks that a network goes through one after another, each with its place in depth.

    Residual blocks stay whole. Places are such as "3.", or none for blocks that are not repeated.
    """
    if isinstance(block, Sequential):
        for part in block.parts:
            yield from units(part, place)
    elif isinstance(block, Repeat):
        depth = round(value(block.depth))
        if depth > MOST_UNITS:
            raise BlockError(f"{depth} layers are too many for a table; at most {MOST_UNITS}")
        for n in range(1, depth + 1):
            yield from units(block.block, f"{place}{n}.")
    else:
        yield place, block


def tokens_of(block: Block) -> int:
    """How many tokens enter a network: patches, or those its attention sees; two without any.

    Of an encoder and a decoder those of the encoder.
    """
    streams: list[set[int]] = [set()]
    for part in _within(block):
        if isinstance(part, Patches):
            return round(value(part.tokens))
        if isinstance(part, Targets):
            streams.append({round(value(part.tokens))})
        elif isinstance(part, CrossAttention):
            continue
        elif isinstance(part, Attention):
            streams[-1].add(round(value(part.tokens)))
    if any(len(found) > 1 for found in streams):
        raise BlockError("attention layers of several numbers of tokens")
    return max(streams[0], default=2)


def attention_in(unit: Block) -> tuple[Attention, Block] | None:
    """The attention in a residual branch or alone, and what stands before it; None without one."""
    row = [part for _, part in units(unit.branch if isinstance(unit, Residual) else unit)]
    for place, part in enumerate(row):
        if isinstance(part, Attention):
            return part, Sequential(tuple(row[:place]))
    return None


def _names(several: list[tuple[str, Block]]) -> Iterator[str]:
    """What the units are called: by their place and kind, and the stream if there are two."""
    stream = "encoder." if any(isinstance(unit, Targets) for _, unit in several) else ""
    for place, unit in several:
        stream = "decoder." if isinstance(unit, Targets) else stream
        yield f"{stream}{place}{_label(unit)}"


def _label(unit: Block) -> str:
    if isinstance(unit, Residual):
        inner = attention_in(unit)
        if inner is None:
            return "feed"
        return "cross" if isinstance(inner[0], CrossAttention) else "attention"
    return "embedding" if isinstance(unit, Embedding) else type(unit).__name__.lower()


def _logit_variance(attention: Attention, tokens: Tokens) -> float:
    if isinstance(attention, CrossAttention):
        return token_cross.logit_variance(attention, tokens)
    return token_attention.logit_variance(attention, tokens)


def _within(block: Block) -> Iterator[Block]:
    """A block and all blocks in it."""
    yield block
    for held in vars(block).values():
        for inner in held if isinstance(held, tuple) else (held,):
            if isinstance(inner, Block):
                yield from _within(inner)
