"""Enclosures are refused where there are none, and shortcuts in their proofs show."""

from typing import Any

import mpmath
import pytest
from enclosed import SOFTPLUS, Pieces, expectation, holds, kinked, sixty_digits, whole, x
from flint import arb
from sympy import Function, Rational, Symbol, exp, gamma, log, sqrt, tan, tanh

from varlaw.symbolic.gaussian import growth, trapezoid
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.strips import Strip

digits = pytest.fixture(autouse=True)(sixty_digits)


@pytest.mark.parametrize(
    ("pieces", "variance"),
    [
        (whole(1 / x), 1),
        (whole(1 / (x - 1000)), 1),
        (whole(1 / (exp(x) - 2)), 1),
        (whole(tan(x)), 1),
        (whole(gamma(x)), 1),
        (whole(exp(x**2 / 2)), 1),
        (whole(exp(x**2)), 1),
        (whole(exp(x**2 / 8)), 4),
        (whole(exp(x**3)), 1),
        (whole(exp(exp(x))), 1),
        (whole(log(x)), 1),
        (whole(log(x + 10)), 1),
        (whole(sqrt(x)), 1),
        (whole(x ** Rational(1, 3)), 1),
        (whole(x**x), 1),
        (kinked(0, 0, 1 / x), 1),
        (whole(Function("f")(x)), 1),
        (whole(abs(x)), 1),
        (whole(x * Symbol("y")), 1),
    ],
    ids=lambda v: str(v)[:60],
)
def test_undefined_infinite_or_unknown_is_refused_in_one_line(
    pieces: Pieces, variance: int
) -> None:
    with pytest.raises(NoEnclosure) as refused:
        expectation(pieces, 0, variance, 30)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("variance", [-1, -sqrt(2)])
def test_negative_variances_are_refused(variance: Any) -> None:
    with pytest.raises(ValueError, match="not positive"):
        expectation(whole(x), 0, variance)


def test_no_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        expectation(whole(x), digits=0)


def test_a_tail_that_is_cut_too_early_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth.Growth, "edge", lambda self, *_: 6.0)
    early = expectation(whole(SOFTPLUS**2), digits=5)
    exact = mpmath.mpf("0.92124590885930027867724868682136339739558701936290")
    assert holds(early, exact)  # the tail is in the ball
    assert early.value.rad() > arb(10) ** -9
    monkeypatch.setattr(growth.Growth, "tail", lambda self, *_: arb(0))
    assert not holds(expectation(whole(SOFTPLUS**2), digits=20), exact)


def test_a_strip_with_poles_in_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = mpmath.mpf("0.39429449039784117441645977244411956057379074942231")
    assert holds(expectation(whole(tanh(x) ** 2)), exact)
    monkeypatch.setattr(trapezoid, "strip", lambda _: Strip(arb(4), ()))
    try:
        wrong = expectation(whole(tanh(x) ** 2))
    except NoEnclosure:
        return
    assert not holds(wrong, exact) or "quadrature" in wrong.method


def test_an_odd_part_that_diverges_is_not_dropped() -> None:
    with pytest.raises(NoEnclosure):
        expectation(whole(tanh(x) ** 2 + 1 / x), digits=305)
