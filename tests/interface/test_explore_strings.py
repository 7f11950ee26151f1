"""Every expression in the JSON of `varlaw explore` reads back to the value that it stands for."""

import json

import pytest

from varlaw.symbolic.language import read

CASES = [
    "linear(d, d, var=1/d) >> gelu",
    "linear(d, d, var=1/d, bias=1/9) >> silu",
    "repeat(tanh >> linear(d, d, var=2/d), L)",
    "repeat(residual(linear(d, d, var=1/d) >> silu >> linear(d, d, var=1/d)), L)",
    "repeat(prenorm(linear(d, d, var=1/d) >> gelu >> linear(d, d, var=1/d)), L) >> silu",
    "repeat(residual(rmsnorm >> linear(d, d, var=2/d) >> tanh, 1, 1/sqrt(L)), L)",
]
VALUES = {"d": "16", "L": "3", "q0": "3/2"}


@pytest.mark.parametrize("blocks", CASES)
def test_strings_read_back(varlaw, blocks):
    """The expression with names takes the value that is found with numbers from the start."""
    with_names = json.loads(varlaw("explore", blocks, "--json").out)
    options = [text for name in ("d", "L") for text in ("--set", f"{name}={VALUES[name]}")]
    numeric = json.loads(
        varlaw("explore", blocks, "--second-moment", "3/2", *options, "--json").out
    )
    names = {name: read(value) for name, value in VALUES.items()}
    for side in ("forward", "backward"):
        expected = numeric[side]["value"]
        for document in (with_names, numeric):
            found = read(document[side]["second_moment"], names=names)
            assert float(found.evalf()) == pytest.approx(expected, rel=1e-9)
    assert not read(numeric["forward"]["mean"]).free_symbols


def test_coupled_moments_read_back(varlaw):
    """Two inputs whose product goes through depth together with their second moment."""
    blocks = "repeat(residual(linear(d, d, var=1/d) >> gelu >> linear(d, d, var=1/d)), 2)"
    found = json.loads(varlaw("explore", blocks, "--correlation", "1/2", "--json").out)["forward"]
    assert "[2]" in found["correlation"]
    values = {"q0": read("1"), "d": read("16")}
    again = read(found["correlation"], names=values)
    one = varlaw("explore", blocks.replace("repeat(", "(").replace(", 2)", ")"), "--correlation",
                 "1/2", "--second-moment", "1", "--json")  # fmt: skip
    first = json.loads(one.out)["forward"]
    q, r = read(first["second_moment"]), read(first["correlation"])
    two = varlaw("explore", blocks.replace("repeat(", "(").replace(", 2)", ")"), "--correlation",
                 str(r.evalf(18)), "--second-moment", str(q.evalf(18)), "--json")  # fmt: skip
    expected = read(json.loads(two.out)["forward"]["correlation"])
    assert float(again.evalf()) == pytest.approx(float(expected.evalf()), rel=1e-9)
