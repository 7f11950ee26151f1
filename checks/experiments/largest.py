"""The experiment on the largest of many logits."""

from math import log, sqrt

import numpy as np
from numpy.random import Generator
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
