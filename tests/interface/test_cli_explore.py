"""`varlaw explore`: text, JSON, files, solutions, measurements and refusals."""

import json
import math
from typing import Any

import pytest
from conftest import Run

PRE_NORM = "repeat(prenorm(linear(d,4*d,var=2/d) >> relu >> linear(4*d,d,var=2/(4*d))), L)"


def answer(varlaw: Run, *arguments: str) -> dict[str, Any]:
    result = varlaw("explore", *arguments, "--json")
    assert result.code == 0, result
    assert not result.err
    found = json.loads(result.out)
    assert (found["schema"], found["version"]) == ("varlaw.explore", 1)
    return found


def test_pre_norm(varlaw):
    found = answer(varlaw, PRE_NORM)
    assert found["forward"]["second_moment"] == "2*L + q0"
    assert (found["forward"]["growth"], found["forward"]["rate"]) == ("linear", "2")
    assert found["backward"]["second_moment"] == "2*L/q0 + 1"
    text = varlaw("explore", PRE_NORM).out
    assert "forward   2*L + q0\n" in text
    assert "linear, 2 per layer" in text


def test_values_from_a_file(varlaw, tmp_path):
    file = tmp_path / "block.txt"
    file.write_text(f"# Pre-Norm\n{PRE_NORM}\n")
    found = answer(varlaw, str(file), "--set", "L=3", "--second-moment", "1/2")
    assert found["forward"]["value"] == 6.5
    assert found["backward"]["value"] == 13


def test_solutions(varlaw):
    found = answer(varlaw, "linear(m, n, var=v) >> relu", "--solve", "v")["solved"]
    assert (found["name"], found["forward"], found["backward"]) == ("v", "2/m", "2/n")
    assert found["arithmetic"] == "4/(m + n)"
    assert found["geometric"] == "2/(sqrt(m)*sqrt(n))"


def test_correlation_and_what_is_not_covered(varlaw):
    soft = "attention(d, T, value=1/d, out=1/d, query=1/d, key=1/d)"
    found = answer(varlaw, soft, "--correlation", "0", "--second-moment", "1")
    assert found["forward"]["second_moment"] == "e/(T - 1 + e) + 1/d"
    at = f"{soft[:-1]}, causal=1, position=t)"
    found = answer(varlaw, at, "--correlation", "0", "--second-moment", "1")
    assert found["backward"]["second_moment"] is None
    assert "position" in found["backward"]["why"]


def test_fixed_points(varlaw):
    """At the weight variance 25/9, as `LayerMap` proves them."""
    found = answer(varlaw, "repeat(tanh >> linear(d, d, var=25/(9*d)), L)")["forward"]
    assert (found["growth"], found["limit"]) == ("bounded", "1.17848049039")
    assert found["fixed_points_complete"]
    (point,) = found["fixed_points"]
    assert float(point["value"]) == pytest.approx(1.17848049038591)
    assert float(point["slope"]) == pytest.approx(0.430899386364746)


def test_phase_and_exponent(varlaw):
    tanh = "repeat(tanh >> linear(d, d, var=5/(2*d), bias=1/20), L)"
    (phase,) = answer(varlaw, tanh)["depth"]["phases"]
    assert phase["phase"] == "chaotic"
    assert "phase  chaotic: chi 1." in varlaw("explore", tanh).out
    scaled = "repeat(residual(rmsnorm >> linear(d, d, var=1/d), 1, L^(-a)), L)"
    solved = answer(varlaw, scaled, "--solve", "a")["solved"]
    assert solved["bounded"] == {"forward": "1/2", "backward": "1/2"}
    assert "bounded in depth, forward: a >= 1/2" in varlaw("explore", scaled, "--solve", "a").out


def test_growth_of_the_whole_where_layers_depend_on_the_depth(varlaw):
    """(1 + 1/L)^L tends to e, though each layer has a factor above 1."""
    found = answer(varlaw, "repeat(residual(linear(d, d, var=1/d), 1, 1/sqrt(L)), L)")
    for side in ("forward", "backward"):
        assert (found[side]["growth"], found[side]["rate"]) == ("bounded", None)
    assert found["forward"]["second_moment"] == "q0*(1 + 1/L)^L"
    assert found["forward"]["limit"] == "e*q0"
    assert found["backward"]["limit"] == "e"


def test_measured(varlaw):
    found = answer(varlaw, "linear(m, 6, var=1/m) >> relu", "--set", "m=5", "--measure",
                   "--second-moment", "1", "--tolerance", "0.2")["measured"]  # fmt: skip
    for side, claimed in (("forward", 0.5), ("backward", 0.6)):
        assert found[side]["claimed"] == pytest.approx(claimed)
        assert abs(found[side]["estimate"] - claimed) < 6 * found[side]["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rleu(x)",), "unknown"),
        (("linear(d, d",), "a bracket is not closed"),
        (("relu >> relu",), "needs Gaussian features"),
        (("relu", "--second-moment", "-1"), "second moment"),
        (("relu", "--second-moment", "0"), "second moment is zero"),
        (("relu", "--correlation", "2"), "between -1 and 1"),
        (("relu", "--set", "d"), "not of the form NAME=VALUE"),
        (("relu", "--solve", "v"), "does not depend on v"),
        (("relu", "--solve", "2v"), "not a name"),
        (("linear(d, d, var=1)", "--measure"), "numbers for d"),
        (("attention(d, T, value=1, out=1)",), "not followed"),
    ],
)
def test_refused(varlaw, arguments, message):
    assert message in varlaw("explore", *arguments).refused()


def test_a_very_long_formula_is_its_value_in_text(varlaw):
    """Layers of attention have formulas of thousands of characters in closed form."""
    layer = "prenorm(attention(8, 9, value=1/8, out=1/8, query=1/8, key=1/8, causal=1)) >> prenorm("
    text = f"repeat({layer}linear(8, 16, var=1/8) >> gelu >> linear(16, 8, var=1/16)), 3)"
    given = ("explore", text, "--second-moment", "1", "--correlation", "1/2")
    told, record = varlaw(*given).out, json.loads(varlaw(*given, "--json").out)
    assert max(map(len, told.splitlines())) < 1100
    assert f"backward  {record['backward']['value']:.10g} (a long formula, " in told
    assert len(record["backward"]["second_moment"]) > 1000


def test_scatter_between_seeds(varlaw):
    """Var[q]/E[q]^2 = (1 + 5/n)^2 - 1 behind two layers with ReLU (Hanin and Rolnick 2018)."""
    layer = "linear(n, n, var=2/n) >> relu"
    blocks = f"{layer} >> {layer}"
    assert "relative variance  10/n + 25/n^2 (exact)" in varlaw("explore", blocks, "--scatter").out
    found = json.loads(varlaw("explore", blocks, "--scatter", "--set", "n=20", "--json").out)
    assert found["scatter"]["values"]["relative_variance"] == pytest.approx(1.25**2 - 1)
    assert found["scatter"]["exact"]
    assert json.loads(varlaw("explore", blocks, "--json").out)["scatter"] is None
    assert "only" in varlaw("explore", f"prenorm({blocks})", "--scatter").refused()
    assert "--scatter" in varlaw("explore", "gpt2(small)", "--layers", "--scatter").refused()


def test_a_solution_that_holds_where_it_is_positive(varlaw):
    out = varlaw("explore", "linear(m, n, var=v, bias=b)", "--solve", "v").out
    assert "solved, forward: v = (-b + q0)/(m*q0), where that is positive\n" in out
    assert "solved, backward: v = 1/n\n" in out


def test_gradients_that_correlate(varlaw):
    """DeepScaleLM's ReLU row: 1/4 + asin(r)/(2 pi) times the product; a mean through dropout."""
    options = "--correlation", "1/4", "--gradient-correlation", "1/2", "--second-moment", "1"
    block = "linear(64, 64, var=1/64) >> relu"
    found = answer(varlaw, block, *options, "--measure", "--tolerance", "0.2")
    assert found["backward"]["correlation"] == "asin(1/4)/(2*pi) + 1/4"
    measured = found["measured"]["gradient_product"]
    assert measured["claimed"] == pytest.approx((0.25 + math.asin(0.25) / (2 * math.pi)) / 2)
    assert measured["verdict"] == "verified"
    assert "  correlation  asin(1/4)/(2*pi) + 1/4" in varlaw("explore", block, *options).out
    given = "--second-moment", "s+mu^2", "--mean", "mu", "--correlation", "r"
    found = answer(varlaw, "dropout(p)", *given, "--gradient-correlation", "c")
    assert found["forward"]["second_moment"] == "(mu^2 + s)/(1 - p)"
    assert found["backward"]["correlation"] == "-c*p + c"
    for wrong in (("--gradient-correlation", "3/2"), ("--mean", "2", "--second-moment", "1")):
        assert varlaw("explore", "linear(2, 2, var=1)", *wrong).code == 2
    for other in (("--solve", "v"), ("--layers",), ("--plot", "a.svg")):
        assert varlaw("explore", "linear(2, 2, var=v)", *options, *other).code == 2
