"""`varlaw recipes`: the table, one recipe at a shape, and what is refused."""

import json
from math import sqrt

import pytest


def found(varlaw, *arguments):
    result = varlaw("recipes", *arguments, "--json")
    assert result.code == 0, result
    return json.loads(result.out)


def test_the_whole_table(varlaw):
    result = varlaw("recipes")
    assert result.code == 0 and not result.err
    for name in ("pytorch-linear", "keras-dense", "flax-dense", "bert", "t5", "nanogpt"):
        assert f"\n{name} " in result.out
    assert "m: the fan-in" in result.out


def test_a_recipe_at_a_shape(varlaw):
    """U(-1/sqrt(512), 1/sqrt(512)): std 1/sqrt(1536) = 0.0255155."""
    result = varlaw("recipes", "pytorch-linear", "--shape", "m=512")
    assert "0.0255155" in result.out and "1/3" in result.out
    assert "source https://github.com/pytorch/" in result.out


@pytest.mark.parametrize(
    "shape", [["--shape", "m=512,n=64"], ["--shape", "m=512", "--shape", "n=64"]]
)
def test_numbers_of_a_shape_together_or_apart(varlaw, shape):
    weight, bias = found(varlaw, "keras-dense", *shape)["recipes"]
    assert weight["variance"] == "2/(m + n)"
    assert weight["at_shape"]["variance"] == pytest.approx(2 / 576)
    assert weight["at_shape"]["forward"] == pytest.approx(2 * 512 / 576)
    assert bias["distribution"] == "constant" and bias["at_shape"]["std"] == 0


def test_without_a_shape_numbers_that_depend_on_it_are_null(varlaw):
    weight, *_ = found(varlaw, "pytorch-linear")["recipes"]
    assert weight["at_shape"] == {"variance": None, "std": None, "forward": pytest.approx(1 / 3)}
    bert, *_ = found(varlaw, "bert")["recipes"]
    assert bert["at_shape"]["std"] == pytest.approx(0.0175925132206)


def test_fused_projections(varlaw):
    """Bounds at width 512: sqrt(6/2048) = 0.0541266, not sqrt(6/1024) = 0.0765466."""
    fused, *_ = found(varlaw, "pytorch-attention", "--shape", "m=512")["recipes"]
    assert fused["at_shape"]["std"] == pytest.approx(sqrt(6 / 2048 / 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pytorch-linaer"], "unknown recipe 'pytorch-linaer'; did you mean 'pytorch-linear'?"),
        (["bert", "--shape", "n=3"], "'--shape': no name 'n'; these recipes have m"),
        (["keras-embedding", "--shape", "m=3"], "'--shape': no name 'm'; these recipes have none"),
        (["t5", "--shape", "m=1/2"], "'--shape': m is a positive integer, not 1/2"),
        (["t5", "--shape", "m=0"], "'--shape': m is a positive integer, not 0"),
        (["t5", "--shape", "m"], "NAME=VALUE"),
        (["t5", "--shape", "m=("], "'--shape': m: "),
    ],
)
def test_what_is_refused(varlaw, arguments, message):
    assert message in varlaw("recipes", *arguments).refused()


def test_the_names_of_a_shape_are_documented():
    from pathlib import Path

    from varlaw.derivations.recipes import SHAPE

    docs = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
    text = docs.read_text(encoding="utf-8")
    for name, meaning in SHAPE.items():
        assert f"| `{name}` | {meaning} |" in text
