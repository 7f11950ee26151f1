"""Gradients of weights and of inputs, by differences along random directions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from sympy import Expr, Integer

from varlaw.checks.blocks.measuring import Measured, inputs, measured_from
from varlaw.checks.blocks.running import Batch, Draw, number, run
from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.state import BlockError, Gradient, State
from varlaw.symbolic.blocks.weights import weight_gradients

STEP = 1e-4


@dataclass
class Nudged(Draw):
    """Weights as drawn, those of one draw moved in a Gaussian direction."""

    target: int = 0
    step: float = 0.0
    seed: np.random.SeedSequence = field(default_factory=np.random.SeedSequence)
    sizes: list[int] = field(default_factory=list)

    def weights(self, variance: Expr, *shape: int, law: str = "") -> Batch:
        drawn = super().weights(variance, *shape, law=law)
        self.sizes.append(drawn.size)
        if len(self.sizes) - 1 != self.target or not self.step:
            return drawn
        return drawn + self.step * np.random.default_rng(self.seed).standard_normal(shape)


def measure_weights(
    block: Block,
    state: State,
    gradient: Gradient,
    tokens: int = 1,
    *,
    replicates: int = 1000,
    seed: int = 0,
    law: str = "normal",
) -> dict[str, Measured]:
    """The second moments of `weight_gradients`, by "path name".

    Raises BlockError where names have no values, and for layers whose weights are not covered.
    """
    claims = {
        f"{one.path} {one.name}".strip(): one.second_moment
        for one in weight_gradients(block, state, gradient, Integer(tokens))
    }
    return _compared(
        claims,
        lambda stream: _of_weights(block, state, gradient, tokens, stream, law),
        replicates,
        seed,
    )


def measure_gradients(
    block: Block,
    state: State,
    gradient: Gradient,
    tokens: int = 2,
    *,
    replicates: int = 1000,
    seed: int = 0,
    law: str = "normal",
) -> dict[str, Measured]:
    """The "second_moment" and the "product" of two tokens' gradients at the input of a block.

    Gradients at the output have the moments of `gradient`. Raises BlockError where names have no
    values.
    """
    passed = block.backward(gradient, state)
    return _compared(
        {"second_moment": passed.second_moment, "product": passed.product},
        lambda stream: _of_inputs(block, state, gradient, tokens, stream, law),
        replicates,
        seed,
    )


def _compared(
    claims: dict[str, Expr],
    once: Callable[[np.random.SeedSequence], Sequence[float]],
    replicates: int,
    seed: int,
) -> dict[str, Measured]:
    """Claims beside the means of what is found `once` for each network, in the same order."""
    found = [once(stream) for stream in np.random.SeedSequence(seed).spawn(replicates)]
    if {len(one) for one in found} != {len(claims)}:
        raise BlockError("a block draws weights whose gradients are not covered")
    return {
        name: measured_from(number(claimed), values)
        for (name, claimed), values in zip(claims.items(), zip(*found, strict=True), strict=True)
    }


def _of_inputs(
    block: Block,
    state: State,
    gradient: Gradient,
    tokens: int,
    stream: np.random.SeedSequence,
    law: str,
) -> tuple[float, float]:
    """Means over tokens and pairs of them: directions of their own, less one for all of them."""
    first, weights = stream.spawn(2)
    rng = np.random.default_rng(first)
    x = inputs(block, state, tokens, rng)

    def along(direction: Batch) -> float:
        def output(step: float) -> Batch:
            return run(block, x + step * direction, Draw(np.random.default_rng(weights), law))

        return _squared(output, gradient)

    own = along(rng.standard_normal(x.shape))
    together = along(np.broadcast_to(rng.standard_normal(x.shape[1:]), x.shape))
    return own / x.size, (together - own) / (x.size * (len(x) - 1))


def _of_weights(
    block: Block,
    state: State,
    gradient: Gradient,
    tokens: int,
    stream: np.random.SeedSequence,
    law: str,
) -> list[float]:
    """The mean square of the gradient in each group of weights of one network."""
    first, weights, direction = stream.spawn(3)
    x = inputs(block, state, tokens, np.random.default_rng(first))

    def drawn(target: int, step: float) -> Nudged:
        rng = np.random.default_rng(weights)
        return Nudged(rng, law, target=target, step=step, seed=direction)

    def output(target: int, step: float) -> Batch:
        return run(block, x, drawn(target, step))

    still = drawn(0, 0.0)
    run(block, x, still)
    return [
        _squared(partial(output, target), gradient) / size
        for target, size in enumerate(still.sizes)
    ]


def _squared(output: Callable[[float], Batch], gradient: Gradient) -> float:
    """E[(sum of g dy)^2] over gradients g with the moments given; dy is the output's slope at 0."""
    apart = (output(STEP) - output(-STEP)) / (2 * STEP)
    own, shared = number(gradient.second_moment), number(gradient.product)
    flat = apart.reshape(-1, apart.shape[-1])
    return (own - shared) * float((flat**2).sum()) + shared * float((flat.sum(0) ** 2).sum())
