"""Biases that fall with distance: slopes as published, overlaps against softmaxes drawn."""

import numpy as np
import pytest

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import layers
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.token_alibi import Near, slopes
from varlaw.symbolic.blocks.tokens import Tokens, alike, follow
from varlaw.symbolic.blocks.written import written

N, SMALL = 12, "value=1/256, out=1/256, query=1/256, key=1/2048, heads=4"


def test_slopes_as_published():
    assert slopes(8) == pytest.approx(
        [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    )
    # 12 heads: those of 8, and every other one of 16
    assert slopes(12)[8:] == pytest.approx([2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5])


def test_overlaps_of_weights_that_are_not_alike():
    """Means over drawn logits, of a variance so small that the first order is left."""
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.ones(N), size=2)
    near, shared = Near(weights[None]), 0.6
    draws = rng.standard_normal((400_000, 3, N))
    draws = np.concatenate([draws, -draws])
    v = 0.02
    logits = np.sqrt(v * shared) * draws[:, :1] + np.sqrt(v * (1 - shared)) * draws[:, 1:]
    p = weights * np.exp(logits)
    p /= p.sum(-1, keepdims=True)
    moved = np.einsum("rts,rus->tu", p, p) / len(p) - near.overlaps[0]
    first = v * near.with_first[0]
    added = v * np.where(np.eye(2), 1, shared) * near.with_both[0]
    assert np.allclose(moved, added + first + first.T, rtol=0.03)
    assert not np.allclose(moved, added, rtol=0.03)


def test_without_logits_the_average_is_that_of_the_biases():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((N, N))
    products = root @ root.T
    block = read_block(f"alibi(8, {N}, value=1/8, out=1/8, heads=2)")
    expected = np.zeros((N, N))
    for slope in (1 / 16, 1 / 256):
        w = np.tril(np.exp(-slope * np.subtract.outer(np.arange(N), np.arange(N))))
        w /= w.sum(1, keepdims=True)
        expected += w @ products @ w.T / 2
    assert np.allclose(follow(block, Tokens(products, np.zeros(N))).products, expected)


def test_tokens_that_are_alike():
    block, state = read_block(f"alibi(256, {N}, {SMALL})"), start(1, "1/3")
    claimed, found = block.forward(state), follow(block, alike(state, N))
    assert found.second_moment == pytest.approx(float(claimed.second_moment), rel=3e-3)
    assert found.product == pytest.approx(float(claimed.followed), rel=3e-3)
    plain = follow(read_block(f"attention(256, {N}, {SMALL}, causal=1)"), alike(state, N))
    assert found.second_moment > 1.005 * plain.second_moment  # near tokens count more
    assert read_block(written(block)) == block


def test_gradients_are_refused():
    block = read_block(
        "embedding(8, var=1) >> prenorm(alibi(8, 4, value=1/8, out=1/8)) >> layernorm"
    )
    assert next(layer.gradient for layer in layers(block, start(1))) is None
    with pytest.raises(BlockError, match="fall with distance are not covered"):
        read_block(f"alibi(256, {N}, {SMALL})").backward(None, start(1, "1/3"))


@pytest.mark.parametrize(
    "text", ["alibi(8, T, value=1, out=1)", "alibi(h, 4, value=1, out=1, heads=h)"]
)
def test_numbers_are_needed(text):
    with pytest.raises(BlockError, match="numbers for tokens and heads"):
        read_block(text).forward(start(1, "1/3"))
