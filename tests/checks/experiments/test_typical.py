"""Typical values are measured by quantiles, and told from means."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from varlaw.checks.experiments import Settings, measure_trial, plan
from varlaw.checks.experiments.run import find
from varlaw.checks.statistics.methods import ByVariance, Quantile
from varlaw.checks.statistics.sampling import stream
from varlaw.checks.statistics.verdicts import Verdict

(TASK,) = [
    task
    for task in plan(["depth-he-drift"], Settings(tolerance=0.02, error_rate=1e-3))
    if "median" in task.quantity
]
TRIAL = find(TASK).prepare(TASK.weights, dict(TASK.values))


def test_the_median_is_verified_and_told_from_the_mean() -> None:
    found = measure_trial(TASK, TRIAL)
    assert (found.verdict, found.interval) == (Verdict.VERIFIED, "proved")
    assert ("0, as for the mean", 2.5, Verdict.REFUTED) in found.neighbours


def test_the_mean_of_the_same_networks_is_kept() -> None:
    """E[q_l/q_0] = 1, of which 8 % of the draws carry half: the median is e^(-5 l/(2 n)) = 0.47."""
    values = dict(TASK.values)
    ratio = float(Fraction(values["l"], values["n"]))
    drawn = np.exp((TRIAL.draw(stream(1), 1 << 17) - 2.5) * ratio)
    assert np.median(drawn) == pytest.approx(np.exp(-2.5 * ratio), rel=0.02)
    spread = (1 + 5 / values["n"]) ** values["l"] - 1
    assert abs(drawn.mean() - 1) < 5 * (spread / len(drawn)) ** 0.5


def test_a_law_of_the_mean_is_refuted_as_one_of_the_median_and_the_other_way_round() -> None:
    """Exponential draws have the mean 1 and the median log 2."""
    median = float(stats.expon.median())
    for method, value in ((ByVariance(), 1.0), (Quantile(), median)):
        trial = replace(
            TRIAL,
            draw=lambda rng, replicates: rng.standard_exponential(replicates),
            numbers=1,
            work=0,
            variance=1.0,
            method=method,
            scale=1.0,
        )
        for claimed, other in ((1.0, median), (median, 1.0)):
            found = measure_trial(
                TASK, replace(trial, claimed=claimed, neighbours={"the other": other})
            )
            right = Verdict.VERIFIED if claimed == value else Verdict.REFUTED
            assert found.verdict is right
