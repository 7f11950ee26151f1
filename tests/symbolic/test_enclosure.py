"""Enclosures of E[f(Z)] against published values and closed forms."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from enclosed import (
    GELU,
    GELU_TANH,
    ONE,
    SIGMOID,
    SILU,
    SOFTPLUS,
    Pieces,
    expectation,
    holds,
    kinked,
    phi,
    sixty_digits,
    whole,
    x,
)
from sympy import Rational, cos, cosh, diff, erf, erfc, exp, sin, sqrt, tanh

from varlaw.symbolic.gaussian.balls import NoEnclosure

digits = pytest.fixture(autouse=True)(sixty_digits)

PUBLISHED = [  # 1/sqrt of E f(z)^2 or Var f(z), z ~ N(0, 1), by mpmath at high precision
    ("1/sqrt(E tanh^2)", [(whole(tanh(x) ** 2), 1)], "1.592537419722831427770439"),
    ("1/sqrt(E sigmoid^2)", [(whole(SIGMOID**2), 1)], "1.846228545338605412960881"),
    ("sqrt(E silu^2)", [(whole(SILU**2), -1)], "0.5964692111227134884047986"),
    ("1/sqrt(E silu'^2)", [(whole(diff(SILU, x) ** 2), 1)], "1.623320257952497316979902"),
    (
        "1/sqrt(E (z sigmoid(4z))^2)",
        [(whole((x / (1 + exp(-4 * x))) ** 2), 1)],
        "1.4350837590042406",
    ),
    ("NFNet silu", [(whole(SILU**2), 1), (whole(SILU), 0)], "1.787187222100441982034138"),
    ("NFNet softplus", [(whole(SOFTPLUS**2), 1), (whole(SOFTPLUS), 0)], "1.91912598010765640353"),
    ("NFNet gelu", [(whole(GELU**2), 1), (whole(GELU), 0)], "1.700926243363333119468658"),
    (
        "NFNet gelu, tanh form",
        [(whole(GELU_TANH**2), 1), (whole(GELU_TANH), 0)],
        "1.7009165616954503",
    ),
    ("1/sqrt(E gelu'^2)", [(whole(diff(GELU, x) ** 2), 1)], "1.481114412708348196612847"),
]


@pytest.mark.parametrize(("name", "sums", "expected"), PUBLISHED, ids=[r[0] for r in PUBLISHED])
def test_published_constants(name: str, sums: list[tuple[Pieces, int]], expected: str) -> None:
    moments = [mpmath.mpf(expectation(pieces).digits) for pieces, _ in sums]
    variance = moments[0] - sum(m**2 for m in moments[1:])
    value = mpmath.sqrt(variance) if sums[0][1] < 0 else 1 / mpmath.sqrt(variance)
    unit = mpmath.mpf(10) ** -(len(expected) - 2)
    assert abs(value - mpmath.mpf(expected)) <= unit
    assert abs(value * (1 + 100 * unit) - mpmath.mpf(expected)) > unit


CLOSED: list[tuple[str, Pieces, Any, Any, Callable[[], Any]]] = [
    ("1", whole(ONE), 30, 1, lambda: mpmath.mpf(1)),
    ("z^2, far off", whole(x**2), 100, 1, lambda: mpmath.mpf(10001)),
    ("z, far off and narrow", whole(x), 100, Rational(1, 10**6), lambda: mpmath.mpf(100)),
    ("z^2, wide", whole(x**2), 0, 10**8, lambda: mpmath.mpf(10) ** 8),
    ("z^8", whole(x**8), 0, 1, lambda: mpmath.mpf(105)),
    ("exp(8 z)", whole(exp(8 * x)), 0, 1, lambda: mpmath.exp(32)),
    ("exp(100 z)", whole(exp(100 * x)), 0, 1, lambda: mpmath.exp(5000)),
    ("2^z", whole(2**x), 0, 1, lambda: mpmath.exp(mpmath.log(2) ** 2 / 2)),
    ("exp(z^2/4)", whole(exp(x**2 / 4)), 0, 1, lambda: mpmath.sqrt(2)),
    ("exp(z^2), variance 1/4", whole(exp(x**2)), 0, Rational(1, 4), lambda: mpmath.sqrt(2)),
    ("bump", whole(exp(-(x**2))), 0, 1, lambda: 1 / mpmath.sqrt(3)),
    ("sin(20 z)^2", whole(sin(20 * x) ** 2), 0, 1, lambda: (1 - mpmath.exp(-800)) / 2),
    ("cos(50 z) + 1", whole(cos(50 * x) + 1), 0, 1, lambda: 1 + mpmath.exp(-1250)),
    ("z sin(2 z)", whole(x * sin(2 * x)), 0, 1, lambda: 2 * mpmath.exp(-2)),
    ("cosh", whole(cosh(x)), 0, 1, lambda: mpmath.exp(0.5)),
    ("erf(z)^2", whole(erf(x) ** 2), 0, 1, lambda: 2 / mpmath.pi * mpmath.asin(mpmath.mpf(2) / 3)),
    ("erfc off centre", whole(erfc(x)), 10, 1, lambda: mpmath.erfc(10 / mpmath.sqrt(3))),
    ("gelu^2", whole(GELU**2), 0, 1, lambda: 1 / mpmath.mpf(3) + mpmath.sqrt(3) / (6 * mpmath.pi)),
    (
        "gelu'^2, where SymPy is wrong",
        whole(diff(GELU, x) ** 2),
        0,
        1,
        lambda: 1 / mpmath.mpf(3) + 2 / (3 * mpmath.sqrt(3) * mpmath.pi),
    ),
    ("sigmoid by symmetry", whole(SIGMOID), 0, 7, lambda: mpmath.mpf(1) / 2),
    (
        "1/(1 + z^2)",
        whole(1 / (1 + x**2)),
        0,
        1,
        lambda: mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(0.5) * mpmath.erfc(1 / mpmath.sqrt(2)),
    ),
    ("relu^2", kinked(0, 0, x**2), 0, 1, lambda: mpmath.mpf(1) / 2),
    ("relu off centre", kinked(0, 0, x), 1, 4, lambda: mpmath.ncdf(0.5) + 2 * phi(0.5)),
    ("relu, nearly linear", kinked(0, 0, x), 100, Rational(1, 10**6), lambda: mpmath.mpf(100)),
    ("relu in the tail", kinked(0, 0, x), -30, 1, lambda: phi(30) - 30 * mpmath.ncdf(-30)),
    ("z beyond 40", kinked(0, 40, x), 0, 1, lambda: phi(40)),
    (
        "relu(z - 0.37)",
        kinked(0, Rational(37, 100), x - Rational(37, 100)),
        0,
        1,
        lambda: (
            phi(mpmath.mpf(37) / 100) - mpmath.mpf(37) / 100 * mpmath.ncdf(-mpmath.mpf(37) / 100)
        ),
    ),
    (
        "step off zero",
        kinked(0, Rational(3, 10), 1),
        0,
        1,
        lambda: mpmath.ncdf(-mpmath.mpf(3) / 10),
    ),
    ("step at sqrt(2)", kinked(0, sqrt(2), 1), 0, 1, lambda: mpmath.ncdf(-mpmath.sqrt(2))),
    (
        "hardtanh^2",
        kinked(1, -1, x**2, 1, 1),
        0,
        1,
        lambda: 1 - mpmath.sqrt(2 / (mpmath.pi * mpmath.e)),
    ),
    ("relu6, saturated", kinked(0, 0, x, 6, 6), 100, Rational(1, 10**6), lambda: mpmath.mpf(6)),
    (
        "relu^(1/2)",
        kinked(0, 0, sqrt(x)),
        0,
        1,
        lambda: 2 ** mpmath.mpf(-0.75) * mpmath.gamma(0.75) / mpmath.sqrt(mpmath.pi),
    ),
    (
        "relu^(3/2)",
        kinked(0, 0, x ** Rational(3, 2)),
        0,
        1,
        lambda: 2 ** mpmath.mpf(-0.25) * mpmath.gamma(1.25) / mpmath.sqrt(mpmath.pi),
    ),
]


@pytest.mark.parametrize(
    ("name", "pieces", "mean", "variance", "expected"),
    CLOSED,
    ids=lambda v: "value" if callable(v) else str(v)[:30],
)
def test_closed_forms(
    name: str, pieces: Pieces, mean: Any, variance: Any, expected: Callable[[], Any]
) -> None:
    found = expectation(pieces, mean, variance, 40)
    assert holds(found, expected())
    assert not holds(found, expected() * (1 + mpmath.mpf(10) ** -39))  # the wrong twin
    figures = found.digits.partition("e")[0].replace(".", "").lstrip("0")
    assert len(figures) == 40


def test_numbers_that_other_programs_give_are_not_contained() -> None:
    derivative = expectation(whole(diff(GELU, x) ** 2))
    assert not holds(derivative, mpmath.mpf("0.363962716"))  # SymPy 1.14
    assert not holds(expectation(whole(x * sin(x))), 0)  # Maxima 5.46
    assert not holds(expectation(whole(x**2), 100), 0)  # scipy.quad and mpmath.quad, unsplit
    assert not holds(expectation(kinked(1, -1, x**2, 1, 1)), mpmath.mpf("0.1987480430987992"))


def test_wide_and_narrow() -> None:
    wide = expectation(whole(SIGMOID**2), 0, 10**8, 20)
    # sigmoid^2 = sigmoid - sigmoid', and E sigmoid'(sd T) is near phi(0)/sd
    assert abs(mpmath.mpf(wide.digits) - (0.5 - phi(0) / 10**4)) < mpmath.mpf("1e-11")
    narrow = expectation(whole(tanh(x) ** 2), 0, Rational(1, 10**20), 20)
    assert abs(mpmath.mpf(narrow.digits) - mpmath.mpf(10) ** -20) < mpmath.mpf("3e-40")


def test_zero_is_absolute_and_tiny_numbers_are_relative() -> None:
    assert expectation(whole(tanh(x))).digits == "0"
    assert holds(expectation(whole(tanh(x))), 0)
    tiny = expectation(kinked(0, 40, x), digits=5)
    assert holds(tiny, phi(40))
    assert tiny.digits.startswith("0." + "0" * 347 + "1")
    assert len(tiny.digits) == 2 + 347 + 5
    assert expectation(kinked(0, 0, 0)).radius == "0"


def test_variance_zero_is_the_value() -> None:
    assert expectation(whole(tanh(x)), 2, 0, 20).digits == "0.96402758007581688395"
    assert expectation(kinked(0, 0, x), 0, 0, 20).digits == "0"
    assert expectation(kinked(0, 1, x), 3, 0, 5).digits == "3.0000"
    with pytest.raises(NoEnclosure, match="jumps"):
        expectation(kinked(0, 1, x), 1, 0, 5)


def test_just_inside_the_limit_of_convergence() -> None:
    found = expectation(whole(exp(Rational(49, 100) * x**2)), digits=30)
    assert holds(found, 1 / mpmath.sqrt(mpmath.mpf(2) / 100))
