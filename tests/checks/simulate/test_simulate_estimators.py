"""Predicted variances and sizes of the estimators of depth laws, and what they tell apart."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from varlaw.checks.experiments import LimitTrial, Task, Trial, measure_trial
from varlaw.checks.simulate import (
    Conditional,
    Direct,
    Net,
    constant,
    excess,
    layer_ratios,
    linear,
    networks,
    relu,
    second_moments,
    spread_by_layers,
    spread_end_to_end,
    tanh,
)
from varlaw.checks.statistics.sampling import stream
from varlaw.checks.statistics.verdicts import CatoniSequence, Verdict, judge, planned_size

WIDTHS = (64, 48, 40, 64, 56)


@pytest.mark.parametrize(("f", "exact"), [("relu(x)", 5), ("x", 2), ("abs(x)", 2)])
@pytest.mark.parametrize("variance", [1.0, 0.3, 7.0])
def test_excess_of_homogeneous_functions(f: str, exact: int, variance: float) -> None:
    """E[z^4; z > 0]/E[z^2; z > 0]^2 - 1 = (3/2)/(1/2)^2 - 1 = 5, and 3 - 1 = 2."""
    assert excess(f, variance=variance) == pytest.approx(exact, rel=1e-12)


def test_excess_of_tanh_against_quadrature() -> None:
    fourth, second = (
        integrate.quad(lambda z, k=k: math.tanh(1.5 * z) ** k * stats.norm.pdf(z), -12, 12)[0]
        for k in (4, 2)
    )
    assert excess("tanh(x)", variance=2.25) == pytest.approx(fourth / second**2 - 1, rel=1e-9)


@pytest.mark.parametrize("kurtosis", [2, 5])
def test_predicted_spreads_in_exact_arithmetic(kurtosis: int) -> None:
    layers = [Fraction(kurtosis, n) for n in WIDTHS[1:]]
    whole = math.prod(1 + part for part in layers) - 1
    assert spread_end_to_end(WIDTHS, kurtosis) == pytest.approx(float(whole), rel=1e-12)
    assert spread_by_layers(WIDTHS, kurtosis) == pytest.approx(float(sum(layers)) / 16, rel=1e-12)


@pytest.mark.parametrize(("activate", "s2", "kurtosis"), [(relu, 2.0, 5.0), (linear, 1.0, 2.0)])
@pytest.mark.parametrize("sampler", [Direct, Conditional])
def test_spreads_are_as_predicted(sampler: Any, activate: Any, s2: float, kurtosis: float) -> None:
    """Mean and spread over 20 groups; Student's t of 19 degrees reaches 9.5 once in 1e8."""
    nets = sampler(Net(WIDTHS, activate, s2))
    q = second_moments(nets, stream(1, sampler.name), np.ones(64), 6000)
    for estimates, spread in (
        (q[-1, :, 0], spread_end_to_end(WIDTHS, kurtosis)),
        (layer_ratios(q, lambda v: v), spread_by_layers(WIDTHS, kurtosis)),
    ):
        groups = np.split(estimates, 20)
        for made, claimed in (
            ([g.mean() for g in groups], 1.0),
            ([((g - 1) ** 2).mean() for g in groups], spread),
        ):
            error = np.std(made, ddof=1) / math.sqrt(20)
            assert abs(np.mean(made) - claimed) < 9.5 * error
            assert abs(np.mean(made) - 1.5 * claimed) > 9.5 * error


def test_the_mean_of_a_mirrored_pair_varies_as_predicted() -> None:
    """f(z) f(-z) = 0 for ReLU, so that the squares of mirror images have the excess 0/E^2 - 1."""
    nets = Conditional(Net(WIDTHS, relu, 2.0), mirrored=True)
    q = second_moments(nets, stream(5), np.ones(64), 40_000)
    assert excess("relu(x)", "relu(-x)") == -1
    for estimates, predicted in (
        (q[-1, :, 0], spread_end_to_end),
        (layer_ratios(q, lambda v: v), spread_by_layers),
    ):
        pairs = nets.replicates(estimates)
        spread = (predicted(WIDTHS, 5.0) + predicted(WIDTHS, -1.0)) / 2
        groups = [((g - 1) ** 2).mean() for g in np.split(pairs, 20)]
        error = np.std(groups, ddof=1) / math.sqrt(20)
        assert abs(np.mean(groups) - spread) < 9.5 * error
        assert abs(np.mean(groups) - predicted(WIDTHS, 5.0) / 2) > 9.5 * error  # independent ones


def test_sizes_in_the_published_example() -> None:
    """Width 1024, 50 layers, 0.1 %: hundreds of thousands of networks, or about a hundred."""
    widths = (1024,) * 51
    assert networks(spread_end_to_end(widths, 5.0), 1e-3) == math.ceil(
        ((1 + Fraction(5, 1024)) ** 50 - 1) * 10**6
    )
    assert networks(spread_by_layers(widths, 5.0), 1e-3) == 98  # 10^6 * 5/(1024 * 50) = 97.7
    assert networks(0.0, 0.1) == 1
    for spread, error in ((math.nan, 0.1), (-1.0, 0.1), (1.0, 0.0)):
        with pytest.raises(ValueError, match="no number of networks"):
            networks(spread, error)


def test_the_size_planned_gives_the_error_asked_for() -> None:
    widths = (32,) * 11
    count = networks(spread_by_layers(widths, 5.0), 0.01)
    nets = Conditional(constant(32, 10, relu, 2.0))
    means = [
        layer_ratios(second_moments(nets, stream(2, k), np.ones(32), count), lambda v: v).mean()
        for k in range(200)
    ]
    # 199 s^2/0.01^2 is about chi-squared: within its quantiles at 1e-8
    assert 0.5 < np.std(means) / 0.01 < 1.5


@pytest.mark.parametrize("width", [64, 1024])
@pytest.mark.parametrize(
    ("s2", "verdict"), [(2.0, Verdict.VERIFIED), (2.06, Verdict.REFUTED), (1.94, Verdict.REFUTED)]
)
def test_layer_by_layer_verdicts(width: int, s2: float, verdict: Verdict) -> None:
    """3 % off is refuted at a tolerance of 1 %: at width 1024 with a hundred networks."""
    alpha, tolerance, depth = 1e-6, 0.01, 50
    spread = spread_by_layers((width,) * (depth + 1), 5.0)
    count = planned_size(spread, 1.0, tolerance, alpha)
    q = second_moments(
        Conditional(constant(width, depth, relu, s2)), stream(3), np.ones(width), count
    )
    # a wrong s2 scales the ratios by s2/2, and their spread by its square
    sequence = CatoniSequence(alpha, spread * (s2 / 2) ** 2, count)
    sequence.update(layer_ratios(q, lambda v: v))
    assert judge(sequence.interval(), 1.0, tolerance) is verdict


def test_layer_ratios_of_tanh() -> None:
    """V by quadrature; the ratios of a wrong map, with the mean square of tanh at 0, are off."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def layer(q: Any) -> Any:
        return np.tanh(np.sqrt(2.0 * q)[..., None] * nodes) ** 2 @ weights

    q = second_moments(Conditional(constant(48, 12, tanh, 2.0)), stream(4), np.ones((2, 48)), 3000)
    ratios = layer_ratios(q, layer)
    error = ratios.std() / math.sqrt(ratios.size)
    assert ratios.shape == (3000,) and error < 1e-3
    assert abs(ratios.mean() - 1) < 6 * error
    wrong = layer_ratios(q, lambda v: 2 * v / (1 + 2 * v))
    assert abs(wrong.mean() - 1) > 6 * error


def test_a_network_that_died_gives_no_number() -> None:
    q = np.array([1.0, 0.0, 0.0]).reshape(3, 1, 1)
    assert np.isnan(layer_ratios(q, lambda v: v)).all()


def test_a_limit_law_is_direct_if_all_its_trials_are() -> None:
    direct = Trial(lambda rng, replicates: rng.random(replicates), 1, 1, 1, {})
    trial = LimitTrial((1, 2), (direct, direct), 1, {}, (0.1, 0.1))
    assert trial.sampler == "direct"
    mixed = replace(trial, trials=(direct, replace(direct, sampler="conditional")))
    assert mixed.sampler == "conditional"


def depth_trial(s2: float) -> Trial:
    """E[q_10]/E[q_0] = 1 at He's variance, as an experiment on a depth law would have it."""
    nets = Conditional(constant(32, 10, relu, s2))
    spread = spread_end_to_end(nets.net.widths, 5.0) * (s2 / 2) ** 20

    def draw(rng: np.random.Generator, count: int) -> Any:
        return second_moments(nets, rng, np.ones(32), count)[-1, :, 0]

    wrong = {"variance 1/n": Fraction(1, 2**10), "typical value": Fraction(6, 10)}
    return Trial(draw, 320, 1, spread, wrong, sampler=nets.name)


@pytest.mark.parametrize(("s2", "verdict"), [(2.0, Verdict.VERIFIED), (2.02, Verdict.REFUTED)])
def test_a_depth_law_is_measured_end_to_end(s2: float, verdict: Verdict) -> None:
    """1 % in each layer is 10 % in ten layers."""
    task = Task("depth", "E[q_10]", "normal", (), 1e-6, 0.05, 0, 1 << 27)
    found = measure_trial(task, depth_trial(s2))
    assert found.verdict is verdict and found.sampler == "conditional"
    over = measure_trial(replace(task, budget=1000), depth_trial(s2))
    assert over.verdict is Verdict.UNDECIDED and over.sampler == "conditional"
