"""Trials that say what their intervals rest on, from the plan to the verdict."""

import math
from dataclasses import replace

import numpy as np
import pytest
from false_alarms import allowed
from numpy.random import Generator
from scipy.special import gammaincinv

from varlaw.checks.experiments import LimitTrial, Task, Trial, measure_trial
from varlaw.checks.experiments.registry import Draws
from varlaw.checks.statistics.bounded import BettingSequence
from varlaw.checks.statistics.methods import Asymptotic, Bounded, ByVariance, Method, Quantile
from varlaw.checks.statistics.quantiles import QuantileSequence
from varlaw.checks.statistics.verdicts import CatoniSequence, Verdict

WIDTH = 4
TASK = Task("made up", "q", "normal", (), 1e-6, 0.01, 0, 1 << 30)


def power(rng: Generator, replicates: int) -> Draws:
    """The second moment of one linear layer's output: chi-squared of WIDTH degrees over WIDTH."""
    return np.asarray(rng.standard_gamma(WIDTH / 2, replicates) / (WIDTH / 2))


def cosine(rng: Generator, replicates: int) -> Draws:
    """The squared cosine between two independent directions: of mean 1/WIDTH, in [0, 1]."""
    z = rng.standard_normal((WIDTH, replicates)) ** 2
    return np.asarray(z[0] / z.sum(axis=0))


def density(x: float) -> float:
    """Of the power of a layer."""
    half = WIDTH / 2
    return half**half * x ** (half - 1) * math.exp(-half * x) / math.gamma(half)


MEDIAN = float(gammaincinv(WIDTH / 2, 0.5)) / (WIDTH / 2)
TYPICAL = Trial(
    power, WIDTH, MEDIAN, 0.25 / density(MEDIAN) ** 2, {"the mean": 1}, method=Quantile()
)
MEAN = Trial(power, WIDTH, 1, 2 / WIDTH, {"the median": MEDIAN})
LABELLED = replace(MEAN, method=Asymptotic())
IN_RANGE = Trial(
    cosine,
    WIDTH,
    1 / WIDTH,
    2 * (WIDTH - 1) / (WIDTH**2 * (WIDTH + 2)),
    {"1/(WIDTH - 1)": 1 / (WIDTH - 1)},
    method=Bounded(0.0, 1.0),
)
TRIALS = {"variance": MEAN, "bounded": IN_RANGE, "quantile": TYPICAL, "asymptotic": LABELLED}
every_trial = pytest.mark.parametrize("trial", TRIALS.values(), ids=TRIALS)


@every_trial
def test_a_right_claim_is_verified_and_its_neighbour_refuted(trial: Trial) -> None:
    found = measure_trial(TASK, trial)
    assert found.verdict is Verdict.VERIFIED, found.why
    assert found.estimate == pytest.approx(float(trial.claimed), rel=0.01)
    assert [verdict for _, _, verdict in found.neighbours] == [Verdict.REFUTED]
    assert found.asymptotic is (trial is LABELLED)
    assert found.interval == ("asymptotic" if trial is LABELLED else "proved")


@every_trial
@pytest.mark.parametrize("factor", [1.03, 0.97])
def test_a_claim_off_by_three_percent_is_refuted_at_one(trial: Trial, factor: float) -> None:
    wrong = replace(trial, claimed=factor * float(trial.claimed))
    assert measure_trial(TASK, wrong).verdict is Verdict.REFUTED


def test_mean_and_typical_value_are_told_apart() -> None:
    assert measure_trial(TASK, replace(TYPICAL, claimed=1)).verdict is Verdict.REFUTED
    assert measure_trial(TASK, replace(MEAN, claimed=MEDIAN)).verdict is Verdict.REFUTED


def refutations(trial: Trial, runs: int) -> int:
    """Of a claim that is off by just the tolerance, which is right."""
    task = replace(TASK, alpha=0.05, tolerance=0.4)
    edge = replace(trial, claimed=float(trial.claimed) / 1.4, neighbours={}, work=1 << 11)
    found = [measure_trial(replace(task, seed=seed), edge) for seed in range(runs)]
    return [measured.verdict for measured in found].count(Verdict.REFUTED)


@every_trial
def test_right_claims_are_refuted_as_seldom_as_promised(trial: Trial) -> None:
    assert refutations(trial, 400) <= allowed(0.05, 400)


@pytest.mark.slow
@every_trial
def test_right_claims_are_refuted_in_at_most_five_percent_of_runs(trial: Trial) -> None:
    assert refutations(trial, 10_000) <= 500


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        (ByVariance(), CatoniSequence),
        (Bounded(0.0, 1.0), BettingSequence),
        (Quantile(0.9), QuantileSequence),
    ],
)
def test_which_sequence(method: Method, kind: type) -> None:
    assert type(method.sequence(0.01, 0.1, 1000)) is kind


BAD = {
    "nan": (math.nan, "not a usable number"),
    "overflow": (math.inf, "not a usable number"),
    "out of bounds": (1.5, "outside of its bounds"),
}


@pytest.mark.parametrize(("value", "why"), BAD.values(), ids=BAD)
def test_bad_replicates_leave_it_undecided(value: float, why: str) -> None:
    def draw(rng: Generator, replicates: int) -> Draws:
        values = cosine(rng, replicates)
        values[replicates // 2] = value
        return values

    found = measure_trial(TASK, replace(IN_RANGE, draw=draw))
    assert found.verdict is Verdict.UNDECIDED and why in found.why and found.low is None


def test_a_constant_statistic() -> None:
    """Bounds and counts can vouch for it; a normal approximation cannot."""

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.full(replicates, 0.25)

    assert measure_trial(TASK, replace(IN_RANGE, draw=draw)).verdict is Verdict.VERIFIED
    typical = replace(TYPICAL, draw=draw, claimed=0.25, neighbours={})
    assert measure_trial(TASK, typical).verdict is Verdict.VERIFIED
    found = measure_trial(TASK, replace(LABELLED, draw=draw, claimed=0.25))
    assert found.verdict is Verdict.UNDECIDED and "without any spread" in found.why


@every_trial
def test_over_budget_nothing_is_drawn(trial: Trial) -> None:
    found = measure_trial(replace(TASK, budget=1000), trial)
    assert found.verdict is Verdict.UNDECIDED and "over the budget" in found.why


@pytest.mark.parametrize("method", [Asymptotic(), Quantile()])
def test_a_limit_rests_on_what_its_parts_rest_on(method: Method) -> None:
    """v(n) = 2 + 3/n, as the mean and the median of normal draws around it."""

    def part(n: int) -> Trial:
        def draw(rng: Generator, replicates: int) -> Draws:
            return np.asarray(2 + 3 / n + 0.1 * rng.standard_normal(replicates))

        spread = 0.01 if isinstance(method, Asymptotic) else 0.005 * math.pi
        return Trial(draw, 1, 0, spread, {}, method=method)

    sizes = (4, 8, 16)
    trial = LimitTrial(sizes, tuple(map(part, sizes)), 2, {"3": 3}, (0.001,) * 3)
    found = measure_trial(TASK, trial)
    assert found.verdict is Verdict.VERIFIED, found.why
    assert found.asymptotic is isinstance(method, Asymptotic)
