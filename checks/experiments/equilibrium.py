"""Experiments on weight decay in equilibrium: many steps of noise and decay, from far off."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator
from sympy import sqrt

from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import (
    ANY,
    Case,
    Draw,
    Draws,
    LimitTrial,
    Trial,
    experiment,
)

LAMBDA: dict[str, Any] = {"lambda": Fraction(1, 2)}  # a name that Python keeps for itself
UNITS = 4


@experiment(
    law="decay-equilibrium",
    quantity="E[w^2]",
    weights=ANY,
    eta=Fraction(1, 2),
    u=Fraction(3, 2),
    **LAMBDA,
)
def decay_equilibrium(case: Case) -> Trial:
    """From weights of 1; after so many steps (1 - eta lambda)^(2 t) of them is left."""
    eta, decay, u = case["eta"], case["lambda"], case["u"]
    kept = float(1 - eta * decay)
    steps = 1 + int(np.ceil(-30 / np.log(kept)))

    def draw(rng: Generator, replicates: int) -> Draws:
        w = np.ones((UNITS, replicates))
        for _ in range(steps):
            w = kept * w - float(eta * u) * case.weights.sample(rng, w.shape)
        return np.asarray((w**2).mean(axis=0))

    claimed, step = case.claim(), float(eta * u)
    excess = (float(case.weights.moment(4)) - 3) * step**4 / (1 - kept**4)
    wrong = {
        "eta u^2/(2 lambda), to first order": eta * u**2 / (2 * decay),
        "eta^2 u^2, one step": eta**2 * u**2,
        "eta u^2/lambda": eta * u**2 / decay,
        "u for u^2": eta * u / (decay * (2 - eta * decay)),
    }
    spread = (2 * float(claimed) ** 2 + excess) / UNITS
    return Trial(draw, UNITS * steps, claimed, spread, wrong, work=UNITS)


def turned(case: Case, steps: int, power: int) -> Draw:
    """The squared step over the squared length of weights, after so many steps.

    Gradients have a direction drawn anew, orthogonal to the weights, and the length |w|^(-power):
    0 as Lion's steps, 1 as SGD's under a norm. Lengths are all that counts, so nothing is left to
    vary.
    """
    eta, decay = float(case["eta"]), float(case["lambda"])

    def draw(rng: Generator, replicates: int) -> Draws:
        w = np.zeros((UNITS, replicates))
        w[0] = 1.0
        for noise in case.weights.sample(rng, (steps, UNITS, replicates)):
            square = (w**2).sum(axis=0)
            g = noise - w * (noise * w).sum(axis=0) / square
            g *= np.sqrt(square ** -float(power) / (g**2).sum(axis=0))
            turn = eta**2 * (g**2).sum(axis=0) / square
            w = (1 - eta * decay) * w - eta * g
        return np.asarray(turn)

    return draw


def rotation(case: Case, power: int) -> Trial:
    eta, decay = case["eta"], case["lambda"]
    wrong = {
        "2 eta lambda, to first order": 2 * eta * decay,
        "eta lambda": eta * decay,
        "eta^2": eta**2,
    }
    return Trial(turned(case, 60, power), 60 * UNITS, case.claim(), 0, wrong)


@experiment(
    law="rotation-equilibrium",
    quantity="|step|^2/|w|^2, steps of one length",
    weights=("normal", "uniform"),
    eta=Fraction(1, 3),
    **LAMBDA,
)
def rotation_of_one_length(case: Case) -> Trial:
    return rotation(case, 0)


@experiment(
    law="rotation-equilibrium",
    quantity="|step|^2/|w|^2, SGD under a norm",
    weights=("normal", "uniform"),
    eta=Fraction(1, 3),
    **LAMBDA,
)
def rotation_under_a_norm(case: Case) -> Trial:
    return rotation(case, 1)


@experiment(
    law="rotation-rate",
    quantity="|step|^2/|w|^2 over the claim as eta lambda -> 0",
    weights=("normal", "uniform"),
    eta=Fraction(1, 2),
)
def rotation_rate(case: Case) -> LimitTrial:
    """At eta lambda = 1/n; the error of the law is of order 1/n."""
    sizes, eta = (4, 8, 16), Fraction(case.values["eta"])

    def trial(n: int) -> Trial:
        at = Case(case.law, case.weights, {**case.values, "lambda": Fraction(1, n) / eta})
        steps = 12 * n
        found, scale = turned(at, steps, 0), float(1 / at.claim())

        def draw(rng: Generator, replicates: int) -> Draws:
            return np.asarray(found(rng, replicates) * scale)

        return Trial(draw, UNITS * steps, 1, 0, {})

    wrong: dict[str, Number] = {
        "eta lambda": Fraction(1, 2),
        "sqrt(2) eta lambda": 1 / sqrt(2),
        "4 eta lambda": 2,
    }
    margins = (0.001, 0.001, 0.001)
    return LimitTrial(sizes, tuple(map(trial, sizes)), 1, wrong, margins)
