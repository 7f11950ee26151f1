"""`varlaw.explore` and `varlaw.blocks` in Python."""

import json
import subprocess
import sys

import pytest
from sympy import Rational, Symbol

import varlaw as vl
from varlaw.explored_forms import record
from varlaw.symbolic.blocks.state import BlockError

d, L, q0 = (Symbol(name, positive=True) for name in ("d", "L", "q0"))


def pre_norm():
    b = vl.blocks
    branch = b.linear("d", "4*d", var="2/d") >> b.relu >> b.linear("4*d", "d", var=2 / (4 * d))
    return b.repeat(b.prenorm(branch), "L")


def test_the_sketch_of_the_design():
    found = vl.explore(pre_norm())
    assert found.forward.second_moment == q0 + 2 * L
    assert found.backward.second_moment == 1 + 2 * L / q0
    assert (found.growth.kind, found.growth.rate) == ("linear", 2)
    assert "symmetric weights" in str(found.regime)
    assert "2*L + q0" in repr(found)


def test_text_and_blocks_are_the_same():
    text = "repeat(prenorm(linear(d,4*d,var=2/d) >> relu >> linear(4*d,d,var=2/(4*d))), L)"
    assert vl.explore(text).to_json() == vl.explore(pre_norm()).to_json()


def test_solve_for_a_parameter():
    m, n = (Symbol(name, positive=True) for name in "mn")
    found = vl.explore(vl.blocks.linear("m", "n", var="v") >> vl.blocks.relu, solve="v").solved
    assert (found["forward"], found["backward"]) == (2 / m, 2 / n)


def test_values():
    found = vl.explore(pre_norm(), values={"L": 3}, second_moment="1/2")
    assert found.forward.second_moment == Rational(13, 2)
    assert found.to_json()["backward"]["value"] == 13


def test_json_is_json():
    assert record(vl.explore(pre_norm())) == vl.explore(pre_norm()).to_json()
    assert (
        json.loads(json.dumps(vl.explore("relu").to_json()))["forward"]["second_moment"] == "q0/2"
    )


def test_measured_with_values():
    measured = vl.explore("linear(m, 6, var=1/m) >> relu").measure({"m": 5, "q0": 1}, tolerance=0.2)
    one = measured["forward"]
    assert one.claimed == 0.5
    assert abs(one.estimate - 0.5) < 6 * one.error
    with pytest.raises(BlockError, match="numbers for m"):
        vl.explore("linear(m, 6, var=1/m)").measure({"q0": 1})


def test_kinds_without_arguments_stand_for_their_blocks():
    b = vl.blocks
    both = b.layernorm >> b.linear(4, 4, var=1) >> b.rmsnorm
    assert [type(part).__name__ for part in both.parts] == ["LayerNorm", "Linear", "RMSNorm"]
    with pytest.raises(TypeError):
        b.relu >> 3


def test_unknown_blocks():
    with pytest.raises(AttributeError, match="did you mean 'linear'"):
        vl.blocks.linaer  # noqa: B018
    with pytest.raises(BlockError, match="Gaussian features"):
        vl.explore(vl.blocks.relu >> vl.blocks.relu)


def test_import_stays_light():
    code = "import sys, varlaw; varlaw.explore; print('numpy' in sys.modules)"
    light = "import sys, varlaw; print('sympy' in sys.modules)"
    for text in (code, light):
        run = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == "False"
