"""Experiments on how weights are sampled: draw them, square them; default layers of a library."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, sqrt

from varlaw.checks.experiments.forward import INPUT, i, m, multiply, units, x
from varlaw.checks.experiments.moments import Number, exact, expected
from varlaw.checks.experiments.registry import ANY, SYMMETRIC, Case, Draws, Trial, experiment
from varlaw.symbolic.activations import relu
from varlaw.symbolic.declarations import random_array
from varlaw.symbolic.terms import Sum

UNIFORM = ("uniform",)
DRAWS = 16


def powers(bound: Expr, order: int, claimed: Number, wrong: Mapping[str, Number]) -> Trial:
    """The mean of w^order over draws between -bound and bound; E[w^k] = bound^k/(k + 1)."""
    half = float(bound)

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean(rng.uniform(-half, half, (DRAWS, replicates)) ** order, axis=0))

    mean, square = (bound**k / (k + 1) for k in (order, 2 * order))
    return Trial(draw, DRAWS, claimed, (square - mean**2) / DRAWS, wrong)


def at_bounds(claim: Expr, bound: Expr, others: Mapping[str, Expr]) -> dict[str, Expr]:
    """What is claimed of the variance by those who would sample with another bound."""
    return {f"bound {name}": claim * (bound / other) ** 2 for name, other in others.items()}


@experiment(law="normal-std", quantity="E[(s z)^2]", weights=ANY, v=Fraction(4, 9))
def normal_std(case: Case) -> Trial:
    v, std, drawn = case["v"], case.claim(), case.weights

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(
            np.mean((float(std) * drawn.sample(rng, (DRAWS, replicates))) ** 2, axis=0)
        )

    spread = std**4 * exact(drawn.moment(4) - 1) / DRAWS
    wrong = {"v^2, scaled by the variance": v**2, "sqrt(v), the std": sqrt(v), "v/3": v / 3}
    return Trial(draw, DRAWS, v, spread, wrong)


@experiment(law="uniform-variance", quantity="E[w^2]", weights=UNIFORM, a=Fraction(5, 4))
def uniform_variance(case: Case) -> Trial:
    a = case["a"]
    wrong = {"a^2": a**2, "a^2/12": a**2 / 12, "a/sqrt(3), the std": a / sqrt(3)}
    return powers(a, 2, case.claim(), wrong)


@experiment(
    law="uniform-interval",
    quantity="Var(w)",
    weights=UNIFORM,
    a=Fraction(4),  # far from 0, so that a wrong centre shows
    b=Fraction(5),
)
def uniform_interval(case: Case) -> Trial:
    """Half the squared difference of two draws, so that no mean is assumed."""
    low, high = case["a"], case["b"]
    width = high - low

    def draw(rng: Generator, replicates: int) -> Draws:
        first, second = rng.uniform(float(low), float(high), (2, DRAWS, replicates))
        return np.asarray(np.mean((first - second) ** 2 / 2, axis=0))

    fourth = width**4 * Fraction(1, 60)  # E[(w - w')^4]/4: the difference has a triangular density
    spread = (fourth - (width**2 / 12) ** 2) / DRAWS
    second = (high**2 + low * high + low**2) / 3
    return Trial(
        draw,
        2 * DRAWS,
        case.claim(),
        spread,
        {
            "(b - a)^2/3": width**2 / 3,
            "(b - a)^2/4": width**2 / 4,
            "the second moment": second,
            "(b - a)/sqrt(12), the std": width / sqrt(12),
        },
    )


@experiment(law="uniform-bound", quantity="E[w^2]", weights=UNIFORM, s=Fraction(3, 2))
def uniform_bound(case: Case) -> Trial:
    s, bound = case["s"], case.claim()
    others = {"s": s, "sqrt(6) s": sqrt(6) * s, "sqrt(12) s": sqrt(12) * s, "3 s": 3 * s}
    return powers(bound, 2, s**2, at_bounds(s**2, bound, others))


@experiment(law="uniform-gain", quantity="E[w^2]", weights=UNIFORM, m=5, g=Fraction(5, 3))
def uniform_gain(case: Case) -> Trial:
    g, fan, bound = case["g"], case["m"], case.claim()
    others = {
        "g/sqrt(m), the std": g / sqrt(fan),
        "g sqrt(6/m)": g * sqrt(6 / fan),
        "sqrt(3 g/m)": sqrt(3 * g / fan),
        "3 g^2/m": 3 * g**2 / fan,
    }
    return powers(bound, 2, g**2 / fan, at_bounds(g**2 / fan, bound, others))


@experiment(law="uniform-kurtosis", quantity="E[w^4]/E[w^2]^2", weights=UNIFORM)
def uniform_kurtosis(case: Case) -> Trial:
    """The fourth power of draws of variance 1."""
    wrong = {"3, as for a normal law": 3, "1, as for signs": 1, "3/5": Fraction(3, 5)}
    return powers(sqrt(3), 4, case.claim(), wrong)


@experiment(law="pytorch-linear-bound", quantity="E[w^2]", weights=UNIFORM, m=6)
def pytorch_linear_bound(case: Case) -> Trial:
    """He's variance for the slope sqrt(5), which the call asks for."""
    fan, bound = case["m"], case.claim()
    asked = 2 / (1 + sqrt(5) ** 2) / fan
    others = {
        "sqrt(6/m), He's": sqrt(6 / fan),
        "sqrt(3/m), LeCun's": sqrt(3 / fan),
        "1/m": 1 / fan,
        "sqrt(5/m)": sqrt(5 / fan),
    }
    return powers(bound, 2, asked, at_bounds(asked, bound, others))


@experiment(law="pytorch-linear-variance", quantity="E[w^2]", weights=UNIFORM, m=6)
def pytorch_linear_variance(case: Case) -> Trial:
    fan = case["m"]
    wrong = {
        "1/m": 1 / fan,
        "2/m": 2 / fan,
        "1/(3 m^2)": 1 / (3 * fan**2),
        "1/(12 m)": 1 / (12 * fan),
    }
    return powers(1 / sqrt(fan), 2, case.claim(), wrong)


def default_layer(
    case: Case,
    statistic: Callable[[Draws], Draws],
    symbolic: Expr,
    claimed: Number,
    wrong: Mapping[str, Number],
    biased: bool,
) -> Trial:
    """A statistic of x W + b, for weights and biases of variance 1/(3 m).

    `symbolic` is the same statistic of the input and of standardised weights.
    """
    rows = case.size("m")
    variance = 1 / (3 * case["m"])
    weights = case.scaled(variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        inputs = INPUT.sample(rng, (rows, replicates))
        drawn = weights.sample(rng, (rows, 1, replicates))
        bias = weights.sample(rng, (1, replicates)) if biased else 0
        return np.asarray(statistic(multiply(inputs, drawn) + bias)[0])

    laws = {"x": INPUT, "u": case.weights, "b": case.weights}
    mean, square = (expected(symbolic**k, case.values, laws) for k in (1, 2))
    return Trial(draw, 2 * rows + 1, claimed, square - mean**2, wrong)


@experiment(law="pytorch-linear-output", quantity="E[y^2]", weights=ANY, m=2)
def pytorch_linear_output(case: Case) -> Trial:
    fan, size = case["m"], exact(INPUT.moment(2))
    u, b = (random_array(name, mean=0, variance=1) for name in "ub")
    y = Sum(x[i] * u[i], (i, 1, m)) + b[i]
    return default_layer(
        case,
        lambda values: values**2,
        y**2 / (3 * fan),
        case.claim(q=size),
        {
            "q/3, without the bias": size / 3,
            "q, LeCun's": size,
            "q/3 + 1/m": size / 3 + 1 / fan,
            "q/3 + 1/3": size / 3 + Fraction(1, 3),
        },
        biased=True,
    ).finer(0.8)


@experiment(law="pytorch-relu-factor", quantity="E[relu(y)^2]/E[x^2]", weights=SYMMETRIC, m=5)
def pytorch_relu_factor(case: Case) -> Trial:
    size = exact(INPUT.moment(2))
    z = units(symmetric=True)[0]
    wrong = {"1, He's": 1, "1/2, LeCun's": Fraction(1, 2), "1/3": Fraction(1, 3)}
    return default_layer(
        case,
        lambda values: np.maximum(values, 0) ** 2 / float(size),
        relu(z) ** 2 / (3 * case["m"] * size),
        case.claim(),
        wrong,
        biased=False,
    )
