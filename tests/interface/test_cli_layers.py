"""`varlaw explore --layers`: the table, its record, measurements and refusals."""

import json

import pytest

SMALL = "gpt2(small, width=48, depth=2, heads=4, tokens=8, words=100)"


def test_table(varlaw):
    out = varlaw("explore", SMALL, "--layers").out.splitlines()
    assert out[0].split()[:2] == ["layer", "E[x^2]"]
    assert [line.split()[0] for line in out[1:]] == [
        "embedding", "1.attention", "1.feed", "2.attention", "2.feed", "layernorm", "linear",
    ]  # fmt: skip
    assert out[1].split()[1] == "0.0008"


def test_record(varlaw):
    found = json.loads(varlaw("explore", SMALL, "--layers", "--json").out)
    assert (found["schema"], found["version"]) == ("varlaw.explore-layers", 1)
    first, attention = found["layers"][:2]
    assert first["second_moment"] == {"claimed": pytest.approx(0.0008)}
    assert first["branch"] is None
    assert attention["logits"]["claimed"] > 0
    assert found["layers"][-1]["gradient"] == {"claimed": 1.0}


def test_images(varlaw):
    """Relu has the second moment 1/2 behind a norm, pairs of independent ones 1/(2 pi)."""
    given = ("--layers", "--second-moment", "1", "--correlation", "0", "--json")
    found = json.loads(varlaw("explore", "resnet(8, width=2, image=8)", *given).out)["layers"]
    assert [layer["name"] for layer in found[-5:]] == [
        "parallel", "batchnorm", "activation", "globalaveragepool", "linear",
    ]  # fmt: skip
    assert found[-3]["second_moment"]["claimed"] == pytest.approx(1 / 2)
    assert found[-3]["product"]["claimed"] == pytest.approx(1 / (2 * 3.14159265), rel=1e-6)
    assert found[-2]["product"] is None
    assert found[1]["branch"]["claimed"] > 0


def test_experts_and_dropout(varlaw):
    text = "moe(linear(8, 8, var=1/8), 4) >> dropout(1/2) >> linear(8, 8, var=1/4)"
    given = ("--layers", "--second-moment", "3", "--json")
    found = json.loads(varlaw("explore", text, *given).out)["layers"]
    assert [layer["second_moment"]["claimed"] for layer in found] == [3, 6, 12]
    assert [layer["gradient"]["claimed"] for layer in found] == [4, 2, 1]


def test_measured(varlaw):
    out = varlaw("explore", SMALL, "--layers", "--measure", "--gradients", "--json").out
    layer = json.loads(out)["layers"][2]
    for name in ("second_moment", "branch", "gradient"):
        assert layer[name]["estimate"] == pytest.approx(layer[name]["claimed"], rel=0.3)
        assert layer[name]["replicates"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((SMALL, "--gradients"), "goes with --layers --measure"),
        ((SMALL, "--layers", "--gradients"), "goes with --layers --measure"),
        (("linear(m, n, var=v)", "--layers", "--solve", "v"), "does not go with --solve"),
        (("linear(m, n, var=v)", "--layers"), "need numbers for m, q0 (--second-moment), v"),
        (
            (
                "attention(8, 4, value=1, out=1) >> moe(linear(8, 8, var=1), 4)",
                "--layers",
                "--second-moment",
                "1",
                "--correlation",
                "0",
            ),
            "experts is not followed token by token",
        ),
        (
            (
                "attention(8, 4, value=1, out=1) >> dropout(1/2) >> relu",
                "--layers",
                "--second-moment",
                "1",
                "--correlation",
                "0",
            ),
            "needs Gaussian features",
        ),
    ],
)
def test_refused(varlaw, arguments, message):
    assert message in varlaw("explore", *arguments).refused()
