"""Moments of functions with a logarithm, a root or a pole at a kink, against mpmath."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment

Function = Callable[[Any], Any]


def by_quadrature(f: Function, points: Sequence[Any], mean: Any) -> Any:
    """E[f(Z)] for Z ~ N(mean, 1), by double exponential quadrature between singularities."""
    ends = sorted({-12, -4, 4, 12, *map(mpmath.mpf, points)})
    return mpmath.quad(lambda z: f(z) * mpmath.npdf(z - mean), ends)


def root(value: Any) -> Any:
    return mpmath.sqrt(max(value, mpmath.mpf(0)))


@pytest.mark.parametrize(
    ("text", "f", "points"),
    [
        ("log(abs(x))", lambda z: mpmath.log(abs(z)), [0]),
        ("x*log(x^2)^2", lambda z: z * mpmath.log(z * z) ** 2, [0]),
        ("log(x^4 + x^2)", lambda z: mpmath.log(z**4 + z * z), [0]),
        ("sqrt(relu(x^2 - 1))", lambda z: root(z * z - 1), [-1, 1]),
        ("sqrt(abs(x^2 - 1))", lambda z: root(abs(z * z - 1)), [-1, 1]),
        ("log(abs(tanh(x)))", lambda z: mpmath.log(abs(mpmath.tanh(z))), [0]),
        ("log(abs(exp(x) - 1))", lambda z: mpmath.log(abs(mpmath.expm1(z))), [0]),
        ("sqrt(relu(sinh(x)))", lambda z: root(mpmath.sinh(z)), [0]),
        ("log(exp(x) - 1 - x)", lambda z: mpmath.log(mpmath.expm1(z) - z), [0]),
        ("sqrt(exp(x) - 1 - x)", lambda z: root(mpmath.expm1(z) - z), [0]),
        ("log(abs(gelu(x)))^2", lambda z: mpmath.log(abs(z * mpmath.ncdf(z))) ** 2, [0]),
    ],
)
def test_singular_at_a_point(text: str, f: Function, points: Sequence[Any]) -> None:
    with mpmath.workdps(25):
        mean = mpmath.mpf(1) / 3
        found = moment(text, "1/3").digits(18)
        assert abs(mpmath.mpf(found.digits) - by_quadrature(f, points, mean)) < 1e-17


@pytest.mark.parametrize(
    ("text", "f"),
    [
        ("sin(x)/x", mpmath.sinc),
        ("tanh(x)/x", lambda z: mpmath.tanh(z) / z if z else mpmath.mpf(1)),
        ("sin(x)^2/abs(x)", lambda z: mpmath.sin(z) * mpmath.sinc(z) * mpmath.sign(z)),
        ("relu(x)*erf(x)/x^2", lambda z: mpmath.erf(z) / z if z > 0 else mpmath.mpf(0)),
        ("(exp(x) - 1)/x", lambda z: mpmath.expm1(z) / z),
        ("(1 - cos(x))/x^2", lambda z: mpmath.sinc(z / 2) ** 2 / 2),
        ("(exp(x) - 1 - x)/x^2", lambda z: mpmath.hyp1f1(1, 3, z) / 2),
        ("log(1 + x^2)/x^2", lambda z: mpmath.log1p(z * z) / z**2),
        ("sin(x - 1)/(x - 1)", lambda z: mpmath.sinc(z - 1)),
        ("1/x - 1/(exp(x) - 1)", lambda z: 1 / z - 1 / mpmath.expm1(z)),
    ],
)
def test_removable_poles(text: str, f: Function) -> None:
    with mpmath.workdps(25):
        mean = mpmath.mpf(1) / 3
        expected = by_quadrature(f, [-2, 0, 2], mean)
        assert abs(mpmath.mpf(moment(text, "1/3").digits(18).digits) - expected) < 1e-17


@pytest.mark.parametrize(
    "text",
    ["sin(x)/x^2", "atan(x)/x^3", "cos(x)/x", "sigmoid(x)/x", "(cos(x) - 1)/x^3", "1/x + 1/x^2"],
)
def test_poles_that_are_left(text: str) -> None:
    with pytest.raises(NoMoment, match="may be infinite or undefined"):
        moment(text, "1/3")


@pytest.mark.parametrize("text", ["atan(1/x)", "tanh(1/x)", "sin(1/x)", "x^2*erf(x)^3", "x^1001"])
def test_bounded_odd_functions_have_mean_zero(text: str) -> None:
    assert moment(text).exact == 0


def silu_slope(z: Any) -> Any:
    wave = mpmath.exp(-z)
    return (1 + wave + z * wave) / (1 + wave) ** 2


def gelu_slope(z: Any) -> Any:
    return mpmath.ncdf(z) + z * mpmath.npdf(z)


def gelu_tanh(z: Any) -> Any:
    inner = mpmath.sqrt(2 / mpmath.pi) * (z + mpmath.mpf(44715) / 10**6 * z**3)
    return z / (1 + mpmath.exp(-2 * inner))


@pytest.mark.parametrize(
    ("text", "f", "zero"),
    [
        ("log(|softplus(x)|)", lambda z: mpmath.log1p(mpmath.exp(z)), None),
        ("log(|gelu_tanh(x)|)", gelu_tanh, 0),
        ("log(|silu'(x)|)", silu_slope, -1.28),
        ("log(|gelu'(x)|)", gelu_slope, -0.75),
    ],
)
def test_logarithms_of_activations(text: str, f: Function, zero: float | None) -> None:
    """That of a derivative vanishes at a point without a formula, written in two ways."""
    with mpmath.workdps(25):
        points = [-8, -2, 0, 2] + ([] if zero in (None, 0) else [mpmath.findroot(f, zero)])
        expected = by_quadrature(lambda z: mpmath.log(abs(f(z))), points, 0)
        assert abs(mpmath.mpf(moment(text).digits(18).digits) - expected) < 1e-17


def test_a_zero_of_another_function_is_not_taken_for_the_same() -> None:
    with pytest.raises(NoMoment, match="may be infinite or undefined"):
        moment("1/silu'(x)")


@pytest.mark.parametrize("power", ["-1/2", "-3/4", "1/3", "5/2"])
def test_powers_by_kummer(power: str) -> None:
    with mpmath.workdps(25):
        p, mean = (
            mpmath.mpf(Fraction(power).numerator) / Fraction(power).denominator,
            mpmath.mpf(1) / 3,
        )
        value = (
            2 ** (p / 2) * mpmath.gamma((1 + p) / 2) / mpmath.sqrt(mpmath.pi)
            * mpmath.hyp1f1(-p / 2, mpmath.mpf(1) / 2, -mean * mean / 2)
        )  # fmt: skip
        found = moment(f"abs(x)^({power})", "1/3").digits(18)
        assert abs(mpmath.mpf(found.digits) - value) < 1e-17


@pytest.mark.parametrize("text", ["1/x", "1/abs(x)", "abs(x)^(-4/3)", "x/(x^2 - 1)", "log(x)"])
def test_not_integrable_or_not_real(text: str) -> None:
    with pytest.raises(NoMoment):
        moment(text, "1/3")


def test_digits_do_not_depend_on_how_many_are_asked_for() -> None:
    found = moment("log(abs(x))", "1/3")
    many = found.digits(60).digits
    assert many.startswith(found.digits(20).digits[:-1])


def test_a_softplus_of_a_cubic_grows_like_the_cubic() -> None:
    with mpmath.workdps(25):
        value = by_quadrature(
            lambda z: mpmath.log(1 + mpmath.exp(max(z - 2, 0) ** 3)), [2], mpmath.mpf(1) / 3
        )
        found = moment("softplus(relu(x - 2)^3)", "1/3").digits(18)
        assert abs(mpmath.mpf(found.digits) - value) < 1e-17


def test_a_zero_of_third_order() -> None:
    """E log|x - sin(x)| = 3 E log|x| + E log((1 - sin(x)/x)/x^2), smooth at 0."""

    def smooth(z: Any) -> Any:
        with mpmath.extradps(45):
            return mpmath.log((1 - mpmath.sin(z) / z) / z**2)

    with mpmath.workdps(20):
        expected = -3 * (mpmath.log(2) + mpmath.euler) / 2
        expected += 2 * mpmath.quad(lambda z: smooth(z) * mpmath.npdf(z), [0, 1, 3, 6, 11])
        found = moment("log(abs(x - sin(x)))").digits(16).digits
        assert abs(mpmath.mpf(found) - expected) < 1e-14


@pytest.mark.parametrize("scale", [1, 2])
def test_waves_that_turn_without_end_at_a_pole(scale: int) -> None:
    """1/x^2 has the law of Levy: E exp(i t/x^2) = exp(-(1 - i) sqrt(t))."""
    with mpmath.workdps(25):
        expected = mpmath.exp(-mpmath.sqrt(scale)) * mpmath.cos(mpmath.sqrt(scale))
        found = mpmath.mpf(moment(f"cos({scale}/x^2)").digits(20).digits)
        assert abs(found - expected) < 1e-19


def test_a_wave_of_the_inverse() -> None:
    """With y = 1/x a plain wave, which mpmath sums between its zeros."""

    def density(y: Any) -> Any:
        return 2 * mpmath.npdf(1 / y) / y**2

    with mpmath.workdps(20):
        cosine = mpmath.quadosc(lambda y: mpmath.cos(y) * density(y), [0, mpmath.inf], omega=1)
        sine = mpmath.quadosc(lambda y: mpmath.sin(y) / y * density(y), [0, mpmath.inf], omega=1)
        assert abs(mpmath.mpf(moment("cos(1/x)").digits(15).digits) - cosine) < 1e-14
        assert abs(mpmath.mpf(moment("x*sin(1/x)").digits(15).digits) - sine) < 1e-14


def test_a_wave_at_a_pole_is_refused_soon_where_it_is_not_known_to_be_analytic() -> None:
    with pytest.raises(NoMoment, match="not known to be analytic"):
        moment("x*cos(1/x)*tanh(x)")
