"""Experiments on the largest of many logits or weights."""

from math import log, sqrt

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr, ndtri
from sympy import Rational

from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment

NORMAL = ("normal",)


@experiment(law="softmax-largest-512", quantity="E max", weights=NORMAL)
def softmax_largest_512(case: Case) -> Trial:
    """The variance of the largest of Gaussian variables is at most that of one (Poincare)."""

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(rng.standard_normal((512, replicates)).max(axis=0))

    wrong = {
        "sqrt(2 log n)": Rational(sqrt(2 * log(512))),
        "sqrt(log n)": Rational(sqrt(log(512))),
        "2": 2,
    }
    return Trial(draw, 512, case.claim(), 1, wrong)


FAR = 3.0  # the largest of 65536 lies below with a chance of e^-88


@experiment(law="largest-weight", quantity="E max", weights=NORMAL)
def largest_weight(case: Case) -> Trial:
    """Of the weights only those beyond three standard deviations are drawn: how many, and which."""
    chance = float(ndtr(-FAR))

    def draw(rng: Generator, replicates: int) -> Draws:
        count = rng.binomial(256**2, chance, replicates)
        found = -ndtri(chance * (1 - rng.random(count.sum())))
        return np.maximum.reduceat(found, np.append(0, count.cumsum()[:-1]))

    wrong = {
        "sqrt(2 log n)": Rational(sqrt(2 * log(256**2))),
        "sqrt(log n)": Rational(sqrt(log(256**2))),
        "4": 4,
    }
    return Trial(draw, 100, case.claim(), 1, wrong)
