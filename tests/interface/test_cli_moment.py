"""`varlaw moment`: exact, proved digits, conditions, parameters, forms of output, and refusals."""

import json
import re
from decimal import Decimal
from typing import Any

import mpmath
import pytest
from conftest import Run
from sympy import Rational, Symbol, pi, sqrt

import varlaw as vl
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.language import read


def answer(varlaw: Run, *arguments: str) -> dict[str, Any]:
    result = varlaw("moment", *arguments, "--json")
    assert result.code == 0, result
    assert not result.err
    return dict(json.loads(result.out))


def quadrature(f: Any, low: float, high: float) -> mpmath.mpf:
    """The integral of f times the standard normal density, with kinks at the integers."""
    points = [low, *range(int(low) + 1, int(high)), high]
    return mpmath.quad(lambda x: f(x) * mpmath.npdf(x), points)


def gelu(x: mpmath.mpf) -> mpmath.mpf:
    return x * mpmath.ncdf(x)


@pytest.mark.parametrize(
    ("expression", "f"),
    [
        ("gelu(x)^2", lambda x: gelu(x) ** 2),
        ("gelu'(x)^2", lambda x: mpmath.diff(gelu, x) ** 2),
        ("x*Phi(x)", gelu),
        ("relu(x-1)*gelu(2x)*x^2", lambda x: max(x - 1, 0) * gelu(2 * x) * x**2),
        ("leaky_relu(x, 1/5)^3", lambda x: (x if x > 0 else x / 5) ** 3),
        (r"\max(x, 0)^2 + \frac{1}{2}|x|", lambda x: max(x, 0) ** 2 + abs(x) / 2),
        ("elu(x, 3/2)^2", lambda x: (x if x > 0 else 1.5 * (mpmath.exp(x) - 1)) ** 2),
        ("erf(x/sqrt(2))*x^3", lambda x: mpmath.erf(x / mpmath.sqrt(2)) * x**3),
        ("1[-1 < x < 2]*x^4", lambda x: x**4 if -1 < x < 2 else 0),
        ("sigmoid(x)^2", lambda x: 1 / (1 + mpmath.exp(-x)) ** 2),
        ("tanh(x)^2*relu(x)", lambda x: mpmath.tanh(x) ** 2 * max(x, 0)),
    ],
)
def test_digits_agree_with_quadrature(varlaw: Run, expression: str, f: Any) -> None:
    found = answer(varlaw, expression, "--digits", "12")
    assert abs(mpmath.mpf(found["digits"]) - quadrature(f, -12, 12)) < 1e-11


@pytest.mark.parametrize(
    ("arguments", "digits"),
    [
        # published or elementary values, to 20 digits
        (["gelu(x)^2"], "0.42522148257029867492"),  # 1/3 + sqrt(3)/(6 pi)
        (["x", "--given", "x > 40"], "40.024968847207263723"),
        (["x", "--given", "x > 0"], "0.79788456080286535588"),  # sqrt(2/pi)
        (["x^2", "--given", "-2 < x < 2"], "0.77374130354992324718"),
        (["sin(x)*x"], "0.60653065971263342360"),  # exp(-1/2)
        (["exp(x)"], "1.6487212707001281468"),
        (["sigmoid(x)"], "0.50000000000000000000"),
    ],
)
def test_known_values(varlaw: Run, arguments: list[str], digits: str) -> None:
    found = answer(varlaw, *arguments, "--digits", "20")
    assert abs(Decimal(found["digits"]) - Decimal(digits)) <= Decimal(digits).scaleb(-19)
    assert Decimal(found["radius"]) <= Decimal(digits).scaleb(-19)


@pytest.mark.parametrize(
    "arguments",
    [
        ["gelu(x)^2"],
        ["selu(x)^3", "--mean", "1/3"],
        ["relu(x-1/3)*gelu(2*x)*x^2"],
        ["erf(x)^2", "--mean", "1/3", "--variance", "2"],
        ["hardswish(x)^2"],
        ["x^3*cos(2x)", "--mean", "1/5"],
        ["gelu(x)", "--given", "1/2 < x < 40"],
        ["x^4", "--variance", "0", "--mean", "pi"],
    ],
    ids=" ".join,
)
def test_the_exact_value_is_read_back(varlaw: Run, arguments: list[str]) -> None:
    found = answer(varlaw, *arguments, "--digits", "30")
    assert not re.search(r"Integral|Sum|E\[", found["exact"])
    again = answer(varlaw, found["exact"], "--digits", "30")
    assert (again["exact"], again["digits"]) == (again["expression"], found["digits"])


def test_a_thousand_digits(varlaw: Run) -> None:
    digits = answer(varlaw, "gelu(x)^2", "--digits", "1000")["digits"]
    mpmath.mp.dps, before = 1010, mpmath.mp.dps
    try:
        exact = mpmath.mpf(1) / 3 + mpmath.sqrt(3) / (6 * mpmath.pi)
        assert abs(mpmath.mpf(digits) - exact) < mpmath.mpf(10) ** -1000
    finally:
        mpmath.mp.dps = before
    assert len(digits) == 1002


@pytest.mark.parametrize("edge", [5, 40, 300, 5000])
def test_far_tails(varlaw: Run, edge: int) -> None:
    """E[x | x > t] = 1/M(t), with Mills' ratio M(t) between two terms of its series."""
    mean = Decimal(answer(varlaw, "x", "--given", f"x > {edge}", "--digits", "30")["digits"])
    t = Decimal(edge)
    assert t + 1 / t - 2 / t**3 < mean < t + 1 / t


def test_parameters(varlaw: Run) -> None:
    found = answer(varlaw, "leaky_relu(x, a)^2", "--variance", "s2")
    assert (found["digits"], found["radius"]) == ("", "")
    a, s2 = Symbol("a", positive=True), Symbol("s2", positive=True)
    assert (read(found["exact"]) - s2 * (1 + a**2) / 2).expand() == 0
    shown = varlaw("moment", "leaky_relu(x, a)^2").out.splitlines()
    assert shown == ["E[leaky_relu(x, a)^2] for x ~ N(0, 1)", "  = a^2/2 + 1/2"]


def test_bounds_with_names_are_in_the_order_of_the_condition(varlaw: Run) -> None:
    general = answer(varlaw, "x^2 + x", "--given", "a < x < b", "--mean", "m")["exact"]
    special = answer(varlaw, "x^2 + x", "--given", "-1 < x < 2", "--mean", "1/2")["digits"]
    at = {"a": Rational(-1), "b": Rational(2), "m": Rational(1, 2)}
    value = read(general, names=at).evalf(30)
    assert abs(value - read(special)) < 1e-13


def test_positive_parameters(varlaw: Run) -> None:
    assert "not known" in varlaw("moment", "exp(-a*x^2)").refused()
    found = answer(varlaw, "exp(-a*x^2)", "--positive", "a")
    assert found["exact"] == "1/sqrt(2*a + 1)"


def test_names_in_the_variance_are_the_same_in_the_function(varlaw: Run) -> None:
    assert answer(varlaw, "x^2/s2", "--variance", "s2")["exact"] == "1"


def test_another_variable(varlaw: Run) -> None:
    assert answer(varlaw, "t^2")["exact"] == "1"
    assert answer(varlaw, "x*t^2", "--variable", "t")["exact"] == "x"
    assert "not a function of t" in varlaw("moment", "x", "--variable", "t").refused()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rleu(x)"], "unknown function 'rleu'; did you mean 'relu'?"),
        (["x + "], "ends too early"),
        (["a*b"], "say which is the variable"),
        (["x", "--variance", "-1"], "variance -1 is negative"),
        (["x", "--variance", "1 - a - a"], "not known to be positive"),
        (["x", "--mean", "x"], "may not depend on the variable x"),
        (["x", "--variance", "x"], "may not depend on the variable x"),
        (["x", "--mean", "1 +"], "ends too early"),
        (["x", "--given", "x"], "too early"),
        (["x", "--given", "y > 0"], "does not speak of x"),
        (["x", "--given", "1 < x < 0"], "probability zero"),
        (["x", "--given", "x = 0"], "probability zero"),
        (["x", "--given", "x > 1", "--variance", "0"], "does not hold"),
        (["step(x)", "--variance", "0"], "jump"),
        (["1/x", "--variance", "0"], "1/x has no value at the mean 0"),
        (["log(x)", "--variance", "0"], "log(x) has no value at the mean 0"),
        (["0^x"], "divided by zero"),
        (["exp(x^2)"], "grows too fast"),
        (["exp(x^2/2)"], "grows too fast"),
        (["exp(x^3)"], ""),
        (["1/x"], ""),
        (["sqrt(x)"], ""),
        (["tanh(a*x)^2"], "need values for the parameters"),
        (["x", "--digits", "0"], "not in the range"),
        (["x", "--given", "x > 0", "--format", "latex", "--json"], "exclude one another"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(varlaw: Run, arguments: list[str], message: str) -> None:
    said = varlaw("moment", *arguments).refused()
    assert message in said
    assert "internal" not in said


def test_variance_zero_is_the_value_at_the_mean(varlaw: Run) -> None:
    found = answer(varlaw, "relu(x)^2", "--variance", "0", "--mean", "3")
    assert (found["exact"], found["method"]) == ("9", "value at the mean")
    assert answer(varlaw, "sigmoid(x)", "--variance", "0")["exact"] == "1/2"


def test_divergence_depends_on_the_variance(varlaw: Run) -> None:
    assert answer(varlaw, "exp(x^2/4)", "--variance", "1")["exact"] == "sqrt(2)"
    varlaw("moment", "exp(x^2/4)", "--variance", "2").refused()
    assert answer(varlaw, "exp(x^2)*1[x < 0]", "--variance", "1/3")["exact"]


def test_text_and_latex(varlaw: Run) -> None:
    shown = varlaw("moment", "x", "--given", "0 < x < 1", "--mean", "1/2").out.splitlines()
    assert shown[:2] == ["E[x | 0 < x < 1] for x ~ N(1/2, 1)", "  = 1/2"]
    line = varlaw("moment", "gelu(x)^2", "--format", "latex").out.strip()
    assert line == (
        r"\operatorname{E}\left[\operatorname{GELU}\left(x\right)^2\right]"
        r" = \frac{1}{3} + \frac{\sqrt{3}}{6 \pi} \approx 0.425221482570299"
    )
    (line,) = varlaw(
        "moment", "tanh(x)^2", "--given", "x > 0", "--format", "latex"
    ).out.splitlines()
    assert r"\mid x > 0\right] \approx 0.39429449" in line


def test_derivatives_that_leave_jumps_out_are_labelled(varlaw: Run) -> None:
    (law, value) = varlaw("moment", "step'(x)^2").out.splitlines()
    assert law == "E[step'(x)^2] for x ~ N(0, 1), derivative almost everywhere"
    assert value == "  = 0"
    assert answer(varlaw, "step'(x)^2")["method"] == "closed form, derivative almost everywhere"
    found = answer(varlaw, "gelu'(x)^2")
    assert (found["expression"], found["method"]) == ("gelu'(x)^2", "closed form")


def test_an_expression_may_begin_with_a_minus_sign(varlaw: Run) -> None:
    for arguments in (["-x^2"], ["--digits", "9", "-x^2"], ["-x^2", "--json"], ["--", "-x^2"]):
        assert (
            "= -1" in varlaw("moment", *arguments).out
            or answer(varlaw, *arguments)["exact"] == "-1"
        )
    assert answer(varlaw, "-x", "--mean", "-1")["exact"] == "1"
    assert "usage" not in varlaw("moment", "-h").err
    assert "Usage" in varlaw("moment", "-h").out
    assert "did you mean '--digits'" in varlaw("moment", "x", "--digts", "5").refused()


def test_the_python_function() -> None:
    found = vl.moment("gelu(x)^2")
    assert (found.exact - Rational(1, 3) - sqrt(3) / (6 * pi)).simplify() == 0
    assert found.digits(5).digits == "0.42522"
    assert str(found) == "sqrt(3)/(6*pi) + 1/3"
    assert found._repr_latex_() == r"$\frac{1}{3} + \frac{\sqrt{3}}{6 \pi}$"
    z = Symbol("z")
    assert vl.moment(vl.relu(z) ** 2, mean=0, variance=4).exact == 2
    assert str(vl.moment("sigmoid(x)^2")).startswith("0.29337903585809")
    with pytest.raises(NoMoment, match="no digits"):
        vl.moment("x", mean="m").digits()
    with pytest.raises(NoMoment, match="declared"):
        vl.moment(Symbol("x", negative=True) ** 2)


# Steps


def test_the_steps_of_a_moment(varlaw):
    result = varlaw("moment", "gelu(x)^2", "--steps")
    assert result.code == 0
    for part in ("completing the square", "Stein's lemma", "symmetry", "1/3 + sqrt(3)/(6 pi)"):
        assert part in result.out
    assert re.search(r"\d steps: \d proved, 1 checked", result.out)
    assert result.out.rstrip().splitlines()[-1].startswith("  = 0.425221482570")


def test_the_steps_as_json_end_in_the_moment(varlaw):
    content = answer(varlaw, "relu6(x)^2", "--variance", "2", "--steps")
    assert content["steps"][-1]["after"].count("E[") == 0
    assert {step["proof"] for step in content["steps"]} == {"proved"}
    assert all(step["why"] and step["reason"] for step in content["steps"])
    plain = answer(varlaw, "relu6(x)^2", "--variance", "2")
    assert "steps" not in plain
    assert plain["digits"] == content["digits"]


def test_the_steps_as_latex(varlaw):
    shown = varlaw("moment", "x", "--given", "x > 1", "--steps", "--format", "latex").out
    assert r"\begin{align*}" in shown
    assert r"\documentclass" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["silu(x)^2"], "no closed form that is known, and so no steps"),
        (["gelu(x)", "--variance", "0"], "at variance 0 there is nothing to derive"),
    ],
)
def test_moments_without_steps(varlaw, arguments, message):
    assert message in varlaw("moment", *arguments, "--steps").refused()


def test_a_zero_is_proved_or_said_not_to_be(varlaw: Run) -> None:
    assert varlaw("moment", "selu(x)").out.splitlines()[1:] == ["  = 0"]
    hidden = "tanh(x)^2 - sinh(x)^2/cosh(x)^2"
    (_, line) = varlaw("moment", hidden).out.splitlines()
    assert varlaw("moment", "sigmoid(x)^2 - tanh(x/2)^2/4 - 1/4").out.splitlines()[1:] == ["  = 0"]
    assert line.startswith("  within ") and line.endswith(" of 0 (not proved to be 0)")
