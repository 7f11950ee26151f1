"""Derivations block by block: each map gives its value, and the last is the whole."""

import pytest
from sympy import Symbol

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.derivation import Derivation
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, Gradient
from varlaw.symbolic.language import read
from varlaw.symbolic.language_text import typed

PRE_NORM = "repeat(prenorm(linear(d, 4d, var=2/d) >> relu >> linear(4d, d, var=1/(2d))), L)"
TEXTS = [
    PRE_NORM,
    "linear(m, n, var=v, bias=b) >> relu >> dropout(1/10)",
    "residual(parallel(linear(d, d, var=1/d) >> gelu, linear(d, d, var=2/d)), a, b)",
    "glu(linear(d, f, var=1/d), linear(d, f, var=1/d) >> silu) >> linear(f, d, var=v)",
    "repeat(residual(rmsnorm >> linear(d, d, var=q/d) >> tanh, 1/2, 1/sqrt(L)), L) >> layernorm",
    "repeat(repeat(sandwich(linear(d, d, var=2/d)), 2) >> linear(d, d, var=1/d), L)",
    "linear(d, d, var=1/d) >> gelu >> residual(linear(d, d, var=1/d) >> gelu, 1, 1/2)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_maps_give_their_values(text):
    block = read_block(text)
    found = Derivation(block, start())
    out = block.forward(start()).second_moment
    back = block.backward(Gradient(second_moment=ONE), start()).second_moment
    values: dict[Symbol, object] = {}
    for chapters, whole in ((found.forward, out), (found.backward, back)):
        for line in (line for chapter in chapters for line in chapter.lines):
            assert line.left not in values or line.left.name.endswith("_next")
            if line.map is not None:
                put = {name: value for name, value in values.items() if value is not None}
                apart = (line.map.xreplace(put) - line.value).subs(
                    {s: 2 + k for k, s in enumerate(sorted(line.value.free_symbols, key=str))}
                )
                rest = {s: read("3/2") for s in apart.free_symbols}
                assert abs(apart.subs(rest).evalf()) < 1e-12, line
            values[line.left] = line.value
        last = chapters[-1].lines[-1].value
        assert last is None or last == whole


def test_pre_norm_by_hand():
    found = Derivation(read_block(PRE_NORM), start())
    shown = [
        (line.left.name, typed(line.value), line.what)
        for chapter in found.forward
        for line in chapter.lines
    ]
    assert shown == [
        ("q1", "1", "layernorm"),
        ("q2", "2", "linear(d, 4*d, var=2/d)"),
        ("q3", "1", "relu"),
        ("q4", "2", "linear(4*d, d, var=1/(2*d))"),
        ("q5", "q_l + 2", "x + F(x)"),
        ("q_next", "q_l + 2", "from layer to layer, q_l"),
        ("q6", "2*L + q0", "after L layers"),
    ]
    assert [chapter.depth for chapter in found.forward] == [1, 0]


def test_names_of_parameters_are_not_taken():
    found = Derivation(read_block("linear(d, d, var=q1/d) >> linear(d, d, var=g/d)"), start())
    lefts = {line.left.name[0] for chapter in found.forward for line in chapter.lines}
    assert lefts == {"u"}
    lefts = {line.left.name[0] for chapter in found.backward for line in chapter.lines}
    assert lefts == {"h"}


def test_what_is_not_covered_backward_is_left_out():
    text = "attention(d, T, value=1/d, out=1/d, query=1/d, key=1/d)"
    found = Derivation(read_block(text), start("q0", "0"))
    assert found.forward
    assert not found.backward or found.backward[0].lines
