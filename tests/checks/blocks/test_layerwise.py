"""Second moments layer by layer against GPT-2 and BERT written out in NumPy, which share no code.

Bounds are 6 standard errors over networks plus what is stated for finite width and few tokens.
"""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from varlaw.checks.blocks.layerwise import measure_layers
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import layers
from varlaw.symbolic.blocks.models import bert, gpt2
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import BlockError

ERRORS = 6


class Gpt2:
    """Random words of a tied table, learned positions, Pre-Norm, a causal mask."""

    post_norm, causal, eps = False, True, 1e-5

    def __init__(self, seed, width, depth, heads, tokens, words):
        self.rng, self.heads, self.d = np.random.default_rng(seed), heads, width
        self.depth, self.tokens, self.words = depth, tokens, words

    def weights(self, *shape):
        return np.float32(0.02) * self.rng.standard_normal(shape, np.float32)

    @property
    def scale(self):
        """Of what writes to the residual stream."""
        return np.float32(1 / np.sqrt(2 * self.depth))

    def norm(self, x):
        x = x - x.mean(1, keepdims=True)
        return x / np.sqrt((x**2).mean(1, keepdims=True) + np.float32(self.eps))

    def attention(self, x):
        t, d, h = len(x), self.d, self.heads
        q, k, v = ((x @ self.weights(d, d)).reshape(t, h, d // h).swapaxes(0, 1) for _ in range(3))
        logits = q @ k.swapaxes(1, 2) / np.float32(np.sqrt(d // h))
        if self.causal:
            logits += np.triu(np.full((t, t), -1e9, np.float32), 1)
        p = np.exp(logits - logits.max(2, keepdims=True))
        p /= p.sum(2, keepdims=True)
        return (p @ v).swapaxes(0, 1).reshape(t, d) @ (self.scale * self.weights(d, d))

    def feed(self, x):
        z = x @ self.weights(self.d, 4 * self.d)
        return (z * ndtr(z)) @ (self.scale * self.weights(4 * self.d, self.d))

    def embedded(self):
        ids = self.rng.integers(self.words, size=self.tokens)
        self.table = self.weights(self.words, self.d)
        return self.table[ids] + self.weights(self.tokens, self.d)

    def moments(self):
        """The second moment of the stream, layer by layer, and of the logits."""
        x = self.embedded()
        found = [x]
        for _ in range(self.depth):
            for branch in (self.attention, self.feed):
                x = self.norm(x + branch(x)) if self.post_norm else x + branch(self.norm(x))
                found.append(x)
        return [float((y**2).mean()) for y in (*found, self.norm(x) @ self.table.T)]


class Bert(Gpt2):
    """Weights cut at two deviations, segments, Post-Norm; what enters the norms is seen."""

    post_norm, causal, eps, scale = True, False, 1e-12, np.float32(1)

    def weights(self, *shape):
        low, high = np.float32(ndtr([-2, 2]))
        return np.float32(0.02) * ndtri(low + (high - low) * self.rng.random(shape, np.float32))

    def moments(self):
        seen = []
        plain = self.norm

        def norm(x):
            seen.append(float((x**2).mean()))
            return plain(x)

        self.norm = norm
        x = norm(self.embedded() + self.weights(1, self.d))
        for _ in range(self.depth):
            for branch in (self.attention, self.feed):
                x = norm(x + branch(x))
        return seen


def run(model, networks, *sizes):
    found = np.array([model(seed, *sizes).moments() for seed in range(networks)])
    return found.mean(0), found.std(0, ddof=1) / np.sqrt(networks)


def predicted_gpt2(**given):
    found = [layer.second_moment for layer in layers(gpt2(**given), start(1))]
    return np.array([*found[:-2], found[-1]])


def predicted_bert(**given):
    """Before each norm of the body."""
    found = layers(bert(**given), start(1))
    inner = [n for n, layer in enumerate(found) if layer.name.endswith("layernorm")][:-1]
    return np.array([found[n - 1].second_moment for n in inner])


SMALL = {"width": 128, "depth": 3, "heads": 4, "tokens": 24, "words": 500}


@pytest.mark.parametrize(("model", "predicted"), [(Gpt2, predicted_gpt2), (Bert, predicted_bert)])
def test_small_models(model, predicted):
    values, errors = run(model, 8, *SMALL.values())
    claims = predicted(**SMALL)
    assert np.all(np.abs(values - claims) < ERRORS * errors + 0.03 * claims)
    wrong = predicted(**SMALL, std="1/40")
    assert np.any(np.abs(values - wrong) > ERRORS * errors + 0.03 * wrong)


def test_the_scale_of_what_writes_is_seen():
    values, errors = run(Gpt2, 4, *SMALL.values())
    wrong = predicted_gpt2(**SMALL, residual_scale=1)
    assert abs(values[-2] - wrong[-2]) > ERRORS * errors[-2] + 0.03 * wrong[-2]


@pytest.mark.parametrize("text", ["gpt2(small, {}, words=200)", "bert(base, {}, words=200)"])
def test_measured_layers(text):
    block = read_block(text.format("width=96, depth=2, heads=4, tokens=16"))
    for layer in measure_layers(block, start(1), networks=8, gradients=True):
        for found, slack in (
            (layer.second_moment, 0.03),
            (layer.branch, 0.08),
            (layer.logits, 0.08),
            (layer.gradient, 0.08),
        ):
            if found is not None:
                bound = ERRORS * found.error + slack * found.claimed
                assert abs(found.estimate - found.claimed) < bound, layer


ATTENTION = "value=1/96, out=1/96, query=1/384, key=1/96, heads=4"  # logits of variance 1/4


@pytest.mark.parametrize(
    "text",
    [
        f"embedding(96, var=1) >> repeat(prenorm(attention(96, 24, {ATTENTION}, relative=1/4,"
        " buckets=8, furthest=16)), 2) >> rmsnorm >> targets(96, 16, var=1) >>"
        f" repeat(prenorm(attention(96, 16, {ATTENTION}, causal=1, relative=1/4))"
        f" >> prenorm(crossattention(96, 24, {ATTENTION})), 2)",
        f"embedding(96, var=1) >> shift(1) >> repeat(prenorm(attention(96, 24, {ATTENTION},"
        " rotary=100, causal=1)), 2)",
        f"embedding(96, var=1) >> shift(1) >> repeat(prenorm(alibi(96, 24, {ATTENTION})), 2)",
    ],
)
def test_measured_streams_and_positions(text):
    """Cross attention back to the encoder too; biases by distance are shared, rotations real."""
    for layer in measure_layers(read_block(text), start(1), networks=8, gradients=True):
        for found, slack in (
            (layer.second_moment, 0.03),
            (layer.branch, 0.08),
            (layer.logits, 0.08),
            (None if "alibi" in text else layer.gradient, 0.08),
        ):
            if found is not None:
                bound = ERRORS * found.error + slack * found.claimed
                assert abs(found.estimate - found.claimed) < bound, layer


def test_measured_layers_start_with_an_embedding():
    with pytest.raises(BlockError, match="embedding"):
        measure_layers(read_block("linear(4, 4, var=1/4)"), start(1))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "predicted"), [(Gpt2, predicted_gpt2), (Bert, predicted_bert)])
def test_real_sizes(model, predicted):
    """GPT-2 small and BERT base: means of two networks, which vary by 5 % in late layers."""
    values, _ = run(model, 2, 768, 12, 12, 64, 5000)
    apart = values / predicted(tokens=64, words=5000) - 1
    assert np.abs(apart.mean()) < 0.04
    assert np.abs(apart).max() < 0.08
