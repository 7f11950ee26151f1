"""Runs in which a confidence sequence fails, counted on laws on which naive ones fail."""

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from varlaw.checks.statistics.intervals import EmptyInterval, Interval

RUNS = 2000
LOOKS = (40, 160, 640)  # the last is twice the planned size
PLANNED = LOOKS[-1] // 2
Draws = NDArray[np.float64]


class Sequential(Protocol):
    def update(self, values: Draws) -> None: ...
    def interval(self) -> Interval: ...


class NormalAtEveryLook:
    """The twin that must fail: 1.96 estimated standard errors at every look."""

    def __init__(self, quantile: float) -> None:
        self.quantile = quantile
        self.values = np.empty(0)

    def update(self, values: Draws) -> None:
        self.values = np.append(self.values, values)

    def interval(self) -> Interval:
        error = self.quantile * self.values.std(ddof=1) / math.sqrt(self.values.size)
        mean = self.values.mean()
        return Interval(mean - error, mean + error, "asymptotic", self.values.size)


def skewed(runs: int) -> tuple[Draws, float, float]:
    """Values 10 with probability 1/100, else 0; with the exact mean and variance."""
    hits = np.random.default_rng(31).random((runs, LOOKS[-1])) < 0.01
    return np.where(hits, 10.0, 0.0), 0.1, 100 * 0.01 * 0.99


def nearly_lognormal(runs: int) -> tuple[Draws, float, float]:
    """Products of five independent chi-squares over 4 degrees: mean 1, second moment (3/2)^5."""
    draws = np.ones((runs, LOOKS[-1]))
    rng = np.random.default_rng(32)
    for _ in range(5):
        draws *= rng.standard_gamma(2.0, draws.shape) / 2
    return draws, 1.0, 1.5**5 - 1


def misses(
    draws: Draws, value: float, make: Callable[[], Sequential], looks: Sequence[int] = LOOKS
) -> int:
    """In how many runs some look excludes the value."""
    count = 0
    for run in draws:
        sequence = make()
        missed = False
        for start, end in zip((0, *looks), looks, strict=False):
            sequence.update(run[start:end])
            try:
                missed = missed or value not in sequence.interval()
            except EmptyInterval:
                missed = True
        count += missed
    return count


def allowed(alpha: float, runs: int = RUNS) -> int:
    """Exceeded with probability below 1e-6 if each run fails with probability alpha."""
    return int(stats.binom.isf(1e-6, runs, alpha))
