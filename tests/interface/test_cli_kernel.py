"""`varlaw kernel`: exact forms, proved digits, the maps of a layer, and refusals."""

import json
from typing import Any

import mpmath
import pytest
from conftest import Run

from varlaw.symbolic.language import read


def answer(varlaw: Run, *arguments: str) -> dict[str, Any]:
    result = varlaw("kernel", *arguments, "--json")
    assert result.code == 0, result
    assert not result.err
    return dict(json.loads(result.out))


@pytest.mark.parametrize(
    ("arguments", "digits"),
    [
        # 35-digit Mehler series at rho = 0.3
        (["relu"], "0.241372141917743810817"),
        (["erf"], "0.128188433697949863224"),
        (["gelu"], "0.162677219805644319530"),
        (["tanh"], "0.110668385547446333280"),
        (["x", "z"], "0.300000000000000000000"),
        (["tanh(x)", "x^2", "--variances", "1,2"], "0"),
    ],
)
def test_digits(varlaw: Run, arguments: list[str], digits: str) -> None:
    found = answer(varlaw, *arguments, "--rho", "0.3", "--digits", "21")
    assert found["digits"] == digits
    assert (found["exact"] is None) == (found["method"] == "enclosure")


@pytest.mark.parametrize(
    "arguments",
    [
        ["relu", "gelu", "--rho", "-1/3", "--variances", "2,1/2"],
        ["hardtanh", "--rho", "0.7"],
        ["elu", "step", "--rho", "0.9", "--means", "1/2,-1"],
        ["leaky_relu(x, 1/5)", "leaky_relu(x, 1/3)", "--rho", "1"],
        ["relu6", "--rho", "0"],
    ],
    ids=" ".join,
)
def test_the_exact_value_is_read_back(varlaw: Run, arguments: list[str]) -> None:
    from varlaw.symbolic.gaussian.decimals import digits_of

    found = answer(varlaw, *arguments, "--digits", "30")
    again = digits_of(read(found["exact"], real=True), 30)
    assert again.digits == found["digits"]


def test_text(varlaw: Run) -> None:
    assert varlaw("kernel", "relu", "--rho", "rho").out.splitlines() == [
        "E[relu(z1)*relu(z2)] for z1 ~ N(0, 1), z2 ~ N(0, 1), correlation rho",
        "  = (rho*(pi - acos(rho)) + sqrt(1 - rho^2))/(2*pi)",
    ]
    first, digits = varlaw("kernel", "tanh", "--rho", "0.3").out.splitlines()
    assert first.endswith("correlation 3/10")
    assert digits.startswith("  = 0.110668385547446 +- ")


def test_latex(varlaw: Run) -> None:
    out = varlaw("kernel", "step", "--rho", "1/2", "--format", "latex").out
    assert out.startswith(r"\operatorname{E}\left[") and r"= \frac{1}{3}" in out


def test_parameters(varlaw: Run) -> None:
    found = answer(varlaw, "erf", "--rho", "r", "--variances", "v")
    assert found["digits"] == "" and found["radius"] == ""
    value = read(found["exact"], names={"v": read("2"), "r": read("1/2")})
    expected = 2 / mpmath.pi * mpmath.asin(mpmath.mpf(2) / 5)  # Williams (1997)
    assert abs(mpmath.mpf(str(value.evalf(20))) - expected) < 1e-14


def test_the_maps_of_tanh(varlaw: Run) -> None:
    """At gain 5/3 the variance settles at 1.1785 and the correlation at 0."""
    found = answer(varlaw, "tanh", "--map", "--weight-variance", "25/9")
    zero, other = found["fixed_points"]
    assert zero["value"]["exact"] == "0" and zero["slope"]["exact"] == "25/9"
    assert not zero["stable"] and other["stable"]
    assert other["value"]["digits"] == "1.17848049038591"
    assert [point["stable"] for point in other["correlations"]] == [True, False]
    assert found["critical"][0]["weight_variance"]["exact"] == "1"


def test_the_maps_of_relu_and_step(varlaw: Run) -> None:
    found = answer(varlaw, "relu", "--map", "--weight-variance", "2")
    (every,) = found["fixed_points"]
    assert found["every_q"] and every["correlations"][0]["slope"]["exact"] == "1"
    third = read(every["correlation_map"], names={"c": read("1/3")}).evalf(20)
    expected = read("(sqrt(8)/3 + (pi - acos(1/3))/3)/pi").evalf(20)  # Cho and Saul (2009)
    assert abs(third - expected) < 1e-18
    found = answer(varlaw, "step", "--map", "--bias-variance", "1")
    _, one = found["fixed_points"][0]["correlations"]
    assert one["slope"] == {"exact": "infinite", "digits": None, "radius": None}
    assert one["stable"] is False


def test_the_maps_in_words(varlaw: Run) -> None:
    lines = varlaw("kernel", "tanh", "--map", "--bias-variance", "0.04").out.splitlines()
    assert lines[0] == "variance map q -> E[tanh(x)^2] + 1/25 for x ~ N(0, q)"
    assert "edge of chaos at weight variance 1.70079637213670" in lines[-1]
    assert any("c = 1: slope" in line and "stable" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["relu", "--rho", "2"], "a correlation is between -1 and 1, not 2"),
        (["relu"], "give the correlation"),
        (["reluu", "--rho", "0.3"], "unknown function 'reluu'; did you mean 'relu'?"),
        (["relu", "--rho", "0.3", "--variances", "1,-1"], "the variance -1 is negative"),
        (["relu", "--rho", "0.3", "--variances", "1,2,3"], "is not of the form A or A,B"),
        (["tanh", "--rho", "r"], "digits need values for the parameters"),
        (["exp(x^2)", "--rho", "0.3"], "too fast"),
        (["relu", "--rho", "0.3", "--bias-variance", "1"], "for '--map'"),
        (["relu", "--map", "--rho", "0.3"], "takes one function"),
        (["tanh", "--map", "--weight-variance", "w"], "need numbers"),
        (["tanh", "--map", "--weight-variance", "-1"], "positive"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals_in_a_line(varlaw: Run, arguments: list[str], message: str) -> None:
    result = varlaw("kernel", *arguments)
    assert result.code == 2 and not result.out
    (line,) = result.err.splitlines()
    assert line.startswith("varlaw: ") and message in line


def test_a_derivative_almost_everywhere_is_named_in_pairs_too(varlaw: Run) -> None:
    lines = varlaw("kernel", "relu'(x)", "step'(x) + x", "--rho", "1/3").out.splitlines()
    assert lines[0].endswith("correlation 1/3, derivative almost everywhere")
