"""Shaped activations: the conditions by quadrature, published parameters, and what has no shape.

The published values are those of tests/test_activation_transform.py of google-deepmind/dks, whose
network asks each layer for C'(1) = 1.00277096585.
"""

import mpmath
import pytest
from flint import ctx
from mpmath import mpf
from sympy import Rational, Symbol, oo, tanh

from varlaw.symbolic.gains.gain import gain
from varlaw.symbolic.gains.network import Residual
from varlaw.symbolic.gains.roots import SCALE, SHIFT, Box, Moments, proved
from varlaw.symbolic.gains.shaped import NoShape, shapes
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.pieces import Piece

x = Symbol("x", real=True)
CORNERS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
ZETA = Rational("1.00277096585")
FUNCTIONS = {
    "tanh": mpmath.tanh,
    "softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
    "gelu": lambda z: z * mpmath.ncdf(z),
    "elu": lambda z: z if z > 0 else mpmath.expm1(z),
    "relu": lambda z: max(z, mpf(0)),
}
PUBLISHED = {  # input scale and shift, output scale and shift
    "tanh": (0.07461073057540868, 0.5566915199964182, 18.002635964442558, -0.5034378768692127),
    "softplus": (0.18761008168267976, 0.40688063442262007, 8.878672543665223, -0.9213466151411376),
    "gelu": (0.07043253126531114, 0.259489297927707, 20.21158902315857, -0.15815378961903598),
}
NAMES = ("input scale", "input shift", "output scale", "output shift")


def numbers(shape):
    return [mpf(shape.parameters[name].digits(25).digits) for name in NAMES]


def maps(name, shape):
    """Q(1), Q'(1), C(0), C'(1), C''(1) of a shaped activation, by quadrature."""
    a, b, g, d = numbers(shape)
    f = FUNCTIONS[name]
    kink = -b / a

    def h(z):
        return g * (f(a * z + b) + d)

    def mean(of):
        ends = sorted({*map(mpf, (-12, -4, 0, 4, 12)), max(min(kink, mpf(12)), mpf(-12))})
        return mpmath.quad(lambda z: mpmath.npdf(z) * of(z), ends)

    def slope(z, order=1):
        return mpmath.diff(h, z, order, h=mpf("1e-8"))

    return {
        "Q(1)": mean(lambda z: h(z) ** 2),
        "Q'(1)": mean(lambda z: h(z) ** 2 * (z**2 - 1)) / 2,
        "C(0)": mean(h) ** 2,
        "C'(1)": mean(lambda z: slope(z) ** 2),
        "C''(1)": mean(lambda z: slope(z, 2) ** 2),
    }


@pytest.mark.parametrize("name", ["softplus", "elu"])
def test_deep_kernel_shaping_by_quadrature(name):
    with mpmath.workdps(20):
        found = maps(name, shapes(gain(name), "dks", Rational(3, 2), 50, 25)[0])
    wanted = {"Q(1)": 1, "Q'(1)": 1, "C(0)": 0, "C'(1)": 1.5 ** (1 / 50)}
    assert {key: float(found[key]) for key in wanted} == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("name", ["gelu"])
def test_tailored_activations_by_quadrature(name):
    with mpmath.workdps(20):
        found = maps(name, shapes(gain(name), "tat", Rational(3, 10), 50, 25)[0])
    wanted = {"Q(1)": 1, "Q'(1)": 1, "C'(1)": 1, "C''(1)": 0.006}
    assert {key: float(found[key]) for key in wanted} == pytest.approx(wanted, abs=1e-8)


def test_relu_by_quadrature():
    """Without Q'(1) = 1; what Q'(1) is instead is told."""
    (shape,) = shapes(gain("relu"), "dks", Rational(6, 5), digits=25)
    with mpmath.workdps(20):
        found = maps("relu", shape)
    told = float(shape.others["Q'(1)"].digits(12).digits)
    assert (float(found["Q(1)"]), float(found["C'(1)"])) == pytest.approx((1, 1.2), abs=1e-6)
    assert float(found["Q'(1)"]) == pytest.approx(told, abs=1e-8)
    assert told == pytest.approx(0.78012, abs=1e-5)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_parameters(name):
    found = [float(number) for number in numbers(shapes(gain(name), "dks", ZETA)[0])]
    assert found == pytest.approx(PUBLISHED[name], rel=3e-7)


def test_the_published_scale_of_relu_is_off():
    """A quadrature of fixed order misplaces the jump of the slope."""
    (shape,) = shapes(gain("relu"), "dks", ZETA)
    exact = float(shape.parameters["input scale"].digits(12).digits)
    assert exact == pytest.approx(0.3685436251, abs=2e-10)
    assert 0.3685360046708044 / exact - 1 == pytest.approx(-2.068e-5, rel=1e-3)


def test_published_slopes_of_leaky_relu():
    (found,) = shapes(gain("leaky_relu"), "dks", ZETA)
    values = [float(found.parameters[n].digits().digits) for n in ("negative slope", *NAMES[2:])]
    assert values == pytest.approx((0.8761257073, 1.0651832706, -0.0494186930), abs=2e-9)


RESNET = Residual((3, 4, 23, 3), 3, Rational(9, 25))


def test_published_slope_of_a_residual_network():
    """test_parameter_computation: leaky_relu by TAT, C_f(0) = 0.75 of its modified ResNet."""
    (found,) = shapes(gain("leaky_relu"), "tat", Rational(3, 4), RESNET)
    slope = mpf(found.parameters["negative slope"].digits(15).digits)
    assert slope == pytest.approx(0.6291800290346146, rel=2e-9)


def test_published_softplus_of_a_residual_network():
    """The same test: softplus by TAT, C_f''(1) = 0.2."""
    found, *_ = shapes(gain("softplus"), "tat", Rational(1, 5), RESNET)
    values = [float(found.parameters[name].digits(15).digits) for name in NAMES]
    published = [0.15011489794748328, 0.5374599901127068, 10.54880187880574, -0.996481014465811]
    assert values == pytest.approx(published, rel=5e-8)


def test_a_residual_network_has_no_dks():
    with pytest.raises(NoShape, match="shaped by tat"):
        shapes(gain("tanh"), "dks", Rational(6, 5), RESNET)


@pytest.mark.parametrize(("depth", "target"), [(1, "0.2"), (10, "0.5"), (50, "0.9"), (500, "0.75")])
def test_the_slope_of_a_deep_leaky_network(depth, target):
    (found,) = shapes(gain("leaky_relu"), "tat", Rational(target), depth, 20)
    with mpmath.workdps(25):
        a, c = mpf(found.parameters["negative slope"].digits(20).digits), mpf(0)
        for _ in range(depth):
            bend = (mpmath.sqrt(1 - c**2) - c * mpmath.acos(c)) / mpmath.pi
            c += (1 - a) ** 2 / (1 + a**2) * bend
        assert float(c - mpf(target)) == pytest.approx(0, abs=1e-17)


@pytest.mark.parametrize(
    ("name", "way", "target", "depth", "message"),
    [
        ("leaky_relu", "tat", "0.9", 10, "0.871536"),
        ("leaky_relu", "dks", "1.47", 1, "below pi/"),
        ("relu", "tat", "0.9", 50, "leaky_relu"),
        ("sign", "dks", "1.5", 1, "jumps"),
        ("relu6", "tat", "0.3", 1, "slope jumps"),
        ("tanh", "dks", "1", 1, "above 1"),
        ("tanh", "dks", "1000", 1, "may not reach"),
        ("identity", "dks", "1.5", 1, "linear"),
        ("absolute", "dks", "1.5", 1, "two slopes"),
    ],
)
def test_what_has_no_shape(name, way, target, depth, message):
    with pytest.raises(NoShape, match=message):
        shapes(gain(name), way, Rational(target), depth)


def line():
    """E[x] = b and E[x^2] = a^2 + b^2, for x ~ N(b, a^2)."""
    moments = Moments(
        x, {"f": [(Piece(-oo, oo, x), (1 + x**2) / 2)], "f2": [(Piece(-oo, oo, x**2), x**2)]}
    )
    return moments, moments.symbol("f"), moments.symbol("f2")


def test_a_root_is_proved():
    moments, first, second = line()
    box = proved([first - 2, second - 13], moments, {}, (2.5, 1.7), 20)
    with ctx.workprec(100):
        assert box.value(SCALE).contains(3) and box.value(SHIFT).contains(2)
        assert box.value(SCALE).rad() < 1e-20


@pytest.mark.parametrize("wrong", ["double", "none", "far"])
def test_what_is_no_simple_root_is_not_proved(wrong):
    moments, first, second = line()
    equations = {
        "double": [(first - 2) ** 2, second - 13],
        "none": [first - 2, second - first**2 + 1],
        "far": [first - 9, second - 90],
    }
    with pytest.raises(NoEnclosure):
        proved(equations[wrong], moments, {}, (2.5, 1.7), 20)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_a_box_holds_the_moments_at_its_corners(order):
    moments = Moments(x, {"f": [(Piece(-oo, oo, tanh(x)), (1 + tanh(x) ** 2) / 2)]})
    part = moments.symbol("f", order)
    a, b, r = Rational(1, 2), Rational(1, 3), Rational(1, 10**6)
    with ctx.workprec(80):
        around = Box(moments, {}, a, b, 15, r).value(part)
        corners = [Box(moments, {}, a + s * r, b + t * r, 15).value(part) for s, t in CORNERS]
    assert all(around.contains(corner) for corner in corners)
    assert not around.contains(Box(moments, {}, a + 10**5 * r, b, 15).value(part))
