"""Blocks as text: read back, and with values in place of names."""

import pytest

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.written import with_values, written
from varlaw.symbolic.language import read

TEXTS = [
    "linear(d, 4*d, var=2/d, bias=b) >> relu >> linear(4*d, d, var=1/d)",
    "repeat(prenorm(linear(d, d, var=v) >> leaky_relu(x, 1/5), norm=rmsnorm), L)",
    "parallel(linear(d, d, var=1), linear(d, d, var=1) >> tanh) >> dropout(1/10)",
    "residual(glu(linear(d, d, var=1) >> x*Phi(x), linear(d, d, var=v)), 1/2, 1/sqrt(L))",
    "embedding(d, var=1) >> attention(d, T, value=1/d, out=1/d, query=1/d, key=1/d)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_read_back(text):
    again = written(read_block(text))
    assert written(read_block(again)) == again
    assert "residual" in again or "prenorm" not in text


def test_the_same_maps():
    text = "repeat(sandwich(linear(d, d, var=v) >> gelu >> linear(d, d, var=v)), L)"
    block = read_block(text)
    again = read_block(written(block))
    assert again.forward(start()).second_moment == block.forward(start()).second_moment


@pytest.mark.parametrize("text", TEXTS)
def test_values(text):
    values = {"d": "8", "L": 3, "v": "1/8", "b": "1/2", "T": 4}
    found = written(with_values(read_block(text), values))
    expected = written(read_block(text, {k: read(v) for k, v in values.items()}))
    assert found == expected


def test_values_that_do_not_fit():
    with pytest.raises(BlockError, match="not a whole number"):
        with_values(read_block("linear(d, d, var=1)"), {"d": "5/2"})
