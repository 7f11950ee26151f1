"""Batch norm over few samples and activations, against features that are normalised for real.

Bounds are 6 standard errors, which is a false alarm less often than 1e-6; seeds are fixed.
"""

import math

import numpy as np
import pytest
from flint import ctx
from sympy import Lambda, Rational, Symbol

from varlaw.checks.blocks import measure_gradients
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.sphere import mean, pair
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.gaussian.arrays import on_arrays
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.functions import function_of

X = Symbol("x", real=True)
FUNCTIONS = {"relu": lambda y: np.maximum(y, 0), "tanh": np.tanh, "abs": np.abs}
ERRORS = 6


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("samples", [4, 8, 16])
def test_forward(name, samples):
    """Features of independent Gaussian samples: mean, second moment and product of two samples."""
    block = read_block(f"linear(64, 64, var=1/64) >> batchnorm({samples}) >> {name}")
    out = block.forward(start(1, 0))
    h = np.random.default_rng(samples).standard_normal((400_000, samples))
    y = (h - h.mean(1, keepdims=True)) / h.std(1, keepdims=True)
    f = FUNCTIONS[name](y)
    products = (f.sum(1) ** 2 - (f**2).sum(1)) / samples / (samples - 1)
    for claimed, found in ((out.mean, f.mean(1)), (out.second_moment, (f**2).mean(1)),
                           (out.followed, products)):  # fmt: skip
        error = found.std() / np.sqrt(len(found))
        assert abs(found.mean() - float(claimed)) < ERRORS * error + 2e-5


def test_gaussian_features_are_another_thing():
    """At 4 samples tanh of normalised features is 3 % off that of Gaussian ones."""
    few, many = (
        read_block(f"linear(8, 8, var=1/8) >> batchnorm({n}) >> tanh").forward(start(1, 0))
        for n in (4, 100_000)
    )
    assert abs(float(few.second_moment) / float(many.second_moment) - 1) > 0.03


@pytest.mark.parametrize("samples", [4, 5, 9])
def test_moments_of_the_sphere(samples):
    """E[y^4] = 3 n/(n + 2), E[y^2 y'^2] = n (1 + 2/n^2)/(n + 2), by hand."""
    n = samples - 1
    expected = {
        mean(Lambda(X, X**4), samples): Rational(3 * n, n + 2),
        pair(Lambda(X, X), samples)[0]: Rational(-1, n),
        pair(Lambda(X, X**2), samples)[0]: n * (1 + Rational(2, n**2)) / (n + 2),
    }
    for found, exact in expected.items():
        assert abs(found.evalf(40) - exact) < 1e-39
        with ctx.workprec(120):
            assert found.enclosure({}).overlaps(ball(exact))
            assert not found.enclosure({}).overlaps(ball(exact + Rational(1, 10**30)))


@pytest.mark.parametrize("name", ["tanh", "gelu", "hardtanh", "relu6", "elu"])
@pytest.mark.parametrize("samples", [4, 12])
def test_pairs_by_another_way(name, samples):
    """Two coordinates of the sphere by sums over its angles, kinks or not.

    By the trapezoid rule for u and w: y = sqrt(n) sin u, y' = sqrt(n) (r sin u + s cos u sin w),
    with densities cos(u)^(n - 2) and cos(w)^(n - 3).
    """
    f, x = function_of(name)
    found, proved = pair(Lambda(x, f), samples)
    n, at = samples - 1, on_arrays(f, x)
    u = ((np.arange(1200) + 0.5) / 1200 - 0.5) * np.pi
    v, w = np.cos(u) ** (n - 2), np.cos(u) ** (n - 3)
    r, inner = -1 / n, np.sin(u)
    outer = [at(np.sqrt(n) * (r * np.sin(a) + np.sqrt(1 - r**2) * np.cos(a) * inner)) @ w
             for a in u]  # fmt: skip
    expected = (at(np.sqrt(n) * np.sin(u)) * outer) @ v / v.sum() / w.sum()
    assert float(found) == pytest.approx(float(expected), abs=2e-5)
    assert proved or name in ("hardtanh", "relu6")


def test_few_digits_are_said():
    """Of clipped features over 4 samples 7 digits are proved, and over 16 all of them."""
    few, many, smooth = (
        read_block(f"batchnorm({n}) >> {f}").forward(start(1, 0))
        for n, f in ((4, "hardtanh"), (16, "hardtanh"), (4, "tanh"))
    )
    assert "few digits" in str(few.product_regime)
    assert "few digits" not in str(few.regime)
    assert "few digits" not in str(many.product_regime) + str(smooth.product_regime)
    assert float(few.followed) == pytest.approx(-0.1886086, abs=1e-12)


def test_no_mean_of_a_pole():
    with pytest.raises(BlockError, match="4 normalised samples is not known to be finite"):
        mean(Lambda(X, 1 / (X - 1) ** 2), 4)


@pytest.mark.parametrize(("name", "samples"), [("relu", 5), ("relu", 8), ("tanh", 8), ("abs", 12)])
def test_backward(name, samples):
    """Gradients that sum to 0 over samples, as another norm behind a linear layer sends them."""
    block = read_block(f"linear(48, 48, var=1/48) >> batchnorm({samples}) >> {name}")
    sent = Gradient(second_moment=ONE, product=-ONE / (samples - 1))
    found = measure_gradients(block, start(1, 0), sent, samples, replicates=200, seed=2)
    for one in found.values():
        bound = ERRORS * one.error + 0.01 * abs(one.claimed)
        assert abs(one.estimate - one.claimed) < bound


def test_gradients_that_know_the_features():
    """Of ReLU over 8 samples they are 4.7 % more than those that are independent of them."""
    block = read_block("linear(48, 48, var=1/48) >> batchnorm(8) >> relu")
    sent = Gradient(second_moment=ONE, product=-ONE / 7)
    claimed = float(block.backward(sent, start(1, 0)).second_moment)
    both = 1 / 4 - math.asin(1 / 7) / (2 * math.pi)  # P[y > 0, y' > 0]
    assert claimed / (6 / 5 * (1 / 2 + both / 7)) == pytest.approx(1.049, abs=0.003)
