"""The notation of blocks: what it reads, and what it refuses."""

import pytest
from sympy import Integer, Symbol

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.alibi import Alibi
from varlaw.symbolic.blocks.block import Sequential
from varlaw.symbolic.blocks.linear import Dropout, Linear
from varlaw.symbolic.blocks.models import gpt2
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.reader import MAX_DEPTH, read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual, post_norm, pre_norm
from varlaw.symbolic.blocks.state import BlockError

d = Symbol("d", positive=True)
FIRST, SECOND = Linear(d, 4 * d, var=2 / d), Linear(4 * d, d, var=1 / (2 * d))


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("linear(d, 4d, var=2/d)", FIRST),
        ("linear(fan_in=d, fan_out=4*d, var=2/d, bias=0)", FIRST),
        ("Linear(d,4d,var=2/d)>>relu", FIRST >> Activation("relu")),
        ("linear(d, 4d, var=2/d) >> max(x, 0)", FIRST >> Activation("max(x, 0)")),
        ("activation(leaky_relu(x, 1/5))", Activation("leaky_relu(x, 1/5)")),
        ("dropout(0.1)", Dropout("1/10")),
        ("(layernorm >> rmsnorm()) >> relu", LayerNorm() >> RMSNorm() >> Activation("relu")),
        (
            "prenorm(linear(d, 4d, var=2/d) >> linear(4d, d, var=2/(4d)))",
            pre_norm(FIRST >> SECOND),
        ),
        ("postnorm(linear(d, 4d, var=2/d), norm=rmsnorm)", post_norm(FIRST, RMSNorm())),
        ("residual(linear(d, 4d, var=2/d), b=1/2, a=3)", Residual(FIRST, 3, "1/2")),
        (
            "parallel(layernorm, rmsnorm, layernorm)",
            Parallel(LayerNorm(), RMSNorm(), LayerNorm()),
        ),
        ("glu(layernorm, right=rmsnorm)", Gate(LayerNorm(), RMSNorm())),
        ("repeat(layernorm, 3)  # comment\n", Repeat(LayerNorm(), 3)),
        ("layernorm # one\n  >> rmsnorm", Sequential((LayerNorm(), RMSNorm()))),
    ],
)
def test_read(text, block):
    assert read_block(text) == block


def test_names_stand_for_values():
    assert read_block("linear(d, 4d, var=2/d)", {"d": Integer(3)}) == Linear(3, 12, var="2/3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a block is missing"),
        ("relu >>", "a block is missing"),
        ("liner(d, d, var=1)", "unknown block 'liner'; did you mean 'linear'"),
        ("linear(d, d)", "linear needs var"),
        ("linear(d, d, vr=1)", "no 'vr'; did you mean 'var'"),
        ("linear(d, d, 1)", "takes 2 arguments without a name"),
        ("linear(d, fan_in=d, var=1)", "fan_in is given twice"),
        ("linear(d, d, var=1, var=1)", "var is given twice"),
        ("linear(var=1, d, d)", "after named arguments"),
        ("linear(d, , var=1)", "an argument is missing"),
        ("linear(d, d, var=1) relu", "goes on after its bracket"),
        ("repeat(relu, L", "a bracket is not closed"),
        ("relu) >> relu", "without its bracket"),
        ("linear(d, d, var=1 +)", "ends too early"),
        ("linear(d, d, var=__import__('os'))", "unexpected"),
        ("repeat(relu, 3/2)", "not a whole number"),
        ("parallel(relu)", "two branches"),
        ("(" * (MAX_DEPTH + 2) + "relu" + ")" * (MAX_DEPTH + 2), "nested"),
        ("relu >> " * 5000 + "relu", "characters"),
        ("activation(a*x)", "parameters without values"),
    ],
)
def test_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_block(text)


def test_options_that_a_kind_of_block_leaves_out():
    whole = "alibi(8, 4, value=1/8, out=1/8, heads=2, key_bias=1/2)"
    assert read_block(whole).causal == 1
    for wrong in (
        "alibi(8, 4, value=1, out=1, rotary=100)",
        "alibi(8, 4, value=1, out=1, causal=0)",
        "crossattention(8, 4, value=1, out=1, causal=1)",
        "gpt2(small, kv_heads=2)",
    ):
        with pytest.raises(BlockError, match=r"has no '(rotary|causal|kv_heads)'"):
            read_block(wrong)
    with pytest.raises(TypeError, match="rotary"):
        Alibi(8, 4, value=1, out=1, rotary=100)
    with pytest.raises(TypeError, match="kv_heads"):
        gpt2(kv_heads=2)
