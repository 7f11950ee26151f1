"""Sums of squared gates against simulations and softmaxes over all; experts run for real."""

import numpy as np
import pytest

from varlaw.checks.blocks import measure
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.gates import squared_gates
from varlaw.symbolic.blocks.overlap_integrals import moments
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient

ERRORS = 6


@pytest.mark.parametrize(("experts", "top"), [(8, 2), (16, 4), (64, 8)])
@pytest.mark.parametrize("variance", [0.25, 4, 36])
def test_simulated_gates(experts, top, variance):
    rng = np.random.default_rng(top)
    logits = rng.standard_normal((400_000 // experts, experts)) * variance**0.5
    chosen = np.exp(np.sort(logits, 1)[:, -top:])
    squares = ((chosen / chosen.sum(1, keepdims=True)) ** 2).sum(1)
    bound = ERRORS * squares.std() / len(squares) ** 0.5
    assert abs(squared_gates(variance, experts, top) - squares.mean()) < bound
    if variance < 36:  # then few of them matter
        assert abs(squared_gates(variance, experts, experts) - squares.mean()) > bound


@pytest.mark.parametrize("variance", [0, 1, 9])
def test_gates_known_otherwise(variance):
    assert squared_gates(variance, 8, 1) == pytest.approx(1, rel=1e-8)
    whole = moments(variance, np.array([8]))[0, 0]
    assert squared_gates(variance, 8, 8) == pytest.approx(whole, rel=1e-6)


def test_experts_that_are_run():
    block = read_block("moe(linear(64, 16, var=1/64), 8, 2, router=4/64)")
    out = block.forward(start(1))
    assert Approximation.WIDE in out.regime
    found = measure(block, start(1), seed=1)
    assert set(found) == {"forward"}
    one = found["forward"]
    assert abs(one.estimate - one.claimed) < ERRORS * one.error + 0.02 * one.claimed
    assert abs(one.estimate - 0.5) > ERRORS * one.error + 0.02 * one.claimed


def test_a_width_may_be_a_name():
    """A norm makes logits of variance 1, whatever the width."""
    layer = "rmsnorm >> moe(linear(d, d, var=1/d), 8, 2, router=1/d)"
    found = read_block(layer).forward(start()).second_moment
    assert float(found) == pytest.approx(squared_gates(1, 8, 2), rel=1e-7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moe(linear(8, 8, var=1), E, 2, router=1/8)", "need numbers"),
        ("moe(linear(8, 8, var=1), 4, 2, router=r)", "need numbers"),
        ("moe(linear(8, 8, var=1), 4, 2, router=8)", "up to 36"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        read_block(text).forward(start(1))


def test_gradients_through_gates_are_refused():
    with pytest.raises(BlockError, match="not covered"):
        read_block("moe(linear(8, 8, var=1), 4, 2, router=1/8)").backward(
            Gradient(second_moment=ONE), start(1)
        )
