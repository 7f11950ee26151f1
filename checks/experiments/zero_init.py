"""Experiments on branches that start at zero: gradients by differences, and real steps of SGD."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr
from sympy import Integer

from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.experiments.stacks import Drawn
from varlaw.checks.statistics.sampling import LAWS
from varlaw.symbolic.sequences import Term

STEP = 1e-3  # of central differences
RATE = 1e-6  # of SGD: what is not of leading order is as small as this
CONTINUOUS = ("normal", "uniform")  # of discrete ones, p.F may be 0
PROBE = Fraction(3, 2)  # p is this times a sign
G = PROBE**2
Function = Callable[[Draws], Draws]


def relu(z: Draws) -> Draws:
    return np.maximum(z, 0)


def gelu(z: Draws) -> Draws:
    return np.asarray(z * ndtr(z))


def probe(rng: Generator, shape: tuple[int, ...]) -> Draws:
    return float(PROBE) * LAWS["rademacher"].sample(rng, shape)


def loss(p: Draws, x: Draws, u: Draws, w: Draws, f: Function) -> Draws:
    """p.y for the block y = x + f(x u) w."""
    return np.asarray(np.sum(p * (x + multiply(f(multiply(x, u)), w)), axis=0))


def difference(of: Callable[[Draws], Draws], at: Draws, place: tuple[int, ...]) -> Draws:
    """The central difference of a loss by one weight."""
    up, down = at.copy(), at.copy()
    up[place] += STEP
    down[place] -= STEP
    return np.asarray((of(up) - of(down)) / (2 * STEP))


def one_gradient(
    case: Case,
    f: Function,
    first: float,
    last: float,
    by: str,
    fourth: float,
    wrong: Mapping[str, Number],
) -> Trial:
    """The squared gradient by one weight of the first or last layer, of variances given."""
    d, n = case.size("d"), case.size("n")
    inner, outer = Drawn(case.weights, first), Drawn(case.weights, last)

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        u, w = inner.sample(rng, (d, n, replicates)), outer.sample(rng, (n, d, replicates))
        if by == "u":
            return difference(lambda v: loss(p, x, v, w, f), u, (0, 0)) ** 2
        return difference(lambda v: loss(p, x, u, v, f), w, (0, 0)) ** 2

    claim = case.claim(q=1, g=G)
    spread = max(fourth - float(claim) ** 2, 0.0)
    return Trial(draw, 2 * d * (n + 1), claim, spread, wrong, scale=float(G))


@experiment(
    law="zero-last-layer", quantity="E[(dl/dw)^2]", weights=SYMMETRIC, d=4, n=3, s=Fraction(2, 3)
)
def zero_last_layer(case: Case) -> Trial:
    d, s, g = case["d"], case["s"], exact(G)
    wrong = {"0": 0, "d g q s, without ReLU": d * g * s, "g q s/2, of one unit": g * s / 2}
    kurtosis = Drawn(case.weights, 1).kurtosis
    fourth = float(G**2) * kurtosis * float(d * s) ** 2 / 2
    return one_gradient(case, relu, float(s), 0.0, "w", fourth, wrong)


@experiment(
    law="zero-last-layer-before",
    quantity="E[(dl/du)^2]",
    weights=SYMMETRIC,
    d=4,
    n=3,
    s=Fraction(2, 3),
)
def zero_last_layer_before(case: Case) -> Trial:
    one = exact(G) * case["s"]
    wrong = {
        "d g q s/2, as with random last layers": case["d"] * one / 2,
        "d g q s, without ReLU": case["d"] * one,
        "n g q s/2": case["n"] * one / 2,
        "g q s/2, of one unit": one / 2,
    }
    return one_gradient(case, relu, float(case["s"]), 0.0, "u", 0.0, wrong)


@experiment(
    law="zero-first-layer-relu",
    quantity="E[(dl/du)^2] + E[(dl/dw)^2]",
    weights=SYMMETRIC,
    d=4,
    n=3,
    s=Fraction(2, 3),
)
def zero_first_layer_relu(case: Case) -> Trial:
    """By back-propagation with the mask 1[z > 0], as libraries do."""
    d, n, s = case.size("d"), case.size("n"), case["s"]
    outer = Drawn(case.weights, float(s))

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        u, w = np.zeros((d, n, replicates)), outer.sample(rng, (n, d, replicates))
        z = multiply(x, u)
        back = np.einsum("ir,jir->jr", p, w) * (z > 0)
        return np.asarray((x[0] * back[0]) ** 2 + (relu(z)[0] * p[0]) ** 2)

    wrong = {
        "with slope 1/2 at 0": case["d"] * exact(G) * s / 4,
        "with slope 1 at 0": case["d"] * exact(G) * s,
        "as with a random first layer": case["d"] * exact(G) * s / 2,
    }
    return Trial(draw, 2 * d + n * d, case.claim(), 0.0, wrong, scale=float(G))


def smooth(case: Case, f: Function, slope: Fraction, wrong: Mapping[str, Number]) -> Trial:
    kurtosis = Drawn(case.weights, 1).kurtosis
    fourth = float(slope**4 * G**2) * kurtosis * float(case["d"] * case["s"]) ** 2
    return one_gradient(case, f, 0.0, float(case["s"]), "u", fourth, wrong)


@experiment(
    law="zero-first-layer-gelu", quantity="E[(dl/du)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3)
)
def zero_first_layer_gelu(case: Case) -> Trial:
    whole = case["d"] * exact(G) * case["s"]
    wrong = {
        "0, stuck as ReLU": 0,
        "slope 1": whole,
        "its slope for 1/4": whole / 2,
        "n for d": case["n"] * exact(G) * case["s"] / 4,
    }
    return smooth(case, gelu, Fraction(1, 2), wrong)


@experiment(
    law="zero-first-layer-tanh", quantity="E[(dl/du)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3)
)
def zero_first_layer_tanh(case: Case) -> Trial:
    whole = case["d"] * exact(G) * case["s"]
    wrong = {"0, stuck as ReLU": 0, "slope 1/2": whole / 4, "n for d": whole * 3 / 4}
    return smooth(case, np.tanh, Fraction(1), wrong)


@experiment(law="zero-gamma", quantity="E[(dl/dgamma)^2]", weights=ANY, d=4)
def zero_gamma(case: Case) -> Trial:
    """y = x + gamma h; the laws of weights serve as laws of h."""
    d = case.size("d")

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        h = case.weights.sample(rng, (d, replicates))
        zero = np.zeros((d, replicates))
        slope = difference(lambda gamma: np.sum(p * (x + gamma * h), axis=0), zero, (0,))
        return slope**2

    spread = float(G**2) * (float(case.weights.moment(4)) - 1)
    wrong = {"0": 0, "d g": case["d"] * exact(G), "sqrt(g)": exact(PROBE)}
    return Trial(draw, 3 * d, case.claim(g=G), spread, wrong)


def scalar_factor(case: Case, by: str, fourth: float, wrong: Mapping[str, Number]) -> Trial:
    """y = x + alpha h w with alpha = 0; by alpha, or by one entry of w."""
    d, n = case.size("d"), case.size("n")
    outer = Drawn(case.weights, float(case["s"]))

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        h, w = SIGNS.sample(rng, (n, replicates)), outer.sample(rng, (n, d, replicates))
        alpha = np.zeros((1, replicates))
        if by == "w":
            return (
                difference(lambda v: np.sum(p * (x + alpha * multiply(h, v)), axis=0), w, (0, 0))
                ** 2
            )
        return difference(lambda v: np.sum(p * (x + v * multiply(h, w)), axis=0), alpha, (0,)) ** 2

    claim = case.claim(q=1, g=G)
    spread = max(fourth - float(claim) ** 2, 0.0)
    return Trial(draw, 2 * d + n * (d + 1), claim, spread, wrong, scale=float(G))


@experiment(law="rezero", quantity="E[(dl/dalpha)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3))
def rezero(case: Case) -> Trial:
    d, n, s, g = case["d"], case["n"], case["s"], exact(G)
    kurtosis = Drawn(case.weights, 1).kurtosis
    wrong = {"0": 0, "n g q s, of one unit": n * g * s, "d g q s": d * g * s}
    return scalar_factor(case, "alpha", kurtosis * float(d * n * s * g) ** 2, wrong)


@experiment(
    law="zero-gamma-before", quantity="E[(dl/dw)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3)
)
def zero_gamma_before(case: Case) -> Trial:
    """All gains alike, as one factor alpha = 0."""
    wrong = {
        "g q, as at gamma = 1": exact(G),
        "g q/4, as at gamma = 1/2": exact(G) / 4,
        "n g q, of all inputs": case["n"] * exact(G),
        "d g q s, as by alpha": case["d"] * exact(G) * case["s"],
    }
    return scalar_factor(case, "w", 0.0, wrong)


@experiment(law="rezero-ramp", quantity="alpha_l/(eta p.F)", weights=CONTINUOUS, d=4, n=3, l=5)
def rezero_ramp(case: Case) -> Trial:
    """SGD on alpha and on the branch's last layer, at a small learning rate."""
    d, n, steps = case.size("d"), case.size("n"), case.size("l")

    def draw(rng: Generator, replicates: int) -> Draws:
        h, p = SIGNS.sample(rng, (n, replicates)), probe(rng, (d, replicates))
        w = case.weights.sample(rng, (n, d, replicates))
        alpha = np.zeros(replicates)
        begin = np.sum(p * multiply(h, w), axis=0)
        rate = RATE * np.minimum(1, begin**2)  # smaller where the first gradient is
        for _ in range(steps):
            slope = np.sum(p * multiply(h, w), axis=0)
            back = alpha * h[:, None] * p[None]
            alpha, w = alpha - rate * slope, w - rate * back
        return np.asarray(alpha / (rate * begin))

    claim = case.at(case.law.statement.rhs.xreplace({Term("alpha", 0): Integer(0)}), c=1)
    steps_ = case["l"]
    wrong = {"-1": -1, "-l^2": -(steps_**2), "0": 0, "-l (l - 1)/2": -steps_ * (steps_ - 1) / 2}
    return Trial(draw, 2 * d + n * (d + 1), claim, 1e-8, wrong)
