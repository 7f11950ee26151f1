"""Gains and fixed points against quadrature, published figures and closed forms done by hand."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from sympy import Integer, Rational, Symbol, lambdify, oo, pi, sqrt

import varlaw as vl
from varlaw.symbolic.activations import ACTIVATIONS
from varlaw.symbolic.gains.gain import Gains, NoGain, gain, named, of_expression
from varlaw.symbolic.gains.slopes import is_odd, jumps_of, slope_of
from varlaw.symbolic.gains.stability import kept, settled, settles
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.pieces import pieces_of
from varlaw.symbolic.language_limits import ReadingError

x = Symbol("x", real=True)
KINKS = [-12, -6, -3, -1, -0.5, 0, 0.5, 1, 3, 6, 12]


def digits(found: Gains, count: int = 20) -> dict[str, str]:
    values = {one.kind: one.digits(count) for one in found.gains}
    return {kind: value.digits for kind, value in values.items() if value is not None}


def mean(f: Callable[[mpmath.mpf], mpmath.mpf]) -> mpmath.mpf:
    """E[f(Z)] by quadrature between the kinks."""
    return mpmath.quad(lambda z: f(z) * mpmath.npdf(z), KINKS)


@pytest.mark.parametrize(
    ("name", "kind", "figure"),
    [
        # 40-digit quadratures of the definitions; He (2015), Brock et al. (2021), Klambauer (2017)
        ("relu", "second-moment", "1.4142135623730950488"),
        ("relu", "variance", "1.7128585504496627056"),
        ("relu", "backward", "1.4142135623730950488"),
        ("tanh", "second-moment", "1.5925374197228314278"),
        ("tanh", "variance", "1.5925374197228314278"),
        ("sigmoid", "second-moment", "1.8462285453386054130"),
        ("sigmoid", "variance", "4.8013133720399621815"),
        ("gelu", "second-moment", "1.5335304411955352338"),
        ("gelu", "variance", "1.7009262433633331195"),
        ("gelu", "backward", "1.4811144127083481966"),
        ("gelu_tanh", "variance", "1.7009165616954503845"),
        ("silu", "second-moment", "1.6765324703310911586"),
        ("silu", "variance", "1.7871872221004419820"),
        ("silu", "backward", "1.6233202579524973170"),
        ("elu", "second-moment", "1.2451983007007065503"),
        ("celu", "variance", "1.2708434178501964761"),
        ("mish", "second-moment", "1.4868475812732081020"),
        ("softplus", "variance", "1.9191259801076564035"),
        ("softsign", "variance", "2.3375333631085396599"),
        ("relu6", "variance", "1.7128585549723952636"),
        ("selu", "second-moment", "1.0000000000000000000"),
        ("selu", "variance", "1.0000000000000000000"),
    ],
)
def test_known_gains(name: str, kind: str, figure: str) -> None:
    assert digits(named(name))[kind] == figure


def test_hard_tanh_forward_and_backward() -> None:
    """Different answers to different questions; E[f'^2] = P(|Z| < 1)."""
    found = digits(gain("hardtanh"), 15)
    assert found["second-moment"] == "1.39203614044831"
    assert found["backward"] == "1.21028706243252"


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_of_the_table(name: str) -> None:
    """The gains against sums over a fine grid, with the slope as a difference quotient."""
    found = named(name)
    pieces = [(p.upper, lambdify(x, p.expression, "scipy")) for p in pieces_of(found.function, x)]

    def f(z: np.ndarray) -> np.ndarray:
        ends = [float(end.evalf()) for end, _ in pieces[:-1]]
        with np.errstate(all="ignore"):
            values = [np.broadcast_to(value(z), z.shape) for _, value in pieces]
        return np.choose(np.searchsorted(ends, z), values)

    step, width = 1e-6, 1 / 4096
    grid = np.arange(-9, 9, width) + width / 3
    weights = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi) * width
    first, second = weights @ f(grid), weights @ f(grid) ** 2
    slope = weights @ ((f(grid + step) - f(grid - step)) / (2 * step)) ** 2
    shown = {kind: float(text) for kind, text in digits(found).items()}
    assert shown["second-moment"] == pytest.approx(second**-0.5, rel=2e-3)
    assert shown["variance"] == pytest.approx((second - first**2) ** -0.5, rel=2e-3)
    if name == "step":
        assert slope == 0
    else:
        smooth = shown.get("backward, almost everywhere", shown["backward"])
        assert smooth == pytest.approx(slope**-0.5, rel=2e-3)


def test_closed_forms() -> None:
    second, variance, backward = gain("gelu").gains
    assert (second.exact**-2 - Rational(1, 3) - sqrt(3) / (6 * pi)).simplify() == 0
    assert (variance.exact**-2 - second.exact**-2 + 1 / (4 * pi)).simplify() == 0
    assert (backward.exact**-2 - Rational(1, 3) - 2 / (3 * sqrt(3) * pi)).simplify() == 0
    assert gain("relu").gains[1].exact == 1 / sqrt(Rational(1, 2) - 1 / (2 * pi))
    assert [one.exact for one in gain("selu").gains[:2]] == [1, 1]
    assert gain("tanh").gains[0].exact is None
    a = Symbol("a", real=True)
    assert gain("leaky_relu(x, a)").gains[0].exact == 1 / sqrt(Rational(1, 2) + a**2 / 2)
    assert gain("leaky_relu(x, a)").gains[0].digits() is None


@pytest.mark.parametrize("name", ["step", "hardshrink", "threshold"])
def test_a_jump_makes_the_backward_gain_zero(name: str) -> None:
    """E[f'^2] is infinite there; the value almost everywhere is labelled so."""
    _, _, backward, smooth = gain(name).gains
    assert (backward.kind, backward.exact) == ("backward", 0)
    assert "infinite" in backward.note and "jumps" in backward.note
    assert smooth.kind == "backward, almost everywhere"
    chance = {
        "step": 0,
        "hardshrink": mpmath.erfc(mpmath.sqrt(0.125)),
        "threshold": 1 - mpmath.ncdf(1),
    }
    if name == "step":
        assert smooth.exact is oo and smooth.digits() is None
    else:
        found = smooth.digits()
        assert found is not None
        assert float(found.digits) == pytest.approx(float(chance[name] ** -0.5), rel=1e-12)


def test_no_jump_no_second_backward_gain() -> None:
    for name in ("relu", "softsign", "selu", "hardswish", "gelu", "abs"):
        assert len(gain(name).gains) == 3
    assert len(gain("1[x > 1]*(x - 1)").gains) == 3
    assert len(gain("1[x > 1]*x").gains) == 4


def test_the_variance_is_that_of_the_pre_activation() -> None:
    assert gain("relu", variance=4).gains[0].exact == sqrt(2) / 2
    assert gain("relu", variance="1/3").gains[0].exact == sqrt(6)
    assert gain("relu", variance="s2").gains[2].exact == sqrt(2)
    assert digits(gain("tanh", mean=1), 12)["variance"] == mpmath.nstr(
        (mean(lambda z: mpmath.tanh(z + 1) ** 2) - mean(lambda z: mpmath.tanh(z + 1)) ** 2) ** -0.5,
        12,
    )


def test_names_and_expressions() -> None:
    assert digits(gain("leaky_relu")) == digits(gain("leaky_relu(x, 1/100)"))
    assert digits(gain("GELU")) == digits(gain("gelu(t)"))
    assert gain("-x^2").gains[0].exact == sqrt(3) / 3
    t = Symbol("t")
    assert gain(t**2).gains[0].exact == sqrt(3) / 3
    assert gain(vl.relu(t)).gains[0].exact == sqrt(2)
    assert gain(Symbol("a", positive=True) * Symbol("x")).gains[0].exact == 1 / Symbol(
        "a", positive=True
    )
    assert gain(Integer(2)).gains[0].exact == Rational(1, 2)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gain("rleu"), ReadingError, "unknown activation 'rleu'; did you mean 'relu'"),
        (lambda: gain("max"), ReadingError, "give an expression"),
        (lambda: gain("a*b"), ReadingError, "say which is the variable"),
        (lambda: gain(Symbol("a") * Symbol("b")), ReadingError, "call the variable x"),
        (lambda: gain("x + "), ReadingError, "ends too early"),
        (lambda: gain("relu", variance=0), NoGain, "variance 0 is not positive"),
        (lambda: gain("relu", variance=-1), NoGain, "variance -1 is not positive"),
        (lambda: gain("relu", variance="1 - a"), NoGain, "not known to be positive"),
        (lambda: gain("relu", variance="x"), NoGain, "may not depend on the variable"),
        (lambda: gain("exp(x^2)"), Divergent, "grows too fast"),
        (lambda: of_expression("0"), NoGain, "0 is 0: no gain"),
        (lambda: gain("tanh(x) - sigmoid(2x) + sigmoid(-2x)"), NoGain, "is 0: no gain"),
        (lambda: gain("tanh(x) - sinh(x)/cosh(x)"), NoGain, "cannot be told from 0"),
        (lambda: gain("1/x"), ValueError, "not known to be integrable"),
        (lambda: settles(gain("tanh"), "-1"), NoGain, "not a positive number"),
    ],
)
def test_refusals(call: Callable[[], object], kind: type[ValueError], message: str) -> None:
    with pytest.raises(kind, match=message.replace("(", r"\(")):
        call()


def test_a_constant_has_no_variance_and_no_slope() -> None:
    second, variance, backward = of_expression("3").gains
    assert second.exact == Rational(1, 3)
    assert (variance.exact, variance.note) == (oo, "infinite, since Var[f] is 0")
    assert (backward.exact, backward.note) == (oo, "infinite, since E[f'^2] is 0")
    hidden = gain("tanh(x)^2 + 1/cosh(x)^2").gains
    assert "cannot be told from 0" in hidden[1].note and hidden[1].digits() is None


def test_a_slope_that_is_not_square_integrable() -> None:
    second, _, backward = gain("sqrt(|x|)").gains
    assert (second.exact**-2 - sqrt(2 / pi)).simplify() == 0
    assert backward.note.startswith("not known") and backward.digits() is None


def test_slopes_and_jumps() -> None:
    relu, shrink = named("relu").function, named("hardshrink").function
    assert slope_of(relu, x).subs(x, 2) == 1 and slope_of(relu, x).subs(x, -2) == 0
    assert jumps_of(relu, x) == () and jumps_of(shrink, x) == (-Rational(1, 2), Rational(1, 2))
    assert is_odd(shrink, x) and is_odd(x**3, x) and is_odd(named("softsign").function, x)
    assert not is_odd(relu, x) and not is_odd(x**2, x) and not is_odd(Integer(1), x)


def test_tanh_at_the_recommended_gain() -> None:
    """The pre-activations settle at variance 1.178, not 1 (a root found by mpmath)."""
    zero, other = settles(gain("tanh"), "5/3")
    assert (zero.variance.exact, zero.slope.exact, zero.stability) == (
        0,
        Rational(25, 9),
        "unstable",
    )
    variance, root = other.variance.digits(15), other.root.digits(13)
    assert variance is not None and variance.digits == "1.17848049038591"
    assert root is not None and root.digits == "0.6513470476934"
    assert other.stability == "stable"
    q = mpmath.findroot(
        lambda q: mpmath.mpf(25) / 9 * mean(lambda z: mpmath.tanh(mpmath.sqrt(q) * z) ** 2) - q, 1.2
    )
    assert float(variance.digits) == pytest.approx(float(q), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "slope", "stability"),
    [
        ("gelu", "1.14406319687", "unstable"),
        ("selu", "0.782647883197", "stable"),
        ("relu", "1.00000000000", "neutral"),
        ("relu_k", "2.00000000000", "unstable"),
        ("bump", "-0.400000000000", "stable"),
        ("step", "0", "stable"),
    ],
)
def test_the_fixed_point_that_a_gain_keeps(name: str, slope: str, stability: str) -> None:
    found = kept(gain(name))
    shown = found.slope.digits(12)
    assert shown is not None
    assert (shown.digits, found.stability) == (slope, stability)
    assert found.variance.exact == 1


def test_the_slope_is_the_derivative_of_the_map() -> None:
    """For silu, against a difference quotient of quadratures."""
    second = mean(lambda z: (z / (1 + mpmath.exp(-z))) ** 2)

    def layer(q: mpmath.mpf) -> mpmath.mpf:
        root = mpmath.sqrt(q)
        return mean(lambda z: (root * z / (1 + mpmath.exp(-root * z))) ** 2) / second

    found = kept(gain("silu")).slope.digits(10)
    assert found is not None
    assert float(found.digits) == pytest.approx(float(mpmath.diff(layer, 1)), rel=1e-8)


@pytest.mark.parametrize("text", ["relu(x)", "leaky_relu(x, 1/5)", "|x|", "3x"])
def test_a_homogeneous_function_keeps_every_variance(text: str) -> None:
    (found,) = settled(gain(text)) if text != "3x" else (kept(gain(text)),)
    assert (found.every, found.slope.exact, found.stability) == (True, 1, "neutral")
    assert kept(gain(text, variance=4)).gain.exact == kept(gain(text)).gain.exact


def test_other_functions_do_not() -> None:
    assert not kept(gain("relu(x)^2")).every
    assert not kept(gain("gelu")).every


def test_no_fixed_points_with_a_mean_or_with_parameters() -> None:
    assert settled(gain("tanh", mean=1)) == ()
    assert settled(gain("leaky_relu(x, a)")) == ()


def test_the_record_in_python() -> None:
    found = vl.gain("tanh")
    lines = repr(found).splitlines()
    assert lines[0] == "tanh(x) for x ~ N(0, 1)"
    assert lines[1].split() == ["second-moment", "1/sqrt(E[f^2])", "1.59253741972283"]
    assert found._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")


def test_a_gated_unit_says_whose_gains_it_has() -> None:
    with pytest.raises(ValueError, match="with f = silu"):
        gain("swiglu")
