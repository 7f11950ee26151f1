"""Exact algebra on expressions, against SymPy's own and at numbers."""

import pytest
from sympy import (
    Abs,
    Expr,
    Integer,
    Rational,
    Symbol,
    erf,
    exp,
    log,
    pi,
    sin,
    sqrt,
    tanh,
)

from varlaw.symbolic.activations import gelu_tanh, mish, sigmoid, softplus
from varlaw.symbolic.gaussian.nil import whole_number
from varlaw.symbolic.gaussian.quotients import NoQuotient, Quotients, parity
from varlaw.symbolic.selu import selu_constants

x, a = Symbol("x", real=True), Symbol("a", real=True)
ALPHA, LAMBDA = selu_constants()


@pytest.mark.parametrize(
    "f",
    [
        sigmoid(x) ** 2,
        mish(x) * tanh(2 * x) - x,
        gelu_tanh(x),
        softplus(x) ** 2 / (1 + x**2),
        erf(a * x) * exp(-(x**2) / 3 + x) / sqrt(pi),
        sin(x) ** 3 * Abs(x) / (1 + exp(x / 2) + exp(x / 3)),
    ],
    ids=str,
)
def test_the_quotient_and_its_mirror_image_are_the_function(f: Expr) -> None:
    quotients = Quotients(f, x)
    at = {x: Rational(-7, 5), a: Rational(2, 3)}
    for mirrored, value in ((False, f), (True, f.xreplace({x: -x}))):
        found = quotients.expression(quotients.of(f, mirrored).lowest)
        assert abs((found - value).subs(at).evalf(30, maxn=200)) < 1e-25


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ((1 + sqrt(2)) ** 2 / (3 + 2 * sqrt(2)) + 3, 4),
        (exp(sqrt(2)) * exp(Rational(1, 3)) - exp(sqrt(2) + Rational(1, 3)), 0),
        (1 / sqrt(sqrt(2) + 1) - sqrt(1 + sqrt(2)) * (sqrt(2) - 1), 0),
        (LAMBDA**2 / 2 + (ALPHA * LAMBDA) ** 2 * (exp(2) * (1 - erf(sqrt(2))) / 2
         - exp(Rational(1, 2)) * (1 - erf(1 / sqrt(2))) + Rational(1, 2)), 1),
    ],
)  # fmt: skip
def test_whole_numbers_are_seen(number: Expr, value: int) -> None:
    assert whole_number(number) == Integer(value)
    for other in (number + Rational(1, 10**60), number + exp(-200)):
        assert whole_number(other) == other


@pytest.mark.parametrize(
    ("f", "sign"),
    [
        (x * tanh(x), 1),
        (sin(x) ** 3, -1),
        (sqrt(1 + x**2), 1),
        (log(1 + Abs(x)) * x, -1),
        (exp(x), 0),
        (x + x**2, 0),
        (gelu_tanh(x), 0),
    ],
)
def test_parity(f: Expr, sign: int) -> None:
    assert parity(f, x) == sign


def test_too_large_is_refused() -> None:
    for f in (x**100 + 1, (1 + exp(x) + exp(pi * x) + x) ** 60, exp(x) + exp(x / 10**6)):
        with pytest.raises(NoQuotient):
            Quotients(f, x).of(f)
