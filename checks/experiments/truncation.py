"""Experiments on truncated normal laws: draw again until the value lies within the bounds."""

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.random import Generator

from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment
from varlaw.symbolic.gaussian.moment import moment

NORMAL = ("normal",)
DRAWS = 16


def within(bound: float, rng: Generator, shape: tuple[int, ...]) -> Draws:
    """Standard normal values, those outside drawn again."""
    z = rng.standard_normal(shape)
    while np.any(outside := abs(z) > bound):
        z[outside] = rng.standard_normal(int(outside.sum()))
    return z


def squares(
    bound: Number, claimed: Number, neighbours: Mapping[str, Number], scale: float = 1.0
) -> Trial:
    """The mean of (s z)^2 over truncated draws; the fourth moment is that of the sampler."""
    fourth = float(moment("x^4", given=f"|x| < {bound}").digits().digits)

    def draw(rng: Generator, replicates: int) -> Draws:
        z = scale * within(float(bound), rng, (DRAWS, replicates))
        return np.asarray((z**2).mean(axis=0))

    spread = (scale**4 * fourth - float(claimed) ** 2) / DRAWS
    return Trial(draw, DRAWS, claimed, spread, neighbours)


@experiment(law="truncated-normal", quantity="E[z^2 | |z| < c]", weights=NORMAL, c=Fraction(3, 2))
def truncated_normal(case: Case) -> Trial:
    bound = case.values["c"]
    return squares(bound, case.claim(), {"1": 1, "c^2/3, as if uniform": Fraction(bound) ** 2 / 3})


@experiment(law="truncated-normal-factor", quantity="E[z^2 | |z| < 2]", weights=NORMAL)
def truncated_normal_factor(case: Case) -> Trial:
    std = Fraction(sqrt(case.claim()))
    return squares(2, case.claim(), {"its square root": std, "1": 1, "4/5": Fraction(4, 5)})


@experiment(law="truncated-normal-correction", quantity="E[(s z)^2 | |z| < 2]", weights=NORMAL)
def truncated_normal_correction(case: Case) -> Trial:
    s = float(case.claim())
    wrong = {"s = 1": Fraction(1 / s**2), "s = 1/gamma": Fraction(s**2)}
    return squares(2, 1, wrong, scale=s)


@experiment(law="truncated-normal-bert", quantity="E[(z/50)^2 | |z| < 2]", weights=NORMAL)
def truncated_normal_bert(case: Case) -> Trial:
    std = case.claim()
    wrong = {"0.02^2": Fraction(1, 2500), "0.02 times the variance": std / 50}
    return squares(2, std**2, wrong, scale=0.02)
