"""The correlation map and the edge of chaos, against iteration by Gauss-Hermite quadrature."""

from typing import Any

import numpy as np
import pytest
from scipy import special
from sympy import Expr, Integer, N, Rational, Symbol, acos, erf, oo, pi, sin, sqrt, tanh

from varlaw.symbolic.activations import gelu, hardtanh, relu, selu, step
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.correlation_map import (
    CorrelationMap,
    between,
    depth_scale,
    derivative_of,
    is_odd,
)
from varlaw.symbolic.gaussian.edge_of_chaos import critical_weight_variances
from varlaw.symbolic.gaussian.fixed_points import FixedPoint, LayerMap

x = Symbol("x", real=True)
U = np.linspace(-9, 9, 145)  # the trapezoid rule, at rounding level for these functions
W = np.exp(-(U**2) / 2) / np.exp(-(U**2) / 2).sum()


def maps(f: Expr, weight: Any, bias: Any = 0) -> list[CorrelationMap]:
    layer = LayerMap(f, x, Integer(0) + weight, Integer(0) + bias)
    return [CorrelationMap(layer, p) for p in layer.fixed_points(25) if p.exact != 0]


def settled(f: Any, weight: float, bias: float, steps: int = 600) -> tuple[float, float]:
    """(q, c) after many layers, from q = 1 and c = 0.5, by quadrature."""
    q, c = 1.0, 0.5
    for _ in range(steps):
        z = np.sqrt(q) * U
        other = np.sqrt(q) * (c * U[:, None] + np.sqrt(1 - c * c) * U[None, :])
        pair = float(np.einsum("i,j,i,ij->", W, W, f(z), f(other)))
        following = weight * float(W @ f(z) ** 2) + bias
        c = (weight * pair + bias) / following
        q = following
    return q, c


@pytest.mark.parametrize(
    ("f", "double", "weight", "bias"),
    [
        (tanh(x), np.tanh, "2", "1/25"),
        (erf(x), special.erf, "2", "1/10"),
    ],
)
def test_chaos_settles_at_the_other_fixed_point(
    f: Expr, double: Any, weight: str, bias: str
) -> None:
    (chaotic,) = maps(f, Rational(weight), Rational(bias))
    below, one = chaotic.fixed_points()
    _, c = settled(double, float(Rational(weight)), float(Rational(bias)))
    assert below.value and abs(float(below.value.digits) - c) < 1e-9
    assert len(below.value.digits) > 15
    assert below.stable and one.stable is False
    assert one.exact == 1


def test_the_slope_below_one_is_that_of_the_map() -> None:
    """erf: C(c) = (w 2/pi asin(2 q c/(1 + 2 q)) + b)/q (Williams 1997)."""
    (chaotic,) = maps(erf(x), 2, Rational(1, 10))
    below, one = chaotic.fixed_points(20)
    q = chaotic.point.value
    assert q and below.value and below.slope and one.slope
    k = 2 * Rational(q.digits) / (1 + 2 * Rational(q.digits))
    for point, c in ((below, Rational(below.value.digits)), (one, Integer(1))):
        assert point.slope
        slope = 4 * k / (pi * sqrt(1 - k**2 * c**2)) / Rational(q.digits)
        assert abs(N(slope - Rational(point.slope.digits), 25)) < 1e-18


def test_order_has_one_fixed_point() -> None:
    (ordered,) = maps(relu(x), 1, Rational(1, 10))
    (one,) = ordered.fixed_points()
    assert one.stable and one.slope and float(one.slope.digits) == 0.5
    scale = depth_scale(one.slope)
    assert scale and abs(float(scale.digits) - 1 / np.log(2)) < 1e-13
    c = ordered.c
    expected = (
        (sqrt(1 - c**2) + c * (pi - acos(c))) / (2 * pi) * Rational(1, 5) + Rational(1, 10)
    ) * 5
    assert ordered.exact is not None
    assert abs(N((ordered.exact - expected).subs(c, Rational(3, 7)), 20)) < 1e-18


def test_relu_at_the_variance_of_he_is_critical() -> None:
    """C(c) = (sqrt(1 - c^2) + c (pi - acos c))/pi, with slope 1 at c = 1 (Cho and Saul 2009)."""
    layer = LayerMap(relu(x), x, Integer(2))
    critical = CorrelationMap(layer, FixedPoint(Integer(1), None, Integer(1), None))
    (one,) = critical.fixed_points()
    assert one.exact_slope == 1 and one.stable is None
    c = critical.c
    expected = (sqrt(1 - c**2) + c * (pi - acos(c))) / pi
    assert critical.exact is not None
    assert abs(N((critical.exact - expected).subs(c, Rational(-2, 5)), 20)) < 1e-18


def test_odd_functions_without_bias_forget_the_correlation() -> None:
    (chaotic,) = maps(tanh(x), Rational(25, 9))
    zero, one = chaotic.fixed_points()
    assert zero.exact == 0 and zero.slope and one.slope
    z = np.sqrt(1.178480490385908) * U
    assert abs(float(zero.slope.digits) - 25 / 9 * (W @ (1 - np.tanh(z) ** 2)) ** 2) < 1e-9
    assert abs(float(one.slope.digits) - 25 / 9 * (W @ (1 - np.tanh(z) ** 2) ** 2)) < 1e-9


def test_selu_goes_to_correlation_zero() -> None:
    (found,) = maps(selu(x), 1)
    zero, one = found.fixed_points()
    assert zero.value and zero.value.digits == "0" and zero.stable and one.stable is False


def test_a_jump_makes_the_slope_at_one_infinite() -> None:
    (found,) = maps(step(x), 1, 1)
    below, one = found.fixed_points()
    assert (one.exact_slope, one.slope, one.stable) == (oo, None, False)
    c = 0.5
    for _ in range(200):
        c = float(1 / 3 * np.arcsin(c) / np.pi + 5 / 6)  # E step step = 1/4 + asin(c)/(2 pi)
    assert below.value and abs(float(below.value.digits) - c) < 1e-13
    slope = 1 / (3 * np.pi * np.sqrt(1 - c * c))
    assert below.slope and abs(float(below.slope.digits) - slope) < 1e-12


def test_the_edge_of_chaos_of_tanh() -> None:
    """At sigma_b^2 = 0.04 (Schoenholz et al. 2017, section 3)."""
    (found,) = critical_weight_variances(tanh(x), x, Rational(1, 25), 18)
    assert found.weight_variance.digits.startswith("1.7007963721367038")
    assert found.q.digits.startswith("0.5120785042339015")  # published: ...3902
    z = np.sqrt(float(found.q.digits)) * U
    assert abs(float(found.weight_variance.digits) * (W @ (1 - np.tanh(z) ** 2) ** 2) - 1) < 1e-9


def test_the_edge_without_bias() -> None:
    for f, expected in ((tanh(x), 1), (relu(x), 2), (gelu(x), 4)):
        found = critical_weight_variances(f, x)
        assert found[0].exact == expected
    assert critical_weight_variances(relu(x), x, Integer(1)) == ()
    assert critical_weight_variances(step(x), x) == ()


def test_derivatives_and_parity() -> None:
    slope = derivative_of(hardtanh(x), x)
    assert slope is not None
    assert [slope.subs(x, v) for v in (-2, Rational(1, 2), 3)] == [0, 1, 0]
    assert derivative_of(step(x), x) is None
    assert is_odd(sin(x), x) and is_odd(hardtanh(x), x) and not is_odd(relu(x), x)


def test_a_root_by_changes_of_sign() -> None:
    from flint import arb, ctx

    from varlaw.symbolic.gaussian.balls import ball

    def gap(s: Rational, bits: int) -> arb:
        with ctx.workprec(bits):
            return ball(s) ** 2 - 2

    low, high = between(gap, Integer(1), Integer(2), 80)
    assert low**2 < 2 < high**2 and high - low < Rational(1, 2**75)
    with pytest.raises(NoEnclosure, match="change of sign"):
        between(gap, Integer(2), Integer(3), 80)
