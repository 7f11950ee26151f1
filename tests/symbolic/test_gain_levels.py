"""Where outputs have a given second moment: against roots and slopes by quadrature in mpmath."""

from collections.abc import Callable

import mpmath
import pytest
from sympy import Integer, Rational, Symbol, cos, sqrt

from varlaw.symbolic.gains.gain import NoGain, gain
from varlaw.symbolic.gains.levels import levels, unit_level, variance_level
from varlaw.symbolic.gains.stability import settled

X = Symbol("x", real=True)
FUNCTIONS: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "gelu": lambda z: z * mpmath.ncdf(z),
    "silu": lambda z: z / (1 + mpmath.exp(-z)),
    "elu": lambda z: z if z > 0 else mpmath.expm1(z),
    "mish": lambda z: z * mpmath.tanh(mpmath.log1p(mpmath.exp(z))),
    "softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
}


def second_moment(f: Callable[[mpmath.mpf], mpmath.mpf], s: mpmath.mpf) -> mpmath.mpf:
    return mpmath.quad(lambda z: f(s * z) ** 2 * mpmath.npdf(z), [-12, -4, 0, 4, 12])


def elasticity(f: Callable[[mpmath.mpf], mpmath.mpf], s: mpmath.mpf) -> mpmath.mpf:
    """d log E[f^2]/d log v, by a difference quotient in log v = 2 log s."""
    logs = lambda u: mpmath.log(second_moment(f, mpmath.exp(u / 2)))  # noqa: E731
    return mpmath.diff(logs, 2 * mpmath.log(s))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_level_and_the_slope(name: str) -> None:
    f, level = FUNCTIONS[name], unit_level(gain(name))
    found, slope = level.deviation.digits(12), level.slope.digits(12)
    assert found is not None and slope is not None
    with mpmath.workdps(25):
        s = mpmath.findroot(lambda s: second_moment(f, s) - 1, (1, 2), solver="anderson")
        assert abs(s - mpmath.mpf(found.digits)) < 1e-11
        assert abs(elasticity(f, s) - mpmath.mpf(slope.digits)) < 1e-9


@pytest.mark.parametrize(("name", "target"), [("tanh", (1, 2)), ("sigmoid", (1, 8))])
def test_half_of_the_variance_that_is_reached(name: str, target: tuple[int, int]) -> None:
    """sigmoid(x) = (1 + tanh(x/2))/2: the same slope for both."""
    level = variance_level(gain(name), Rational(*target))
    slope, found = level.slope.digits(10), level.deviation.digits(10)
    assert slope is not None and found is not None
    with mpmath.workdps(20):
        s = mpmath.findroot(lambda s: second_moment(mpmath.tanh, s) - 0.5, (1, 2), solver="pegasus")
        assert abs(elasticity(mpmath.tanh, s) - mpmath.mpf(slope.digits)) < 1e-8
        scale = 1 if name == "tanh" else 2
        assert abs(scale * s - mpmath.mpf(found.digits)) < 1e-8


@pytest.mark.parametrize("k", [1, 2, 3])
def test_powers_of_relu_in_closed_form(k: int) -> None:
    """E[relu(x)^(2 k)] = (2 k - 1)!! v^k/2."""
    odd = (1, 3, 15)[k - 1]
    level = unit_level(gain(f"relu_k(x, {k})"))
    assert level.deviation.exact is not None and level.slope.exact == k
    assert abs(float(level.deviation.exact) - (2 / odd) ** (1 / (2 * k))) < 1e-15


def test_where_the_given_variance_is_the_one() -> None:
    level = unit_level(gain("selu"))
    slope = level.slope.digits(12)
    assert level.deviation.exact == 1 and slope is not None
    assert slope.digits == "0.782647883197"  # from SELU's constants, at 40 digits in mpmath


def test_none_and_more_than_one() -> None:
    with pytest.raises(NoGain, match="0 variances"):
        unit_level(gain("tanh"))  # tanh^2 < 1
    with pytest.raises(NoGain, match="the mean of"):
        variance_level(gain("relu"), Integer(1))
    two = levels(X * cos(X) * sqrt(2), X, Rational(1, 2))
    assert len(two) == 1  # x^2 cos(x)^2 grows as x^2/2 in the mean
    assert len(levels(sqrt(2) * X / (1 + X**4), X, Rational(1, 10))) == 2  # it rises and falls


def test_it_is_told_with_the_fixed_points() -> None:
    own, outputs = settled(gain("silu"))
    assert (own.whose, outputs.whose) == ("second-moment gain", "outputs at 1")
    squared, root = outputs.variance.digits(6), outputs.root.digits(6)
    assert squared is not None and squared.digits == "2.42973" and outputs.stability == "unstable"
    assert root is not None and root.digits == "1.00000"
    assert [point.whose for point in settled(gain("selu"))][-1] == "second-moment gain"
