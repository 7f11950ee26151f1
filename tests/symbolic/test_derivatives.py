"""Derivatives of activations: by Stein where they jump, infinite second moments, labels."""

import mpmath as mp
import pytest
from sympy import Integer, Rational, S, Symbol, exp, lambdify, oo, pi, sqrt

from varlaw.symbolic.activations import ACTIVATIONS, elu, hardshrink, relu, step, threshold
from varlaw.symbolic.gaussian.derivatives import (
    derivative,
    derivative_second_moment,
    jumps,
    mean_derivative,
)
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of

x = Symbol("x", real=True)
a = Symbol("a", positive=True)
half = Rational(1, 2)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_jumps_of_the_table(name: str) -> None:
    """A row jumps where its values close to a kink on either side are far apart."""
    row = ACTIVATIONS[name](x, *ACTIVATIONS[name].defaults)
    parts = [lambdify(x, value, "mpmath") for _, value in row.written_out]
    found = []
    for start, below, above in zip(row.kinks, parts, parts[1:], strict=False):
        point = mp.mpf(str(start.evalf(20)))
        if abs(above(point + mp.mpf("1e-9")) - below(point - mp.mpf("1e-9"))) > 1e-6:
            found.append(start)
    assert list(row.jumps()) == list(jumps(row, x)) == found


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_mean_derivative(name: str) -> None:
    """Stein's value is the mean of the derivative almost everywhere plus the jumps' masses."""
    row = ACTIVATIONS[name](x, *ACTIVATIONS[name].defaults)
    m, v = Rational(1, 3), Rational(9, 4)
    with mp.workdps(25):
        total, centre, s = mp.mpf(0), mp.mpf(1) / 3, mp.mpf(3) / 2
        for piece in pieces_of(row, x):
            slope = lambdify(x, piece.expression.diff(x), "mpmath")
            ends = [max(-20, min(20, e)) for e in (piece.lower, piece.upper)]
            points = sorted({mp.mpf(str(e)) for e in (*ends, -6, -3, -1, 0, 1, 3, 6)})
            inside = [p for p in points if ends[0] <= p <= ends[1]]
            total += mp.quad(lambda t, g=slope: g(t) * mp.npdf(t, centre, s), inside)
        for left, right in zip(pieces_of(row, x), pieces_of(row, x)[1:], strict=False):
            gap = (right.expression - left.expression).subs(x, right.lower)
            total += mp.mpf(str(gap.evalf(25))) * mp.npdf(float(right.lower), centre, s)
        found = mp.mpf(mean_derivative(row, x, m, v).digits(15).digits)
        assert abs(found - total) < 1e-13


def test_second_moments_of_derivatives() -> None:
    for f in (step(x), hardshrink(x), threshold(x), step(2 * x - 1) * x):
        found = derivative_second_moment(f, x, Integer(0), Integer(1))
        assert found.exact == oo and "jumps" in found.method
        with pytest.raises(NoMoment):
            found.digits()
    assert derivative_second_moment(relu(x), x, Integer(0), a).exact == half
    kept = derivative_second_moment(step(x) * x**2, x, Integer(0), Integer(1))
    assert kept.exact == 2  # 4 E[x^2; x > 0]
    leaky = derivative_second_moment(elu(x, a), x, Integer(0), Integer(1)).exact
    expected = half + a**2 * exp(2) * (1 - mp.erf(mp.sqrt(2))) / 2
    assert abs((leaky - expected).subs(a, S(2)).evalf()) < 1e-12


def test_almost_everywhere_differs_from_stein_at_a_jump() -> None:
    assert derivative(step(x), x) == 0
    masses = mean_derivative(step(x), x, Integer(0), Integer(1)).exact
    assert (masses - 1 / sqrt(2 * pi)).simplify() == 0
    with pytest.raises(NotClosed, match="jumps"):
        jumps(threshold(x, Symbol("t", real=True), Symbol("c", real=True)), x)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("step'(x)^2", True),
        ("hardshrink'(x)^2", True),
        ("threshold'(x)", True),
        ("relu''(x)", True),
        ("elu''(x, 2)", True),
        ("sign'(x)", True),
        ("abs''(x) + x", True),
        ("relu'(x)^2", False),
        ("elu''(x)", False),
        ("gelu'(x)^2", False),
        ("step(x)^2", False),
    ],
)
def test_labels(text: str, label: bool) -> None:
    found = moment(text)
    assert found.note == ("derivative almost everywhere" if label else "")
    assert found.text == f"E[{text}]"
