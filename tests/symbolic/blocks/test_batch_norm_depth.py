"""Gradients through stacks with batch norm, against Yang et al. 2019 and a simulation."""

from dataclasses import replace

import numpy as np
import pytest
from sympy import Rational, Symbol, pi, simplify

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.depth import depth
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.language import read

L, END = Symbol("L", positive=True), Gradient(second_moment=ONE)
ENDS = END, Gradient(second_moment=ONE, product=ONE / 3), replace(END, product=ONE, pooled=True)
STATE = start(Rational(7, 5), 0)


@pytest.mark.parametrize(
    ("layer", "kind", "rate"),
    [
        ("linear(n, n, var=1/n) >> batchnorm(B)", "exponential", "(B - 2)/(B - 3)"),
        ("batchnorm(B) >> linear(n, n, var=v)", "exponential", "(B - 2)/(B - 3)"),
        ("linear(n, n, var=v) >> batchnorm >> relu", "exponential", "pi/(pi - 1)"),
        ("residual(batchnorm >> relu >> linear(n, n, var=2/n))", "polynomial", "pi/(pi - 1)"),
    ],
)
def test_published_rates(layer, kind, rate):
    """Yang et al. 2019, section 3: (B - 2)/(B - 3) without, pi/(pi - 1) with ReLU, B large."""
    found = depth(Repeat(read_block(layer), L), STATE).backward
    assert found.kind == kind
    assert simplify(found.rate - read(rate)) == 0


@pytest.mark.parametrize(
    "layer",
    [
        "linear(16, 16, var=1/16) >> batchnorm(6)",
        "linear(16, 16, var=1/16) >> batchnorm(6) >> relu",
        "residual(batchnorm >> relu >> linear(16, 16, var=1/8))",
        "residual(batchnorm(5) >> relu >> linear(16, 16, var=1/8))",
        "conv(16, 16, 1, var=1/16) >> batchnorm >> relu",
    ],
)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("end", ENDS, ids=["apart", "alike", "pooled"])
def test_closed_forms_against_layers_one_by_one(layer, count, end):
    if end.pooled and "batchnorm(" in layer:
        pytest.skip("behind a pool norms take many samples")
    block = read_block(layer)
    side = block
    for _ in range(count - 1):
        side = side >> block
    expected = side.backward(end, STATE)
    size = expected.second_moment.evalf()
    for form in (Repeat(block, count), Repeat(block, L)):
        found = form.backward(end, STATE)
        for name in ("second_moment", "product"):
            value = getattr(found, name).subs(L, count).evalf()
            assert abs(value - getattr(expected, name).evalf()) < 1e-12 * size


def test_a_pool_behind_a_norm_against_a_simulation():
    """Positions of one image share their gradient, images do not: the mean over many is 0.

    A mean over the positions of one image alone would be half of the second moment.
    """
    images, places, channels = 64, 16, 32
    claim = read_block(f"batchnorm >> relu >> globalaveragepool({places})")
    expected = float(claim.backward(END, start(2, 0)).second_moment)
    assert expected == pytest.approx(1 / (4 * places**2))
    rng, found = np.random.default_rng(11), []
    for _ in range(60):
        x = 2**0.5 * rng.standard_normal((images, places, channels))
        std = x.std((0, 1))
        y = (x - x.mean((0, 1))) / std
        g = rng.standard_normal((images, 1, channels)) / places * (y > 0)
        g = g - g.mean((0, 1)) - y * (g * y).mean((0, 1))
        found.append(np.mean((g / std) ** 2))
    mean, error = np.mean(found), np.std(found) / len(found) ** 0.5
    assert abs(mean - expected) < 6 * error + 2 / images * expected
    assert abs(mean - expected / 2) > 6 * error + 2 / images * expected


@pytest.mark.parametrize("norm", ["batchnorm(64)", "instancenorm(16)"])
def test_few_samples_behind_a_pool_are_refused(norm):
    with pytest.raises(BlockError, match="behind a pool"):
        read_block(f"{norm} >> relu >> globalaveragepool(16)").backward(END, start(2, 0))


def test_small_batches_against_a_simulation():
    """Gradients that have gone through one batch norm sum to 0 over the batch: 1.2, not 1.05."""
    batch, width, layers = 8, 128, 3
    claim = Repeat(read_block("linear(n, n, var=1/n) >> batchnorm(8)"), layers)
    rng, found = np.random.default_rng(7), []
    for _ in range(600):
        x, kept = rng.standard_normal((batch, width)), []
        for _ in range(layers):
            w = rng.standard_normal((width, width)) / width**0.5
            z = x @ w
            x = (z - z.mean(axis=0)) / z.std(axis=0)
            kept.append((w, x, z.std(axis=0)))
        g = rng.standard_normal((batch, width))
        for w, y, std in reversed(kept):
            g = (g - g.mean(axis=0) - y * (g * y).mean(axis=0)) / std @ w.T
        found.append(np.mean(g**2))
    mean, error = np.mean(found), np.std(found) / len(found) ** 0.5
    expected = float(claim.backward(END, start(1, 0)).second_moment)
    assert expected == pytest.approx(1.2**layers)
    assert abs(mean - expected) < 6 * error + 2 * layers / width
    assert abs(mean - 1.2 * 1.05 ** (layers - 1)) > 6 * error + 2 * layers / width


def test_a_residual_stream_in_closed_form():
    """De and Smith 2020: after l layers a factor of 1 + 1/((1 - 1/pi) l + q0)."""
    block = Repeat(read_block("residual(batchnorm >> relu >> linear(n, n, var=2/n))"), L)
    found = block.backward(END, STATE).second_moment.subs(L, 3)
    gaps = [Rational(7, 5) + (1 - 1 / pi) * t for t in range(3)]
    expected = (1 + 1 / gaps[0]) * (1 + 1 / gaps[1]) * (1 + 1 / gaps[2])
    assert abs(found.evalf() / expected.evalf() - 1) < 1e-12
