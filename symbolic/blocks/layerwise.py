"""Second moments through a network of numbers, layer by layer: stream, branches, logits, gradients.

Tokens that attention makes differ are followed one by one, and in pairs (`Tokens`), in the wide
limit; else by the maps of their states.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from sympy import Expr

from varlaw.symbolic.blocks import (  # noqa: F401 - they register what they follow
    token_alibi,
    token_attention,
    token_cross,
    token_vision,
)
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.convolution import Conv
from varlaw.symbolic.blocks.cross import CrossAttention, Targets
from varlaw.symbolic.blocks.linear import Embedding
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Residual
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State
from varlaw.symbolic.blocks.tokens import Tokens, added, alike, back, follow, value
from varlaw.symbolic.blocks.vision import Patches
from varlaw.symbolic.gaussian.arrays import Array

MOST_UNITS = 10_000
MOST_TOKENS = 256
PLACES = 20  # digits of a moment, from layer to layer

Flow = TypeVar("Flow", State, Gradient)


@dataclass(frozen=True)
class Layer:
    """A layer's output: second moments of the stream, of the branch that was added, of logits.

    Means over positions; `product` is the mean over pairs of tokens, None where it is not followed.
    `gradient` is the second moment of the gradient of an entry at the output, for 1 at the end of
    the network; None where it is not covered. `branch` and `logits` are None where there are none.
    """

    name: str
    second_moment: float
    product: float | None
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
    elif not any(isinstance(part, Attention) for part in _within(block)):
        return _alike(several, state)
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


def followed(block: Block, state: State) -> dict[str, float]:
    """The moments at the output, "forward" and "product", and "backward" at the input, if known.

    Means over tokens, each of which is followed, as in `layers`. Raises BlockError as it does, and
    for networks without attention, or with many tokens.
    """
    if not any(isinstance(part, Attention) for part in _within(block)):
        raise BlockError("without attention all tokens are alike")
    if (count := tokens_of(block)) > MOST_TOKENS:
        raise BlockError(f"{count} tokens are many; at most {MOST_TOKENS} are followed")
    entering = alike(state, count)
    out = follow(block, entering)
    found = {"forward": out.second_moment, "product": out.product}
    with suppress(BlockError):
        gradient = back(block, np.eye(len(out.means)), entering)
        found["backward"] = float(np.trace(gradient)) / count
    return found


def _alike(several: list[tuple[str, Block]], state: State) -> list[Layer]:
    """The layers of a network in which all inputs, or positions of images, stay alike."""
    states, rows = [settled(state)], []
    for place, unit in several:
        entering, branch = states[-1], None
        if isinstance(unit, Residual):
            branch = value(unit.branch.forward(entering).second_moment)
        states.append(settled(unit.forward(entering)))
        rows.append((f"{place}{_label(unit)}", states[-1], branch))
    gradient, found = Gradient(second_moment=ONE), [1.0]
    with suppress(BlockError):
        for (_, unit), entering in zip(reversed(several[1:]), reversed(states[1:-1]), strict=True):
            gradient = settled(unit.backward(gradient, entering))
            found.append(value(gradient.second_moment))
    known = [*[None] * (len(rows) - len(found)), *reversed(found)]
    return [
        Layer(
            name,
            value(out.second_moment),
            None if out.product is None else value(out.product),
            branch,
            None,
            gradient,
        )
        for (name, out, branch), gradient in zip(rows, known, strict=True)
    ]


def settled(flow: Flow) -> Flow:
    """Moments as fractions or decimals."""
    names = ("second_moment", "mean", "product")
    numbers = {
        name: moment if moment.is_Rational else moment.evalf(PLACES)
        for name in names
        if isinstance(moment := getattr(flow, name, None), Expr) and not moment.free_symbols
    }
    return flow.become(**numbers)


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
        if any(isinstance(part, Conv) for part in _within(unit)):
            return "residual"
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
