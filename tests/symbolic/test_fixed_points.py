"""Fixed points of the variance map of a layer, against iteration and published figures."""

from typing import Any

import mpmath as mp
import pytest
from sympy import Expr, Integer, Rational, Symbol, asin, erf, exp, oo, pi, sqrt, tanh

from varlaw.symbolic.activations import gelu, hardtanh, relu, relu_k, selu, step
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.fixed_points import LayerMap

x = Symbol("x", real=True)
GELU_GAIN = 1 / (Rational(1, 3) + sqrt(3) / (6 * pi))


def layer(f: Expr, weight: Any = 1, bias: Any = 0) -> LayerMap:
    return LayerMap(f, x, Integer(0) + weight, Integer(0) + bias)


def near(text: str, number: Any, tolerance: float = 1e-12) -> bool:
    return bool(abs(mp.mpf(text) - mp.mpf(number)) < tolerance)


def tanh_squared(q: Any) -> Any:
    s = mp.sqrt(q)
    return mp.quad(lambda z: mp.tanh(s * z) ** 2 * mp.npdf(z), [-9, 0, 9])


def test_tanh_at_the_gain_of_pytorch() -> None:
    """At gain 5/3 the pre-activation variance settles at 1.1785, not at 1."""
    zero, other = layer(tanh(x), Rational(25, 9)).fixed_points()
    assert (zero.exact, zero.exact_slope, zero.stable) == (0, Rational(25, 9), False)
    assert other.value and other.value.digits == "1.17848049038591"
    assert other.stable
    q = mp.mpf(1)
    for _ in range(60):  # by iteration of the map itself
        q = 25 * tanh_squared(q) / 9
    assert near(other.value.digits, q)


def test_gelu_at_its_own_gain_is_unstable() -> None:
    """From 0.99 the map falls to 0.41565 in 32 layers, from 1.01 it rises to 1.87642."""
    zero, one = layer(gelu(x), GELU_GAIN).fixed_points()
    assert zero.stable and one.stable is False
    assert one.value and near(one.value.digits, 1)
    assert one.slope and near(one.slope.digits, "1.14406319687", 1e-11)


def gelu_squared(q: Any) -> Any:
    s = mp.sqrt(q)
    points = {*(mp.mpf(k) / s for k in (-12, -6, -2, 0, 2, 6)), 4, 8, 16}
    return mp.quad(lambda z: (s * z * mp.ncdf(s * z)) ** 2 * mp.npdf(z), sorted(points))


def test_gelu_has_no_fixed_point_far_out() -> None:
    """Above 1 the variance rises for ever, in the end by g^2/2 = 1.176 a layer."""
    own = layer(gelu(x), GELU_GAIN)
    assert len(own.fixed_points()) == 2
    with mp.workdps(16):
        gain, ratios = 1 / (mp.mpf(1) / 3 + mp.sqrt(3) / (6 * mp.pi)), []
        for q in (2, 40, 1404):
            ratios.append(gain * gelu_squared(q) / q)
            assert abs(float(own.value(Integer(q))) / q - ratios[-1]) < 1e-12
        assert 1 < ratios[0] < ratios[1] < ratios[2] < gain / 2 < ratios[2] + mp.mpf("1e-4")


def test_selu_keeps_variance_one() -> None:
    _, one = layer(selu(x)).fixed_points()
    assert one.stable and one.value and near(one.value.digits, 1)
    assert one.slope and near(one.slope.digits, "0.782647883197", 1e-12)


def test_the_order_to_chaos_boundary_of_tanh() -> None:
    """q* at sigma_b^2 = 0.04 and the critical sigma_w^2 (Schoenholz et al. 2017, figure 1)."""
    weight = Rational("1.700796372136703894")
    (point,) = layer(tanh(x), weight, Rational(1, 25)).fixed_points()
    assert point.value and near(point.value.digits, "0.512078504233902", 1e-14)


def test_erf_by_the_arcsine_law() -> None:
    """V(q) = w 2/pi asin(2 q/(1 + 2 q)) + b (Williams 1997), solved by bisection."""
    (point,) = layer(erf(x), 2, Rational(1, 10)).fixed_points(30)
    with mp.workdps(40):
        q = mp.findroot(lambda q: 4 / mp.pi * mp.asin(2 * q / (1 + 2 * q)) + mp.mpf("0.1") - q, 1)
        slope = mp.diff(lambda q: 4 / mp.pi * mp.asin(2 * q / (1 + 2 * q)), q)
        assert point.value and near(point.value.digits, q, 1e-29)
        assert point.slope and near(point.slope.digits, slope, 1e-29)


def test_hardtanh_by_quadrature() -> None:
    zero, other = layer(hardtanh(x), 2).fixed_points()
    assert zero.exact_slope == 2 and other.value
    s = mp.sqrt(mp.mpf(other.value.digits))
    mean = 2 * mp.quad(lambda z: min(s * z, 1) ** 2 * mp.npdf(z), [0, 1 / s, 10])
    assert near(2 * mean, s**2, 1e-13)


def test_two_fixed_points_away_from_zero() -> None:
    """E exp(x)^2 = exp(2 q): 0.1 exp(2 q) = q twice."""
    low, high = layer(exp(x), Rational(1, 10)).fixed_points(20)
    assert low.stable and high.stable is False and low.value and high.value
    with mp.workdps(30):
        for found, branch in ((low, 0), (high, -1)):
            exact = -mp.lambertw(mp.mpf(-2) / 10, branch).real / 2
            assert found.value and near(found.value.digits, exact, 1e-19)


def test_closed_solutions() -> None:
    (point,) = layer(relu(x), 1, Rational(1, 10)).fixed_points()
    assert (point.exact, point.exact_slope) == (Rational(1, 5), Rational(1, 2))
    zero, other = layer(relu_k(x), 1).fixed_points()  # V = 3/2 q^2
    assert (zero.exact, other.exact, other.exact_slope) == (0, Rational(2, 3), 2)
    (point,) = layer(step(x), 1, 1).fixed_points()  # a jump
    assert (point.exact, point.exact_slope) == (Rational(3, 2), 0)
    w = Symbol("w", positive=True)
    (point,) = layer(relu(x), w, 1).fixed_points()
    assert point.value is None and point.exact and (point.exact - 1 / (1 - w / 2)).cancel() == 0


def test_every_point_fixed_and_none() -> None:
    assert layer(relu(x), 2).identity and layer(relu(x), 2).fixed_points() == ()
    assert not layer(relu(x), 2, 1).identity and layer(relu(x), 2, 1).fixed_points() == ()
    assert layer(relu(x), 3, 1).fixed_points() == ()  # would be at q = -2


def test_the_map_itself() -> None:
    found = layer(erf(x), 2, 1)
    q = Symbol("q", positive=True)
    assert found.exact and (found.exact - 4 * asin(2 * q / (1 + 2 * q)) / pi - 1) == 0
    assert layer(tanh(x)).exact is None
    assert abs(layer(tanh(x)).value(Integer(1)) - 0.39429449039784117) < 1e-12
    assert abs(layer(gelu(x), GELU_GAIN).slope(Integer(1)) - 1.14406319687) < 1e-10


def test_a_root_at_zero_has_infinite_slope() -> None:
    """Near zero E sqrt|x| = c q^(1/4) has no finite slope."""
    from varlaw.symbolic.language import read_function

    f, z = read_function("sqrt(abs(x))")
    zero = LayerMap(f, z, Integer(1)).fixed_points()[0]
    assert (zero.exact, zero.exact_slope, zero.stable) == (0, oo, False)


def test_parameters_without_values_are_refused() -> None:
    w = Symbol("w", positive=True)
    with pytest.raises(NoEnclosure, match="parameters"):
        layer(tanh(x), w).fixed_points()
