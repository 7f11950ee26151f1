"""Experiments on diffusion: data and noise of several laws, blended as the models do."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, sqrt

from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment

MANY = 8  # samples per replicate
THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


def squared(
    case: Case, factors: Sequence[Expr], claim: Number, wrong: Mapping[str, Number]
) -> Trial:
    """The mean over samples of (Sum_k f_k w_k)^2 for independent w_k of variance 1."""
    weights, numbers = case.weights, [float(factor) for factor in factors]

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (len(numbers), MANY, replicates))
        return np.asarray((np.einsum("k,ksr->sr", numbers, drawn) ** 2).mean(axis=0))

    excess = exact(weights.moment(4)) - 3
    total = sum(factor**2 for factor in factors)
    spread = (2 * total**2 + excess * sum(factor**4 for factor in factors)) / MANY
    return Trial(draw, MANY * len(numbers), claim, spread, wrong)


def levels(case: Case) -> tuple[Expr, Expr]:
    """sigma_data and sigma."""
    return case["r"], case["s"]


@experiment(law="edm-input", quantity="E[(c (x + s n))^2]", weights=ANY, r=HALF, s=Fraction(4, 3))
def edm_input(case: Case) -> Trial:
    (r, s), c = levels(case), case.claim()
    others = {
        "1/(r + s)": 1 / (r + s),
        "1/s": 1 / s,
        "1/(r^2 + s^2)": 1 / (r**2 + s**2),
        "1/r": 1 / r,
    }
    wrong = {name: (c / other) ** 2 for name, other in others.items()}
    return squared(case, [c * r, c * s], 1, wrong)


@experiment(law="edm-skip", quantity="E[x y]/E[y^2]", weights=ANY, r=HALF, s=Fraction(4, 3))
def edm_skip(case: Case) -> Trial:
    """The slope of least squares of the data x on y = x + s n, whose second moment is known."""
    (r, s), weights = levels(case), case.weights
    size, first, second = r**2 + s**2, float(r), float(s)

    def draw(rng: Generator, replicates: int) -> Draws:
        x, n = weights.sample(rng, (2, MANY, replicates))
        return np.asarray((first * x * (first * x + second * n)).mean(axis=0) / float(size))

    square = r**4 * exact(weights.moment(4)) + r**2 * s**2
    spread = (square - r**4) / size**2 / MANY
    wrong = {"1, of the noise's prediction": 1, "r/(r + s)": r / (r + s), "0": 0, "1/2": HALF}
    return Trial(draw, 2 * MANY, case.claim(), spread, wrong)


@experiment(law="edm-output", quantity="E[target^2]", weights=ANY, r=HALF, s=Fraction(4, 3))
def edm_output(case: Case) -> Trial:
    (r, s), c = levels(case), case.claim()
    skip = r**2 / (r**2 + s**2)
    others = {
        "s, of the noise": s,
        "r": r,
        "r s/(r + s)": r * s / (r + s),
        "r s/(r^2 + s^2)": r * s / (r**2 + s**2),
    }
    wrong = {name: (c / other) ** 2 for name, other in others.items()}
    return squared(case, [(1 - skip) * r / c, -skip * s / c], 1, wrong)


@experiment(
    law="vp-noising", quantity="E[x_t^2]", weights=ANY, a=THIRD, q=Fraction(5, 2), most={"a": 1}
)
def vp_noising(case: Case) -> Trial:
    a, q = case["a"], case["q"]
    wrong = {"1": 1, "q": q, "a q": a * q, "a^2 q + (1 - a)^2": a**2 * q + (1 - a) ** 2}
    return squared(case, [sqrt(a * q), sqrt(1 - a)], case.claim(), wrong)


@experiment(law="flow-path", quantity="E[x_t^2]", weights=ANY, t=2 * THIRD, q=Fraction(5, 2))
def flow_path(case: Case) -> Trial:
    t, q = case["t"], case["q"]
    wrong = {
        "1": 1,
        "1 - t + t q": 1 - t + t * q,
        "the data's and the noise's places changed": t**2 + (1 - t) ** 2 * q,
        "q/(1 + q), the least": q / (1 + q),
    }
    return squared(case, [1 - t, t * sqrt(q)], case.claim(), wrong)
