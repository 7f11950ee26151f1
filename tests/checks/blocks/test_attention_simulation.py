"""Attention's maps against attention run for real, and against explicit backpropagation.

Bounds are 6 standard errors; what the softmax maps leave out, beyond that, is stated per case.
"""

import numpy as np
import pytest

from varlaw.checks.blocks import measure
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient

ERRORS = 6


@pytest.mark.parametrize(
    ("extra", "rho"),
    [
        ("heads=4, kv_heads=2, value_bias=1/4, out_bias=1/5", "0"),
        ("query=1/16, key=1/16, scale=0, heads=2, causal=1", "1/3"),
    ],
)
def test_uniform_weights_are_exact(extra, rho):
    block = read_block(f"attention(16, 6, value=1/16, out=1/16, {extra})")
    measured = measure(block, start(1, rho), seed=1, most=300)
    assert set(measured) == {"forward", "product", "backward"}
    for found in measured.values():
        assert abs(found.estimate - found.claimed) < ERRORS * found.error
        assert abs(found.estimate - 1.5 * found.claimed) > ERRORS * found.error


@pytest.mark.parametrize(
    ("extra", "rho", "slack"),
    [
        ("query=1/64, key=1/256, heads=4", "0", 0.02),
        ("query=1/64, key=1/256, heads=4, causal=1", "1/4", 0.03),
        ("query=1/64, key=1/64, heads=4, kv_heads=1", "1/2", 0.04),
        ("query=1/1024, key=1/64, heads=6, head_width=16, scale=1", "1/2", 0.04),
        ("query=1/64, key=1/64, heads=2, qk_norm=1, key_bias=1, query_bias=1", "1/4", 0.04),
        ("query=1/64, key=1/128, heads=2, query_bias=1, key_bias=9", "1/2", 0.04),
        ("query=1/256, key=1/128, heads=2, key_bias=1, rotary=10", "1/2", 0.06),
        ("query=1/64, key=1/64", "0", 0.15),  # logits of variance 1 over 32 tokens: few
    ],
)
def test_softmax_forward_and_backward(extra, rho, slack):
    block = read_block(f"attention(64, 32, value=1/64, out=1/64, {extra})")
    for found in measure(block, start(1, rho), seed=2, most=60).values():
        bound = ERRORS * found.error + slack * found.claimed
        assert abs(found.estimate - found.claimed) < bound
        assert abs(found.estimate - 1.6 * found.claimed) > bound


def test_gradients_that_correlate_between_tokens():
    """By explicit backpropagation, path by path; the paths through logits are seen alone too."""
    d, tokens, rho, shared, u = 48, 40, 0.3, 0.1, 0.5
    block = Attention(d, tokens, value=ONE / d, out=ONE / d, query=ONE / d, key=u * ONE / d)
    sent = Gradient(second_moment=ONE, product=ONE * shared)
    back = block.backward(sent, start(1, rho))
    rng, found = np.random.default_rng(3), []
    for _ in range(200):
        x = alike(rng, tokens, d, rho)
        g = alike(rng, tokens, d, shared)
        found.append(moments(sum(backpropagated(rng, x, g, u))))
    values, errors = np.mean(found, 0), ERRORS * np.std(found, 0) / np.sqrt(len(found))
    for claimed, value, error in zip(
        (back.second_moment, back.product), values, errors, strict=True
    ):
        assert abs(value - float(claimed)) < error + 0.03 * value
    values_only = Attention(d, tokens, value=ONE / d, out=ONE / d).backward(sent, start(1, rho))
    assert abs(values[0] - float(values_only.second_moment)) > errors[0] + 0.03 * values[0]


def alike(rng, tokens, d, rho):
    """Gaussian tokens of which two each correlate."""
    own = rng.standard_normal((tokens, d))
    return np.sqrt(rho) * rng.standard_normal(d) + np.sqrt(1 - rho) * own


def backpropagated(rng, x, g, u):
    """The gradients through values, queries and keys of one head."""
    d = x.shape[1]
    wq, wk, wv, wo = (rng.standard_normal((d, d)) * np.sqrt(v / d) for v in (1, u, 1, 1))
    q, k, v = x @ wq, x @ wk, x @ wv
    p = np.exp(q @ k.T / np.sqrt(d))
    p /= p.sum(1, keepdims=True)
    y = g @ wo.T
    by_weight = y @ v.T
    by_logit = p * (by_weight - (p * by_weight).sum(1, keepdims=True)) / np.sqrt(d)
    return p.T @ y @ wv.T, by_logit @ k @ wq.T, by_logit.T @ q @ wk.T


def moments(x):
    """The mean square of an entry, and the mean product of two tokens' entries."""
    n, d = x.shape
    square = (x**2).sum()
    return square / (n * d), ((x.sum(0) ** 2).sum() - square) / (n * (n - 1) * d)


def test_a_position_is_not_simulated():
    with pytest.raises(BlockError, match="leave out position"):
        measure(read_block("attention(4, 3, value=1, out=1, causal=1, position=2)"), start(1, 0))
