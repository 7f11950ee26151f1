"""Gaussian expectations derived step by step: every chain ends in what quadrature gives."""

import mpmath
import pytest
from flint import ctx
from sympy import Expr, Integer, Max, Rational, cos, exp, pi, sqrt

from varlaw.checks.report import Proof
from varlaw.checks.steps.proofs import prove
from varlaw.symbolic.activations import celu, elu, gelu, hardswish, leaky_relu, relu, relu6, sigmoid
from varlaw.symbolic.declarations import positive, random_variable
from varlaw.symbolic.derivation import RuleError, derive
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.strategy import gaussian_form
from varlaw.symbolic.terms import Expectation, Slope, indicator

MEAN, VARIANCE = Rational(1, 3), Rational(5, 4)
z = random_variable("z", mean=MEAN, variance=VARIANCE, gaussian=True)
centred = random_variable("c", mean=0, variance=1, gaussian=True)
v = positive("v")


def relu_(x):
    return max(x, mpmath.mpf(0))


def gelu_(x):
    return x * mpmath.ncdf(x)


def quadrature(f, *kinks) -> mpmath.mpf:
    """E f(z) for z ~ N(1/3, 5/4), split at kinks and at every standard deviation."""
    mean, std = mpmath.mpf(1) / 3, mpmath.sqrt(mpmath.mpf(5) / 4)
    points = sorted({*kinks, *(mean + k * std for k in range(-12, 13))})
    return mpmath.quad(lambda x: f(x) * mpmath.npdf(x, mean, std), points)


CASES = {
    "relu(z)^2": (relu(z) ** 2, lambda x: relu_(x) ** 2, (0,)),
    "leaky": (leaky_relu(z, Rational(1, 5)) ** 3, lambda x: (x if x > 0 else x / 5) ** 3, (0,)),
    "relu6": (relu6(z) ** 2, lambda x: min(relu_(x), 6) ** 2, (0, 6)),
    "hardswish": (
        hardswish(z),
        lambda x: x * min(max(x / 6 + mpmath.mpf(1) / 2, 0), 1),
        (-3, 3),
    ),
    "elu": (elu(z, 2) ** 2, lambda x: (x if x > 0 else 2 * mpmath.expm1(x)) ** 2, (0,)),
    "celu": (celu(z, 2), lambda x: x if x > 0 else 2 * mpmath.expm1(x / 2), (0,)),
    "gelu": (gelu(z), gelu_, ()),
    "gelu^2": (gelu(z) ** 2, lambda x: gelu_(x) ** 2, ()),
    "gelu relu": (gelu(z) * relu(z - 1), lambda x: gelu_(x) * relu_(x - 1), (1,)),
    "exponential": (z**2 * exp(-(z**2) / 3 + z), lambda x: x**2 * mpmath.exp(-x * x / 3 + x), ()),
    "maximum": (Max(z, 1) ** 2, lambda x: max(x, 1) ** 2, (1,)),
    "wave": (z * cos(2 * z), lambda x: x * mpmath.cos(2 * x), ()),
}


@pytest.mark.parametrize("name", CASES)
def test_the_chain_ends_in_the_integral_and_every_step_holds(name: str) -> None:
    start, f, kinks = CASES[name]
    chain = gaussian_form(Expectation(start))
    with mpmath.workdps(30):
        expected = quadrature(f, *kinks)
        with ctx.workprec(120):
            found = ball(chain.end).mid().str(30, radius=False)
        assert mpmath.almosteq(mpmath.mpf(found), expected, 1e-18)
    assert {report.outcome for report in prove(chain)} <= {Proof.PROVED, Proof.CHECKED}
    assert not chain.end.has(Expectation)


@pytest.mark.parametrize("name", ["relu(z)^2", "leaky", "relu6", "elu", "celu", "exponential"])
def test_without_error_functions_everything_is_proved(name: str) -> None:
    chain = gaussian_form(Expectation(CASES[name][0]))
    assert {report.outcome for report in prove(chain)} == {Proof.PROVED}


def test_symmetry_gives_one_half_for_a_sigmoid() -> None:
    chain = derive(Expectation(sigmoid(centred))).by("parity")
    assert chain.end == Rational(1, 2)
    with pytest.raises(RuleError):
        derive(Expectation(sigmoid(z))).by("parity")


def test_a_divergent_exponential_is_refused() -> None:
    with pytest.raises(Divergent):
        gaussian_form(Expectation(exp(centred**2 / 2)))
    assert gaussian_form(Expectation(exp(centred**2 / 4))).end == sqrt(2)


def test_conditional_moments() -> None:
    inside = indicator(centred - 2, "<") * indicator(centred + 2, ">")
    chain = gaussian_form(Expectation(centred**2 * inside) / Expectation(inside))
    with ctx.workprec(80):  # 1 - 4 phi(2)/(2 Phi(2) - 1), to 16 digits as published
        assert (ball(chain.end) - ball(Rational("0.7737413035499232"))).abs_upper() < 1e-16


def test_events_are_written_for_the_variable_alone() -> None:
    """A factor of the variable is divided out: P(21 c/20 < 2 v) is that of c < 40 v/21."""
    bound = 2 * v
    assert indicator(Rational(21, 20) * centred - bound, "<") == indicator(
        centred - 40 * v / 21, "<"
    )
    assert indicator(bound - 3 * centred, "<") == indicator(centred - bound / 3, ">")
    assert indicator(3 * centred - z, "<") != indicator(centred - z, "<")
    scaled = gaussian_form(Expectation(indicator(2 * centred - 2, "<"))).end
    assert scaled.equals(gaussian_form(Expectation(indicator(centred - 1, "<"))).end)


def test_the_slope_in_the_variance() -> None:
    """d/dv E[relu(z)^2] = 1/2, and d/dv E[z^4] = 6 v."""
    u = random_variable("u", mean=0, variance="v", gaussian=True)
    chain = derive(Slope(Expectation(relu(u) ** 2), v)).by("slope gaussian")
    assert chain.by_if("algebra").end == Rational(1, 2)
    power = derive(Slope(Expectation(u**4), v)).by("slope gaussian").by_if("algebra")
    assert power.end.equals(6 * v)
    with pytest.raises(RuleError):
        derive(Slope(Expectation(v * u**2), v)).by("slope")


def test_one_variable_at_a_time() -> None:
    """The arc-cosine kernel at rho: (sqrt(1 - rho^2) + rho (pi - acos rho))/(2 pi)."""
    a, b = (random_variable(n, mean=0, variance=1, gaussian=True) for n in "ab")
    rho = Rational(3, 5)
    product = relu(a) * relu(rho * a + sqrt(1 - rho**2) * b)
    chain = derive(Expectation(product)).by("condition", over=b).by("gaussian")
    known = (mpmath.sqrt(0.64) + 0.6 * (mpmath.pi - mpmath.acos(0.6))) / (2 * mpmath.pi)
    assert abs(mpmath.mpf(str(chain.end.evalf(20))) - known) < 1e-14
    assert {report.outcome for report in prove(chain)} <= {Proof.PROVED, Proof.CHECKED}
    tied = random_variable("t", mean=0, variance=1, gaussian=True, depends_on=[a.array])
    with pytest.raises(RuleError, match="not independent"):
        derive(Expectation(a**2 * tied**2)).by("condition", over=tied)


@pytest.mark.parametrize(
    ("value", "places", "digits"),
    [(pi, 5, "3.14159"), (-pi, 3, "-3.141"), (exp(-20), 12, "0.000000002061"), (pi, 0, "3")],
)
def test_digits_are_truncated_not_rounded(value: Expr, places: int, digits: str) -> None:
    assert derive(value).by("digits", places=places).end.text == digits


def test_a_root_needs_a_change_of_sign() -> None:
    chain = derive(Integer(2) + v * 0 + v**2 * 0).by("require", equals=v**2)
    found = chain.by("root", unknown=v, near=(1, 2), places=10)
    assert found.end.text == "1.4142135623"
    with pytest.raises(RuleError, match="no change of sign"):
        chain.by("root", unknown=v, near=(2, 3))
