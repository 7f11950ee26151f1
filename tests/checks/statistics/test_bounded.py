"""Means of bounded statistics: the ends by their definition, failures counted, bad input."""

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from false_alarms import LOOKS, PLANNED, RUNS, Draws, allowed, misses, skewed
from scipy import optimize
from scipy.special import ndtr

from varlaw.checks.statistics.bounded import BernsteinSequence, BettingSequence, BoundedSequence
from varlaw.checks.statistics.intervals import (
    EmptyInterval,
    Interval,
    NoInterval,
    NotFinite,
    OutOfBounds,
    Values,
)
from varlaw.checks.statistics.methods import Bounded, ByVariance
from varlaw.checks.statistics.verdicts import CatoniSequence, Verdict, judge, planned_size

Law = Callable[[int], tuple[Draws, float, float]]
BOTH = [BettingSequence, BernsteinSequence]


def capped_lognormal(runs: int) -> tuple[Draws, float, float]:
    """min(exp(Z), 10) with the exact mean; its variance is not needed."""
    draws = np.exp(np.random.default_rng(41).standard_normal((runs, LOOKS[-1])))
    cap = math.log(10)
    mean = math.exp(0.5) * float(ndtr(cap - 1)) + 10 * float(ndtr(-cap))
    return np.minimum(draws, 10.0), mean, math.inf


def mirrored(runs: int) -> tuple[Draws, float, float]:
    """10 minus the skewed law: nearly always at the upper bound."""
    draws, mean, variance = skewed(runs)
    return 10 - draws, 10 - mean, variance


SLOW_MIRRORED = pytest.param(mirrored, marks=pytest.mark.slow)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("law", [skewed, capped_lognormal, SLOW_MIRRORED])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_false_alarms_over_all_looks(kind: type[BoundedSequence], law: Law, alpha: float) -> None:
    draws, mean, _ = law(RUNS)
    assert misses(draws, mean, lambda: kind(alpha, 0.0, 10.0, PLANNED)) <= allowed(alpha)


@pytest.mark.slow
@pytest.mark.parametrize("guess", [0.0, 1e-6, 100.0])
def test_a_wrong_guess_of_the_variance_does_not_matter(guess: float) -> None:
    draws, mean, _ = skewed(RUNS)
    for kind in BOTH:
        found = misses(draws, mean, lambda k=kind: k(0.05, 0.0, 10.0, PLANNED, variance=guess))
        assert found <= allowed(0.05)


class Peeking(BettingSequence):
    """The twin that must fail: each bet knows the value it is laid on."""

    def _bets(self, batch: Values) -> tuple[Values, Values]:
        stakes, means = super()._bets(batch)
        return np.where(batch > means, 1.5 * stakes, stakes), means


def test_bets_that_know_their_outcome_are_caught() -> None:
    draws, mean, _ = capped_lognormal(RUNS)
    assert misses(draws, mean, lambda: Peeking(0.05, 0.0, 10.0, PLANNED)) > allowed(0.05)


def foreseen(values: Draws, alpha: float, planned: int) -> tuple[list[float], list[float]]:
    """The bets and means on values in [0, 1] as the paper has them, one by one."""
    total, squares = 0.5, 0.25
    bets, means = [], []
    for i, x in enumerate(values.tolist(), 1):
        bets.append(math.sqrt(2 * math.log(2 / alpha) / (planned * squares / i)))
        means.append(total / i)
        total += x
        squares += (x - total / (i + 1)) ** 2
    return bets, means


def capital(values: Draws, bets: list[float], m: float) -> float:
    """log Prod (1 + lambda (X - m))."""
    return math.fsum(
        math.log1p(min(b, 0.5 / m) * (x - m)) for b, x in zip(bets, values.tolist(), strict=True)
    )


@pytest.mark.parametrize("size", [1, 2, 7, 1000, 40000])
@pytest.mark.parametrize("alpha", [0.05, 1e-9])
def test_ends_of_betting_by_definition(size: int, alpha: float) -> None:
    values = np.random.default_rng(5).beta(1.0, 4.0, size)
    sequence = BettingSequence(alpha, 0.0, 1.0, 500)
    sequence.update(values)
    found = sequence.interval()
    bets, _ = foreseen(values, alpha, 500)
    bound = math.log(2 / alpha)
    for seen, end in ((values, found.low), (1 - values, 1 - found.high)):
        if capital(seen, bets, 1e-300) < bound:
            assert end == 0
            continue
        root = optimize.brentq(lambda m, s=seen: capital(s, bets, m) - bound, 1e-12, 1 - 1e-12)
        assert root - 1e-5 * found.width <= end <= root + 4e-12


def test_ends_of_betting_do_not_depend_on_units() -> None:
    values = np.random.default_rng(5).beta(1.0, 4.0, 2000)
    plain, moved = (BettingSequence(0.01, *ends, 2000) for ends in ((0.0, 1.0), (-7e8, 1e8)))
    plain.update(values)
    moved.update(8e8 * values - 7e8)
    a, b = plain.interval(), moved.interval()
    assert (b.low + 7e8) / 8e8 == pytest.approx(a.low, rel=1e-6)
    assert (b.high + 7e8) / 8e8 == pytest.approx(a.high, rel=1e-6)


@pytest.mark.parametrize("size", [1, 2, 7, 1000, 40000])
@pytest.mark.parametrize("alpha", [0.05, 1e-9])
def test_ends_of_bernstein_by_definition(size: int, alpha: float) -> None:
    values = np.random.default_rng(6).beta(1.0, 4.0, size)
    sequence = BernsteinSequence(alpha, 0.0, 1.0, 500)
    sequence.update(values)
    bets, means = foreseen(values, alpha, 500)
    bets = [min(b, 0.5) for b in bets]
    spent = math.log(2 / alpha)
    for b, x, m in zip(bets, values.tolist(), means, strict=True):
        spent += (-math.log1p(-b) - b) * (x - m) ** 2
    centre = math.fsum(b * x for b, x in zip(bets, values.tolist(), strict=True)) / math.fsum(bets)
    half = spent / math.fsum(bets)
    found = sequence.interval()
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    assert low - 0.03 * half <= found.low <= low and high <= found.high <= high + 0.03 * half


def test_the_bound_of_psi_is_one_and_close() -> None:
    x = np.linspace(1e-4, 0.5, 1000)
    exact = -np.log1p(-x) - x
    bound = x * x * (1 / 2 + x / 3 + x * x / (4 * (1 - x)))
    assert np.all(bound >= exact * (1 - 1e-9)) and np.all(bound <= 1.03 * exact)


@pytest.mark.parametrize("kind", BOTH)
def test_batches_and_one_batch_agree_to_the_bit(kind: type[BoundedSequence]) -> None:
    values = np.random.default_rng(7).random(5000)
    whole, parts = (kind(0.01, 0.0, 1.0, 5000) for _ in range(2))
    whole.update(values)
    for part in np.array_split(values, 13):
        parts.update(part)
    assert whole.interval() == parts.interval()


def width(sequence: CatoniSequence | BoundedSequence, values: Draws) -> float:
    sequence.update(values)
    return sequence.interval().width


def test_widths_against_those_by_variance() -> None:
    """As wide as with the exact variance, and narrower by the root of 12/4 with that of the range.

    A spread far below the range has to be learnt: there the variance bound, if known, is better.
    """
    values = np.random.default_rng(8).random(100_000)
    by_variance = width(CatoniSequence(0.01, 1 / 12, values.size), values)
    by_range = width(CatoniSequence(0.01, 1 / 4, values.size), values)
    betting = width(BettingSequence(0.01, 0.0, 1.0, values.size), values)
    bernstein = width(BernsteinSequence(0.01, 0.0, 1.0, values.size), values)
    assert betting == pytest.approx(by_variance, rel=0.01)
    assert by_range / betting == pytest.approx(math.sqrt(3), rel=0.01)
    assert betting < bernstein < 1.02 * betting
    few = 0.5 + (values[:1000] - 0.5) / 100
    exact = width(CatoniSequence(0.01, 1e-4 / 12, few.size), few)
    assert width(BettingSequence(0.01, 0.0, 1.0, few.size), few) > 5 * exact


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("bad", [1.1, -1e-9, math.nextafter(1.0, 2.0)])
def test_values_out_of_bounds_are_refused(kind: type[BoundedSequence], bad: float) -> None:
    sequence = kind(0.05, 0.0, 1.0, 100)
    sequence.update([0.0, 1.0])
    before = sequence.interval()
    message = f"replicate 3 is {bad}, outside of its bounds [0.0, 1.0]"
    with pytest.raises(OutOfBounds, match=re.escape(message)):
        sequence.update([0.5, bad, 0.5])
    assert sequence.interval() == before
    assert issubclass(OutOfBounds, NoInterval)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(kind: type[BoundedSequence], bad: float) -> None:
    with pytest.raises(NotFinite, match=re.escape(f"replicate 1 is {bad},")):
        kind(0.05, 0.0, 1.0, 100).update([0.5, bad])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 2.0])
def test_equal_values_are_not_certain(kind: type[BoundedSequence], value: float) -> None:
    """Bets are cut off at 1/2, so t replicates exclude nothing nearer than some log(40)/t."""
    for count in (1, 10, 10_000):
        sequence = kind(0.05, -1.0, 2.0, planned=count)
        sequence.update(np.full(count, value))
        found = sequence.interval()
        assert value in found and found.replicates == count
        assert found.low >= -1 and found.high <= 2
        assert found.width > min(3.0, math.log(40) / count) * 0.999
        assert count < 10_000 or found.width < 100 / count


@pytest.mark.parametrize("kind", BOTH)
def test_no_replicate_and_one_replicate(kind: type[BoundedSequence]) -> None:
    sequence = kind(0.05, 0.0, 1.0, 100)
    assert sequence.interval() == Interval(-math.inf, math.inf, "proved", 0)
    sequence.update([])
    assert judge(sequence.interval(), 0.5, 0.9) is Verdict.UNDECIDED
    sequence.update([1.0])
    assert sequence.interval().width > 0.5


@pytest.mark.parametrize("kind", BOTH)
def test_looks_that_exclude_each_other_are_reported(kind: type[BoundedSequence]) -> None:
    sequence = kind(0.05, 0.0, 1.0, 1000)
    sequence.update(np.zeros(2000))
    sequence.interval()
    sequence.update(np.full(50_000, 0.9))
    with pytest.raises(EmptyInterval, match="one mean"):
        sequence.interval()


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1.0), (1.0, 0.0), (0.0, math.inf), (math.nan, 1.0), (0.0, 1e200)]
)
def test_bounds_must_be_bounds(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="bounds must be finite and increase"):
        BettingSequence(0.05, low, high, 100)


@pytest.mark.parametrize("alpha", [0.01, 1e-6])
def test_power_and_refutation_at_the_planned_size(alpha: float) -> None:
    """Of 200 runs at a power of 0.999, four or more fail with probability 6e-5."""
    rng = np.random.default_rng(9)
    method = Bounded(0.0, 1.0)
    size = method.planned_size(1 / 12, 0.5, 0.05, alpha)
    found, wrong = [], []
    for _ in range(200):
        sequence = method.sequence(alpha, 1 / 12, size)
        sequence.update(rng.random(size))
        found.append(judge(sequence.interval(), 0.5, 0.05))
        wrong.append(judge(sequence.interval(), 0.5 * 1.15, 0.05))
    assert found.count(Verdict.VERIFIED) >= 197 and Verdict.REFUTED not in found
    assert wrong.count(Verdict.REFUTED) >= 197


def test_the_range_costs_little_where_many_are_planned() -> None:
    """And enough where few are: a bet of 1/2 each gains at most log(3/2) at a time."""
    few, many = (Bounded(0.0, 1.0).planned_size(1e-8, 0.5, t, 0.01) for t in (0.1, 1e-5))
    assert few > 2 * math.log(200) / math.log(1.5)
    assert many < 1.5 * ByVariance().planned_size(1e-8, 0.5, 1e-5, 0.01) + 8e6
    assert planned_size(0.0, 0.5, 0.1, 0.01, reach=1.0) > 1


def test_a_large_plan_keeps_no_replicates() -> None:
    method = Bounded(0.0, 1.0)
    assert isinstance(method.sequence(0.01, 0.1, 1 << 20), BettingSequence)
    assert isinstance(method.sequence(0.01, 0.1, 1 << 21), BernsteinSequence)
