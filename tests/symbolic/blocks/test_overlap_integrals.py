"""Overlaps of softmax weights against simulations, closed forms, and half the step."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from varlaw.symbolic.blocks.overlap_integrals import STEP, moments, overlaps, shared
from varlaw.symbolic.blocks.state import BlockError

ERRORS = 6
DRAWN = 400_000  # logits of a simulation


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def simulated(values):
    return values.mean(), ERRORS * values.std() / len(values) ** 0.5


@pytest.mark.parametrize("keys", [2, 16, 64, 1024])
@pytest.mark.parametrize("variance", [0.25, 1, 4, 9])
def test_one_softmax(variance, keys):
    rng = np.random.default_rng(keys)
    p = softmax(rng.standard_normal((DRAWN // keys, keys)) * variance**0.5)
    two, three = (p**2).sum(1), (p**3).sum(1)
    claims = moments(variance, np.array([keys]))[:, 0]
    for found, values in zip(claims, (two, three, two**2), strict=True):
        value, bound = simulated(values)
        assert abs(found - value) < bound
    if variance > 1 and keys > 2:  # what holds for many keys
        value, bound = simulated(two)
        assert abs(np.exp(variance) / (keys - 1 + np.exp(variance)) - value) > bound


@pytest.mark.parametrize(("few", "keys"), [(2, 2), (16, 16), (16, 64), (64, 64), (64, 256)])
@pytest.mark.parametrize(("variance", "correlation"), [(0.25, 0.5), (4, 0.8), (9, 0.3), (1, -0.5)])
def test_two_softmaxes(variance, correlation, few, keys):
    rng = np.random.default_rng(keys)
    one, own = rng.standard_normal((2, DRAWN // keys, keys))
    other = correlation * one + (1 - correlation**2) ** 0.5 * own
    x = variance**0.5 * np.array([one, other])
    value, bound = simulated((softmax(x[0, :, :few]) * softmax(x[1])[:, :few]).sum(1))
    counts = np.array([few, keys])[: 1 + (keys > few)]
    found = shared(variance, correlation * variance, counts)[0, -1]
    assert abs(found - value) < bound
    assert abs(found - 1 / keys) > bound


def test_two_keys_are_a_sigmoid():
    """p = sigmoid of a normal variable of variance 2 v."""
    for v in (0.01, 1, 25, 100):
        weight = quad(lambda z, v=v: norm.pdf(z) * expit(z * (2 * v) ** 0.5) ** 2, -9, 9)[0]
        assert moments(v, np.array([2]))[0, 0] == pytest.approx(2 * weight, rel=1e-7)


@pytest.mark.parametrize("variance", [1e-4, 1, 9])
@pytest.mark.parametrize("correlation", [-0.9, 0, 0.5, 1])
def test_half_the_step(variance, correlation):
    for m in ([2], [64]):
        given = variance, correlation * variance, np.array(m)
        assert shared(*given) == pytest.approx(shared(*given, STEP / 2), rel=1e-8)
    counts = np.array([1, 2, 3, 64])
    whole, half = (moments(variance, counts, step) for step in (STEP / 2, STEP / 4))
    assert whole == pytest.approx(half, rel=1e-7)


@pytest.mark.parametrize(("variance", "rel"), [(0, 1e-7), (1, 1e-7), (36, 1e-7), (256, 2e-3)])
def test_two_softmaxes_of_the_same_logits_and_of_independent_ones(variance, rel):
    for keys in (2, 64, 1024):
        counts = np.array([keys])
        one = moments(variance, counts)[0, 0]
        assert shared(variance, variance, counts)[0, 0] == pytest.approx(one, rel=rel)
        assert shared(variance, 0, counts)[0, 0] == pytest.approx(1 / keys, rel=rel)


@pytest.mark.parametrize("causal", [True, False])
def test_tables_are_interpolated(causal):
    """Queries of unlike variances and correlations, against their own integrals."""
    number, rng = 6, np.random.default_rng(1)
    v = rng.uniform(1, 6, number)
    c = np.outer(v**0.5, v**0.5) * np.where(np.eye(number), 1, rng.uniform(0, 0.9, (6, 6)))
    c = np.triu(c) + np.triu(c, 1).T
    seen = np.arange(1, number + 1) if causal else np.full(number, number)
    found = overlaps(v, c, seen)
    for t in range(number):
        two, three, square = moments(v[t], seen[t : t + 1])[:, 0]
        assert found.products[t, t] == pytest.approx(two, rel=1e-4)
        assert found.slopes[t] == pytest.approx(two - 2 * three + square, rel=1e-3, abs=1e-7)
        for s in range(t):
            counts = np.unique(seen[[s, t]])
            own = shared((v[s] + v[t]) / 2, c[s, t], counts)[0, len(counts) - 1]
            assert found.products[s, t] == pytest.approx(own, rel=1e-4)
    assert (found.products == found.products.T).all()


def test_logits_that_are_spread_too_far_are_refused():
    with pytest.raises(BlockError, match="up to 256"):
        overlaps(np.array([300.0, 300]), np.zeros((2, 2)), np.array([2, 2]))
