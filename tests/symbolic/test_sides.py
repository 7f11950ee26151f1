"""Means of functions with several waves in a denominator, over variances of any size."""

from collections.abc import Callable
from typing import Any

import mpmath as mp
import pytest
from sympy import Rational, Symbol, exp, oo

from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.sides import on_sides

x = Symbol("x", real=True)
Function = Callable[[mp.mpf], mp.mpf]


def _mish(t: mp.mpf) -> mp.mpf:
    return t * mp.tanh(mp.log1p(mp.exp(t)))


def _slope(t: mp.mpf) -> mp.mpf:
    gate = mp.tanh(mp.log1p(mp.exp(t)))
    return gate + t * (1 - gate**2) / (1 + mp.exp(-t))


CASES: dict[str, tuple[Function, Callable[[mp.mpf], mp.mpf], Function]] = {
    "mish(x)^2": (lambda t: _mish(t) ** 2, lambda v: v / 2, lambda t: t * t),
    "mish'(x)^2": (lambda t: _slope(t) ** 2, lambda _: mp.mpf(1) / 2, lambda _: mp.mpf(1)),
    "mish(x)*relu(x)": (lambda t: _mish(t) * max(t, 0), lambda v: v / 2, lambda t: t * t),
}


@pytest.mark.parametrize("exponent", [6, 8, 12])
@pytest.mark.parametrize("text", CASES)
def test_wide_variances(text: str, exponent: int) -> None:
    """From the mean of the limit far off, and by quadrature what differs from it near 0."""
    function, limit, above = CASES[text]
    with mp.workdps(40):
        v = mp.mpf(10) ** exponent

        def rest(t: mp.mpf) -> mp.mpf:
            return (function(t) - (above(t) if t > 0 else 0)) * mp.exp(-t * t / (2 * v))

        ends = list(range(-120, 121, 4))
        expected = limit(v) + mp.quad(rest, ends) / mp.sqrt(2 * mp.pi * v)
        found = mp.mpf(moment(text, 0, 10**exponent).digits(25).digits)
        assert abs(found / expected - 1) < mp.mpf(10) ** -24


@pytest.mark.parametrize(
    "f",
    [
        1 / (2 + 2 * exp(x) + exp(2 * x)),
        x**2 * (1 + exp(2 * x + 1) / 3 + exp(-x)) ** -2 + exp(x),
        (1 + 1 / (2 + exp(-x) + 3 * exp(-3 * x))) ** 2,
    ],
)
def test_each_side_is_the_function(f: Any) -> None:
    left, right = on_sides(Piece(-oo, oo, f), x)
    for side, point in ((left, Rational(-3, 2)), (right, Rational(5, 2))):
        assert abs(float((side.expression - f).subs(x, point))) < 1e-12
    assert (left.lower, left.upper, right.lower, right.upper) == (-oo, 0, 0, oo)
    assert on_sides(Piece(1, oo, f), x) == [Piece(1, oo, right.expression)]
    assert on_sides(Piece(-oo, -1, f), x) == [Piece(-oo, -1, left.expression)]


def test_what_has_no_such_denominator_stays_whole() -> None:
    for f in (1 / (1 + exp(x)), 1 / (1 + x**2 + exp(x)), 1 / (1 + exp(x**2) + exp(x)), x):
        assert on_sides(Piece(-oo, oo, f), x) == [Piece(-oo, oo, f)]
