"""Asymptotic intervals: right where many are drawn, silent before, and wrong without the wait."""

import math
import re

import numpy as np
import pytest
from false_alarms import LOOKS, PLANNED, RUNS, Draws, allowed, misses, skewed
from scipy import optimize

from varlaw.checks.statistics import asymptotic
from varlaw.checks.statistics.asymptotic import START, AsymptoticSequence, mixture
from varlaw.checks.statistics.intervals import Interval, NoInterval, NotFinite
from varlaw.checks.statistics.methods import Asymptotic
from varlaw.checks.statistics.verdicts import Verdict, judge

LATE = (1000, 2000, 4000)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("law", ["rare", "lognormal"])
def test_false_alarms_over_late_looks(law: str, alpha: float) -> None:
    rng = np.random.default_rng(61)
    if law == "rare":
        draws, mean = 10.0 * (rng.random((RUNS, LATE[-1])) < 0.02), 0.2
    else:
        draws, mean = np.exp(0.5 * rng.standard_normal((RUNS, LATE[-1]))), math.exp(0.125)
    assert misses(draws, mean, lambda: AsymptoticSequence(alpha, 2000), LATE) <= allowed(alpha)


def test_early_looks_would_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Why nothing is said before START, and why it is labelled."""
    monkeypatch.setattr(asymptotic, "START", 10)
    draws, mean, _ = skewed(RUNS)
    draws += np.random.default_rng(62).uniform(-0.01, 0.01, draws.shape)  # none are constant
    found = misses(draws, mean, lambda: AsymptoticSequence(0.05, PLANNED), LOOKS)
    assert found > allowed(0.05)


def boundary(alpha: float, rho: float, t: int) -> float:
    """The half-width for deviation 1, from the formula of the paper."""
    inner = t * rho**2 + 1
    return math.sqrt(2 * inner / (t * rho) ** 2 * math.log(math.sqrt(inner) / alpha))


@pytest.mark.parametrize("alpha", [0.05, 0.01, 1e-9])
def test_the_boundary_is_that_of_the_paper_and_nearly_the_best(alpha: float) -> None:
    planned = 2000
    rho = math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / planned)
    for t in (500, 2000, 8000):
        assert math.sqrt(mixture(alpha, t / planned) / t) == pytest.approx(boundary(alpha, rho, t))
    best = optimize.minimize_scalar(
        lambda r: boundary(alpha, r, planned), bounds=(1e-4, 1), method="bounded"
    )
    assert math.sqrt(mixture(alpha) / planned) < 1.001 * best.fun


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_moments_of_batches_are_those_of_all(offset: float) -> None:
    values = offset + np.random.default_rng(7).standard_exponential(5000)
    sequence = AsymptoticSequence(0.05, 5000)
    for part in np.array_split(values, 13):
        sequence.update(part)
    half = values.std() * math.sqrt(mixture(0.05) / 5000)
    found = sequence.interval()
    assert found.low == pytest.approx(values.mean() - half, abs=1e-9 + 1e-14 * offset)
    assert found.high == pytest.approx(values.mean() + half, abs=1e-9 + 1e-14 * offset)
    assert found.kind == "asymptotic" and found.replicates == 5000


def test_nothing_is_said_of_few() -> None:
    sequence = AsymptoticSequence(0.05, 2000)
    assert sequence.interval() == Interval(-math.inf, math.inf, "asymptotic", 0)
    sequence.update([])
    sequence.update([1.0])
    assert sequence.interval() == Interval(-math.inf, math.inf, "asymptotic", 1)
    sequence.update(np.random.default_rng(1).random(START - 2))
    assert judge(sequence.interval(), 0.5, 0.9) is Verdict.UNDECIDED
    sequence.update([0.5])
    assert sequence.interval().width < 1


@pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
def test_nothing_is_said_of_equal_values(value: float) -> None:
    sequence = AsymptoticSequence(0.05, 2000)
    for part in np.array_split(np.full(2000, value), 7):
        sequence.update(part)
    with pytest.raises(NoInterval, match="all 2000 replicates are"):
        sequence.interval()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_unusable_values_are_refused(bad: float) -> None:
    sequence = AsymptoticSequence(0.05, 2000)
    sequence.update([1.0])
    with pytest.raises(NotFinite, match=re.escape(f"replicate 2 is {bad},")):
        sequence.update([1.0, bad])
    assert sequence.count == 1


def run(size: int, alpha: float, claimed: float, rng: np.random.Generator) -> Verdict:
    sequence = Asymptotic().sequence(alpha, 1.0, size)
    draws: Draws = rng.standard_exponential(size)
    sequence.update(draws)
    return judge(sequence.interval(), claimed, 0.05)


@pytest.mark.parametrize("alpha", [0.01, 1e-6])
def test_power_and_refutation_at_the_planned_size(alpha: float) -> None:
    rng = np.random.default_rng(9)
    size = Asymptotic().planned_size(1.0, 1.0, 0.05, alpha)
    found = [run(size, alpha, 1.0, rng) for _ in range(200)]
    assert found.count(Verdict.VERIFIED) >= 196 and Verdict.REFUTED not in found
    assert {run(size, alpha, 1.15, rng) for _ in range(50)} == {Verdict.REFUTED}
    assert Asymptotic().planned_size(1.0, 1.0, 0.5, 0.05) == START
