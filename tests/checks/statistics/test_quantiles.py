"""Quantiles: the ends by their definition, failures counted with and without atoms, bad input."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from false_alarms import LOOKS, PLANNED, RUNS, Draws, allowed, misses, nearly_lognormal, skewed
from scipy import stats

from varlaw.checks.statistics.intervals import Interval, NotFinite
from varlaw.checks.statistics.methods import Quantile
from varlaw.checks.statistics.quantiles import QuantileSequence
from varlaw.checks.statistics.verdicts import Verdict, judge


def exponential(runs: int) -> Draws:
    return np.random.default_rng(51).standard_exponential((runs, LOOKS[-1]))


def lognormal(runs: int) -> Draws:
    """Of median 1 and mean e^2: most of the mass far below the mean."""
    return np.exp(2 * np.random.default_rng(52).standard_normal((runs, LOOKS[-1])))


def half_dead(runs: int) -> Draws:
    """max(Z, 0): half of all values are 0, and 0 is the median."""
    return np.maximum(np.random.default_rng(53).standard_normal((runs, LOOKS[-1])), 0)


def coin(runs: int) -> Draws:
    """0 or 1, each with probability 1/2: all of [0, 1] are medians."""
    return np.random.default_rng(54).integers(0, 2, (runs, LOOKS[-1])).astype(float)


LAWS = [
    (exponential, 0.5, math.log(2)),
    (exponential, 0.9, math.log(10)),
    (lognormal, 0.5, 1.0),
    (half_dead, 0.5, 0.0),
    (half_dead, 0.9, float(stats.norm.ppf(0.9))),
    (coin, 0.5, 0.0),
    (coin, 0.5, 1.0),
    (coin, 0.5, 0.4),
]


@pytest.mark.parametrize(("law", "probability", "value"), LAWS)
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_over_all_looks(
    law: Callable[[int], Draws], probability: float, value: float, alpha: float
) -> None:
    found = misses(law(RUNS), value, lambda: QuantileSequence(alpha, probability, PLANNED))
    assert found <= allowed(alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_another_quantile_is_caught(alpha: float) -> None:
    """The twins: the quantile of 0.4 taken for the median, and the mean taken for the median."""
    make = lambda: QuantileSequence(alpha, 0.5, PLANNED)  # noqa: E731
    assert misses(exponential(RUNS), -math.log(0.6), make) > allowed(alpha)
    draws, mean, _ = nearly_lognormal(RUNS)
    assert misses(draws, mean, make) > allowed(alpha)
    assert skewed(10)[1] > 0  # whose median is 0
    assert misses(skewed(RUNS)[0], 0.0, make) <= allowed(alpha)


def excluded(values: Draws, q: float, p: float, alpha: float, planned: int) -> bool:
    """Whether either product reaches 2/alpha, factor by factor."""
    tilt = math.sqrt(2 * math.log(2 / alpha) / (planned * p * (1 - p)))
    low = high = 0.0
    for x in values.tolist():
        low -= tilt * (x <= q) + math.log(1 - p + p * math.exp(-tilt))
        high -= tilt * (x >= q) + math.log(p + (1 - p) * math.exp(-tilt))
    return max(low, high) >= math.log(2 / alpha)


@pytest.mark.parametrize("size", [1, 2, 7, 20, 300, 1000])
@pytest.mark.parametrize("probability", [0.5, 0.1, 0.9])
@pytest.mark.parametrize("alpha", [0.05, 1e-9])
def test_ends_by_definition(size: int, probability: float, alpha: float) -> None:
    """Candidates are the values and what lies between; rounding leads to many ties."""
    values = np.round(np.random.default_rng(55).standard_normal(size), 1)
    sequence = QuantileSequence(alpha, probability, 300)
    sequence.update(values)
    found = sequence.interval()
    for q in np.arange(-4.05, 4.06, 0.05).round(2):
        assert (q in found) is not excluded(values, q, probability, alpha, 300)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 1e-6])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_width_against_the_stitched_boundary(p: float, alpha: float) -> None:
    """Theorem 1 of Howard and Ramdas, in probability: 1.5 sqrt(p (1 - p) l) + 0.8 l."""
    for planned in (1000, 30_000):
        sequence = QuantileSequence(alpha, p, planned)
        sequence.update(np.linspace(0, 1, planned))
        level = (1.4 * math.log(math.log(2.1 * planned)) + math.log(10 / alpha)) / planned
        stitched = 1.5 * math.sqrt(p * (1 - p) * level) + 0.8 * level
        predicted = math.sqrt(2 * math.log(2 / alpha) * p * (1 - p) / planned)
        found = sequence.half_width
        assert found < stitched and found == pytest.approx(predicted, rel=0.05)


def test_batches_do_not_matter() -> None:
    values = np.random.default_rng(7).random(5000)
    whole, parts = (QuantileSequence(0.01, 0.5, 5000) for _ in range(2))
    whole.update(values)
    for part in np.array_split(values, 13):
        parts.update(part)
    assert whole.interval() == parts.interval()
    assert whole.estimate == np.median(values)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    sequence = QuantileSequence(0.05, 0.5, 100)
    sequence.update([1.0])
    with pytest.raises(NotFinite, match=re.escape(f"replicate 2 is {bad},")):
        sequence.update([1.0, bad])
    assert sequence.count == 1


def test_few_replicates_and_equal_ones() -> None:
    """Equal values do say where the median is, but not before there are enough of them."""
    sequence = QuantileSequence(0.05, 0.5, 100)
    assert sequence.interval() == Interval(-math.inf, math.inf, "proved", 0)
    sequence.update([])
    for _ in range(5):
        sequence.update([3.0])
        assert sequence.interval().width == math.inf
    sequence.update(np.full(200, 3.0))
    assert sequence.interval() == Interval(3.0, 3.0, "proved", 205)
    huge = QuantileSequence(0.05, 0.5, 100)
    huge.update(np.linspace(-1e304, 1e304, 1001))
    assert 0.0 in huge.interval()


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.5, math.nan])
def test_a_probability_is_one(probability: float) -> None:
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        QuantileSequence(0.05, probability, 100)


@pytest.mark.parametrize("p", [0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.01, 1e-6])
def test_power_and_refutation_at_the_planned_size(p: float, alpha: float) -> None:
    rng, method, claimed = np.random.default_rng(9), Quantile(p), -math.log(1 - p)
    variance = p * (1 - p) / (1 - p) ** 2  # the density of the exponential law is 1 - p there
    size = method.planned_size(variance, claimed, 0.05, alpha)
    found, wrong = [], []
    for _ in range(200):
        sequence = method.sequence(alpha, variance, size)
        sequence.update(rng.standard_exponential(size))
        found.append(judge(sequence.interval(), claimed, 0.05))
        wrong.append(judge(sequence.interval(), 1.15 * claimed, 0.05))
    assert found.count(Verdict.VERIFIED) >= 197 and Verdict.REFUTED not in found
    assert wrong.count(Verdict.REFUTED) >= 197
