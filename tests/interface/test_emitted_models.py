"""GPT-2 with the weights that `--emit` writes: a forward pass of our own against the prediction.

Means over networks are within 6 standard errors and 3 % of what is predicted in every layer.
"""

import importlib.util
import math
import runpy

import numpy as np
import pytest

from varlaw.initialisation import initialisation
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import layers
from varlaw.symbolic.blocks.reader import read_block

WIDTH, DEPTH, HEADS, TOKENS, WORDS, NETWORKS = 96, 2, 4, 16, 300, 10
SIZES = f"width={WIDTH}, depth={DEPTH}, heads={HEADS}, tokens={TOKENS}, words={WORDS}"
gelu = np.vectorize(lambda z: z / 2 * (1 + math.erf(z / math.sqrt(2))))


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def heads(y):
    return y.reshape(TOKENS, HEADS, -1).transpose(1, 0, 2)


def attend(x, query, key, value, out):
    q, k, v = (heads(x @ matrix) for matrix in (query, key, value))
    logits = q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS)
    logits[:, ~np.tri(TOKENS, dtype=bool)] = -np.inf
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return (p @ v).transpose(1, 0, 2).reshape(TOKENS, WIDTH) @ out


def moments(weights, words, transposed):
    """Behind each layer, as `--layers` has them; logits of the words that did not come in."""

    def matrix(name):
        array = np.asarray(weights[name], dtype=float)
        return array.T if transposed else array

    x = np.asarray(weights["0.weight"])[words] + np.asarray(weights["0.positions"])
    found = [x]
    for layer in range(DEPTH):
        names = (f"1.{layer}.0.branch.1.{name}" for name in ("query", "key", "value", "out"))
        x = x + attend(norm(x), *map(matrix, names))
        found.append(x)
        inner = gelu(norm(x) @ matrix(f"1.{layer}.1.branch.1.0.weight"))
        x = x + inner @ matrix(f"1.{layer}.1.branch.1.2.weight")
        found.append(x)
    logits = np.delete(norm(x) @ matrix("3.weight"), words, axis=1)
    return [float((y**2).mean()) for y in (*found, norm(x), logits)]


def predicted(text):
    return np.array([float(layer.second_moment) for layer in layers(read_block(text), start(1))])


@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_gpt2(library, tmp_path):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    text = f"gpt2(small, {SIZES})"
    file = tmp_path / "made.py"
    file.write_text(initialisation(read_block(text), library), encoding="utf-8")
    initialise = runpy.run_path(str(file))["initialise"]
    values = []
    for seed in range(NETWORKS):
        words = np.random.default_rng(seed).choice(WORDS, TOKENS, replace=False)
        weights, scales = initialise(positions=TOKENS, seed=seed)
        assert scales == {}
        values.append(moments(weights, words, library == "torch"))
    found, errors = np.mean(values, 0), np.std(values, 0, ddof=1) / math.sqrt(NETWORKS)
    for claims, right in ((predicted(text), True), (predicted(f"{text[:-1]}, std=1/45)"), False)):
        assert np.all(np.abs(found - claims) < 6 * errors + 0.03 * claims) == right
