"""`varlaw gain`: what a person sees, the JSON, the table of all activations, and refusals."""

import json
from typing import Any

import mpmath
import pytest
from conftest import Run
from sympy import Rational, pi, sqrt

from varlaw.symbolic.activations import ACTIVATIONS
from varlaw.symbolic.language import read


def answers(varlaw: Run, *arguments: str) -> list[dict[str, Any]]:
    result = varlaw("gain", *arguments, "--json")
    assert result.code == 0, result
    assert not result.err
    document = json.loads(result.out)
    assert (document["schema"], document["version"]) == ("varlaw.gain", 1)
    return list(document["activations"])


def answer(varlaw: Run, *arguments: str) -> dict[str, Any]:
    (found,) = answers(varlaw, *arguments)
    return found


def test_the_text_says_what_is_kept_by_what(varlaw: Run) -> None:
    text = varlaw("gain", "relu").out
    paragraphs = text.split("\n\n")
    assert paragraphs[0] == "relu(x) for x ~ N(0, 1)"
    assert paragraphs[1].splitlines() == [
        "second-moment gain 1/sqrt(E[f^2]), keeps the second moment, forward",
        "  = sqrt(2)",
        "  = 1.41421356237310",
        "  used by PyTorch, AnyInit",
    ]
    assert paragraphs[2].splitlines()[1:] == [
        "  = 1/sqrt(1/2 - 1/(2*pi))",
        "  = 1.71285855044966",
        "  used by NFNet, timm",
    ]
    assert "every v" in paragraphs[4] and "neutral" in paragraphs[4]


@pytest.mark.parametrize("name", ["tanh", "selu", "elu", "gelu", "silu", "sigmoid", "hardshrink"])
def test_the_text_fits_a_terminal(varlaw: Run, name: str) -> None:
    assert max(map(len, varlaw("gain", name).out.splitlines())) <= 80


def test_the_recommended_gain_of_tanh_is_not_called_right(varlaw: Run) -> None:
    text = varlaw("gain", "tanh").out
    (line,) = (line for line in text.splitlines() if line.startswith("PyTorch  "))
    assert line.split(maxsplit=2) == ["PyTorch", "5/3", "none of the three"]
    found = answer(varlaw, "tanh")
    (entry,) = (e for e in found["published"] if e["library"] == "PyTorch")
    assert (entry["agrees"], entry["right_digits"], entry["claims"]) == ([], None, None)
    settled = [p for p in found["fixed_points"] if p["from"] == "PyTorch"]
    assert [p["stability"] for p in settled] == ["unstable", "stable"]
    assert settled[1]["variance"]["digits"] == "1.17848049038591"


def test_digits_and_closed_forms(varlaw: Run) -> None:
    found = answer(varlaw, "gelu", "--digits", "30")
    second = found["gains"][0]
    with mpmath.workdps(40):
        known = 1 / mpmath.sqrt(mpmath.mpf(1) / 3 + mpmath.sqrt(3) / (6 * mpmath.pi))
        assert second["digits"] == mpmath.nstr(known, 30)
    exact = read(second["exact"])
    assert (exact**-2 - Rational(1, 3) - sqrt(3) / (6 * pi)).simplify() == 0
    assert float(second["radius"]) < 1e-28
    kept, outputs = found["fixed_points"]
    assert (kept["stability"], kept["slope"]["digits"][:13]) == ("unstable", "1.14406319687")
    assert (outputs["from"], outputs["slope"]["digits"][:13]) == ("outputs at 1", "1.08359264423")


def test_closed_forms_are_read_back(varlaw: Run) -> None:
    for found in answers(varlaw, "--all"):
        for gain in found["gains"]:
            if gain["exact"] is not None:
                value = read(gain["exact"]).evalf(20)
                assert abs(value - read(gain["digits"])) < 1e-6


def test_an_expression(varlaw: Run) -> None:
    found = answer(varlaw, "--expr", "leaky_relu(x, 1/5)")
    assert found["gains"][0]["exact"] == "5*sqrt(13)/13"  # sqrt(2/(1 + 1/25))
    assert [entry["library"] for entry in found["published"]] == ["PyTorch #24991"]
    assert answer(varlaw, "--expr", "-x^2")["gains"][0]["exact"] == "sqrt(3)/3"


def test_parameters_have_no_digits(varlaw: Run) -> None:
    found = answer(varlaw, "--expr", "leaky_relu(x, a)")
    assert found["gains"][0]["exact"] == "1/sqrt(a^2/2 + 1/2)"
    assert (found["gains"][0]["digits"], found["fixed_points"]) == ("", [])
    assert "  = 1/sqrt(a^2/2 + 1/2)\n" in varlaw("gain", "--expr", "leaky_relu(x, a)").out


def test_an_infinite_gain_is_told(varlaw: Run) -> None:
    assert "infinite, since Var[f] is 0" in varlaw("gain", "--expr", "3").out
    variance = answer(varlaw, "--expr", "3")["gains"][1]
    assert (variance["exact"], variance["digits"]) == (None, "")


def test_a_jump(varlaw: Run) -> None:
    gains = answer(varlaw, "step")["gains"]
    assert [gain["kind"] for gain in gains[2:]] == ["backward", "backward, almost everywhere"]
    assert gains[2]["exact"] == "0" and "jumps at 0" in gains[2]["note"]
    assert "almost everywhere" in varlaw("gain", "step").out


def test_all_activations(varlaw: Run) -> None:
    lines = varlaw("gain", "--all").out.splitlines()
    assert lines[0].split() == ["second-moment", "variance", "backward", "slope"]
    assert [line.split()[0] for line in lines[1:]] == list(ACTIVATIONS)
    assert next(line for line in lines if line.startswith("gelu ")).split() == [
        "gelu", "1.5335304", "1.7009262", "1.4811144", "1.144", "unstable",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 80


def test_the_variance_and_the_mean(varlaw: Run) -> None:
    found = answer(varlaw, "relu", "--variance", "4")
    assert found["gains"][0]["exact"] == "sqrt(2)/2"
    assert found["published"] == []
    assert answer(varlaw, "relu", "--mean", "1")["fixed_points"] == []
    assert answer(varlaw, "relu", "--variance", "s2")["gains"][0]["exact"] == "sqrt(2)/sqrt(s2)"


def test_a_function_in_the_place_of_a_name(varlaw: Run) -> None:
    found, expected = answer(varlaw, "x*sigmoid(2*x)"), answer(varlaw, "--expr", "x*sigmoid(2*x)")
    assert found == expected | {"seconds": found["seconds"]}


def test_latex(varlaw: Run) -> None:
    lines = varlaw("gain", "gelu", "--format", "latex").out.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{aligned}", r"\end{aligned}")
    assert r"\frac{1}{\sqrt{\operatorname{E}\left[f^2\right]}} &= " in lines[2]
    assert r"\approx 1.53353044119554" in lines[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rleu"], "unknown activation 'rleu'; did you mean 'relu'?"),
        ([], "give one of a name, --expr and --all"),
        (["relu", "--all"], "give one of a name, --expr and --all"),
        (["relu", "--expr", "x"], "give one of a name, --expr and --all"),
        (["--expr", "a*b"], "say which is the variable"),
        (["--expr", "x +"], "ends too early"),
        (["--expr", "0"], "no gain keeps anything of it"),
        (["--expr", "exp(x^2)"], "grows too fast for the variance 1"),
        (["--expr", "1/x"], "not known to be integrable"),
        (["relu", "--variance", "0"], "the variance 0 is not positive"),
        (["relu", "--variance", "-2"], "the variance -2 is not positive"),
        (["--all", "--variance", "0"], "the variance 0 is not positive"),
        (["relu", "--digits", "0"], "not in the range"),
        (["relu", "--format", "latex", "--json"], "exclude one another"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals(varlaw: Run, arguments: list[str], message: str) -> None:
    said = varlaw("gain", *arguments).refused()
    assert message in said
    assert "internal" not in said
