"""Compromises with what they make least, proved roots, exponents of the depth, sweeps."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sympy import Rational, Symbol, lambdify, simplify

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.solve import COMPROMISES, bounded_from, least, losses, solve
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.blocks.sweep import sweep
from varlaw.symbolic.language import read

SCALED = "repeat(residual({}linear(d, d, var=1/d) >> relu >> linear(d, d, var=2/d), 1, L^(-a)), L)"


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("quadratic", "sqrt(2)/sqrt(m^2 + n^2)"),
        ("contraharmonic", "(m + n)/(m^2 + n^2)"),
    ],
)
def test_compromises(keep, expected):
    found = solve(read_block("linear(m, n, var=v)"), "v", keep)
    assert simplify(found - read(expected)) == 0


@pytest.mark.parametrize("keep", COMPROMISES)
@pytest.mark.parametrize("weight", [Rational(1, 2), Rational(1, 5)])
def test_each_makes_its_loss_least(keep, weight):
    """By proof, and by SciPy at fans 3 and 8."""
    assert least(keep)
    block = read_block("linear(3, 8, var=v)")
    loss = lambdify(Symbol("r", positive=True), losses(block, "v")[keep], "numpy")
    w = float(weight)
    found = minimize_scalar(
        lambda v: w * loss(3 * v) + (1 - w) * loss(8 * v), bounds=(0.05, 1), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    assert float(solve(block, "v", keep, weight=weight)) == pytest.approx(found.x, rel=1e-6)


def test_no_loss_is_named_where_ratios_are_not_powers():
    assert losses(read_block("residual(linear(d, d, var=v))"), "v") == {}


def test_a_root_is_proved():
    """4 E[tanh(sqrt(v) z)^2] = 1, by mpmath."""
    block = read_block("linear(8, 8, var=v/8) >> tanh >> linear(8, 8, var=1/2)")
    with mpmath.workdps(20):
        expected = mpmath.findroot(
            lambda v: 4 * mpmath.quad(
                lambda z: mpmath.tanh(mpmath.sqrt(v) * z) ** 2 * mpmath.npdf(z), [-10, 0, 10]) - 1,
            0.4)  # fmt: skip
    assert float(solve(block, "v", state=start(1))) == pytest.approx(float(expected), rel=1e-11)
    small = read_block("linear(8, 8, var=v/8) >> tanh >> linear(8, 8, var=1/16)")
    with pytest.raises(BlockError, match="which is proved"):
        solve(small, "v", state=start(1))


@pytest.mark.parametrize("inner", ["", "rmsnorm >> "])
@pytest.mark.parametrize("side", ["forward", "backward"])
def test_branches_scaled_by_the_depth_are_bounded_from_one_half_on(inner, side):
    assert bounded_from(read_block(SCALED.format(inner)), "a", side) == Rational(1, 2)


INVENTED = "repeat(residual(rmsnorm >> swiglu(d, 2*d, var=1/d) >> rmsnorm, 1, L^(-a)), L)"


@pytest.mark.parametrize("side", ["forward", "backward"])
def test_a_block_of_two_norms_and_a_gated_unit(side):
    """Bounded from a = 1/2 on; the gradient is the product of 1 + k/(L^(2a) + l), by SciPy."""
    block = read_block(INVENTED)
    assert bounded_from(block, "a", side) == Rational(1, 2)
    if side == "forward":
        return
    own, slope = (
        quad(lambda z, f=f: f(z) ** 2 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), -12, 12)[0]
        for f in (
            lambda z: z * expit(z),
            lambda z: expit(z) * (1 + z * (1 - expit(z))),
        )
    )
    expected = np.prod([1 + (1 + slope / own) / (6**0.8 + layer) for layer in range(6)])
    found = block.backward(Gradient(second_moment=ONE), start(1)).second_moment
    at = {Symbol("a", positive=True): Rational(2, 5), Symbol("L", positive=True): 6}
    found = found.subs(at)
    assert float(found.evalf()) == pytest.approx(expected, rel=1e-8)


def test_no_exponent_helps_a_layer_that_grows_by_itself():
    with pytest.raises(BlockError, match="no exponent a"):
        bounded_from(read_block("repeat(residual(linear(d, d, var=L^(-a)/d), 2), L)"), "a")


@pytest.mark.parametrize(
    "text",
    [
        "repeat(prenorm(linear(d, 4*d, var=v/d) >> gelu >> linear(4*d, d, var=w/(4*d))), 6)",
        "repeat(gelu >> linear(d, d, var=w/d, bias=v), 6)",
        "repeat(tanh >> linear(d, d, var=w/d, bias=v), 4)",
        "repeat(prenorm(attention(d, 8, value=v/d, out=1/d)) >> "
        "prenorm(linear(d, d, var=w/d) >> relu >> linear(d, d, var=1/d)), 3)",
    ],
)
def test_sweep_against_one_setting_at_a_time(text):
    """Against the same blocks with numbers in them, in ball arithmetic."""
    state = start(1, Rational(1, 10)) if "attention" in text else start(1)
    d, v, w = np.array([16, 24]), np.array([0.25, 0.75]), np.array([0.5, 1.5])
    found = sweep(read_block(text), ["d", "v", "w"], [d, v, w], state)
    for place in range(2):
        names = {"d": Rational(int(d[place])), "v": Rational(float(v[place])),
                 "w": Rational(float(w[place]))}  # fmt: skip
        out = read_block(text, names).forward(state)
        assert found["forward"][place] == pytest.approx(float(out.second_moment.evalf()), rel=1e-8)
        if out.product is not None:
            assert found["product"][place] == pytest.approx(float(out.product.evalf()), rel=1e-8)


def test_a_sweep_where_correlations_tend_to_1():
    """Against the recurrence: rounding takes none of 2000 settings out of the domain of acos."""
    text = "repeat(linear(d, d, var=v/d, bias=b) >> relu, 20)"
    rng = np.random.default_rng(0)
    v, b, q = (rng.uniform(low, high, 2000) for low, high in ((0.3, 3), (0.01, 1), (0.1, 4)))
    state = start(Symbol("q0", positive=True), Rational(3, 10))
    found = sweep(read_block(text), ["v", "b", "q0", "d"], [v, b, q, 64], state)
    c = 0.3 * q
    for _ in range(20):
        q, c = v * q + b, v * c + b
        r = np.minimum(c / q, 1)
        q, c = q / 2, q * (np.sqrt(1 - r**2) + r * (np.pi - np.arccos(r))) / (2 * np.pi)
    assert (c / q).max() > 1 - 1e-6
    assert found["product"] == pytest.approx(c, rel=1e-8)
    assert found["product"] != pytest.approx(q, rel=1e-8)


def test_a_sweep_needs_all_names():
    with pytest.raises(BlockError, match="needs values for w"):
        sweep(read_block("linear(d, d, var=w)"), ["d"], [[1, 2]], start(1))


def test_an_iterated_ratio_is_no_power_of_the_name():
    layer = (
        "prenorm(attention(d, T, value=1/d, out=1/d, causal=1))"
        " >> prenorm(linear(d, d, var=2/d) >> relu >> linear(d, d, var=v))"
    )
    assert losses(read_block(f"repeat({layer}, 6)"), "v", start("q0", 0)) == {}


FLAT = "repeat(residual(layernorm >> linear(d, d, var=v/d), {}), L)"
TANH = "linear(d, h, var=1/d) >> {} >> linear(h, d, var=v/h)"


@pytest.mark.parametrize(
    ("text", "keep", "expected"),
    [
        ("linear(m, n, var=v, bias=b)", "forward", "(q0 - b)/(m*q0)"),
        ("linear(m, n, var=v, bias=b)", "geometric", "(sqrt(b^2/q0^2 + 4*m/n) - b/q0)/(2*m)"),
        ("residual(linear(d, d, var=v/d), a, 1)", "forward", "1 - a^2"),
        ("residual(linear(d, d, var=v/d), a, 1)", "quadratic", "1 - a^2"),
        (FLAT.format("9/10, 1/10"), "forward", "19*q0"),
        (FLAT.format("9/10, 1/10"), "geometric", "19*q0"),
        (FLAT.format("sqrt(1 - 1/L), 1/sqrt(L)"), "forward", "q0"),
    ],
)
def test_signs_that_depend_on_names_hide_no_solution(text, keep, expected):
    """Each is what keeps the moment by hand: m v q0 + b = q0, a^2 q + b^2 v = q."""
    assert simplify(solve(read_block(text), "v", keep) - read(expected)) == 0


PLAIN = {
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "2*sigmoid(x)": (lambda x: 2 * expit(x), lambda x: 2 * expit(x) * expit(-x)),
    "sin(x) + x/10": (lambda x: np.sin(x) + x / 10, lambda x: np.cos(x) + 1 / 10),
}
EXACT = {
    "forward": lambda f, slope: 1 / f,
    "backward": lambda f, slope: 1 / slope,
    "arithmetic": lambda f, slope: 2 / (f + slope),
    "geometric": lambda f, slope: 1 / np.sqrt(f * slope),
}


@pytest.mark.parametrize("function", PLAIN)
@pytest.mark.parametrize("keep", EXACT)
def test_means_without_a_closed_form(function, keep):
    """At q0 = 1 the ratios are v E[f^2] and v E[f'^2], both by quadrature; named or put in."""
    density = lambda x: np.exp(-x * x / 2) / np.sqrt(2 * np.pi)  # noqa: E731
    squares = [quad(lambda x, g=g: g(x) ** 2 * density(x), -12, 12)[0] for g in PLAIN[function]]
    expected = pytest.approx(EXACT[keep](*squares), rel=1e-9)
    block = read_block(TANH.format(function))
    named = solve(block, "v", keep).subs(Symbol("q0", positive=True), 1)
    assert float(named.evalf()) == expected
    assert float(solve(block, "v", keep, start(1)).evalf()) == expected


@pytest.mark.parametrize(
    ("text", "keep", "message"),
    [
        ("residual(linear(d, d, var=v))", "forward", "no positive v"),
        ("linear(m, n, var=v, bias=b)", "contraharmonic", "either may be positive"),
    ],
)
def test_none_and_more_than_one(text, keep, message):
    with pytest.raises(BlockError, match=message):
        solve(read_block(text), "v", keep)


def test_two_moments_that_depend_on_one_another_are_solved():
    """By evalf of the ratio at the value found."""
    text = "repeat(attention(8, 4, query=1/8, key=1/8, value=w/8, out=1/8), 2)"
    state = start(1, 0)
    found = solve(read_block(text), "w", state=state)
    kept = read_block(text, {"w": Rational(str(found))}).forward(state).second_moment
    assert float(kept.evalf(20)) == pytest.approx(1, abs=1e-10)
