"""E[q_50] of He + ReLU at width 1024, to a relative standard error of 0.1 %, in one run.

`OMP_NUM_THREADS=1 python benchmarks/deep.py` takes about half a minute of CPU. *End to end* all
ways estimate one quantity, the mean of q_50 over networks. How many replicates that takes follows
from their variance, which is known; the CPU time of one is measured, and the total extrapolated.
*Layer by layer* is another quantity, the map of each layer, and is run to its end.
"""

import importlib.util
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from varlaw.checks.simulate import (
    Conditional,
    Direct,
    Sampler,
    constant,
    excess,
    layer_ratios,
    networks,
    relu,
    second_moments,
    spread_by_layers,
    spread_end_to_end,
)
from varlaw.checks.statistics.sampling import stream
from varlaw.checks.statistics.verdicts import CatoniSequence, judge, planned_size

WIDTH, DEPTH, ERROR = 1024, 50, 1e-3
ERROR_RATE = 1e-6  # the default of `varlaw verify`
NET = constant(WIDTH, DEPTH, relu, 2.0)
INPUT = np.ones(WIDTH)
BLOCK = 64  # networks at once: their 64 x 1024 numbers stay in the cache
Draw = Callable[[int], Any]


def tutorial(number: int) -> float:
    """New float64 arrays in every layer, and the std of what comes out, as tutorials have it."""
    rng, h = np.random.default_rng(number), INPUT
    for _ in range(DEPTH):
        h = np.maximum(h @ rng.normal(0.0, math.sqrt(2 / WIDTH), (WIDTH, WIDTH)), 0)
        h.std()
    return float((h**2).mean())


def by_torch(number: int) -> float:
    """The same in PyTorch: float32, weights filled in place."""
    import torch

    h, weights = torch.ones(WIDTH), torch.empty(WIDTH, WIDTH)
    for _ in range(DEPTH):
        torch.nn.init.kaiming_normal_(weights, nonlinearity="relu")
        h = torch.relu(weights @ h)
        h.std()
    return float((h**2).mean())


def by(sampler: Sampler, block: int) -> Draw:
    """q_50 of a block of networks, one number per replicate."""

    def draw(number: int) -> Any:
        q = second_moments(sampler, stream(1, sampler.name, number), INPUT, block)
        return sampler.replicates(q[-1, :, 0])

    return draw


def measured(draw: Draw, seconds: float) -> tuple[float, Any]:
    """CPU seconds per replicate, over about so many seconds, and all replicates."""
    draw(0)  # imports and buffers
    found: list[Any] = []
    began = time.process_time()
    while time.process_time() - began < seconds:
        found.append(np.atleast_1d(draw(1 + len(found))))
    spent = time.process_time() - began
    values = np.concatenate(found)
    return spent / values.size, values


def end_to_end() -> None:
    alone = spread_end_to_end(NET.widths, excess("relu(x)"))
    pairs = (alone + spread_end_to_end(NET.widths, excess("relu(x)", "relu(-x)"))) / 2
    ways: list[tuple[str, Draw, float, float]] = [
        ("tutorial style, float64", tutorial, alone, 8),
        ("direct, float32 in place", by(Direct(NET), 1), alone, 5),
        ("conditional on the batch", by(Conditional(NET), BLOCK), alone, 6),
        ("the same, in mirrored pairs", by(Conditional(NET, mirrored=True), BLOCK), pairs, 6),
    ]
    if importlib.util.find_spec("torch"):
        ways.insert(1, ("PyTorch on CPU, float32", by_torch, alone, 5))
    print(
        f"{'end to end: E[q_50]':29s}{'ms each':>9s}{'needed':>9s}{'CPU':>8s}{'faster':>8s}", end=""
    )
    print("   std predicted and found, mean found")
    first = 0.0
    for name, draw, spread, seconds in ways:
        each, q = measured(draw, seconds)
        needed = networks(spread, ERROR)
        total = each * needed
        first = first or total
        shown = f"{total / 3600:.1f} h" if total > 1800 else f"{total:.0f} s"
        print(f"{name:29s}{each * 1e3:9.3f}{needed:9,}{shown:>8s}{first / total:7.1f}x", end="   ")
        print(f"{math.sqrt(spread):.3f} {q.std():.3f}", end="  ")
        print(f"{q.mean():.3f} +- {q.std() / math.sqrt(q.size):.3f} from {q.size:,}")


def by_layers(name: str, count: int, tolerance: float) -> None:
    """The proved interval of the mean of q_(l+1)/q_l from so many networks."""
    nets, spread = Conditional(NET), spread_by_layers(NET.widths, excess("relu(x)"))
    sequence = CatoniSequence(ERROR_RATE, spread, count)
    began = time.process_time()
    for start in range(0, count, BLOCK):
        q = second_moments(nets, stream(2, start), INPUT, min(BLOCK, count - start))
        sequence.update(layer_ratios(q, lambda q: q))
    interval = sequence.interval()
    spent = time.process_time() - began
    print(f"{name:29s}{spent / count * 1e3:9.3f}{count:9,}{spent:6.2f} s", end="   ")
    print(f"[{interval.low:.5f}, {interval.high:.5f}] {judge(interval, 1.0, tolerance)}")


def main() -> None:
    print(f"He + ReLU, {DEPTH} layers of width {WIDTH}, one input; relative standard error 0.1 %")
    end_to_end()
    print(f"layer by layer: mean of q_(l+1)/q_l = 1, by an interval at error rate {ERROR_RATE:g}")
    spread = spread_by_layers(NET.widths, excess("relu(x)"))
    by_layers("standard error 0.1 %", networks(spread, ERROR), 0.01)
    for tolerance in (0.01, 0.001):
        size = planned_size(spread, 1.0, tolerance, ERROR_RATE)
        by_layers(f"verdict at {tolerance:.1%}", size, tolerance)


if __name__ == "__main__":
    main()
