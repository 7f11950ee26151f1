"""Gradients through stacks with batch norm, against Yang et al. 2019 and a simulation."""

import numpy as np
import pytest
from sympy import Rational, Symbol, pi, simplify

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.depth import depth
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, Gradient
from varlaw.symbolic.language import read

L, END = Symbol("L", positive=True), Gradient(second_moment=ONE)
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
    ],
)
@pytest.mark.parametrize("count", [2, 3])
def test_closed_forms_against_layers_one_by_one(layer, count):
    block = read_block(layer)
    side = block
    for _ in range(count - 1):
        side = side >> block
    expected = side.backward(END, STATE).second_moment.evalf()
    for form in (Repeat(block, count), Repeat(block, L)):
        found = form.backward(END, STATE).second_moment.subs(L, count)
        assert abs(found.evalf() / expected - 1) < 1e-12


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
