"""The intervals fail as seldom as they claim, and the tests notice intervals that do not."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from false_alarms import (
    LOOKS,
    RUNS,
    Draws,
    NormalAtEveryLook,
    allowed,
    misses,
    nearly_lognormal,
    skewed,
)
from scipy import optimize, stats

from varlaw.checks.statistics.verdicts import (
    CatoniSequence,
    EmptyInterval,
    Interval,
    NoInterval,
    NotConstant,
    NotFinite,
    Verdict,
    judge,
    planned_size,
    share,
)


@pytest.mark.parametrize("law", [skewed, nearly_lognormal])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_over_all_looks(
    law: Callable[[int], tuple[Draws, float, float]], alpha: float
) -> None:
    draws, mean, variance = law(RUNS)
    found = misses(draws, mean, lambda: CatoniSequence(alpha, variance, LOOKS[-1] // 2))
    assert found <= allowed(alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_too_small_a_variance_bound_is_caught(alpha: float) -> None:
    draws, mean, variance = skewed(RUNS)
    found = misses(draws, mean, lambda: CatoniSequence(alpha, variance / 4, LOOKS[-1] // 2))
    assert found > allowed(alpha)


@pytest.mark.parametrize("law", [skewed, nearly_lognormal])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_normal_theory_at_every_look_is_caught(
    law: Callable[[int], tuple[Draws, float, float]], alpha: float
) -> None:
    draws, mean, _ = law(RUNS)
    quantile = float(stats.norm.isf(alpha / 2))
    assert misses(draws, mean, lambda: NormalAtEveryLook(quantile)) > allowed(alpha)


def catoni_sum(values: Draws, mean: float, coefficient: float) -> float:
    """The influence sum, term by term from its definition."""
    terms = coefficient * (values - mean)
    return math.fsum(math.copysign(math.log1p(abs(x) + x * x / 2), x) for x in terms)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("size", [1, 2, 7, 1000, 40000])
@pytest.mark.parametrize("alpha", [0.05, 1e-9])
def test_ends_lie_just_outside_the_exact_roots(size: int, alpha: float, offset: float) -> None:
    values = np.random.default_rng(5).standard_exponential(size) + offset
    sequence = CatoniSequence(alpha, variance=1.0, planned=500)
    sequence.update(values)
    interval = sequence.interval()
    coefficient = math.sqrt(2 * math.log(2 / alpha) / 500)
    bound = math.log(2 / alpha) + size * coefficient**2 / 2
    slack = interval.width
    low = optimize.brentq(
        lambda m: catoni_sum(values, m, coefficient) - bound,
        interval.low - slack,
        interval.high,
        xtol=1e-12,
        rtol=1e-15,
    )
    high = optimize.brentq(
        lambda m: catoni_sum(values, m, coefficient) + bound,
        interval.low,
        interval.high + slack,
        xtol=1e-12,
        rtol=1e-15,
    )
    # brentq itself is exact to its xtol, and to the spacing of floats near the offset
    doubt = 2e-12 + 4 * float(np.spacing(abs(high)))
    assert interval.low <= low + doubt and high <= interval.high + doubt
    assert interval.width <= (high - low) * (1 + 1e-5) + 20 * float(np.spacing(offset))


def test_half_width_is_as_predicted() -> None:
    values = np.random.default_rng(6).standard_normal(100_000)
    sequence = CatoniSequence(1e-6, variance=1.0, planned=values.size)
    sequence.update(values)
    predicted = 2 * math.sqrt(2 * math.log(2e6) / values.size)
    assert sequence.interval().width == pytest.approx(predicted, rel=0.01)


def test_batches_and_one_batch_agree_to_the_bit() -> None:
    values = np.random.default_rng(7).standard_normal(5000)
    whole, parts = (CatoniSequence(0.01, 1.0, 5000) for _ in range(2))
    whole.update(values)
    for part in np.array_split(values, 13):
        parts.update(part)
    assert whole.interval() == parts.interval()


def test_intersection_never_widens() -> None:
    values = np.random.default_rng(8).standard_normal(20_000)
    kept, plain = CatoniSequence(0.01, 1.0, 300), CatoniSequence(0.01, 1.0, 300, intersect=False)
    widths = []
    for part in np.array_split(values, 40):
        kept.update(part)
        plain.update(part)
        assert kept.interval().low >= plain.interval().low
        assert kept.interval().high <= plain.interval().high
        widths.append(kept.interval().width)
    assert widths == sorted(widths, reverse=True)
    assert kept.interval().width < plain.interval().width  # lambda is tuned to 300, not 20,000


def test_looks_that_exclude_each_other_are_reported() -> None:
    sequence = CatoniSequence(0.05, variance=1.0, planned=1000)
    sequence.update(np.zeros(1000))
    sequence.interval()
    sequence.update(np.full(9000, 5.0))
    with pytest.raises(EmptyInterval, match="is the variance really"):
        sequence.interval()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_unusable_values_are_named_and_not_taken(bad: float) -> None:
    sequence = CatoniSequence(0.05, variance=1.0, planned=100)
    sequence.update([1.0, 2.0])
    before = sequence.interval()
    with pytest.raises(NotFinite, match=re.escape(f"replicate 4 is {bad},")):
        sequence.update([1.0, 1.0, bad, math.nan])
    assert sequence.interval() == before
    assert issubclass(NotFinite, NoInterval) and issubclass(NoInterval, ValueError)


def test_constant_statistic() -> None:
    sequence = CatoniSequence(0.05, variance=0.0, planned=10)
    sequence.update([2.5, 2.5])
    sequence.update([2.5])
    assert sequence.interval() == Interval(2.5, 2.5, "proved", 3)
    with pytest.raises(NotConstant, match="variance bound is 0"):
        sequence.update([2.5, math.nextafter(2.5, 3)])


def test_equal_values_under_a_positive_bound_are_not_certain() -> None:
    sequence = CatoniSequence(0.05, variance=1.0, planned=10)
    sequence.update(np.full(10, 3.0))
    interval = sequence.interval()
    assert interval.high - 3.0 == pytest.approx(3.0 - interval.low)
    # sum phi = 10 log(1 + u + u^2/2) reaches 2 log 40 at u = (2 * 40^0.2 - 1)^0.5 - 1
    reach = math.sqrt(2 * 40**0.2 - 1) - 1
    assert interval.high - 3.0 == pytest.approx(reach / math.sqrt(2 * math.log(40) / 10), rel=1e-5)


def test_no_replicate_and_one_replicate() -> None:
    sequence = CatoniSequence(0.05, variance=1.0, planned=100)
    assert sequence.interval() == Interval(-math.inf, math.inf, "proved", 0)
    sequence.update([])
    assert judge(sequence.interval(), 1.0, 0.5) is Verdict.UNDECIDED
    sequence.update([1.0])
    interval = sequence.interval()
    assert interval.replicates == 1 and 1.0 in interval and interval.width > 10


def test_units_within_a_replicate_are_not_replicates() -> None:
    with pytest.raises(ValueError, match="one number per replicate"):
        CatoniSequence(0.05, 1.0, 10).update(np.zeros((5, 2)))


@pytest.mark.parametrize(
    ("alpha", "variance", "planned", "message"),
    [
        (0.0, 1.0, 10, "alpha"),
        (1.0, 1.0, 10, "alpha"),
        (0.05, -1.0, 10, "variance bound"),
        (0.05, math.nan, 10, "variance bound"),
        (0.05, math.inf, 10, "variance bound"),
        (0.05, 1.0, 0, "planned"),
    ],
)
def test_wrong_parameters(alpha: float, variance: float, planned: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CatoniSequence(alpha, variance, planned)


def verdicts(size: int, claimed: float, mean: float, tolerance: float) -> list[Verdict]:
    """Verdicts on 400 experiments with exponential draws of the given mean."""
    rng = np.random.default_rng(9)
    found = []
    for _ in range(400):
        sequence = CatoniSequence(0.01, mean**2, size)
        sequence.update(mean * rng.standard_exponential(size))
        found.append(judge(sequence.interval(), claimed, tolerance))
    return found


def test_planned_size_has_the_promised_power() -> None:
    size = planned_size(variance=4.0, claimed=2.0, tolerance=0.2, alpha=0.01)
    found = verdicts(size, claimed=2.0, mean=2.0, tolerance=0.2)
    # at a power of 0.999, five or more failures of 400 have probability 6e-5
    assert found.count(Verdict.VERIFIED) >= 396
    assert Verdict.REFUTED not in found


def test_a_quarter_of_the_planned_size_verifies_next_to_nothing() -> None:
    size = planned_size(variance=4.0, claimed=2.0, tolerance=0.2, alpha=0.01) // 4
    found = verdicts(size, claimed=2.0, mean=2.0, tolerance=0.2)
    assert found.count(Verdict.VERIFIED) < 40


@pytest.mark.parametrize("claimed", [1.0, math.sqrt(2), 4.0])
def test_wrong_neighbours_are_refuted_at_the_planned_size(claimed: float) -> None:
    size = planned_size(variance=4.0, claimed=2.0, tolerance=0.05, alpha=0.01)
    assert set(verdicts(size, claimed, mean=2.0, tolerance=0.05)[:20]) == {Verdict.REFUTED}


def test_planned_size_by_hand() -> None:
    double = 2 * math.log(200)
    expected = 3.0 / 0.1**2 * (math.sqrt(double) + float(stats.norm.isf(0.0005))) ** 2 + double
    assert planned_size(3.0, claimed=-2.0, tolerance=0.05, alpha=0.01) == pytest.approx(
        expected, rel=1e-4
    )
    absolute = planned_size(3.0, claimed=0.0, tolerance=0.05, alpha=0.01, absolute=0.1)
    assert absolute == planned_size(3.0, claimed=-2.0, tolerance=0.05, alpha=0.01)
    assert planned_size(0.0, 1.0, 0.05, 0.01) == 1


@pytest.mark.parametrize(
    ("claimed", "tolerance", "message"),
    [
        (0.0, 0.05, "absolute tolerance"),
        (1.0, 0.0, "tolerance must be positive"),
        (1.0, -0.1, "tolerance"),
        (math.nan, 0.05, "claimed value"),
        (1e-200, 0.05, "no feasible size"),
    ],
)
def test_planned_size_refuses(claimed: float, tolerance: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        planned_size(1.0, claimed, tolerance, 0.01)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-2.1, -1.9, Verdict.VERIFIED),
        (-2.5, -1.5, Verdict.VERIFIED),
        (-3.0, -2.6, Verdict.REFUTED),
        (-1.4, 2.0, Verdict.REFUTED),
        (-2.6, -2.0, Verdict.UNDECIDED),
        (-2.0, -1.4, Verdict.UNDECIDED),
        (-3.0, -1.0, Verdict.UNDECIDED),
        (-math.inf, math.inf, Verdict.UNDECIDED),
    ],
)
def test_judge(low: float, high: float, verdict: Verdict) -> None:
    assert judge(Interval(low, high, "proved", 9), claimed=-2.0, tolerance=0.25) is verdict


def test_judge_at_zero_needs_an_absolute_tolerance() -> None:
    interval = Interval(-0.01, 0.02, "proved", 9)
    assert judge(interval, 0.0, 0.05, absolute=0.02) is Verdict.VERIFIED
    assert judge(interval, 0.0, 0.05, absolute=0.015) is Verdict.UNDECIDED
    with pytest.raises(ValueError, match="absolute tolerance"):
        judge(interval, 0.0, 0.05)


def test_interval_must_be_ordered() -> None:
    for low, high in [(1.0, 0.0), (math.nan, 1.0), (0.0, math.nan)]:
        with pytest.raises(ValueError, match="not ordered"):
            Interval(low, high, "proved", 1)


def test_share() -> None:
    assert share(1e-6, 40) == pytest.approx(2.5e-8)
    for rate, runs in [(0.0, 1), (1.0, 1), (0.1, 0)]:
        with pytest.raises(ValueError):
            share(rate, runs)
