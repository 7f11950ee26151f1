"""Kinks at arguments that are not affine: against quadrature split at roots found otherwise."""

from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import (
    Abs,
    ComplexRootOf,
    Expr,
    Integer,
    Max,
    Rational,
    Symbol,
    cosh,
    erf,
    exp,
    lambdify,
    log,
    sin,
    sqrt,
    tanh,
)

from varlaw.symbolic.activations import hardshrink, hardtanh, relu, step
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.crossings import NotClosed, crossings, sign_of
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import pieces_of

x = Symbol("x", real=True)
a = Symbol("a", positive=True)
t = Symbol("t", real=True)


def sampled_roots(g: Any, c: float) -> list[float]:
    """Sign changes of g - c on a fine grid, by bisection."""
    grid = np.linspace(-9.01, 9.02, 901)
    found = []
    for left, right in pairwise(grid):
        if (g(left) - c) * (g(right) - c) < 0:
            found.append(float(mp.findroot(lambda u: g(u) - c, (left, right), solver="anderson")))
    return found


ARGUMENTS = [
    x**2 - 1,
    x**2 - x - 1,
    x**3 - x - 1,
    x**3 - 8,
    x**4 - 5 * x**2 + 4,
    x**5 - x - 1,
    exp(x) - 1,
    exp(2 * x) - 3 * exp(x) + 1,
    2 - tanh(x**2 - 1) * 3,
    log(x**2 + 1) - 1,
    1 / (1 + exp(-x)) - Rational(1, 3),
    x * (1 + erf(x / sqrt(2))) / 2,
    x / (1 + exp(-x)),
    cosh(x) - 2,
    cosh(x) - 1 - x**2 / 3,
    (exp(x) - 1 - x) * (x - 2),
    x**2 * exp(-x) * (x - 1),
    (x**2 - 2) ** 3 - 1,
    (x / 3 + 1) / (x**2 + x / 3 + 2) - Rational(1, 3),
    exp(x) + x,
    erf(x) - Rational(1, 3),
    log(1 + exp(x)) - 1,
    x * (1 - 2 / ((1 + exp(x)) ** 2 + 1)) - Rational(1, 2),
    sqrt(x**2 + 1) - 2,
]


@pytest.mark.parametrize("argument", ARGUMENTS, ids=str)
def test_crossings_hold_all_sign_changes(argument: Expr) -> None:
    known = [float(point) for point in crossings(argument, Integer(0), x)]
    g = lambdify(x, argument, "mpmath")
    for root in sampled_roots(g, 0.0):
        assert min(abs(root - point) for point in known) < 1e-9


@pytest.mark.parametrize("argument", ARGUMENTS, ids=str)
def test_pieces_agree_with_the_function(argument: Expr) -> None:
    """On each piece the expression is the function, point by point."""
    g = lambdify(x, argument, "mpmath")
    for outer, plain in (
        (relu, lambda u: max(u, 0)),
        (hardtanh, lambda u: max(-1, min(1, u))),
        (hardshrink, lambda u: u if abs(u) > 0.5 else 0),
    ):
        try:
            pieces = pieces_of(outer(argument), x)
        except NotClosed:
            continue
        for point in np.linspace(-4.37, 4.41, 14):
            (piece,) = [p for p in pieces if p.lower < point < p.upper]
            value = float(piece.expression.subs(x, Rational(str(point))).evalf(30))
            assert abs(value - plain(g(point))) < 1e-9 * (1 + abs(value))


@pytest.mark.parametrize(
    ("text", "f", "splits"),
    [
        ("|x^2 - 1|", lambda u: abs(u**2 - 1), [-1, 1]),
        ("max(x, x^2)", lambda u: max(u, u**2), [0, 1]),
        ("relu(exp(x) - 1 - x)", lambda u: mp.exp(u) - 1 - u, [0]),
        ("|x - sin(x)|", lambda u: abs(u - mp.sin(u)), [0]),
        ("relu(x*tanh(x))", lambda u: u * mp.tanh(u), [0]),
        ("max(x, x^2, 1)", lambda u: max(u, u**2, 1), [-1, 1]),
        ("min(x, 1 - x, x^2)", lambda u: min(u, 1 - u, u**2), [0, 0.5, 0.618033988749894848204]),
        ("relu(exp(x) - 1)^2", lambda u: max(mp.exp(u) - 1, 0) ** 2, [0]),
        ("relu(x^3 - x - 1)", lambda u: max(u**3 - u - 1, 0), [1.32471795724474602596]),
        ("gelu(|x^2 - 2|)", lambda u: abs(u * u - 2) * mp.ncdf(abs(u * u - 2)), [-2**0.5, 2**0.5]),
        ("relu(tanh(x) - 1/2)", lambda u: max(mp.tanh(u) - 0.5, 0), [0.549306144334054845697]),
        ("relu(|x|^(1/2) - 1)", lambda u: max(mp.sqrt(abs(u)) - 1, 0), [-1, 1]),
        ("min(relu(x), gelu(x))", lambda u: min(max(u, 0), u * mp.ncdf(u)), [0]),
        ("|x|*|x - 1/2|*relu(1 - x^2)", lambda u: abs(u * (u - 0.5)) * max(1 - u * u, 0),
         [-1, 0, 0.5, 1]),
    ],
)  # fmt: skip
def test_moments(text: str, f: Any, splits: list[float]) -> None:
    with mp.workdps(25):
        points = sorted({-12, -5, -2, 2, 5, 12, *map(mp.mpf, splits)})
        expected = mp.quad(lambda u: f(u) * mp.npdf(u), points)
        assert abs(mp.mpf(moment(text).digits(15).digits) - expected) < 1e-14


def test_conditions() -> None:
    two_sided = moment("x^2", given="x^2 > 1").exact
    assert (two_sided - moment("x^2", given="|x| > 1").exact).equals(0)
    assert moment("x", given="exp(x) > 2").digits(12).digits == "1.28528058403"


def test_parameters() -> None:
    found = moment("|x|*|x - a|", positive=["a"]).exact
    for value in (Rational(1, 3), Rational(2)):
        special = moment(Abs(x) * Abs(x - value)).exact
        assert abs((found.subs(a, value) - special).evalf(25)) < 1e-20
    with pytest.raises(NoMoment, match="order of the kinks"):
        moment("|x|*|x - a|")
    for text in ("|x^2 - a^2|", "relu(exp(x) - a)", "step(x^2 + a)"):
        general = moment(text, positive=["a"]).exact
        special = moment(text.replace("a", "2", 1) if "exp" not in text else "relu(exp(x) - 2)")
        if "^2|" in text:
            special = moment("|x^2 - 4|")
        value = Rational(2)
        assert abs((general.subs(a, value) - special.exact).evalf(25)) < 1e-20


def test_refusals() -> None:
    touching = exp(x - sqrt(2)) - x + sqrt(2) - 1  # at a point that is not guessed
    for argument in (sin(x), x**2 - t, exp(x) + t * x, x**13 - x - 1, touching):
        with pytest.raises(NotClosed):
            pieces_of(relu(argument), x)
    with pytest.raises(NotClosed, match="sign of"):
        sign_of(t)
    with pytest.raises(NoMoment, match="sign of a"):
        moment("relu(a*x)")


@pytest.mark.parametrize(
    "text",
    ["step(sqrt(x + 3) - 1)", "step(log(x + 100))", "step(exp(sqrt(x)))", "relu(x^(1/3) + 9)"],
)
def test_what_is_not_real_everywhere_is_refused(text: str) -> None:
    with pytest.raises(NoMoment):
        moment(text)


def test_the_function_that_never_gets_there() -> None:
    for argument, value in ((tanh(x), 2), (exp(x), -1), (x**2, -1), (erf(x), -1), (sin(x), 1)):
        assert crossings(argument, Integer(value), x) == []
    assert [piece.expression for piece in pieces_of(Max(sin(x), 2), x)] == [2]


def test_zeros_without_a_formula() -> None:
    (zero,) = crossings(exp(x) + x, Integer(0), x)
    omega = mp.lambertw(1)  # x = -W(1)
    with ctx.workprec(200), mp.workdps(50):
        assert abs(mp.mpf(ball(zero).mid().str(50, radius=False)) + mp.lambertw(1)) < 1e-45
    assert abs(float(zero) + omega) < 1e-12
    assert moment("relu(exp(x) + x)").exact is None
    found = moment("relu(gelu(x) - 1/3)").digits(40).digits
    with mp.workdps(45):
        root = mp.findroot(lambda u: u * mp.ncdf(u) - mp.mpf(1) / 3, 0.5)
        expected = mp.quad(
            lambda u: (u * mp.ncdf(u) - mp.mpf(1) / 3) * mp.npdf(u), [root, 1, 3, 6, 10, 16]
        )
        assert abs(mp.mpf(found) - expected) < mp.mpf(10) ** -38


def test_algebraic_numbers_as_balls() -> None:
    root = ComplexRootOf(x**5 - x - 1, 0)
    assert abs(float(ball(root).mid()) - 1.1673039782614187) < 1e-15
    two = ComplexRootOf(x**4 - 5 * x**2 + x + 4, 2)
    assert abs(float(ball(two).mid()) - float(two.evalf(20))) < 1e-14
    with pytest.raises(NoEnclosure, match="not real"):
        ball(ComplexRootOf(x**5 - x - 1, 1))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=3, max_size=6), st.sampled_from([0, 1, -1]))
def test_random_polynomials(coefficients: list[int], level: int) -> None:
    """E[step(p - c)] by the pieces and by the sign at many points of the line."""
    p = sum((Integer(c) * x**k for k, c in enumerate(coefficients)), Integer(0))
    if not p.has_free(x):
        return
    pieces = pieces_of(step(p - level), x)
    for point in np.linspace(-3.17, 3.13, 37):
        value = np.polyval(coefficients[::-1], point) - level
        if abs(value) > 1e-9:
            (piece,) = [q for q in pieces if q.lower < point < q.upper]
            assert piece.expression == (1 if value > 0 else 0)
