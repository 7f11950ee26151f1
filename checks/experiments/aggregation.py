"""Experiments on other sums: graphs, generated and complex weights, maxout."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator

from varlaw.checks.experiments.activations import INPUT, LENGTH, NORMAL, WIDTH, value
from varlaw.checks.experiments.diffusion import squared
from varlaw.checks.experiments.forward import SIGNS
from varlaw.checks.experiments.moments import exact
from varlaw.checks.experiments.noise import halved
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment

DEGREES = (2, 3, 5, 4)  # of the neighbours of a node of degree 4, loops counted


@experiment(law="gcn-aggregation", quantity="E[y^2]", weights=ANY, q=Fraction(3, 2))
def gcn_aggregation(case: Case) -> Trial:
    """A node of degree 4 between nodes of known degrees."""
    q, degrees = case["q"], [exact(d) for d in DEGREES]
    m = exact(len(DEGREES))
    inverse = sum(1 / d for d in degrees) / m
    wrong = {
        "q, kept": q,
        "q/m": q / m,
        "m q, of a sum": m * q,
        "q over the mean degree": q * m / sum(degrees),
    }
    factors = [exact(q / (m * d)) ** Fraction(1, 2) for d in degrees]
    return squared(case, factors, case.claim(r=inverse), wrong)


@experiment(law="hypernetwork", quantity="E[y^2]/q", weights=ANY, m=5, d=3, r=Fraction(3, 2))
def hypernetwork(case: Case) -> Trial:
    """Inputs and features are signs with a mean, times sqrt(r) for the features."""
    m, d, r, s = case["m"], case["d"], case["r"], case.claim()
    rows, cols, weights, size = case.size("m"), case.size("d"), case.scaled(s), float(r) ** 0.5

    def draw(rng: Generator, replicates: int) -> Draws:
        x, z = (SIGNS.sample(rng, (count, replicates)) for count in (rows, cols))
        made = np.einsum("idr,dr->ir", weights.sample(rng, (rows, cols, replicates)), size * z)
        return np.asarray((x * made).sum(axis=0) ** 2)

    excess = exact(case.weights.moment(4)) - 3
    spread = (m * d * r * s) ** 2 * (2 + excess / (m * d))
    others = {"1/d": 1 / d, "1/m": 1 / m, "1/(m d)": 1 / (m * d), "1/(d r)": 1 / (d * r)}
    wrong = {name: s / other for name, other in others.items()}
    return Trial(draw, rows * cols + rows + cols, 1, spread, wrong)


@experiment(law="complex-weights", quantity="E|y|^2/E|x|^2", weights=ANY, m=4)
def complex_weights(case: Case) -> Trial:
    """NumPy's complex numbers, with both parts of the inputs signs."""
    m, rows, s = case["m"], case.size("m"), case.claim()
    weights = case.scaled(s)

    def draw(rng: Generator, replicates: int) -> Draws:
        a, b = weights.sample(rng, (2, rows, replicates))
        u, v = SIGNS.sample(rng, (2, rows, replicates))
        return np.abs(((a + 1j * b) * (u + 1j * v)).sum(axis=0)) ** 2 / 2

    # each part is a sum of 2 m terms of variance s; Var(x^2 + y^2) is at most 4 Var(x^2)
    excess = exact(case.weights.moment(4)) - 3
    spread = (2 * m * s) ** 2 * (2 + excess / (2 * m))
    others = {"1/m": 1 / m, "1/(4 m)": 1 / (4 * m), "1/sqrt(m)": m ** Fraction(-1, 2)}
    return Trial(draw, 4 * rows, 1, spread, {name: s / exact(o) for name, o in others.items()})


@experiment(
    law="alpha-dropout",
    quantity="Var(x b + k (1 - b))",
    weights=ANY,
    p=Fraction(3, 5),
    k=Fraction(-7, 4),
    most={"p": 1},
)
def alpha_dropout(case: Case) -> Trial:
    p, k, weights = Fraction(case.values["p"]), Fraction(case.values["k"]), case.weights

    def one(rng: Generator, shape: tuple[int, ...]) -> Draws:
        return np.where(rng.random(shape) < float(p), weights.sample(rng, shape), float(k))

    def moments(order: int) -> Fraction:
        return p * Fraction(weights.moment(order)) + (1 - p) * k**order

    wrong = {
        "p, of dropped zeros": p,
        "1": Fraction(1),
        "1/p, of dropout": 1 / p,
        "p + k^2 (1 - p), the second moment": p + k**2 * (1 - p),
    }
    return halved(one, moments, 2, case.claim(), wrong)


@experiment(law="maxout", quantity="E[max(z_1, z_2, z_3)^2]", weights=NORMAL)
def maxout(case: Case) -> Trial:
    """Three layers of Gaussian weights on a fixed input, and the largest output."""
    c = case.claim()
    weights = case.scaled(c / exact(LENGTH))

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (3, len(INPUT), WIDTH, replicates))
        z = np.einsum("i,kijr->kjr", INPUT, drawn)
        return np.asarray((z.max(axis=0) ** 2).mean(axis=0))

    fourth = value("3*x^4*(1/2 + erf(x/sqrt(2))/2)^2")
    spread = (float(c) ** 2 * fourth - 1) / WIDTH
    others = {"2, of ReLU": 2, "1": 1, "3": 3, "0.64461, of four": Fraction(64461, 100000)}
    wrong = {name: c / exact(other) for name, other in others.items()}
    return Trial(draw, 3 * len(INPUT) * WIDTH, 1, spread, wrong)
