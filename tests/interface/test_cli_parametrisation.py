"""`varlaw parametrisation`: the table, numbers relative to a base, measurements, refusals."""

import json
from math import sqrt

import pytest


def found(varlaw, *arguments):
    result = varlaw("parametrisation", *arguments, "--json")
    assert result.code == 0, result
    return json.loads(result.out)


def layers(record):
    return {layer["layer"]: layer for layer in record["layers"]}


def test_the_list(varlaw):
    result = varlaw("parametrisation")
    assert result.code == 0 and "mean-field" in result.out
    regimes = {one["name"]: one["regime"] for one in found(varlaw)["parametrisations"]}
    assert regimes["sp"] == "unstable" and regimes["mup"] == "feature learning"
    assert "u-mup" not in {
        p["name"] for p in found(varlaw, "--optimizer", "sgd")["parametrisations"]
    }


def test_mup_for_adam(varlaw):
    """Yang et al. 2022, table 8, from width 256 to 1024: a quarter where it says 1/fan-in."""
    at = layers(found(varlaw, "mup", "--width", "1024", "--base-width", "256"))
    names = ("multiplier", "init_std", "learning_rate")
    published = {"hidden": (1, 0.5, 0.25), "output": (0.25, 1, 1), "input": (1, 1, 1)}
    for layer, factors in published.items():
        assert tuple(at[layer]["at"][name] for name in names) == factors
    assert at["bias"]["init_std"] == "0"


def test_epsilon_and_weight_decay(varlaw):
    """Dey et al. 2025, table 1, alpha = 1; four times as wide and as deep; none under SGD."""
    sizes = ("--width", "256", "--base-width", "64", "--depth", "48", "--base-depth", "12")
    hidden = layers(found(varlaw, "completep", *sizes))["hidden"]
    assert (hidden["epsilon"], hidden["weight_decay"]) == ("1/(L*n)", "n")
    assert (hidden["at"]["epsilon"], hidden["at"]["weight_decay"]) == (1 / 16, 4)
    without = layers(found(varlaw, "completep"))["hidden"]
    assert without["epsilon"] == "1/(L*n)" and without["at"]["epsilon"] is None
    hidden = layers(found(varlaw, "mup", "--optimizer", "sgd", "--width", "64"))["hidden"]
    assert hidden["epsilon"] is hidden["at"]["epsilon"] is hidden["weight_decay"] is None


def test_numbers_in_depth(varlaw):
    sizes = ("--width", "64", "--base-width", "64", "--depth", "48", "--base-depth", "12")
    record = found(varlaw, "depth-mup", *sizes)
    assert layers(record)["hidden"]["at"]["learning_rate"] == pytest.approx(1 / sqrt(4))
    assert record["branch"] == "1/sqrt(L)"
    assert "1/sqrt(L) (0.5)" in varlaw("parametrisation", "depth-mup", *sizes).out


def test_formulas_are_shown_with_their_reasons(varlaw):
    """The exponents of Yang and Hu 2021, appendix H, for a hidden layer."""
    sizes = found(varlaw, "mup", "--optimizer", "sgd")["sizes"]
    rules = {one["quantity"]: one for one in sizes if one["layer"] == "hidden"}
    assert rules["pre-activations at the start"]["formula"] == "1/2 - a - b"
    assert "central limit" in rules["pre-activations at the start"]["reason"]
    assert rules["change by its own step, in training"]["formula"] == "1 - 2*a - c + g"
    assert "large numbers" in rules["change by its own step, in training"]["reason"]


def test_a_form(varlaw):
    """u-muP's weights: all initial standard deviations 1 (Blake et al. 2024)."""
    record = layers(found(varlaw, "mup", "--form", "std"))
    assert record["hidden"]["multiplier"] == record["hidden"]["learning_rate"] == "1/sqrt(n)"


def test_own_exponents(varlaw):
    given = ("--layer", "input=0,0,0", "--layer", "hidden=0,1/2,1/2", "--layer", "output=1,0,0")
    record = found(varlaw, *given)
    assert record["name"] == "custom" and not record["stable"]
    assert record["reasons"][0] == "hidden: its own step moves its outputs by n^(1/2)"
    assert layers(record)["hidden"]["largest_learning_rate"] == "1/n"
    assert "unstable" in varlaw("parametrisation", *given).out


def test_latex(varlaw):
    out = varlaw("parametrisation", "completep", "--format", "latex").out
    assert out.startswith(r"\begin{tabular}{llllll}")
    assert r"hidden & $1$ & $\frac{1}{\sqrt{n}}$ & $\frac{1}{n}$ & $\frac{1}{L n}$ & $n$ \\" in out
    assert r"branch & $\frac{1}{L}$ \\" in out


def test_measured(varlaw):
    record = found(varlaw, "mean-field", "--optimizer", "sgd", "--measure")
    assert {one["verdict"] for one in record["measured"]} == {"confirmed"}
    assert any(one["derived"] == -0.5 for one in record["measured"])
    assert "confirmed" in varlaw("parametrisation", "mean-field", "--measure").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mupp"], "unknown parametrisation 'mupp'; did you mean 'mup'?"),
        (["mup", "--optimizer", "adan"], "'adan' is not one of"),
        (["mup", "--layer", "hidden"], "not of the form KIND=A,B,C"),
        (["mup", "--layer", "hidden=1,2"], "hidden has three exponents or six, not 2"),
        (["mup", "--layer", "hidden=0,q,0"], "an exponent is a rational number, not q"),
        (["mup", "--layer", "hiden=0,0,0"], "unknown layer 'hiden'; did you mean 'hidden'?"),
        (["--layer", "hidden=0,0,0"], "a parametrisation needs the layer input"),
        (["mup", "--base-width", "8"], "'--base-width' goes with '--width'"),
        (["mup", "--width", "0"], "0 is not in the range"),
        (["depth-mup", "--width", "8"], "give '--depth' as well"),
        (["mean-field", "--depth", "8"], "mean-field has no hidden layer to repeat in depth"),
        (["mup", "--branch", "x"], "an exponent is a rational number, not x"),
        (["u-mup", "--optimizer", "sgd"], "u-mup is stated for adam and sign only"),
        (["--measure"], "give a name, or layers by '--layer'"),
        (["--width", "8"], "give a name, or layers by '--layer'"),
        (["mup", "--backend", "torch"], "'--backend' goes with '--measure'"),
        (["mup", "--measure", "--format", "latex"], "'--measure' has no LaTeX"),
        (["--format", "latex"], "the list has no LaTeX"),
    ],
)
def test_what_is_refused(varlaw, arguments, message):
    assert message in varlaw("parametrisation", *arguments).refused()
