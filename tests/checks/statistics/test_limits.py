"""Limit laws: orders are told apart, and a limit is judged only where the order is identified."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from varlaw.checks.statistics.limits import order_fit
from varlaw.checks.statistics.verdicts import Interval, Verdict


def measured(
    law: Callable[[float], float], sizes: Sequence[int], error: float = 1e-4
) -> list[Interval]:
    """Intervals of half-width `error` about the values of a law, not centred on them."""
    return [
        Interval(law(n) - error * (0.4 + 0.5 * (-1) ** i), law(n) + error, "proved", 1000)
        for i, n in enumerate(sizes)
    ]


@pytest.mark.parametrize("sizes", [(8, 16, 32), (3, 7, 20), (2, 4, 8, 16, 32)])
@pytest.mark.parametrize("order", [0.5, 1.0, 2.0])
def test_order_is_identified(sizes: Sequence[int], order: float) -> None:
    fit = order_fit(sizes, measured(lambda n: 2 - 3 * n**-order, sizes), order)
    assert fit.identified
    assert 2.0 in fit.limit and -3.0 in fit.coefficient
    assert fit.limit.kind == "proved"
    assert fit.judge(2.0, 0.01) is Verdict.VERIFIED
    assert fit.judge(2.1, 0.01) is Verdict.REFUTED


@pytest.mark.parametrize(("true", "stated"), [(0.5, 1.0), (1.0, 0.5), (2.0, 1.0), (1.0, 2.0)])
def test_wrong_order_is_refuted(true: float, stated: float) -> None:
    sizes = (8, 16, 32)
    fit = order_fit(sizes, measured(lambda n: 2 + 3 * n**-true, sizes), stated)
    assert fit.order is Verdict.REFUTED and not fit.identified
    assert fit.judge(2.0, 0.5) is Verdict.UNDECIDED


def test_order_is_not_identified_without_an_effect() -> None:
    sizes = (8, 16, 32)
    fit = order_fit(sizes, measured(lambda n: 2.0, sizes))
    assert 0.0 in fit.coefficient and fit.order is Verdict.UNDECIDED
    assert not fit.identified and fit.judge(2.0, 0.1) is Verdict.UNDECIDED


def test_order_is_not_identified_by_wide_intervals() -> None:
    sizes = (8, 16, 32)
    fit = order_fit(sizes, measured(lambda n: 2 + 3 / n, sizes, error=0.05))
    assert fit.order is Verdict.UNDECIDED and not fit.identified


def test_values_that_turn_round_follow_no_order() -> None:
    sizes = (8, 16, 32)
    turning = dict(zip(sizes, (1.0, 2.0, 1.5), strict=True))
    fit = order_fit(sizes, measured(lambda n: turning[int(n)], sizes))
    assert fit.order is Verdict.REFUTED


def test_next_order_is_covered_by_the_remainder() -> None:
    sizes = (32, 64, 128)
    values = measured(lambda n: 1 + 3 / n + 2 / n**2, sizes, error=1e-6)
    neglected = order_fit(sizes, values)
    assert neglected.identified and 1.0 not in neglected.limit  # off by the next order, as stated
    covered = order_fit(sizes, values, remainder=2)
    assert covered.identified and 1.0 in covered.limit and 3.0 in covered.coefficient


def test_richardson_by_exact_arithmetic() -> None:
    v1, v2, v3 = (Fraction(7, 4), Fraction(5, 4), Fraction(9, 8))  # ratio 4, so order 2
    values = [Interval(float(v), float(v), "asymptotic", 10) for v in (v1, v2, v3)]
    fit = order_fit((4, 8, 16), values, order=2)
    assert float((4 * v3 - v2) / 3) in fit.limit and fit.limit.width < 1e-12
    assert float((v1 - v3) / (Fraction(1, 16) - Fraction(1, 256))) in fit.coefficient
    assert 4.0 in fit.ratio and fit.window == pytest.approx((2**1.5, 8.0))
    assert fit.limit.kind == "asymptotic"


def test_unknown_values_leave_the_order_open() -> None:
    values = measured(lambda n: 1 + 3 / n, (8, 16, 32))
    values[1] = Interval(-math.inf, math.inf, "proved", 0)
    fit = order_fit((8, 16, 32), values)
    assert fit.order is Verdict.UNDECIDED and fit.limit.width == math.inf


def test_order_fit_refuses() -> None:
    values = measured(lambda n: 1 + 1 / n, (8, 16, 32))
    for sizes in [(8, 16), (8, 32, 16), (0, 8, 16)]:
        with pytest.raises(ValueError):
            order_fit(sizes, values[: len(sizes)])
    with pytest.raises(ValueError, match="3 sizes but 2 intervals"):
        order_fit((8, 16, 32), values[:2])
    with pytest.raises(ValueError, match="competitors"):
        order_fit((8, 16, 32), values, 1.0, competitors=(1.0, 2.0))
    with pytest.raises(ValueError, match="remainder"):
        order_fit((8, 16, 32), values, remainder=-1.0)
