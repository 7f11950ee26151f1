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
        (("linear(m, n, var=v)", "--layers"), "need numbers for q0"),
        (("dropout(1/2)", "--layers", "--second-moment", "1"), "not followed token by token"),
    ],
)
def test_refused(varlaw, arguments, message):
    assert message in varlaw("explore", *arguments).refused()
