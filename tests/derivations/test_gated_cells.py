"""Numbers that the laws of recurrent cells, B2T, detectors and Performer state, by other ways."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from sympy import exp, log

from varlaw.checks.experiments.moments import evaluate
from varlaw.derivations.catalogue import entries, find
from varlaw.symbolic.arrays import Entry


def at(name, **values):
    end = find(name).derivation.end
    return float(end.subs({s: values[s.name] for s in end.free_symbols}))


def stated(name, *numbers):
    """That the pitfalls of a law state these numbers, as they are written."""
    told = " ".join(number for _, _, number in entries()[name].pitfalls)
    for number in numbers:
        assert number in told, number


def sigmoid(b):
    return float(1 / (1 + mpmath.exp(-b)))


def settled(forget, write):
    """The second moment where c -> forget^2 c + write^2 settles, by running it."""
    c = 0.0
    for _ in range(20000):
        c = forget**2 * c + write**2
    return c


def test_an_lstm_with_weights_near_zero():
    for bias, told in ((0.0, "1/3"), (1.0, "0.537")):
        kept = settled(sigmoid(bias), 0.5)
        assert at("lstm-cell", r=sigmoid(bias) ** 2, p=0.25, v=1) == pytest.approx(kept)
        assert float(Fraction(told)) == pytest.approx(kept, abs=5e-4)
        stated("lstm-cell", told)
    assert sigmoid(1.0) ** 20 == pytest.approx(0.0019, abs=5e-5)
    assert sigmoid(0.0) ** 20 == pytest.approx(0.00000095, abs=5e-9)
    stated("lstm-cell", "0.0019", "0.00000095")


@pytest.mark.parametrize(("bias", "told"), [(0.0, 2.0), (1.0, 3.72), (6.66, 784.0)])
def test_how_long_a_forget_bias_remembers(bias, told):
    """The sum of the powers of the gate, against T = 1 + u."""
    steps = float(mpmath.nsum(lambda k: sigmoid(bias) ** int(k), [0, 20000]))
    (memory,) = find("chrono-bias").derivation.end.free_symbols
    assert float(find("chrono-bias").derivation.end.subs(memory, steps)) == pytest.approx(
        float(exp(bias)), rel=1e-6
    )
    assert steps == pytest.approx(told, rel=4e-3)


@pytest.mark.parametrize(("memory", "told"), [(10, 19), (784, 1567)])
def test_chrono_gates_that_add_up_to_one(memory, told):
    forget = sigmoid(float(log(memory - 1)))
    assert settled(forget, 1 - forget) == pytest.approx(1 / told, rel=1e-9)
    assert at("chrono-cell", T=memory, v=1) == pytest.approx(1 / told)
    stated("chrono-cell", f"1/{told}")


def test_the_weight_of_x_0_behind_blocks_of_b2t():
    """By vectors: the stream, and every branch along an axis of its own."""
    blocks, half = 12, 0.5**0.5
    x = np.zeros(1 + 2 * blocks)
    x[0] = 1
    kept = []
    for block in range(blocks):
        attention, forward = np.eye(len(x))[1 + 2 * block : 3 + 2 * block]
        h = half * (x + attention)
        x = x + h + forward
        x /= np.linalg.norm(x)
        kept.append(x[0])
    end = find("b2t-identity-path").derivation.end
    (start,) = (e for e in end.atoms(Entry) if e.array.name == "x")
    for block, told in ((1, 0.8125), (6, 0.288), (12, 0.083)):
        assert kept[block - 1] == pytest.approx(told, abs=5e-4)
        weight = evaluate(end.coeff(start), {"l": block, "s2": 1})
        assert float(weight) == pytest.approx(kept[block - 1], rel=1e-12)
    stated("b2t-identity-path", "0.8125", "0.288", "0.0156", "0.083")


def test_a_detector_with_one_positive_in_a_hundred():
    odds = at("sigmoid-prior-bias", p=0.01)
    assert float(log(odds)) == pytest.approx(-4.595, abs=5e-4)
    background = -float(mpmath.log(1 - mpmath.mpf(1) / 100))
    assert background == pytest.approx(0.01005, abs=5e-6)
    assert float(mpmath.log(2)) / background == pytest.approx(69, abs=0.5)
    stated("sigmoid-prior-bias", "0.01005", "69", "-4.595", "-6.907")


def test_how_many_features_performer_takes():
    """Unit entries in 64 dimensions: queries and keys over 64^(1/4)."""
    q = np.random.default_rng(1).standard_normal((2, 64, 20000)) / 64**0.25
    assert np.mean(np.sum(q.sum(axis=0) ** 2, axis=0)) == pytest.approx(16, rel=0.02)
    assert at("positive-features", v=16) == pytest.approx(8.9e6, rel=5e-3)
