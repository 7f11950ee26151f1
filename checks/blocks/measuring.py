"""Second moments of blocks run for real, beside what is claimed for them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from sympy import Expr

from varlaw.checks.blocks.running import Batch, children, number, parts, run, whole
from varlaw.checks.blocks.seen import OVERHEAD, Seen, cost
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.convolution import Conv, ConvTransposed
from varlaw.symbolic.blocks.cross import CrossAttention, Targets
from varlaw.symbolic.blocks.experts import Experts
from varlaw.symbolic.blocks.linear import Embedding, Linear
from varlaw.symbolic.blocks.norm import BatchNorm
from varlaw.symbolic.blocks.pooling import AveragePool, GlobalAveragePool, MaxPool
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, Regime, State
from varlaw.symbolic.blocks.vision import Patches

WORK = 5e7  # weights drawn for one measurement
REPLICATES = (16, 4000)
LARGEST = 20_000_000  # weights of one network
PRODUCTS = 16  # of numbers that take the time of one random number
SOFTMAX = 8  # random numbers that take the time of one weight of a softmax, twice
INPUTS = 8  # of one network, where no layer says how many
STEP = 1e-6  # of differences, for gradients
PROBE = Gradient(second_moment=ONE)
BACKWARD = {"backward", "gradient_product"}
PAIRED = {"product", "gradient_product"}


@dataclass(frozen=True)
class Measured:
    """What was claimed, and the mean of replicates with its standard error."""

    claimed: float
    estimate: float
    error: float
    replicates: int

    def __str__(self) -> str:
        return (
            f"{self.estimate:.6g} +- {self.error:.2g} (standard error, {self.replicates} networks),"
            f" {distance(self.estimate, self.claimed)}"
        )

    def record(self) -> dict[str, Any]:
        """The values as a record."""
        return {**vars(self)}


def distance(estimate: float, claimed: float) -> str:
    """How far an estimate is from what was claimed, relative to it unless that is 0."""
    apart = f"{estimate / claimed - 1:+.2%}" if claimed else f"{estimate:+.2g}"
    return f"{apart} from {claimed:.6g}"


def measure(
    block: Block, state: State, *, seed: int = 0, law: str = "normal", most: int = REPLICATES[1]
) -> dict[str, Measured]:
    """Second moments "forward" and "backward" and the "product" of two inputs, where followed.

    Means are over as many networks as a fixed amount of work allows, and `most` at most.

    Backward, the sum of the squares of the Jacobian over the number of inputs, by differences along
    Gaussian directions. Not covered backward: embeddings, and what the block itself refuses. Raises
    BlockError where names have no values.
    """
    simulation = Simulation.of(block, state, law)
    count = int(min(max(WORK / simulation.cost, REPLICATES[0]), most))
    found = simulation.run(np.random.SeedSequence(seed).spawn(count))
    return {
        name: measured_from(value, found[name].tolist())
        for name, value in simulation.claimed.items()
    }


def measured_from(claimed: float, values: Sequence[float]) -> Measured:
    """The mean of replicates with its standard error."""
    array = np.asarray(values)
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    return Measured(claimed, float(array.mean()), error, len(array))


@dataclass(frozen=True)
class Simulation:
    """Blocks that can be run: what is claimed of them, and the `cost` of one network in weights.

    `shared` is the correlation of two inputs' gradients at the output.
    """

    block: Block
    state: State
    law: str
    claimed: dict[str, float]
    regimes: dict[str, Regime]
    cost: float
    shared: float = 0.0

    @classmethod
    def of(
        cls, block: Block, state: State, law: str = "normal", probe: Gradient = PROBE
    ) -> "Simulation":
        """Raises BlockError where names have no values, and for a network that is too large."""
        if isinstance(_first(block), Embedding):
            state = State(second_moment=ONE)  # tokens come in as numbers, without moments
        out, gradient = block.forward(state), _gradient(block, state, probe)
        claims, regimes = {"forward": out.second_moment}, {"forward": out.regime}
        if out.product is not None:
            claims["product"], regimes["product"] = out.product, out.product_regime
        if gradient is not None:
            claims["backward"], regimes["backward"] = gradient.second_moment, gradient.regime
            if probe.product != 0 and not _sizes(block)[2]:  # two positions differ from images
                claims["gradient_product"] = gradient.product
                regimes["gradient_product"] = gradient.product_regime
        claimed = {name: number(value) for name, value in claims.items()}
        rows = _rows(block, set(claimed))
        weights = weights_drawn(block, rows if law == "normal" else None)
        if weights > LARGEST:
            raise BlockError(f"a simulation of {weights} weights is too large; at most {LARGEST}")
        return cls(block, state, law, claimed, regimes, weights + OVERHEAD, number(probe.product))

    def run(self, streams: Sequence[np.random.SeedSequence]) -> dict[str, Batch]:
        """The statistics of a network for each stream, a vector for each claim."""
        found = [self._replicate(stream) for stream in streams]
        return {name: np.asarray([one[name] for one in found]) for name in self.claimed}

    def _replicate(self, stream: np.random.SeedSequence) -> dict[str, float]:
        """What one network gives, with everything random drawn anew."""
        first, weights = stream.spawn(2)
        rng = np.random.default_rng(first)
        x = inputs(self.block, self.state, self._least, rng, INPUTS)
        rows = _rows(self.block, set(self.claimed))
        draw = Seen(np.random.default_rng(weights), self.law, inputs=rows)
        y = run(self.block, x, draw.again())
        found = {"forward": float((y**2).mean())}
        if "product" in self.claimed:
            across = any(type(part) is BatchNorm for part in parts(self.block))
            found["product"] = _product(y, across)
        if "backward" not in self.claimed:
            return found
        scale = STEP * math.sqrt(number(self.state.second_moment))

        def along(direction: Batch) -> float:
            apart = (run(self.block, x + scale * direction, draw.again()) - y) / scale
            return _weighted(apart, self.shared)

        own = along(rng.standard_normal(x.shape))
        found["backward"] = own / x.size
        if "gradient_product" in self.claimed:
            both = along(np.broadcast_to(rng.standard_normal(x.shape[-1]), x.shape))
            found["gradient_product"] = (both - own) / (x.size * (x.size / x.shape[-1] - 1))
        return found

    @property
    def _least(self) -> int:
        return 1 if self.claimed.keys().isdisjoint(PAIRED) else 2


def _first(block: Block) -> Block:
    return _first(block.parts[0]) if isinstance(block, Sequential) else block


def _product(y: Batch, across: bool) -> float:
    """The mean product of two inputs; of two positions of an image, or across images."""
    groups = y[None] if y.ndim == 2 else y
    groups = groups.reshape(1 if across else len(groups), -1, y.shape[-1])
    pairs = groups.size * (groups.shape[1] - 1)
    return float((groups.sum(1) ** 2).sum() - (groups**2).sum()) / pairs


def _weighted(apart: Batch, shared: float) -> float:
    """E[(sum of g dy)^2] over gradients g of second moment 1 that two inputs `shared`."""
    flat = apart.reshape(-1, apart.shape[-1])
    return (1 - shared) * float((flat**2).sum()) + shared * float((flat.sum(0) ** 2).sum())


def _gradient(block: Block, state: State, probe: Gradient) -> Gradient | None:
    """The claim backward; None where there is none."""
    if any(isinstance(part, Embedding) for part in parts(block)):
        return None
    try:
        return block.backward(probe, state)
    except BlockError:
        return None


def inputs(
    block: Block, state: State, least: int, rng: np.random.Generator, alone: int = 1
) -> Batch:
    """Gaussian inputs, of which two each have the correlation of the state; `least` at least.

    There are `alone` of them where no layer says how many, and they are no images; what an
    embedding does not look at is 0.
    """
    width, tokens, places = _sizes(block)
    shape = max(_count(tokens, places, alone), least), *places, width
    if isinstance(_first(block), Embedding):
        return np.zeros(shape)
    mean, spread = number(state.mean), math.sqrt(number(state.variance))
    rho = 0.0 if state.product is None else number(state.correlation)
    if rho < 0:
        raise BlockError("a simulation has correlations from 0 on")
    shared, own = rng.standard_normal(width), rng.standard_normal(shape)
    return np.asarray(mean + spread * (math.sqrt(rho) * shared + math.sqrt(1 - rho) * own))


def _count(tokens: int, places: tuple[int, ...], alone: int) -> int:
    return tokens or (1 if places else alone)


def _rows(block: Block, claims: set[str]) -> int:
    """How many inputs go through a network: so many more for each direction of differences."""
    _, tokens, places = _sizes(block)
    return (1 + len(claims & BACKWARD)) * _count(tokens, places, INPUTS)


def _sizes(block: Block) -> tuple[int, int, tuple[int, ...]]:
    """The number of features that go in, of tokens or samples, and of positions of an image."""
    every = list(takewhile(lambda part: not isinstance(part, Targets), parts(block)))
    patches = {whole(part.tokens) for part in every if isinstance(part, Patches)}
    tokens = patches or {whole(part.tokens) for part in every if isinstance(part, Attention)}
    if len(every) < len(list(parts(block))):  # what cross attention reads
        tokens |= {whole(p.tokens) for p in parts(block) if isinstance(p, CrossAttention)}
    places = next((_places(part) for part in every if isinstance(part, Conv)), ())
    if places and tokens:
        raise BlockError("a simulation of images has no attention")
    tokens |= set(_samples(every, places))
    if len(tokens) > 1:
        raise BlockError("layers of several numbers of tokens, samples or images")
    for part in every:
        for name in ("fan_in", "width", "channels_in"):
            if isinstance(width := getattr(part, name, None), Expr):
                return whole(width), max(tokens, default=0), places
    raise BlockError("a simulation needs a layer that says how many features there are")


def _samples(every: list[Block], places: tuple[int, ...]) -> Iterator[int]:
    """The samples of batch norms; images, each of which is as many samples as it has positions."""
    before: Block | None = None
    for part in every:
        if isinstance(part, Conv | AveragePool | MaxPool | GlobalAveragePool):
            before = part
        if type(part) is not BatchNorm:
            continue
        if part.samples is None and not places:
            raise BlockError("a simulation needs the number of samples of a batch norm")
        left = 1 if part.samples is None else _left(before, places)
        images = INPUTS if part.samples is None else number(part.samples) / left
        if images != int(images):
            raise BlockError(f"{part.samples} samples of images with {left:.0f} positions")
        yield int(images)


def _left(before: Block | None, places: tuple[int, ...]) -> float:
    """The positions of an image behind a layer, those at the start if there is none."""
    if not isinstance(before, Conv | AveragePool | MaxPool):
        return math.prod(places) if before is None else 1
    transposed, window = isinstance(before, ConvTransposed), before.window
    side = window.length if transposed else window.outputs
    return number(side) ** whole(before.dims)


def _places(block: Conv) -> tuple[int, ...]:
    if block.size is None:
        raise BlockError("a simulation needs the size of the input of a convolution")
    return (whole(block.size),) * whole(block.dims)


def weights_drawn(block: Block, inputs: int | None = None) -> int:
    """In random numbers, the time that a network takes on so many inputs; None: drawn whole."""
    if isinstance(block, Repeat):
        return whole(block.depth) * weights_drawn(block.block, inputs)
    if isinstance(block, Linear):
        seen = inputs if block.law in ("", "normal") else None
        return _matrix(whole(block.fan_in), whole(block.fan_out), seen)
    if isinstance(block, Conv):
        dims, channels = whole(block.dims), whole(block.channels_in) * whole(block.channels_out)
        taps = channels * whole(block.window.kernel) ** dims // whole(block.groups)
        return taps + taps * max(_places(block)) ** dims // PRODUCTS
    if isinstance(block, Experts):
        return whole(block.experts) * weights_drawn(block.branch, inputs)
    if isinstance(block, Attention):
        heads, own, tokens = whole(block.heads), whole(block.head_width), whole(block.tokens)
        outward = 2 * (heads + whole(block.kv_heads)) * own
        return _matrix(whole(block.width), outward, inputs) + SOFTMAX * heads * tokens**2
    return sum(weights_drawn(inner, inputs) for inner in children(block))


def _matrix(fan_in: int, fan_out: int, inputs: int | None) -> int:
    return fan_in * fan_out if inputs is None else cost(fan_in, fan_out, inputs)
