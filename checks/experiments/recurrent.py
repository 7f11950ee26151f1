"""Experiments on recurrences: linear ones, and the cell of an LSTM, where they settle."""

from fractions import Fraction
from math import ceil, e, log

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logit
from sympy import Expr, Rational, sqrt

from varlaw.checks.experiments.activations import exact_of
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.statistics.sampling import LAWS

FORGOTTEN = 4  # times of memory, behind which at most e^-4 of a wrong start is left
STEPS = 4  # of a cell that keeps a third of its second moment a step
LONG = 120
MEAN = Fraction(2)
BOUNDED = ("uniform", "skewed")  # of small fourth moments


def squared(case: Case, a: float, c: float, v: Expr, wrong: dict[str, Expr]) -> Trial:
    """E[h^2] of a h + c u, from where it is claimed to settle; a wrong claim is left."""
    weights, claim, steps = case.scaled(v), float(case.claim()), ceil(FORGOTTEN / (1 - a**2))

    def draw(rng: Generator, replicates: int) -> Draws:
        h = claim**0.5 * LAWS["rademacher"].sample(rng, (replicates,))
        for u in weights.sample(rng, (steps, replicates)):
            h = a * h + c * u
        return np.asarray(h**2)

    start = claim * a ** (2 * steps)
    parts = [c**2 * float(v) * a ** (2 * k) for k in range(steps)]
    excess = float(case.weights.moment(4)) - 3
    spread = 2 * sum([start, *parts]) ** 2 - 2 * start**2 + excess * sum(p**2 for p in parts)
    return Trial(draw, steps + 1, case.claim(), spread, wrong)


@experiment(
    law="lru-gain",
    quantity="E[h^2]",
    weights=ANY,
    a=Fraction(1, 2),
    c=Fraction(2, 3),
    v=Fraction(3, 2),
    most={"a": 1},
)
def lru_gain(case: Case) -> Trial:
    a, c, v = case["a"], case["c"], case["v"]
    wrong = {
        "v": v,
        "c^2 v": c**2 * v,
        "c^2 v/(1 - a)": c**2 * v / (1 - a),
        "c^2 v/(1 - a)^2, of a constant input": c**2 * v / (1 - a) ** 2,
    }
    return squared(case, float(a), float(c), v, wrong)


@experiment(law="lstm-cell", quantity="E[c^2]", weights=BOUNDED, v=Fraction(3, 2))
def lstm_cell(case: Case) -> Trial:
    """From where it is claimed to settle; gates are sigmoids of logistic pre-activations: uniform.

    A wrong claim is left: after four steps 1/81 of its error remains.
    """
    v, weights, third = case["v"], case.scaled(case["v"]), Rational(1, 3)
    claim = case.claim(r=third, p=third)

    def draw(rng: Generator, replicates: int) -> Draws:
        cell = float(claim) ** 0.5 * LAWS["rademacher"].sample(rng, (replicates,))
        for g in weights.sample(rng, (STEPS, replicates)):
            f, i = rng.random((2, replicates))
            cell = f * cell + i * g
        return np.asarray(cell**2)

    second, fourth = float(claim), float(claim) ** 2
    for _ in range(STEPS):  # E[f^4] = 1/5
        added = float(v) ** 2 * float(case.weights.moment(4)) / 5
        fourth = fourth / 5 + 6 * second * float(v) / 9 + added
        second = second / 3 + float(v) / 3
    wrong = {
        "v": v,
        "p v": v / 3,
        "p v/(1 - sqrt(r))": v / 3 / (1 - sqrt(third)),
        "p v/(1 - E[f]^2)": v / 3 / (1 - Rational(1, 4)),
    }
    return Trial(draw, 3 * STEPS + 1, claim, fourth - second**2, wrong)


@experiment(
    law="chrono-bias", quantity="E[c]/E[y]", weights=ANY, T=5, least={"T": 2}, most={"T": 8}
)
def chrono_bias(case: Case) -> Trial:
    """Where a cell with the derived bias settles, at inputs about a mean."""
    T, u = case["T"], float(case.claim())
    gate = float(expit(log(u)))

    def draw(rng: Generator, replicates: int) -> Draws:
        cell = np.zeros(replicates)
        for y in case.weights.sample(rng, (LONG, replicates)):
            cell = gate * cell + float(MEAN) + y
        return np.asarray(cell / float(MEAN))

    others = {"T": T - 1, "2 T": (T - 1) / 2, "1/(T - 1)": 1 / (T - 1), "e^T": log(u), "T/e": u * e}
    wrong = {f"u = {name}": exact_of(other) for name, other in others.items()}
    return Trial(draw, LONG, T, 1 / (MEAN**2 * (1 - exact_of(gate) ** 2)), wrong)


@experiment(
    law="chrono-cell",
    quantity="E[c^2]",
    weights=ANY,
    T=3,
    v=Fraction(3, 2),
    least={"T": 2},
    most={"T": 1000},
)
def chrono_cell(case: Case) -> Trial:
    """Gates from the biases b and -b."""
    T, v = case["T"], case["v"]
    bias = float(logit(1 - 1 / float(T)))
    wrong = {
        "v, as if constant": v,
        "v/T": v / T,
        "v/T^2": v / T**2,
        "v/(2 T)": v / (2 * T),
        "v/(T + 1)": v / (T + 1),
    }
    return squared(case, float(expit(bias)), float(expit(-bias)), v, wrong)
