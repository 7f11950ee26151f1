"""`varlaw gain --shape`: what a person sees, the JSON, and refusals."""

import json

import pytest
from conftest import Run


def test_the_text(varlaw: Run) -> None:
    lines = varlaw("gain", "leaky_relu", "--shape", "tat", "--depth", "50").out.splitlines()
    assert lines[0].endswith("f(x) = leaky_relu(x) for 50 layers")
    assert "Q(1) = 1, Q'(1) = 1, C'(1) = 1, C_f(0) = 9/10" in lines
    assert "  negative slope  0.430522948502403" in lines


def test_the_json_has_all_digits(varlaw: Run) -> None:
    result = varlaw("gain", "tanh", "--shape", "dks", "--depth", "50", "--digits", "30", "--json")
    document = json.loads(result.out)
    assert (document["schema"], document["version"]) == ("varlaw.shape", 1)
    assert (document["method"], document["target"], document["depth"]) == ("dks", "3/2", 50)
    (shape,) = document["shapes"]
    assert shape["conditions"][-1] == "C'(1) = (3/2)^(1/50)"
    assert {
        len(n["digits"].lstrip("-0.").replace(".", "")) for n in shape["parameters"].values()
    } == {30}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("relu --shape tat", "leaky_relu"),
        ("tanh --depth 3", "belong to --shape"),
        ("elu --shape tat --blocks 3,4 --branch 3", "give --depth, or all of"),
        ("elu --shape tat --blocks 3,x --branch 3 --shortcut 1/2", "residual blocks by group"),
        ("elu --shape tat --blocks 3 --branch 3 --shortcut 2", "between 0 and 1"),
        ("tanh --shape dks --target 1/2", "above 1"),
        ("tanh --shape dks --target foo", "above 1"),
        ("tanh --shape dks --variance 2", "goes with neither"),
        ("--all --shape dks", "goes with neither"),
        ("tanhh --shape dks", "tanh"),
    ],
)
def test_refusals(varlaw: Run, arguments: str, message: str) -> None:
    result = varlaw("gain", *arguments.split())
    assert result.code == 2
    assert message in result.err and len(result.err.splitlines()) == 1
