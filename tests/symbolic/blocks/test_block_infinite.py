"""Blocks whose moments are infinite or undefined say so; others of the same kind do not."""

import pytest

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient


@pytest.mark.parametrize("text", ["1/x", "1/sqrt(abs(x))", "tan(x)", "linear(m, n, var=v) >> 1/x"])
def test_an_infinite_second_moment_is_refused(text: str) -> None:
    with pytest.raises(BlockError, match=r"infinite|grow"):
        read_block(text).forward(start())


@pytest.mark.parametrize("text", ["log(abs(x))", "abs(x)^(-1/3)", "sqrt(abs(x))"])
def test_an_infinite_gradient_is_said(text: str) -> None:
    block = read_block(text)
    assert block.forward(start()).second_moment.is_positive is not False
    with pytest.raises(BlockError, match="infinite"):
        block.backward(Gradient(second_moment=ONE), start())


@pytest.mark.parametrize("text", ["exp(x^2/3)", "softplus", "1/(1 + x^2)"])
def test_what_is_finite_at_some_variance_is_left(text: str) -> None:
    block = read_block(text)
    assert block.forward(start()).second_moment != 0
    assert block.backward(Gradient(second_moment=ONE), start()).second_moment != 0
