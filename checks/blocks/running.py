"""How blocks of networks are run for real, in NumPy: what all simulations share.

A batch has the shape (inputs or tokens, features). Nothing here knows a moment map.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, singledispatch

import numpy as np
from numpy.typing import NDArray
from sympy import Expr

from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.state import BlockError

Batch = NDArray[np.float64]
LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Batch]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-math.sqrt(3), math.sqrt(3), shape),
}


@dataclass
class Draw:
    """Where the random numbers of one network come from."""

    rng: np.random.Generator
    law: str = "normal"

    def weights(self, variance: Expr, *shape: int) -> Batch:
        """Weights of mean 0 and a variance."""
        return math.sqrt(number(variance)) * LAWS[self.law](self.rng, shape)


@lru_cache(maxsize=4096)
def number(value: Expr) -> float:
    """The value of an expression. Raises BlockError where names have no values."""
    if value.free_symbols:
        missing = ", ".join(sorted(map(str, value.free_symbols)))
        raise BlockError(f"a simulation needs numbers for {missing}")
    return float(value)


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


def children(block: Block) -> list[Block]:
    """The blocks that a block is made of."""
    values = [v if isinstance(v, tuple) else (v,) for v in vars(block).values()]
    return [inner for several in values for inner in several if isinstance(inner, Block)]


def parts(block: Block) -> Iterator[Block]:
    """A block and all blocks in it."""
    yield block
    for inner in children(block):
        yield from parts(inner)
