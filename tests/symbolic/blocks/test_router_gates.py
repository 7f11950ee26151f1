"""Sums of squared gates and their slopes against simulations; experts run for real."""

import numpy as np
import pytest

from varlaw.checks.blocks import measure
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.gates import gate_slopes, squared_gates
from varlaw.symbolic.blocks.overlap_integrals import moments
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import Approximation, BlockError
from varlaw.symbolic.language import read

ERRORS = 6


@pytest.mark.parametrize(("experts", "top"), [(8, 2), (16, 4), (64, 8)])
@pytest.mark.parametrize("variance", [0.25, 4, 36])
def test_simulated_gates(experts, top, variance):
    rng = np.random.default_rng(top)
    logits = rng.standard_normal((400_000 // experts, experts)) * variance**0.5
    chosen = np.exp(np.sort(logits, 1)[:, -top:])
    gates = chosen / chosen.sum(1, keepdims=True)
    squares, cubes = (gates**2).sum(1), (gates**3).sum(1)
    bound = ERRORS * squares.std() / len(squares) ** 0.5
    slopes = squares - 2 * cubes + squares**2
    apart = gate_slopes(variance, experts, top) - slopes.mean()
    assert abs(apart) < ERRORS * slopes.std() / len(slopes) ** 0.5 + 1e-6
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
    one = found["forward"]
    assert abs(one.estimate - one.claimed) < ERRORS * one.error + 0.02 * one.claimed
    assert abs(one.estimate - 0.5) > ERRORS * one.error + 0.02 * one.claimed


def test_a_width_may_be_a_name():
    """A norm makes logits of variance 1, whatever the width."""
    for expert in ("linear(d, d, var=1/d)", "bilinear(d, d, var=1/d)"):
        layer = f"rmsnorm >> moe({expert}, 8, 2, router=1/d)"
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


@pytest.mark.parametrize("router", ["1/64", "4/64"])
def test_gradients_through_gates(router):
    """The experts' own gradient, and that of the gates, which is a good part of the whole."""
    block = read_block(f"moe(linear(64, 64, var=1/64), 8, 2, router={router})")
    found = measure(block, start(1), seed=1, most=600)["backward"]
    own = squared_gates(64 * float(read(router)), 8, 2)
    bound = ERRORS * found.error + 0.02 * found.claimed
    assert abs(found.estimate - found.claimed) < bound
    assert abs(found.estimate - own) > bound


def test_gates_that_do_not_change_have_no_slope():
    assert gate_slopes(2, 8, 1) == pytest.approx(0, abs=1e-6)
    assert gate_slopes(0, 8, 2) == pytest.approx(1 / 2 - 2 / 4 + 1 / 4, abs=1e-6)


def test_an_activation_right_behind_gates_is_refused():
    """Given its gates a feature is Gaussian, of a variance that differs from token to token."""
    gated = "layernorm >> moe(linear(8, 8, var=1/8), 4, {}, router=1/8) >> tanh"
    assert read_block(gated.format(1)).forward(start()).second_moment != 0
    with pytest.raises(BlockError, match="needs Gaussian features"):
        read_block(gated.format(2)).forward(start())
