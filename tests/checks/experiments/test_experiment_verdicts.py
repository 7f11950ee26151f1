"""What is said of the numbers that an experiment draws, whatever they hold."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from planned import prepared, task

from varlaw.checks.experiments import (
    Trial,
    measure_trial,
)
from varlaw.checks.experiments.moments import exact
from varlaw.checks.report import Measurement
from varlaw.checks.statistics.methods import Asymptotic, Bounded, ByVariance, Method, Quantile
from varlaw.checks.statistics.verdicts import Verdict


def trial_of(values: Any, claimed: float = 1.0, variance: float = 1.0, **more: float) -> Trial:
    """A trial that draws normal values around 1, worked over by a function."""

    def draw(rng: np.random.Generator, replicates: int) -> Any:
        return values(1 + rng.standard_normal(replicates))

    return Trial(draw, 1, claimed, variance, more)  # type: ignore[arg-type]


def judged(trial: Trial, **more: Any) -> Measurement:
    return measure_trial(replace(task("lecun"), **more), trial)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_undecided_with_the_reason(bad: float) -> None:
    found = judged(trial_of(lambda x: np.where(x > 4, bad, x)))
    assert found.verdict is Verdict.UNDECIDED and "not a usable number" in found.why


def test_more_replicates_than_can_be_kept_are_averaged() -> None:
    def draw(rng: Any, replicates: int) -> Any:
        return 1 + 25 * rng.standard_normal(replicates)

    trial = Trial(draw, 1, 1, 625, {"2": 2})
    found = measure_trial(replace(task("he"), alpha=0.01, budget=1 << 28), trial)
    assert found.verdict is Verdict.VERIFIED and found.replicates < 1 << 25
    medians = replace(trial, method=Quantile())  # of which an average has another one
    assert "over the budget" in measure_trial(task("he", budget=1 << 28), medians).why


def test_a_trial_is_judged() -> None:
    assert judged(trial_of(lambda x: x)).verdict is Verdict.VERIFIED
    assert judged(trial_of(lambda x: 1.1 * x, variance=1.21)).verdict is Verdict.REFUTED
    assert judged(trial_of(lambda x: x), budget=100).verdict is Verdict.UNDECIDED


def test_a_neighbour_that_cannot_be_refuted_makes_it_undecided() -> None:
    found = judged(trial_of(lambda x: x, near=1.005), budget=1 << 20)
    assert found.verdict is Verdict.UNDECIDED and "cannot tell the claim from: near" in found.why


def test_between_the_bands_is_undecided() -> None:
    found = judged(trial_of(lambda x: 1.02 * x, variance=1.05), budget=1 << 19)
    assert found.verdict is Verdict.UNDECIDED and "neither" in found.why


def test_a_law_of_the_limit_is_refuted_as_exact_at_width_8() -> None:
    planned = task("post-norm-layernorm")
    narrow = prepared(replace(planned, values=(*planned.values, ("d", 8))))[0]
    assert float(narrow.claimed) == pytest.approx((1 + 0.5) ** -1.5)
    assert measure_trial(planned, narrow).verdict is Verdict.REFUTED


@pytest.mark.parametrize("method", [ByVariance(), Bounded(0.0, 4.0), Quantile(), Asymptotic()])
def test_any_method_refutes_what_is_3_percent_off_and_doubts_what_is_not_finite(
    method: Method,
) -> None:
    def draw(rng: Any, replicates: int) -> Any:
        return 2 * rng.random(replicates)

    right = Trial(draw, 1, 1, Fraction(1, 3), {"2": 2}, method=method)
    planned = replace(task("he"), tolerance=0.01)
    assert measure_trial(planned, right).verdict is Verdict.VERIFIED
    for wrong in (1.03, 1 / 1.03):
        found = measure_trial(planned, replace(right, claimed=exact(Fraction(wrong))))
        assert found.verdict is Verdict.REFUTED

    def overflown(rng: Any, replicates: int) -> Any:
        return np.float16(65504) * (1 + draw(rng, replicates)).astype(np.float16)

    found = measure_trial(planned, replace(right, draw=overflown))
    assert found.verdict is Verdict.UNDECIDED and found.why and found.interval == method.kind
