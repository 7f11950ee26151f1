"""The experiments against the tutorial style and PyTorch, workers, and the random generator's peak.

`OMP_NUM_THREADS=1 python benchmarks/experiments.py` takes about a minute, in one run:

- E[y^2]/E[x^2] of a linear layer at LeCun's variance, to a relative standard error of 0.1 %. How
  many replicates that takes follows from the spread of one, which is measured; the CPU time of one
  is measured too, and their product is the time to that error. The law holds at any width, so that
  the width is a choice: tutorials take a usual one, our experiment the cheapest.
- CPU time to the verdict of some laws, all their quantities and laws of weights together.
- A short sweep and one of four times as many replicates, in this process and in two workers: wall
  time, which the machine's other load blurs, and CPU time, whose surplus in the workers (each loads
  SymPy and the experiment, in half a second to one) is what a speed-up of 2 lacks when idle.
- Normal numbers drawn in an experiment per second, all else included, over those drawn alone into
  an array that is there.
"""

import importlib.util
import math
import os
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from varlaw.checks.experiments.measuring import BATCH
from varlaw.checks.experiments.registry import Trial, experiments
from varlaw.checks.experiments.run import Settings, measure, plan
from varlaw.checks.statistics.sampling import stream
from varlaw.checks.sweep import sweep

ERROR = 1e-3
WIDTHS = ((512, 512), (5, 4))  # a usual one, and that of our experiment
LAWS = ("lecun", "he", "linear-fourth", "relu-std", "depth-power", "pre-norm-growth")
TOLERANCE = 0.02
SWEEP, SWEEP_TOLERANCES = ("he", {"m": "4:16:x2", "n": "3,5"}), (0.012, 0.006)
BUDGET = 0.5  # seconds of CPU for each measured time

Draw = Callable[[], Any]  # replicates of E[y^2]/E[x^2], at least one


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """(CPU seconds, result)."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def tutorial(m: int, n: int) -> Draw:
    """New float64 arrays each time, and the std of what comes out."""
    rng = np.random.default_rng(0)

    def draw() -> Any:
        x = rng.normal(size=m)
        y = x @ rng.normal(0.0, math.sqrt(1 / m), size=(m, n))
        return y.std() ** 2 * n / (n - 1)

    return draw


def by_torch(m: int, n: int) -> Draw:
    """The same in PyTorch, float32."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    std = math.sqrt(1 / m)
    return lambda: float((torch.randn(m) @ (torch.randn(m, n) * std)).var())


def trial_of(law: str, **values: int) -> Trial:
    """The first experiment on a law, with normal weights."""
    found = next(e for e in experiments() if e.law == law)
    made = found.prepare("normal", {**found.defaults, **values})
    assert isinstance(made, Trial)
    return made


def ours(m: int, n: int) -> Draw:
    """The experiment of `varlaw verify lecun`: many replicates at once."""
    trial = trial_of("lecun", m=m, n=n)
    rng, batch = stream(0, "benchmark"), max(1, BATCH // trial.numbers)
    return lambda: trial.draw(rng, batch)


def replicates(draw: Draw) -> tuple[float, float]:
    """(CPU seconds, relative variance) of one replicate."""
    draw()
    found: list[Any] = []
    began = time.process_time()
    while (spent := time.process_time() - began) < BUDGET:
        found.append(draw())
    values = np.concatenate([np.atleast_1d(part) for part in found])
    return spent / values.size, float(values.var() / values.mean() ** 2)


def samplers() -> Iterator[tuple[str, float, float]]:
    """Way and shape, CPU seconds and relative variance of a replicate."""
    ways: dict[str, Callable[[int, int], Draw]] = {"tutorial": tutorial, "ours": ours}
    if importlib.util.find_spec("torch"):
        ways["torch"] = by_torch
    for name, way in ways.items():
        for m, n in WIDTHS:
            yield (f"{name}, {m} x {n}", *replicates(way(m, n)))


def compare_samplers() -> None:
    found = list(samplers())
    totals = {name: seconds * variance / ERROR**2 for name, seconds, variance in found}
    best = totals["ours, {} x {}".format(*WIDTHS[-1])]
    print(
        f"{'E[y^2]/E[x^2] to 0.1 %':24}{'us a draw':>10}{'rel. sd':>9}{'CPU [s]':>10}{'ratio':>9}"
    )
    for name, seconds, variance in found:
        total = totals[name]
        line = f"{name:24}{seconds * 1e6:10.2f}{math.sqrt(variance):9.3f}"
        print(f"{line}{total:10.2f}{total / best:8.1f}x")
    if not importlib.util.find_spec("torch"):
        print("PyTorch is not installed: no row of it")


def time_to_verdict() -> None:
    print(f"\n{'law, to 2 %':24}{'tasks':>6}{'CPU [s]':>9}{'replicates':>12}  verdicts")
    for law in LAWS:
        tasks = plan([law], Settings(TOLERANCE))
        spent, found = cpu(lambda tasks=tasks: [measure(task) for task in tasks])
        count, verdicts = sum(m.replicates for m in found), {str(m.verdict) for m in found}
        print(f"{law:24}{len(tasks):6}{spent:9.2f}{count:12,}  {', '.join(sorted(verdicts))}")


def speed_up() -> None:
    law, grid = SWEEP

    def run(tolerance: float, jobs: int) -> tuple[float, float]:
        """Wall and CPU seconds, those of finished workers included."""
        before, began = all_cpu(), time.perf_counter()
        sweep(law, grid, tolerance=tolerance, jobs=jobs)
        return time.perf_counter() - began, all_cpu() - before

    for tolerance in SWEEP_TOLERANCES:
        (alone, alone_cpu), (two, two_cpu) = run(tolerance, 1), run(tolerance, 2)
        print(f"\nsweep of {law} to {tolerance:.1%}")
        print(f"  one process: wall {alone:.1f} s, CPU {alone_cpu:.1f} s")
        print(f"  two workers, with their start: wall {two:.1f} s, CPU {two_cpu:.1f} s")
        load, idle = os.getloadavg()[0], 2 * alone_cpu / two_cpu
        print(f"  speed-up {alone / two:.2f} at a load of {load:.1f}, {idle:.2f} by CPU time")


def all_cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


class Counting(np.random.Generator):
    """A generator that counts the normal numbers that it draws."""

    count = 0

    def standard_normal(self, *args: Any, **options: Any) -> Any:
        found = super().standard_normal(*args, **options)
        self.count += np.size(found)
        return found


def share_of_peak() -> None:
    def rate(rng: Counting, draw: Callable[[], Any]) -> float:
        draw()
        rng.count, began = 0, time.process_time()
        while (spent := time.process_time() - began) < BUDGET:
            draw()
        return rng.count / spent

    rng, out = Counting(stream(0, "peak").bit_generator), np.empty(BATCH)
    peak = rate(rng, lambda: rng.standard_normal(out=out))
    print(f"\nnormal numbers alone, float64: {peak / 1e6:.0f} M/s of CPU")
    for law, values in (("lecun", {}), ("he", {}), ("he", {"m": 64, "n": 64}), ("depth-power", {})):
        trial = trial_of(law, **values)
        batch = max(1, BATCH // trial.numbers)
        reached = rate(rng, lambda t=trial, b=batch: t.draw(rng, b))
        name = f"{law} {values or ''}"
        print(f"  in {name:26}{reached / 1e6:5.0f} M/s, {reached / peak:4.0%} of that")


def main() -> None:
    compare_samplers()
    time_to_verdict()
    share_of_peak()
    speed_up()


if __name__ == "__main__":
    main()
