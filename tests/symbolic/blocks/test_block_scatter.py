"""The scatter between seeds: against exact enumeration, published factors and simulation."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sympy import Rational, log, symbols

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.block import Sequential
from varlaw.symbolic.blocks.finite import scatter
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.norm import RMSNorm
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import BlockError

n, n1, n2, n3 = symbols("n n1 n2 n3", positive=True)
LAWS = {
    "1": ((-1, Fraction(1, 2)), (1, Fraction(1, 2))),
    "2": ((-2, Fraction(1, 8)), (0, Fraction(3, 4)), (2, Fraction(1, 8))),  # kurtosis 4
}


def mlp(sizes, function, gain, bias="0"):
    """Layers of fan-in times variance `gain`, with an activation behind each."""
    parts = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        parts.append(Linear(fan_in, fan_out, var=f"{gain}/({fan_in})", bias=bias))
        parts += [Activation(function)] if function else []
    return Sequential(tuple(parts))


def test_relu_at_hes_variance():
    """E[q^2]/E[q]^2 is the product of 1 + 5/n_l (Hanin and Rolnick 2018, theorem 5)."""
    found = scatter(mlp(["m", "n1", "n2", "n3"], "relu", 2))
    expected = (1 + 5 / n1) * (1 + 5 / n2) * (1 + 5 / n3) - 1
    assert (found.relative_variance - expected).simplify() == 0
    assert found.exact and found.mean == found.limit
    assert found.log_variance == 5 / n1 + 5 / n2 + 5 / n3
    assert (log(found.typical / found.limit) + found.log_variance / 2).simplify() == 0


def test_a_linear_network():
    """Each q is a chi-square of n degrees of freedom over n: relative variance 2/n."""
    found = scatter(mlp(["m", "n1", "n2"], None, 1))
    assert (found.relative_variance - (1 + 2 / n1) * (1 + 2 / n2) + 1).simplify() == 0


def test_a_readout_scatters_too():
    """ReLU layers and one output: its square is a chi-square of one degree of freedom times q."""
    found = scatter(mlp(["m", "n"], "relu", 2) >> Linear("n", 1, var="1/n"))
    assert (found.relative_variance - (1 + 5 / n) * 3 + 1).simplify() == 0


def test_the_same_repeated():
    once = Linear("n", "n", var="2/n") >> Activation("relu")
    found = scatter(Repeat(once, 4), 1)
    assert (found.relative_variance - (1 + 5 / n) ** 4 + 1).simplify() == 0


def enumerated(sizes, law, slopes, variance, bias):
    """E[q] and E[q^2] over all outcomes of weights and biases of a three-point law."""
    below, above = slopes
    layers = list(itertools.pairwise(sizes))
    count = sum(i * o + (o if bias else 0) for i, o in layers)
    total = square = Fraction(0)
    three = ((-3, Fraction(1, 6)), (0, Fraction(2, 3)), (3, Fraction(1, 6)))  # times 1/sqrt(3)
    laws = []
    for i, o in layers:
        laws += [LAWS[law]] * (i * o) + [three] * (o if bias else 0)
    for outcome in itertools.product(*laws):
        weight, values, x = Fraction(1), iter(outcome), np.array([1.0, 2.0])
        for i, o in layers:
            drawn = [next(values) for _ in range(i * o + (o if bias else 0))]
            for _, probability in drawn:
                weight *= probability
            numbers = np.array([float(value) for value, _ in drawn])
            z = np.sqrt(variance) * numbers[: i * o].reshape(o, i) @ x
            if bias:
                z = z + np.sqrt(bias / 3) * numbers[i * o :]
            x = np.where(z > 0, above, below) * z
        q = float((x**2).mean())
        total += weight * Fraction(q)
        square += weight * Fraction(q) ** 2
    assert count == len(laws)
    return float(total), float(square)


@pytest.mark.parametrize(
    ("law", "kurtosis", "slopes", "bias", "sizes"),
    [
        ("1", 1, (0, 1), 0, (2, 2, 3)),
        ("2", 4, (0, 1), 0, (2, 2, 2)),
        ("1", 1, (-0.5, 1), 0, (2, 3, 1)),
        ("1", 1, (0, 1), 0.25, (2, 1, 2)),
        ("2", 4, (0, 1), 0.25, (2, 2)),
    ],
)
def test_exact_at_tiny_widths(law, kurtosis, slopes, bias, sizes):
    """The input (1, 2): mean square 5/2, mean fourth power 17/2. Weights of variance 1 times v."""
    mean, square = enumerated(sizes, law, slopes, 0.3, bias)
    function = "relu" if slopes[0] == 0 else "leaky_relu(x, -1/2)"
    parts = []
    for fan_in, fan_out in itertools.pairwise(sizes):
        parts += [Linear(fan_in, fan_out, var="0.3", bias=str(bias)), Activation(function)]
    spread = Rational(17, 2) / Rational(5, 2) ** 2
    found = scatter(Sequential(tuple(parts)), "5/2", kurtosis=kurtosis, input_kurtosis=spread)
    assert found.exact
    assert float(found.mean) == pytest.approx(mean, rel=1e-12)
    assert float(found.relative_variance) == pytest.approx(square / mean**2 - 1, rel=1e-12)


def simulated(function, width, depth, gain, bias, sparse, nets=16_000):
    """q of networks whose every weight is drawn; `sparse` weights have kurtosis 6."""
    rng, found = np.random.default_rng(5), []
    for _ in range(nets // 1000):
        x = np.ones((1000, width))
        for _ in range(depth):
            w = rng.standard_normal((1000, width, width))
            if sparse:
                w *= np.sqrt(2) * (rng.random(w.shape) < 0.5)
            b = rng.standard_normal((1000, width))
            x = function(np.sqrt(gain / width) * np.einsum("rij,ri->rj", w, x) + np.sqrt(bias) * b)
        found.append((x**2).mean(axis=1))
    return np.concatenate(found)


@pytest.mark.parametrize(
    ("name", "function", "gain", "bias", "sparse"),
    [
        ("tanh", np.tanh, 1.5, 0.1, False),
        ("tanh", np.tanh, 1.5, 0.1, True),
        ("sin(x)", np.sin, 1.5, 0.2, True),
        ("relu", lambda z: np.maximum(z, 0), 2, 0.2, False),
    ],
)
def test_simulated(name, function, gain, bias, sparse):
    """At width 24 and three layers; the errors of the order 1/n answers are of order 1/n^2."""
    width, depth = 24, 3
    q = simulated(function, width, depth, gain, bias, sparse)
    kurtosis = 6 if sparse else 3
    block = mlp([width] * (depth + 1), name, gain, str(bias))
    found = scatter(block, 1, kurtosis=kurtosis, input_kurtosis=1)
    error = 5 * q.std() / np.sqrt(len(q)) + (0 if found.exact else float(found.limit) / width**2)
    assert abs(q.mean() - float(found.mean)) < error
    assert q.var() / q.mean() ** 2 == pytest.approx(float(found.relative_variance), rel=0.1)
    logs = np.log(q[q > 0])
    assert logs.std() == pytest.approx(float(found.log_std), rel=0.1)
    assert np.exp(logs.mean()) == pytest.approx(float(found.typical), rel=0.02)
    if sparse:  # the limit alone, without its correction, is refuted
        assert abs(q.mean() - float(found.limit)) > error


def test_tanh_at_its_critical_variance():
    """The variance of log q tends to (2/3) L/n, slowly (Roberts et al. 2022, section 5.3)."""
    once = Linear(100, 100, var="1/100") >> Activation("tanh")
    ten, twenty = (scatter(Repeat(once, L), 1).log_variance * 100 / L for L in (10, 20))
    assert ten < twenty < Rational(2, 3)
    assert float(twenty) == pytest.approx(2 / 3, abs=0.05)


def test_the_scatter_falls_like_the_width():
    narrow, wide = (scatter(mlp([w] * 4, "tanh", 1.5), 1).log_variance for w in (32, 128))
    assert float(narrow / wide) == pytest.approx(4)
    symbolic = scatter(mlp(["n"] * 4, "tanh", 1.5), 1).log_variance
    assert float(symbolic.subs(n, 32)) == pytest.approx(float(narrow))


@pytest.mark.parametrize(
    ("block", "arguments", "message"),
    [
        (Activation("relu") >> Linear("n", "n", var="1/n"), {}, "needs a linear layer before it"),
        (Linear(4, 4, var=1) >> RMSNorm(), {}, "not of RMSNorm"),
        (Linear("m", "n", var="v") >> Activation("tanh"), {}, "tanh(x) needs numbers for m, q0, v"),
        (Repeat(Linear("n", "n", var="1/n"), "L"), {}, "needs a number of layers, not L"),
        (Linear(4, 4, var=1), {"kurtosis": "1/2"}, "a kurtosis is at least 1, not 1/2"),
    ],
)
def test_what_is_refused(block, arguments, message):
    with pytest.raises(BlockError) as error:
        scatter(block, **arguments)
    assert message in str(error.value)
