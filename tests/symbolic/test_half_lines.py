"""Means of rational functions on half lines, against mpmath's quadrature."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from flint import arb, ctx
from sympy import Rational, S, Symbol, exp, oo, sqrt

from varlaw.symbolic.gaussian.crossings import NotClosed
from varlaw.symbolic.gaussian.half_lines import mean_on_half_line
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import Piece

x = Symbol("x", real=True)


@pytest.mark.parametrize(("mean", "variance"), [("1/3", "2"), ("-3", "1/4"), ("5", "3")])
@pytest.mark.parametrize(
    ("text", "f", "kinks"),
    [
        ("softsign(x)", lambda z: z / (1 + abs(z)), [0]),
        ("softsign(2*x - 1)^2", lambda z: ((2 * z - 1) / (1 + abs(2 * z - 1))) ** 2, [0.5]),
        (
            "x^2*relu(x + 1)/(3 + abs(x))^3",
            lambda z: z**2 * max(z + 1, 0) / (3 + abs(z)) ** 3,
            [-1, 0],
        ),
    ],
)
def test_against_quadrature(
    text: str, f: Callable[[Any], Any], kinks: list[float], mean: str, variance: str
) -> None:
    with mpmath.workdps(40):
        m, v = (mpmath.mpf(t.p) / t.q for t in map(Rational, (mean, variance)))
        s = mpmath.sqrt(v)
        ends = sorted({*map(mpmath.mpf, kinks), *(m + k * s for k in range(-15, 16, 3))})
        expected = mpmath.quad(lambda z: f(z) * mpmath.npdf(z, m, s), ends)
        found = mpmath.mpf(moment(text, mean, variance).digits(30).digits)
        assert abs(found - expected) < 1e-29 * max(1, abs(expected))


@pytest.mark.parametrize("deviation", [S(1), sqrt(2), Rational(1, 7)])
def test_a_polynomial_is_that_of_a_truncated_normal(deviation: Any) -> None:
    """E[z^2; z > 0] is half the variance at mean 0, and the ball says how well it is known."""
    with ctx.workprec(200):
        found = mean_on_half_line(Piece(S(0), oo, x**2), x, S(0), deviation)
        half = Rational(deviation**2) / 2
        assert found.overlaps(arb(int(half.p)) / int(half.q))
        assert found.rad() < 1e-50


@pytest.mark.parametrize(
    ("f", "lower", "upper", "mean"),
    [
        (1 / (1 + x), S(-2), oo, S(0)),  # a pole on the half line
        (1 / (1 + x**2), S(0), oo, S(0)),  # poles that are not rational
        (exp(x), S(0), oo, S(0)),
        (1 / (2 + x), S(0), S(1), S(0)),  # no half line
        (1 / (2 + x), S(0), oo, S(100)),  # far away
    ],
    ids=str,
)
def test_what_is_left_to_others(f: Any, lower: Any, upper: Any, mean: Any) -> None:
    with pytest.raises(NotClosed):
        mean_on_half_line(Piece(lower, upper, f), x, mean, S(1))
