"""Networks run for real, layer by layer, in single precision: moments and Jacobians.

The Jacobian of the rest of the network behind a layer is seen by a small Gaussian change of that
layer's output, with the same weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sympy import Expr

from varlaw.checks.blocks.attention import biases, heads
from varlaw.checks.blocks.measuring import Measured, inputs, weights_drawn
from varlaw.checks.blocks.running import Batch, Draw, number, run
from varlaw.checks.blocks.seen import Seen
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.layerwise import Layer, attention_in, layers, tokens_of, units
from varlaw.symbolic.blocks.linear import Embedding
from varlaw.symbolic.blocks.residual import Residual
from varlaw.symbolic.blocks.state import BlockError, State
from varlaw.symbolic.blocks.vision import Patches

NETWORKS = 4, 16
WORK = 1e8  # random numbers of all networks
CHANGE = 3e-3  # relative to the root mean square


class Kept(Seen):
    """Normal weights in single precision; those of large matrices along what goes through them."""

    def weights(self, variance: Expr, *shape: int, law: str = "") -> Batch:
        def drawn() -> Batch:
            weights = self.rng.standard_normal(shape, dtype=np.float32)
            weights *= np.float32(np.sqrt(number(variance)))
            return weights

        return np.asarray(self._once(drawn))


@dataclass(frozen=True)
class Flow:
    """A stream of tokens, and those that its cross attention reads."""

    x: Batch
    memory: Batch | None = None

    def through(self, block: Block, draw: Kept) -> "Flow":
        """What a block makes of it, with the weights drawn before."""
        draw.memory = self.memory
        return Flow(run(block, self.x, draw.again()), draw.memory)


@dataclass(frozen=True)
class MeasuredLayer:
    """What was predicted of a layer, and what was found; None where there is nothing to find."""

    name: str
    second_moment: Measured
    product: Measured | None
    branch: Measured | None
    logits: Measured | None
    gradient: Measured | None


def measure_layers(
    block: Block,
    state: State,
    *,
    seed: int = 0,
    networks: int | None = None,
    gradients: bool = False,
) -> list[MeasuredLayer]:
    """The layers of networks with fresh weights beside their prediction; `gradients` cost most.

    There are as many networks as a fixed amount of work allows, 4 to 16, unless a number is given.
    The first block makes the tokens, as an embedding does, or takes the patches of an image, which
    are Gaussian. Raises BlockError where it does not.
    """
    claimed = layers(block, state)
    if not isinstance(next(units(block))[1], Embedding | Patches):
        raise BlockError("measured layers start with an embedding or patches, which make tokens")
    if networks is None:
        several = 1 if gradients else WORK / weights_drawn(block, tokens_of(block))
        networks = int(min(max(several, NETWORKS[0]), NETWORKS[1]))
    streams = np.random.SeedSequence(seed).spawn(networks)
    runs = [list(_run(block, state, stream, gradients)) for stream in streams]
    return [_beside(layer, [found[n] for found in runs]) for n, layer in enumerate(claimed)]


def _beside(claim: Layer, found: list[dict[str, float]]) -> MeasuredLayer:
    def one(name: str) -> Measured | None:
        if name not in found[0] or (claimed := getattr(claim, name)) is None:
            return None
        values = np.asarray([each[name] for each in found])
        error = float(values.std(ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return Measured(claimed, float(values.mean()), float(error), len(values))

    square = one("second_moment")
    assert square is not None
    return MeasuredLayer(
        claim.name, square, one("product"), one("branch"), one("logits"), one("gradient")
    )


def _run(
    block: Block, state: State, stream: np.random.SeedSequence, gradients: bool
) -> Iterator[dict[str, float]]:
    """What is found behind each unit of one network."""
    several = [unit for _, unit in units(block)]
    seeds = [np.random.default_rng(seed) for seed in stream.spawn(len(several) + 1)]
    if isinstance(several[0], Embedding):
        flow = Flow(np.zeros((tokens_of(block), 1), np.float32))
    else:
        flow = Flow(inputs(block, state, 1, seeds[0]).astype(np.float32))
    found: list[dict[str, float]] = []
    changed: list[tuple[float, Flow]] = []
    shared: dict[Block, Batch] = {}
    for unit, rng in zip(several, seeds[1:], strict=True):
        inputs_ = (1 + len(changed)) * len(flow.x)
        draw = Kept(rng, memory=flow.memory, shared=shared, inputs=inputs_)
        one: dict[str, float] = {}
        if (inner := attention_in(unit)) is not None:
            attention, before = inner
            one["logits"] = _logits(attention, run(before, flow.x, draw), draw)
        if isinstance(unit, Residual):
            one["branch"] = float((run(unit.branch, flow.x, draw.again()) ** 2).mean())
        flow, changed = (
            flow.through(unit, draw),
            [(size, other.through(unit, draw)) for size, other in changed],
        )
        one["second_moment"] = float((flow.x.astype(float) ** 2).mean())
        one["product"] = _pairs(flow.x)
        found.append(one)
        if gradients:
            size = CHANGE * np.sqrt(one["second_moment"])
            step = seeds[0].standard_normal(flow.x.shape, dtype=np.float32)
            other = Flow(flow.x + np.float32(size) * step, flow.memory)
            changed.append((size**2 * flow.x.size, other))
    for one, (scale, other) in zip(found, changed, strict=False):
        one["gradient"] = float(((other.x - flow.x).astype(float) ** 2).sum()) / scale
    yield from found


def _logits(attention: Attention, x: Batch, draw: Draw) -> float:
    """The mean square of logits, masked ones included; without what falls with distance."""
    q, k, _ = heads(attention, x, draw)
    logits = q @ k.transpose(0, 2, 1)
    if attention.relative != 0:
        logits = logits + biases(attention, len(x), draw)
    return float((logits.astype(float) ** 2).mean())


def _pairs(x: Batch) -> float:
    """The mean product of two tokens' features."""
    n, d = x.shape
    square = float((x.astype(float) ** 2).sum())
    whole = float((x.astype(float).sum(0) ** 2).sum())
    return (whole - square) / max(n * (n - 1) * d, 1)
