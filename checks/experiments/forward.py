"""Experiments on forward laws: draw x and W, multiply, activate, take the power."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, sqrt

from varlaw.checks.experiments.moments import Number, exact, expected, variance_of_mean
from varlaw.checks.experiments.registry import (
    ANY,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
    instead,
)
from varlaw.checks.statistics.sampling import LAWS, Discrete, Law, shifted
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.declarations import dimensions, indices, positive, random_array
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Sum

INPUT = shifted(LAWS["uniform"], Fraction(1, 2))  # mean 1/2, E[x^2] = 5/4
ONE, HALF = Fraction(1), Fraction(1, 2)
# 1/4 or 7/4, with light tails for the statistics of high order: E[x^2] = 25/16
LIGHT = Discrete("two-point", False, False, 1.75, ((HALF / 2, HALF), (7 * HALF / 2, HALF)))
# Of mean 3/5, and x^2 = 1 throughout: what is left to vary is the layers' own doing
SIGNS = Discrete("biased signs", False, False, 1.0, ((ONE, 4 * ONE / 5), (-ONE, ONE / 5)))

m = dimensions("m")
i = indices("i")
x = random_array("x")


def units(symmetric: bool = False) -> list[Expr]:
    """Two pre-activations z = Sum_i x[i] w[i], each with a standardised column of W."""
    columns = (random_array(name, mean=0, variance=1, symmetric=symmetric) for name in "uv")
    return [named(f"z_{w.name}", Sum(x[i] * w[i], (i, 1, m))) for w in columns]


def multiply(inputs: Draws, weights: Draws) -> Draws:
    """x W, with the replicates on the last axis: (m, r) and (m, n, r) to (n, r)."""
    return np.asarray(np.einsum("ir,ijr->jr", inputs, weights))


def layer(
    case: Case,
    inputs: Law,
    variance: Expr,
    statistic: Callable[[Draws], Draws],
    symbolic: list[Expr],
) -> tuple[Callable[[Generator, int], Draws], int, Expr]:
    """The mean over the units of a statistic of x W: how to draw it, how many numbers, Var.

    `symbolic` is the statistic of two units, in which W is standardised.
    """
    rows, cols, weights = case.size("m"), case.size("n"), case.scaled(variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        values = inputs.sample(rng, (rows, replicates))
        drawn = weights.sample(rng, (rows, cols, replicates))
        return np.asarray(statistic(multiply(values, drawn)).mean(axis=0))

    one, other = symbolic
    laws = {"x": inputs, "u": case.weights, "v": case.weights}
    mean, square, both = (expected(s, case.values, laws) for s in (one, one**2, one * other))
    return draw, rows * (cols + 1), variance_of_mean(cols, mean, square, both)


def kept(
    case: Case,
    activate: Callable[[Draws], Draws],
    activated: list[Expr],
    wrong: Mapping[str, Number],
) -> Trial:
    """E[h^2]/E[x^2] for h = activate(x W), claimed to be 1 at the derived variance."""
    claim, q = case.claim(), exact(INPUT.moment(2))
    unit = 1 / float(q)
    draw, numbers, variance = layer(
        case, INPUT, claim, lambda z: unit * activate(z) ** 2, [claim / q * h**2 for h in activated]
    )
    return Trial(draw, numbers, 1, variance, instead(claim, wrong))


@experiment(law="lecun", quantity="E[y^2]/E[x^2]", weights=ANY, m=5, n=4)
def lecun(case: Case) -> Trial:
    fan_in, fan_out = case["m"], case["n"]
    return kept(
        case,
        lambda z: z,
        units(),
        {
            "1/n": 1 / fan_out,
            "2/m": 2 / fan_in,
            "1/m^2": 1 / fan_in**2,
            "1/sqrt(m)": 1 / sqrt(fan_in),
        },
    )


@experiment(law="he", quantity="E[relu(y)^2]/E[x^2]", weights=SYMMETRIC, m=6, n=4)
def he(case: Case) -> Trial:
    fan_in, fan_out = case["m"], case["n"]
    return kept(
        case,
        lambda z: np.maximum(z, 0),
        [relu(z) for z in units(symmetric=True)],
        {"1/m": 1 / fan_in, "2/n": 2 / fan_out, "4/m^2": 4 / fan_in**2},
    )


@experiment(law="he-leaky", quantity="E[leaky(y)^2]/E[x^2]", weights=SYMMETRIC, m=6, n=4, a=HALF)
def he_leaky(case: Case) -> Trial:
    a, fan_in, fan_out = case["a"], case["m"], case["n"]
    steep = float(a)
    return kept(
        case,
        lambda z: np.where(z > 0, z, steep * z),
        [leaky_relu(z, positive("a")) for z in units(symmetric=True)],
        {
            "2/m": 2 / fan_in,
            "1/m": 1 / fan_in,
            "2/((1 + a) m)": 2 / (1 + a) / fan_in,
            "2/((1 + a^2) n)": 2 / (1 + a**2) / fan_out,
        },
    )


@experiment(
    law="linear-fourth",
    quantity="E[y^4]",
    weights=("uniform", "skewed"),
    m=2,
    n=4,
    s2=Fraction(2, 3),
)
def linear_fourth(case: Case) -> Trial:
    s2, q, rows = case["s2"], exact(LIGHT.moment(2)), case["m"]
    draw, numbers, variance = layer(
        case, LIGHT, s2, lambda y: (y**2) ** 2, [s2**2 * y**4 for y in units()]
    )
    gaussian = 3 * (rows * s2 * q) ** 2
    alone = rows * exact(case.weights.moment(4) * LIGHT.moment(4)) * s2**2
    claim = case.claim({"w": case.scaled(s2), "x": LIGHT}, q=q)
    return Trial(
        draw,
        numbers,
        claim,
        variance,
        {
            "3 (m q s2)^2, as if y were Gaussian": gaussian,
            "3 (m q s2)^2 + m E[w^4] E[x^4], coincidences counted twice": gaussian + alone,
            "(m q s2)^2, the square of E[y^2]": gaussian / 3,
            "3 m (m - 1) (q s2)^2, without the coincidence of all four": gaussian * (1 - 1 / rows),
        },
    )
