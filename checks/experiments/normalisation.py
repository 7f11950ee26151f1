"""Experiments on norms: real inputs, real statistics, the outputs' moments and their gradients."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.random import Generator
from sympy import Expr, Rational
from sympy import sqrt as root

from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.statistics.sampling import LAWS, shifted

POPULATION = 64  # values of which the norm takes its statistics
CENTRE = 2  # the mean of the units, on which no law of their variance depends
OFF_CENTRE = {"x": shifted(LAWS["normal"], CENTRE)}


def same(
    draw: Callable[[Generator, int], Draws],
    numbers: int,
    claim: Number,
    wrong: Mapping[str, Number],
) -> Trial:
    """A statistic that is the same in every draw, up to rounding."""
    return Trial(draw, numbers, claim, 0, wrong)


def population(case: Case, mean: float, variance: float) -> Callable[[Generator, int], Draws]:
    """A population shifted and scaled so that its mean and biased variance are as declared."""

    def draw(rng: Generator, replicates: int) -> Draws:
        x = case.weights.sample(rng, (POPULATION, replicates))
        spread = x.std(axis=0)
        x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
        return np.asarray(mean + sqrt(variance) * x)

    return draw


def normed(x: Draws, epsilon: float) -> Draws:
    """LayerNorm without its scale and shift: epsilon inside the root."""
    centred = x - x.mean(axis=0)
    return np.asarray(centred / np.sqrt(np.mean(centred**2, axis=0) + epsilon))


@experiment(
    law="norm-moment",
    quantity="mean of y^2",
    weights=SYMMETRIC,
    epsilon=Fraction(1, 5),
    v=Fraction(3, 4),
    gamma=Fraction(3, 2),
    beta=Fraction(1, 2),
)
def norm_moment(case: Case) -> Trial:
    e, v, g, b = (case[name] for name in ("epsilon", "v", "gamma", "beta"))
    inputs = population(case, CENTRE, float(v))

    def draw(rng: Generator, replicates: int) -> Draws:
        y = float(g) * normed(inputs(rng, replicates), float(e)) + float(b)
        return np.asarray(np.mean(y**2, axis=0))

    return same(
        draw,
        POPULATION,
        case.claim(mu=CENTRE),
        {
            "gamma^2 + beta^2, without epsilon": g**2 + b**2,
            "gamma^2 v/(v + epsilon)": g**2 * v / (v + e),
            "gamma^2 v/(sqrt(v) + epsilon)^2 + beta^2": g**2 * v / (root(v) + e) ** 2 + b**2,
            "gamma v/(v + epsilon) + beta": g * v / (v + e) + b,
        },
    )


@experiment(
    law="rms-norm-moment",
    quantity="mean of y^2",
    weights=SYMMETRIC,
    epsilon=Fraction(1, 5),
    q=Fraction(3, 2),
    gamma=Fraction(3, 2),
)
def rms_norm_moment(case: Case) -> Trial:
    e, q, g = (case[name] for name in ("epsilon", "q", "gamma"))
    inputs = population(case, 1.0, float(q) - 1)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = inputs(rng, replicates)
        y = float(g) * x / np.sqrt(np.mean(x**2, axis=0) + float(e))
        return np.asarray(np.mean(y**2, axis=0))

    return same(
        draw,
        POPULATION,
        case.claim(),
        {
            "gamma^2, without epsilon": g**2,
            "gamma^2 v/(v + epsilon), with the variance": g**2 * (q - 1) / (q - 1 + e),
            "gamma q/(q + epsilon)": g * q / (q + e),
        },
    )


@experiment(
    law="norm-epsilon-outside",
    quantity="mean of y^2",
    weights=SYMMETRIC,
    epsilon=Fraction(1, 5),
    v=Fraction(3, 4),
)
def norm_epsilon_outside(case: Case) -> Trial:
    e, v = case["epsilon"], case["v"]
    inputs = population(case, CENTRE, float(v))

    def draw(rng: Generator, replicates: int) -> Draws:
        x = inputs(rng, replicates)
        y = (x - x.mean(axis=0)) / (x.std(axis=0) + float(e))
        return np.asarray(np.mean(y**2, axis=0))

    wrong = {"v/(v + epsilon), inside": v / (v + e), "1": 1, "v/(v + epsilon^2)": v / (v + e**2)}
    return same(draw, POPULATION, case.claim(mu=CENTRE), wrong)


@experiment(
    law="norm-centring", quantity="E[(x - mu)^2]", weights=ANY, mu=Fraction(1, 2), q=Fraction(5, 4)
)
def norm_centring(case: Case) -> Trial:
    mean, q = case["mu"], case["q"]
    scaled = case.scaled(q - mean**2)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = float(mean) + scaled.sample(rng, (POPULATION, replicates))
        return np.asarray(np.mean((x - float(mean)) ** 2, axis=0))

    spread = (exact(case.weights.moment(4)) - 1) * (q - mean**2) ** 2 / POPULATION
    wrong = {"q, as without a mean": q, "q - mu": q - mean, "q + mu^2": q + mean**2}
    return Trial(draw, POPULATION, case.claim(), spread, wrong)


def biased_variances(case: Case, d: int) -> Expr:
    """Var(S) for the biased variance S of d independent units of variance 1.

    The unbiased one has the variance (E[x^4] - (d - 3)/(d - 1))/d about mean 0.
    """
    unbiased = (exact(case.weights.moment(4)) - Rational(d - 3, d - 1)) / d
    return unbiased * Rational(d - 1, d) ** 2


@experiment(
    law="norm-biased-variance", quantity="E[S]", weights=ANY, d=4, v=Fraction(3, 2), least={"d": 2}
)
def norm_biased_variance(case: Case) -> Trial:
    d, v, scaled = case.size("d"), case["v"], case.scaled(case["v"])

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray((CENTRE + scaled.sample(rng, (d, replicates))).var(axis=0))

    width = case["d"]
    wrong = {"v": v, "v (d - 1)^2/d^2": v * (width - 1) ** 2 / width**2, "v d/(d - 1)": v * width}
    wrong["v (d - 2)/d"] = v * (width - 2) / width
    claim = case.claim(OFF_CENTRE)
    return Trial(draw, d, claim, biased_variances(case, d) * v**2, wrong)


@experiment(
    law="norm-unbiased-divisor",
    quantity="mean of y^2",
    weights=("normal", "uniform"),
    d=4,
    least={"d": 2},
)
def norm_unbiased_divisor(case: Case) -> Trial:
    d, width = case.size("d"), case["d"]

    def draw(rng: Generator, replicates: int) -> Draws:
        x = case.weights.sample(rng, (d, replicates))
        y = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
        return np.asarray(np.mean(y**2, axis=0))

    wrong = {"1": 1, "d/(d - 1)": width / (width - 1), "(d - 1)^2/d^2": (1 - 1 / width) ** 2}
    return same(draw, d, case.claim_at({"x": range(1, d + 1)}), wrong)


@experiment(
    law="norm-covariance",
    quantity="E[c_1 c_2]",
    weights=ANY,
    d=4,
    v=Fraction(3, 2),
    least={"d": 2},
)
def norm_covariance(case: Case) -> Trial:
    """Of two centred units, averaged over all pairs: (|sum|^2 - sum of squares)/(d (d - 1))."""
    d, v, scaled = case.size("d"), case["v"], case.scaled(case["v"])

    def draw(rng: Generator, replicates: int) -> Draws:
        x = CENTRE + scaled.sample(rng, (d, replicates))
        c = x - x.mean(axis=0)
        pairs = c.sum(axis=0) ** 2 - np.sum(c**2, axis=0)
        return np.asarray(pairs / (d * (d - 1)))

    spread = biased_variances(case, d) * v**2 / (case["d"] - 1) ** 2
    width = case["d"]
    wrong = {"0": 0, "-v/(d - 1)": -v / (width - 1), "v/d": v / width, "-v/d^2": -v / width**2}
    return Trial(draw, d, case.claim(OFF_CENTRE), spread, wrong)


@experiment(
    law="norm-correlation",
    quantity="mean of y_1 y_2",
    weights=("normal", "uniform"),
    d=4,
    least={"d": 2},
)
def norm_correlation(case: Case) -> Trial:
    """Of the outputs of LayerNorm, which have mean square 1, averaged over all pairs."""
    d, width = case.size("d"), case["d"]

    def draw(rng: Generator, replicates: int) -> Draws:
        y = normed(case.weights.sample(rng, (d, replicates)), 0.0)
        pairs = y.sum(axis=0) ** 2 - np.sum(y**2, axis=0)
        return np.asarray(pairs / (d * (d - 1)))

    wrong = {"0, independent": 0, "-1/d": -1 / width, "1/(d - 1)": 1 / (width - 1)}
    return same(draw, d, case.claim(), wrong)


@experiment(
    law="post-norm-divisor",
    quantity="E[(x + F)^2]",
    weights=NON_GAUSSIAN,
    s2=Fraction(1, 2),
    rho=Fraction(1, 2),
    most={"rho": 1},
)
def post_norm_divisor(case: Case) -> Trial:
    """F = rho s x + the rest, with independent x and rest."""
    s2, rho = case["s2"], case["rho"]
    along, apart = rho * root(s2), root(s2 * (1 - rho**2))

    def draw(rng: Generator, replicates: int) -> Draws:
        x, u = case.weights.sample(rng, (2, POPULATION, replicates))
        branch = float(along) * x + float(apart) * u
        return np.asarray(np.mean((x + branch) ** 2, axis=0))

    a, b, fourth = 1 + along, apart, exact(case.weights.moment(4))
    square = fourth * (a**4 + b**4) + 6 * (a * b) ** 2
    claim = case.claim() ** 2
    spread = (square - (a**2 + b**2) ** 2) / POPULATION
    wrong = {
        "1 + s2": 1 + s2,
        "2": 2,
        "1 + s2 + rho s": 1 + s2 + along,
        "(1 + s)^2": (1 + root(s2)) ** 2,
    }
    return Trial(draw, 2 * POPULATION, claim, spread, wrong)
