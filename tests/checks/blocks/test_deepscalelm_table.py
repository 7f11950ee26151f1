"""The component table of DeepScaleLM (Kedia et al. 2024, appendix A), row by row, run for real.

Its rows are closed forms in `test_block_maps`; here the maps meet networks in NumPy: mean, second
moment and product of two tokens forward, second moment and product of two tokens' gradients
backward. Activations and the softmax follow a linear layer, which gives them their features.
"""

import math

import numpy as np
import pytest
from sympy import Rational

from varlaw.checks.blocks import measure_gradients
from varlaw.checks.blocks.measuring import inputs
from varlaw.checks.blocks.running import Draw, run
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, Gradient

ERRORS, REPLICATES, TOKENS = 6, 400, 4
ROWS = {  # block, mean of the input, relative error that is allowed for
    "linear": ("linear(24, 36, var=1/20)", "1/2", 0),
    "relu": ("linear(64, 64, var=1/48) >> relu", 0, 0.03),
    "gelu": ("linear(64, 64, var=1/48) >> gelu", 0, 0.05),
    "layernorm": ("linear(64, 96, var=1/48) >> layernorm", 0, 0.05),
    "dropout": ("linear(24, 36, var=1/20) >> dropout(1/5)", 0, 0),
    "softmax": ("linear(64, 400, var=1/128) >> softmax(400)", 0, 0.05),
    "attention": ("attention(24, 4, value=1/20, out=1/24)", "1/2", 0),
    "dropped": ("attention(24, 4, value=1/20, out=1/24, dropout=1/5)", "1/2", 0),
    "soft": (
        "attention(64, 4, value=1/64, out=1/64, query=1/512, key=1/64, dropout=1/5)", 0, 0.04,
    ),
    "feed-forward": (
        "linear(48, 96, var=1/48) >> relu >> linear(96, 48, var=1/48) >> dropout(1/10)", 0, 0.05,
    ),
}  # fmt: skip


def given(mean):
    return start(Rational(3, 2), Rational(2, 5), mean)


def forward(block, state):
    """Means over networks of the mean, the square and the product of two tokens, with errors."""
    found = []
    for seed in range(REPLICATES):
        rng = np.random.default_rng(seed)
        y = run(block, inputs(block, state, TOKENS, rng), Draw(rng))
        pairs = (y.sum(0) ** 2).sum() - (y**2).sum()
        found.append((y.mean(), (y**2).mean(), pairs / (y.size * (len(y) - 1))))
    values = np.array(found)
    return zip(values.mean(0), values.std(0, ddof=1) / math.sqrt(REPLICATES), strict=True)


@pytest.mark.parametrize(("text", "mean", "slack"), ROWS.values(), ids=ROWS)
def test_forward(text, mean, slack):
    block, state = read_block(text), given(mean)
    out = block.forward(state)
    claims = [float(value) for value in (out.mean, out.second_moment, out.followed)]
    for claimed, (estimate, error) in zip(claims, forward(block, state), strict=True):
        bound = ERRORS * error + slack * abs(claimed)
        assert abs(estimate - claimed) < bound
        assert claimed == 0 or abs(estimate - 1.5 * claimed) > bound


@pytest.mark.parametrize(("text", "mean", "slack"), ROWS.values(), ids=ROWS)
def test_backward(text, mean, slack):
    gradient = Gradient(second_moment=ONE * 2, product=ONE / 2)
    found = measure_gradients(
        read_block(text), given(mean), gradient, TOKENS, replicates=REPLICATES, seed=1
    )
    for one in found.values():
        bound = ERRORS * one.error + slack * abs(one.claimed)
        assert abs(one.estimate - one.claimed) < bound
        assert abs(one.estimate - 2 * one.claimed) > bound


def test_embeddings():
    """Words by Zipf's law, positions, segments in halves: pi^2/(18 log(V)^2) + 2/9."""
    words = "embedding(24, var=1, repeats=pi^2/(6*log(32000)^2))"
    rows = read_block(f"{words} >> places(1) >> shift(2/3) >> places(1/3)")
    out = rows.forward(given(0))
    found = float(out.correlation)
    assert found == pytest.approx(math.pi**2 / (18 * math.log(32000) ** 2) + 2 / 9)
    drawn = read_block("embedding(24, var=1, repeats=3/10)")
    (_, square, product) = forward(drawn, given(0))
    assert abs(square[0] - 1) < ERRORS * square[1]
    assert abs(product[0] - 0.3) < ERRORS * product[1] < 0.1
