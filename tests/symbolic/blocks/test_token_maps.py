"""Maps of every token against those of tokens that are alike, and against sums written out."""

import numpy as np
import pytest

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import layers
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.blocks.tokens import Tokens, alike, back, follow

T = 12


@pytest.mark.parametrize(
    "text",
    [
        "linear(8, 6, var=1/20, scale=2, bias=1/3) >> gelu >> linear(6, 8, var=1/6)",
        "linear(8, 6, var=1/5) >> relu >> layernorm(eps=1/10)",
        "linear(8, 6, var=1/5) >> relu >> rmsnorm(eps=1/10) >> shift(1/7)",
        "residual(linear(8, 6, var=1/5) >> abs >> linear(6, 8, var=1/6), 3/4, 5/4)",
        "glu(linear(8, 6, var=1/5) >> relu, linear(8, 6, var=1/5))",
        "parallel(linear(8, 6, var=1/4), linear(8, 6, var=1/4) >> relu)",
        "repeat(postnorm(linear(8, 8, var=1/8)), 3)",
        "attention(8, 12, value=1/8, out=1/8, value_bias=1/4)",
        "attention(8, 12, value=1/8, out=1/8) >> dropout(1/4)",
        "attention(8, 12, value=1/8, out=1/8, causal=1)",
        "attention(512, 12, value=1/512, out=1/512, query=1/512, key=1/16384, query_bias=1)",
        "attention(512, 12, value=1/512, out=1/512, query=1/512, key=1/256, qk_norm=1, scale=1/64)",
    ],
)
def test_tokens_that_are_alike(text):
    """Up to the (1 - 1/T)^2 of what moves the average, and small logits squared: few tokens."""
    block, state = read_block(text), start(1, "1/3")
    claimed, found = block.forward(state), follow(block, alike(state, T))
    assert found.second_moment == pytest.approx(float(claimed.second_moment), rel=4e-3)
    assert found.product == pytest.approx(float(claimed.followed), rel=4e-3)
    if "glu" not in text and "repeat" not in text:
        sent = np.full((T, T), 0.2) + 0.8 * np.eye(T)
        passed = block.backward(Gradient(second_moment=ONE, product=ONE / 5), state)
        gradient = back(block, sent, alike(state, T))
        assert np.diag(gradient).mean() == pytest.approx(float(passed.second_moment), rel=2e-3)
        pairs = np.triu(gradient, 1).sum() * 2 / (T * (T - 1))
        assert pairs == pytest.approx(float(passed.product), rel=5e-3)


def test_a_causal_average_of_tokens_that_differ():
    """Uniform weights, forward and backward, as matrix products."""
    rng = np.random.default_rng(1)
    root = rng.standard_normal((T, T))
    products, weights = root @ root.T, np.tri(T) / np.arange(1, T + 1)[:, None]
    block, tokens = read_block("attention(8, 12, value=1/8, out=1/8, causal=1)"), np.zeros(T)
    found = follow(block, Tokens(products, tokens))
    assert np.allclose(found.products, weights @ products @ weights.T)
    gradient = back(block, products, Tokens(products, tokens))
    assert np.allclose(gradient, weights.T @ products @ weights)


def test_pairs_of_unlike_tokens_through_an_activation():
    """E[relu relu'] of unequal variances: the arc-cosine kernel."""
    a, b, r = 2.0, 0.5, 0.6
    products = np.array([[a, r * np.sqrt(a * b)], [r * np.sqrt(a * b), b]])
    found = follow(read_block("relu"), Tokens(products, np.zeros(2))).products
    kernel = (np.sqrt(1 - r**2) + r * (np.pi - np.arccos(r))) / (2 * np.pi)
    assert found[0, 1] == pytest.approx(np.sqrt(a * b) * kernel, rel=1e-4)
    assert found[0, 0] == pytest.approx(a / 2, rel=1e-6)


def test_layers_of_a_small_network():
    block = read_block("embedding(8, var=2) >> repeat(prenorm(linear(8, 8, var=1/16)), 3)")
    found = layers(block, start("q0"))
    assert [layer.name for layer in found] == ["embedding", "1.feed", "2.feed", "3.feed"]
    assert [layer.second_moment for layer in found] == [2, 2.5, 3, 3.5]
    assert [layer.branch for layer in found[1:]] == pytest.approx([0.5, 0.5, 0.5])
    # a gradient grows by 1 + 1/(2 q), q that of the stream
    expected = [
        (1 + 0.5 / 2) * (1 + 0.5 / 2.5) * (1 + 0.5 / 3),
        1.2 * (1 + 0.5 / 3),
        1 + 0.5 / 3,
        1,
    ]
    assert [layer.gradient for layer in found] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repeat(linear(d, d, var=1), 3)", "numbers for"),
        ("attention(4, 2, value=1, out=1) >> softmax(4)", "not followed token by token"),
        ("repeat(linear(4, 4, var=1/4), 100000)", "too many"),
    ],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        layers(read_block(text), start(1, 0))
