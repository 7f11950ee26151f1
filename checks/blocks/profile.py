"""Second moments from layer to layer of a network: as claimed, and as the layers run for real."""

import math
from dataclasses import dataclass, replace

import numpy as np

from varlaw.checks.blocks.measuring import LARGEST, STEP, Simulation, inputs
from varlaw.checks.blocks.running import Batch, number, parts, run, whole
from varlaw.checks.blocks.seen import Seen
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.cross import Targets
from varlaw.symbolic.blocks.layerwise import settled
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State

MOST = 400  # layers
WORK = 1e8  # weights drawn for all points
NETWORKS = (8, 200)
BACK = 8  # places at which gradients are measured


@dataclass(frozen=True)
class Point:
    """A mean over networks with its standard error, after so many layers."""

    place: int
    estimate: float
    error: float


@dataclass(frozen=True)
class Profile:
    """Second moments at the input and after each layer, and what was measured of them.

    `backward` is that of the gradient in an entry there, for 1 at the output; None where it is
    not covered.
    """

    forward: tuple[float, ...]
    backward: tuple[float, ...] | None
    measured_forward: tuple[Point, ...] = ()
    measured_backward: tuple[Point, ...] = ()


def profile(block: Block, state: State) -> Profile:
    """The moments claimed. Raises BlockError for names without values and maps not covered."""
    layers = units(block)
    states = [state]
    for layer in layers:
        states.append(settled(layer.forward(states[-1])))
    forward = tuple(number(one.second_moment) for one in states)
    gradient, back = Gradient(second_moment=ONE), [1.0]
    try:
        for layer, entering in zip(reversed(layers), reversed(states[:-1]), strict=True):
            gradient = settled(layer.backward(gradient, entering))
            back.append(number(gradient.second_moment))
    except BlockError:
        return Profile(forward, None)
    return Profile(forward, tuple(reversed(back)))


def measured(block: Block, state: State, *, seed: int = 0) -> Profile:
    """The same beside a simulation with fresh Gaussian weights. Raises BlockError as `profile`."""
    if any(isinstance(part, Targets) for part in parts(block)):
        raise BlockError("a picture of an encoder with a decoder is not measured: use layers")
    claimed, layers = profile(block, state), units(block)
    cost = Simulation.of(block, state).cost
    if cost > LARGEST:
        raise BlockError(f"a picture of {cost:.0f} weights for a network is too large")
    backward = claimed.backward is not None
    places = sorted({round(k * (len(layers) - 1) / (BACK - 1)) for k in range(BACK)})
    each = cost * (1 + len(places) * backward)
    count = int(min(max(WORK / each, NETWORKS[0]), NETWORKS[1]))
    found = [
        _network(block, layers, state, places if backward else [], stream)
        for stream in np.random.SeedSequence(seed).spawn(count)
    ]
    forward = np.asarray([one for one, _ in found])
    back = np.asarray([two for _, two in found])
    return replace(
        claimed,
        measured_forward=_points(range(len(layers) + 1), forward),
        measured_backward=_points(places, back) if backward else (),
    )


def units(block: Block) -> list[Block]:
    """The blocks in a row, repeated ones as often as they are. Raises BlockError for a name."""
    if isinstance(block, Sequential):
        found = [unit for part in block.parts for unit in units(part)]
    elif isinstance(block, Repeat):
        found = units(block.block) * whole(block.depth)
    else:
        found = [block]
    if len(found) > MOST:
        raise BlockError(f"a picture of {len(found)} layers; at most {MOST}")
    return found


def _network(
    block: Block,
    layers: list[Block],
    state: State,
    places: list[int],
    stream: np.random.SeedSequence,
) -> tuple[list[float], list[float]]:
    """Second moments of one network at its input and after each layer, and of gradients."""
    first, steps, *own = stream.spawn(2 + len(layers))
    values = [inputs(block, state, 1, np.random.default_rng(first))]
    runs = len(values[0]) * (1 + len(places))
    draws = [Seen(np.random.default_rng(seed), inputs=runs) for seed in own]

    def through(layer: int, x: Batch) -> Batch:
        return run(layers[layer], x, draws[layer].again())

    for layer in range(len(layers)):
        values.append(through(layer, values[-1]))
    rng, back = np.random.default_rng(steps), []
    for place in places:
        x = values[place]
        scale = STEP * math.sqrt(float((x**2).mean()))
        end = x + scale * rng.standard_normal(x.shape)
        for layer in range(place, len(layers)):
            end = through(layer, end)
        back.append(float(((end - values[-1]) ** 2).sum()) / (scale**2 * x.size))
    return [float((x**2).mean()) for x in values], back


def _points(places: "range | list[int]", found: Batch) -> tuple[Point, ...]:
    means, errors = found.mean(0), found.std(0, ddof=1) / math.sqrt(len(found))
    return tuple(
        Point(place, float(mean), float(error))
        for place, mean, error in zip(places, means, errors, strict=True)
    )
