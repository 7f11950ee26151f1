"""Enclosures of E[f(Z)] against mpmath's quadrature, and one method against another."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from enclosed import (
    GELU,
    GELU_TANH,
    MISH,
    ONE,
    QUICK_GELU,
    SIGMOID,
    SILU,
    SOFTPLUS,
    Pieces,
    expectation,
    kinked,
    number,
    phi,
    sixty_digits,
    whole,
    x,
)
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Expr, Integer, Rational, atan, cos, diff, erf, exp, log, sin, sqrt, tanh

from varlaw.symbolic.gaussian import enclosure, trapezoid
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment

digits = pytest.fixture(autouse=True)(sixty_digits)

NUMERIC = [
    ("tanh^2", whole(tanh(x) ** 2), lambda z: mpmath.tanh(z) ** 2),
    ("silu^3", whole(SILU**3), lambda z: (z / (1 + mpmath.exp(-z))) ** 3),
    ("softplus", whole(SOFTPLUS), lambda z: mpmath.log(1 + mpmath.exp(z))),
    ("mish", whole(MISH), lambda z: z * mpmath.tanh(mpmath.log(1 + mpmath.exp(z)))),
    (
        "mish, as defined",
        whole(x * tanh(SOFTPLUS)),
        lambda z: z * mpmath.tanh(mpmath.log1p(mpmath.exp(z))),
    ),
    ("quick gelu", whole(QUICK_GELU), lambda z: z / (1 + mpmath.exp(-mpmath.mpf(1702) / 1000 * z))),
    (
        "atan(z)^2 cos z",
        whole(atan(x) ** 2 * cos(x)),
        lambda z: mpmath.atan(z) ** 2 * mpmath.cos(z),
    ),
    ("sqrt(1 + z^2)", whole(sqrt(1 + x**2)), lambda z: mpmath.sqrt(1 + z * z)),
    ("log(2 + sin z)", whole(log(2 + sin(x))), lambda z: mpmath.log(2 + mpmath.sin(z))),
    ("exp(-z^4)", whole(exp(-(x**4))), lambda z: mpmath.exp(-(z**4))),
    ("exp(-e^z)", whole(exp(-exp(x))), lambda z: mpmath.exp(-mpmath.exp(z))),
    (
        "silu erf",
        whole(SILU * erf(3 * x + 1)),
        lambda z: z / (1 + mpmath.exp(-z)) * mpmath.erf(3 * z + 1),
    ),
    (
        "softsign^2",
        kinked((x / (1 - x)) ** 2, 0, (x / (1 + x)) ** 2),
        lambda z: (z / (1 + abs(z))) ** 2,
    ),
    ("elu^3", kinked((exp(x) - 1) ** 3, 0, x**3), lambda z: (mpmath.expm1(z) if z < 0 else z) ** 3),
    ("relu silu", kinked(0, 0, x * SILU), lambda z: z * z / (1 + mpmath.exp(-z)) if z > 0 else 0),
]


@pytest.mark.parametrize(("name", "pieces", "function"), NUMERIC, ids=[row[0] for row in NUMERIC])
@pytest.mark.parametrize(
    ("mean", "variance"), [(0, 1), (Rational(-7, 3), Rational(1, 9)), (2, sqrt(5))]
)
def test_mpmath_agrees(
    name: str, pieces: Pieces, function: Callable[[Any], Any], mean: Any, variance: Any
) -> None:
    with mpmath.workdps(30):
        m, s = (
            mpmath.mpf(str(mean.evalf(40)) if mean != 0 and not isinstance(mean, int) else mean),
            mpmath.sqrt(mpmath.mpf(str((Integer(0) + variance).evalf(40)))),
        )
        points = sorted(
            [*(m + s * t for t in (-13, -6, -3, -1.5, 0, 1.5, 3, 6, 13)), mpmath.mpf(0)]
        )
        points = [p for p in points if m - 13 * s <= p <= m + 13 * s]
        expected = mpmath.quad(lambda z: function(z) * mpmath.npdf(z, m, s), points)
        found = expectation(pieces, mean, variance, 20)
        assert abs(mpmath.mpf(found.digits) - expected) <= mpmath.mpf(found.radius) + mpmath.mpf(
            "1e-24"
        )
        assert found.value.rad() < arb(10) ** -19


def test_many_digits_agree_with_few() -> None:
    few, many = (expectation(whole(SILU**2), digits=digits) for digits in (50, 1000))
    assert len(many.digits) == 1002
    assert abs(Fraction(many.digits) - Fraction(few.digits)) <= Fraction(few.radius)
    assert Fraction(many.radius) < Fraction(1, 10**1000)


def test_two_methods_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [tanh(x) ** 2, SILU**2, MISH**2, diff(SOFTPLUS, x) ** 2, exp(x) * SIGMOID]
    fast = [expectation(whole(f), Rational(1, 3), 2, 60) for f in functions]
    assert {found.method for found in fast} == {"trapezoid rule with a proved error"}

    def unsuited(*_: object) -> arb:
        raise trapezoid.NotSuited

    monkeypatch.setattr(enclosure, "mean_on_line", unsuited)
    for f, other in zip(functions, fast, strict=True):
        slow = expectation(whole(f), Rational(1, 3), 2, 60)
        assert "quadrature" in slow.method
        assert slow.value.overlaps(other.value)
        assert slow.digits == other.digits


PARTS = [tanh(x), SIGMOID, SILU, SOFTPLUS, MISH, GELU, x, exp(-(x**2)), sin(3 * x), exp(x / 2)]

SAME = [
    mpmath.tanh,
    lambda z: 1 / (1 + mpmath.exp(-z)),
    lambda z: z / (1 + mpmath.exp(-z)),
    lambda z: mpmath.log(1 + mpmath.exp(z)),
    lambda z: z * mpmath.tanh(mpmath.log(1 + mpmath.exp(z))),
    lambda z: z * mpmath.ncdf(z),
    lambda z: z,
    lambda z: mpmath.exp(-z * z),
    lambda z: mpmath.sin(3 * z),
    lambda z: mpmath.exp(z / 2),
]


def rational(value: Fraction) -> Expr:
    return Rational(value.numerator, value.denominator)


NUMBERS = st.fractions(min_value=-2, max_value=2, max_denominator=8)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(PARTS) - 1), NUMBERS, NUMBERS), min_size=1, max_size=3),
    st.fractions(min_value=-3, max_value=3, max_denominator=4),
    st.fractions(min_value=Fraction(1, 8), max_value=4, max_denominator=8),
)
def test_random_products(
    factors: list[tuple[int, Fraction, Fraction]], mean: Fraction, variance: Fraction
) -> None:
    f: Expr = ONE
    for index, a, b in factors:
        f *= PARTS[index].subs(
            x, Rational(a.numerator, a.denominator) * x + Rational(b.numerator, b.denominator)
        )

    def value(z: Any) -> Any:
        product = mpmath.mpf(1)
        for index, a, b in factors:
            product *= SAME[index](
                z * a.numerator / a.denominator + mpmath.mpf(b.numerator) / b.denominator
            )
        return product

    found = expectation(
        whole(f),
        Rational(mean.numerator, mean.denominator),
        Rational(variance.numerator, variance.denominator),
        15,
    )
    with mpmath.workdps(25):
        m, s = number(rational(mean)), mpmath.sqrt(number(rational(variance)))
        expected = mpmath.quad(
            lambda t: value(m + s * t) * phi(t), [-18, -9, -6, -4, -2, -1, 0, 1, 2, 4, 6, 9, 18]
        )
        error = abs(mpmath.mpf(found.digits) - expected)
        assert error <= mpmath.mpf(found.radius) + abs(expected) * mpmath.mpf("1e-18") + mpmath.mpf(
            "1e-20"
        )


@pytest.mark.parametrize(
    ("f", "precise"),
    [
        (SOFTPLUS, lambda z: mpmath.log(1 + mpmath.exp(z))),
        (SOFTPLUS**2, lambda z: mpmath.log(1 + mpmath.exp(z)) ** 2),
        (GELU_TANH, lambda z: z * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi)
                                                   * (z + mpmath.mpf(8943) / 200000 * z**3))) / 2),
        (tanh(x) ** 2 + x, lambda z: mpmath.tanh(z) ** 2 + z),
    ],
    ids=["softplus", "softplus^2", "gelu_tanh", "tanh^2 + x"],
)  # fmt: skip
def test_many_digits_at_mean_zero(f: Expr, precise: Callable[[Any], Any]) -> None:
    # the trapezoid rule, whose error here is below exp(-2 pi 1.2/h)
    with mpmath.workdps(320):
        h = mpmath.mpf(1) / 90
        value = h * mpmath.fsum(precise(k * h) * mpmath.npdf(k * h) for k in range(-3430, 3431))
        assert abs(mpmath.mpf(expectation(whole(f), digits=305).digits) - value) < 1e-303


@pytest.mark.parametrize(
    ("text", "f"),
    [
        ("sin(exp(x))", lambda z: mpmath.sin(mpmath.exp(z))),
        (
            "sin(exp(x))^2*sigmoid(x)",
            lambda z: mpmath.sin(mpmath.exp(z)) ** 2 / (1 + mpmath.exp(-z)),
        ),
    ],
)
def test_fast_waves(text: str, f: Callable[[Any], Any]) -> None:
    """Beyond 6 the weight is below 1e-9; from there the waves are left out."""
    with mpmath.workdps(20):
        ends = [-8, 0, *(mpmath.log(k * mpmath.pi) for k in range(1, 129, 2)), 6]
        whole = mpmath.quad(lambda z: f(z) * mpmath.npdf(z), ends)
    assert abs(float(moment(text).digits(15).digits) - float(whole)) < 2e-9


def test_waves_that_are_too_fast_are_refused() -> None:
    with pytest.raises(NoMoment, match="varies too fast for"):
        moment("sin(exp(x^4))")


def gelu_tanh(z: Any) -> Any:
    return z / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (z + z**3 * 44715 / 1000000)))


@pytest.mark.parametrize(
    ("text", "f"),
    [
        ("softplus(gelu_tanh(x))", lambda z: mpmath.log1p(mpmath.exp(gelu_tanh(z)))),
        ("log(1 + gelu_tanh(x)^2)", lambda z: mpmath.log1p(gelu_tanh(z) ** 2)),
        ("log(2 + x^2/4000000)*1[x < 0]", lambda z: mpmath.log(2 + z**2 / 4000000) * (z < 0)),
        ("relu(2*x - 1)/(1 + x^2/17000)", lambda z: max(2 * z - 1, 0) / (1 + z * z / 17000)),
    ],
)
def test_bounds_that_need_the_right_form(text: str, f: Callable[[Any], Any]) -> None:
    with mpmath.workdps(25):
        law = [-14, -4, 0, mpmath.mpf("0.5"), 4, 14], mpmath.mpf(1) / 7
        expected = mpmath.quad(lambda z: f(z) * mpmath.npdf(z, law[1]), law[0])
        assert abs(mpmath.mpf(moment(text, "1/7").digits(18).digits) - expected) < 1e-17
