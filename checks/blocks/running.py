"""How blocks of networks are run for real, in NumPy: what all simulations share.

A batch has the shape (inputs or tokens, features). Nothing here knows a moment map.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from sympy import Expr

from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.experts import Experts
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.state import ONE, BlockError

Batch = NDArray[Any]
TRUNCATED: float = math.sqrt(1 - 4 * math.exp(-2) / (math.sqrt(2 * math.pi) * (ndtr(2) - ndtr(-2))))
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Batch]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-math.sqrt(3), math.sqrt(3), shape),
    "truncated": lambda rng, shape: ndtri(rng.uniform(ndtr(-2), ndtr(2), shape)) / TRUNCATED,
}


@dataclass
class Draw:
    """Where the random numbers of one network come from.

    `memory` is what cross attention reads, `shared` are arrays that layers of one block share.
    """

    rng: np.random.Generator
    law: str = "normal"
    memory: Batch | None = None
    shared: dict[Block, Batch] = field(default_factory=dict)

    def weights(self, variance: Expr, *shape: int, law: str = "") -> Batch:
        """Weights of mean 0 and a variance, of a law of their own if one is given."""
        return math.sqrt(number(variance)) * LAWS[law or self.law](self.rng, shape)

    def product(self, x: Batch, variance: Expr, fan_out: int, law: str = "") -> Batch:
        """x times a matrix of weights."""
        return np.asarray(x @ self.weights(variance, x.shape[-1], fan_out, law=law))

    def uniform(self, *shape: int) -> Batch:
        """Numbers between 0 and 1."""
        return self.rng.random(shape)

    def fixed(self, found: Batch) -> Batch:
        """What was found in the first run of a network that is run several times."""
        return found


@lru_cache(maxsize=4096)
def number(value: Expr) -> float:
    """The value of an expression. Raises BlockError where names, or the whole, have no values."""
    if value.free_symbols:
        missing = ", ".join(sorted(map(str, value.free_symbols)))
        raise BlockError(f"a simulation needs numbers for {missing}")
    try:
        return float(value)
    except TypeError:
        raise BlockError("no digits are found for a number") from None


def whole(value: Expr) -> int:
    return round(number(value))


@singledispatch
def run(block: Block, x: Batch, draw: Draw) -> Batch:
    """The output of a block with fresh weights."""
    raise BlockError(f"{type(block).__name__} has no simulation")


@run.register
def _(block: Sequential, x: Batch, draw: Draw) -> Batch:
    for part in block.parts:
        x = run(part, x, draw)
    return x


@run.register
def _(block: Repeat, x: Batch, draw: Draw) -> Batch:
    for _ in range(whole(block.depth)):
        x = run(block.block, x, draw)
    return x


@run.register
def _(block: Residual, x: Batch, draw: Draw) -> Batch:
    return number(block.a) * x + number(block.b) * run(block.branch, x, draw)


@run.register
def _(block: Parallel, x: Batch, draw: Draw) -> Batch:
    return np.asarray(sum(run(branch, x, draw) for branch in block.branches))


@run.register
def _(block: Gate, x: Batch, draw: Draw) -> Batch:
    return run(block.left, x, draw) * run(block.right, x, draw)


@run.register
def _(block: Experts, x: Batch, draw: Draw) -> Batch:
    """All experts for all tokens; those that are not chosen have gate 0."""
    count, top = whole(block.experts), whole(block.top)
    even = block.router == 0
    logits = draw.product(x, ONE if even else block.router, count)
    bound = np.sort(logits, -1)[..., -top, None]
    gates = np.where(
        draw.fixed(logits >= bound), 1.0 if even else np.exp(logits - logits.max()), 0.0
    )
    gates /= gates.sum(-1, keepdims=True)
    outs = [run(block.branch, x, draw) for _ in range(count)]
    return np.asarray(sum(gates[..., n, None] * out for n, out in enumerate(outs)))


def children(block: Block) -> list[Block]:
    """The blocks that a block is made of."""
    values = [v if isinstance(v, tuple) else (v,) for v in vars(block).values()]
    return [inner for several in values for inner in several if isinstance(inner, Block)]


def parts(block: Block) -> Iterator[Block]:
    """A block and all blocks in it."""
    yield block
    for inner in children(block):
        yield from parts(inner)
