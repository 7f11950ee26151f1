"""Means over Gaussian features of which the variance is known within bounds only."""

import mpmath
import pytest
from flint import arb, ctx
from sympy import Expr, Max, Symbol, exp, tanh

from varlaw.symbolic.blocks import enclosed
from varlaw.symbolic.blocks.enclosed import gaussian_mean

X = Symbol("x", real=True)
CASES = {  # with E[f] as a function of the variance: closed forms, and quadrature by mpmath
    "fourth": (X**4, lambda v: 3 * v**2),
    "relu": (Max(X, 0) ** 2, lambda v: v / 2),
    "bump": (exp(-(X**2)), lambda v: 1 / mpmath.sqrt(1 + 2 * v)),
    "tanh": (
        tanh(X) ** 2,
        lambda v: mpmath.quad(
            lambda z: mpmath.tanh(mpmath.sqrt(v) * z) ** 2 * mpmath.npdf(z),
            [-12, -1, 0, 1, 12],
        ),
    ),
}
RANGES = ((2, 3), (100, 125), (1000, 1010), (0.015625, 0.0234375))


def over(f: Expr, low: float, high: float) -> arb:
    with ctx.workprec(40):
        return gaussian_mean(f, X, arb(0), arb(low).union(arb(high)))


@pytest.mark.parametrize("ends", RANGES, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_all_means_are_in_the_ball(name: str, ends: tuple[float, float]) -> None:
    f, mean = CASES[name]
    whole = over(f, *ends)
    for k in range(9):
        v = ends[0] + (ends[1] - ends[0]) * k / 8
        assert whole.contains(arb(str(mpmath.nstr(mean(mpmath.mpf(v)), 12)), 1e-10))


def test_the_ball_of_a_bounded_function_is_narrow_far_out() -> None:
    """E[tanh^2] is from 0.9205 to 0.9288 for variances from 100 to 125."""
    whole = over(tanh(X) ** 2, 100, 125)
    assert whole < 1
    assert float(whole.rad()) < 0.03


def test_without_the_rest_the_ball_would_be_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the bounds sees a wrong one: no second derivative, no bound of the slope."""
    monkeypatch.setattr(enclosed, "second_moment", lambda *_: arb(0))
    f, mean = CASES["fourth"]
    whole = over(f, 2, 3)
    assert not all(whole.contains(arb(str(mean(v)), 1e-10)) for v in (2, 3))
