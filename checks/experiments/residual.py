"""Experiments on one residual layer: the moments of x + F(x), the covariance of x and F(x)."""

from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, Poly, sqrt, symbols

from varlaw.checks.experiments.forward import INPUT
from varlaw.checks.experiments.moments import (
    HasMoments,
    Scaled,
    exact,
    expected,
    variance_of_mean,
)
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.statistics.sampling import shifted
from varlaw.symbolic.declarations import (
    dimensions,
    indices,
    positive,
    random_array,
    random_variable,
)
from varlaw.symbolic.terms import Expectation, Sum

d = dimensions("d")
j = indices("j")
b = positive("b")  # the std of the weights
HERE, THERE = symbols("x1 F1 x2 F2"), symbols("y1 G1 y2 G2")
DIFFERENCES = [here - there for here, there in zip(HERE, THERE, strict=True)]


def draw_twins(case: Case, rng: Generator, replicates: int) -> tuple[Draws, Draws]:
    """x - x' and F - F' for two independent draws of x and W, where F = (x * x) W."""
    width, inputs = case.size("d"), Scaled(INPUT, case["v"])
    weights = case.scaled(weight_variance(case))
    x = inputs.sample(rng, (2, width, replicates))
    drawn = weights.sample(rng, (2, width, width, replicates))
    branches = np.einsum("cir,cijr->cjr", x**2, drawn)
    return x[0] - x[1], branches[0] - branches[1]


def weight_variance(case: Case) -> Expr:
    """What gives each channel of F the variance s2: d Var(w) E[x^4] = s2."""
    return case["s2"] / (case["d"] * exact(INPUT.moment(4)) * case["v"] ** 2)


def twin_moment(case: Case, statistic: Expr) -> Expr:
    """E of a polynomial in x_1, F_1, x_2, F_2 of two channels and of an independent copy."""
    polynomial = Poly(statistic, *HERE, *THERE)
    return sum(
        (
            coefficient * channels_moment(case, powers[:4]) * channels_moment(case, powers[4:])
            for powers, coefficient in polynomial.terms()
        ),
        Integer(0),
    )


def channels_moment(case: Case, powers: tuple[int, ...]) -> Expr:
    """E[x_1^p F_1^q x_2^s F_2^t]; the channels beyond these two are called r."""
    x, r = random_array("x"), random_array("r")

    def branch(name: str) -> Expr:
        near, far = (random_array(f"{name}_{end}", mean=0, variance=1) for end in ("near", "far"))
        others = Sum(r[j] ** 2 * far[j], (j, 1, d - 2))
        return b * (x[1] ** 2 * near[1] + x[2] ** 2 * near[2] + others)

    factors = zip((x[1], branch("u"), x[2], branch("v")), powers, strict=True)
    inputs = Scaled(INPUT, case["v"])
    laws: dict[str, HasMoments] = {"x": inputs, "r": inputs}
    laws |= {f"{name}_{end}": case.weights for name in "uv" for end in ("near", "far")}
    values = {"d": case["d"], "b": sqrt(weight_variance(case))}
    return expected(prod((base**power for base, power in factors), start=Integer(1)), values, laws)


@experiment(
    law="residual-sum",
    quantity="Var(x + F(x))",
    weights=("uniform", "skewed"),
    least={"d": 2},
    d=3,
    v=Fraction(3, 2),
    s2=Fraction(2, 3),
)
def residual_sum(case: Case) -> Trial:
    """Half the squared difference of two independent draws; F depends on x."""

    def draw(rng: Generator, replicates: int) -> Draws:
        x, branch = draw_twins(case, rng, replicates)
        return np.mean((x + branch) ** 2, axis=0) / 2

    width, v, s2 = case.size("d"), case["v"], case["s2"]
    x1, f1, x2, f2 = DIFFERENCES
    one, other = (x1 + f1) ** 2 / 2, (x2 + f2) ** 2 / 2
    mean, square, both = (twin_moment(case, s) for s in (one, one**2, one * other))
    spread = variance_of_mean(width, mean, square, both)
    return Trial(
        draw,
        2 * width * (width + 1),
        case.claim(),
        spread,
        {
            "v + s2 + 2 sqrt(v s2), fully correlated": v + s2 + 2 * sqrt(v * s2),
            "v": v,
            "v (1 + s2), as if not normalised": v * (1 + s2),
            "sqrt(v) + sqrt(s2), stds added": sqrt(v) + sqrt(s2),
        },
    )


@experiment(
    law="residual-branch",
    quantity="Cov(x, F(x))",
    weights=ANY,
    least={"d": 2},
    d=3,
    v=Fraction(3, 2),
    s2=Fraction(2, 3),
)
def residual_branch(case: Case) -> Trial:
    """Half the product of the differences of two independent draws."""

    def draw(rng: Generator, replicates: int) -> Draws:
        x, branch = draw_twins(case, rng, replicates)
        return np.mean(x * branch, axis=0) / 2

    width, v, s2 = case.size("d"), case["v"], case["s2"]
    x1, f1, x2, f2 = DIFFERENCES
    one, other = x1 * f1 / 2, x2 * f2 / 2
    mean, square, both = (twin_moment(case, s) for s in (one, one**2, one * other))
    spread = variance_of_mean(width, mean, square, both)
    scale = sqrt(v * s2)
    # a branch that ends in its activation, with the same variance as F
    x = Scaled(INPUT, v)
    skew = x.moment(3) - x.moment(1) * x.moment(2)
    without = skew / sqrt(x.moment(4) - x.moment(2) ** 2) * sqrt(s2)
    return Trial(
        draw,
        2 * width * (width + 1),
        case.claim(),
        spread,
        {
            "a branch without its last linear layer": without,
            "sqrt(v s2), fully correlated": scale,
            "v, as if F were x": v,
        },
        scale=float(scale),
    )


@dataclass(frozen=True)
class Kept:
    """The law of b = 1/p with probability p, else 0."""

    rate: Fraction

    def moment(self, k: int) -> Fraction:
        return self.rate ** (1 - k) if k else Fraction(1)

    def sample(self, rng: Generator, replicates: int) -> Draws:
        return np.asarray((rng.random(replicates) < float(self.rate)) / float(self.rate))


@experiment(
    law="residual-drop-path",
    quantity="E[(x + b F(x))^2]",
    weights=("uniform", "skewed"),
    most={"p": 1},
    p=Fraction(1, 2),
)
def residual_drop_path(case: Case) -> Trial:
    """F = x^2/3, which is correlated with x; the laws of weights serve as laws of x - 1/2."""
    inputs, kept = shifted(case.weights, Fraction(1, 2)), Kept(Fraction(case.values["p"]))

    def draw(rng: Generator, replicates: int) -> Draws:
        x = inputs.sample(rng, replicates)
        return np.asarray((x + kept.sample(rng, replicates) * x**2 / 3) ** 2)

    laws: dict[str, HasMoments] = {"x": inputs, "b": kept}
    x, keep = random_variable("x"), random_variable("b")
    mean, square = (expected((x + keep * x**2 / 3) ** k, {}, laws) for k in (2, 4))
    q, cross, r = (exact(inputs.moment(k)) / 3 ** (k - 2) for k in (2, 3, 4))
    p = case["p"]
    (both,) = case.law.statement.rhs.atoms(Expectation)  # E[x F]
    claim = case.at(case.law.statement.rhs.xreplace({both: cross}), q=q, r=r)
    return Trial(
        draw,
        2,
        claim,
        square - mean**2,
        {
            "q + 2 E[x F] + r, as if nothing were dropped": q + 2 * cross + r,
            "q + r/p, as if x and F were uncorrelated": q + r / p,
            "q + 2 p E[x F] + p r, without the factor 1/p": q + 2 * p * cross + p * r,
            "q + 2 E[x F] + r/p^2": q + 2 * cross + r / p**2,
        },
    )
