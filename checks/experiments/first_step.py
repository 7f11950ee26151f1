"""Experiments on first steps of SGD: how far scaled branches move the model."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import sqrt

from varlaw.checks.experiments.activations import exact_of
from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import ANY, SYMMETRIC, Case, Draws, Trial, experiment
from varlaw.checks.experiments.stacks import Drawn
from varlaw.checks.experiments.zero_init import RATE, STEP, G, probe, relu


def first_step(case: Case, layers: int, scale: float, wrong: Mapping[str, Number]) -> Trial:
    """What one step of SGD on N zero last layers changes the loss by, to that of one unscaled one.

    Each branch has `layers` ReLU layers at He's variance, which together scale by `scale`.
    """
    d, n, branches = case.size("d"), case.size("n"), case.size("N")
    kurtosis = Drawn(case.weights, 1).kurtosis

    def draw(rng: Generator, replicates: int) -> Draws:
        x0, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        x, factor = x0, scale ** (1 / layers)
        for _ in range(branches):
            weights = [
                Drawn(case.weights, 2 / rows).sample(rng, (rows, n, replicates))
                for rows in (d, *(n,) * (layers - 1))
            ]

            def features(h: Draws, weights: list[Draws] = weights) -> Draws:
                for u in weights:
                    h = relu(factor * multiply(h, u))
                return h

            stepped = -RATE * features(x0)[:, None] * p[None]  # w behind a step, from w = 0
            x = x + multiply(features(x), stepped)
        moved = np.sum(p * (x - x0), axis=0)
        return np.asarray(-moved / (RATE * n * d * float(G)))

    fourth = 2 * kurtosis * n + n * (n - 1)  # of the first layer's |h|^4
    fourth *= (2 * kurtosis / n + (n - 1) / n) ** (layers - 1)
    spread = branches * (fourth / n**2 - 1) * scale**4
    numbers = 2 * d + branches * (d * n + (layers - 1) * n**2)
    return Trial(draw, numbers, 1, spread, wrong)


@experiment(law="fixup-features", quantity="dl of N to dl of 1", weights=SYMMETRIC, d=3, n=4, N=6)
def fixup_features(case: Case) -> Trial:
    N = case["N"]
    wrong = {
        "b = 1": 1 / N,
        "b = 1/N": N,
        "b = N^(-1/4)": 1 / sqrt(N),
        "b = 1/sqrt(2 N), layers counted": 2,
    }
    return first_step(case, 1, float(case.claim()), wrong)


@experiment(law="fixup", quantity="dl of N to dl of 1", weights=SYMMETRIC, d=3, n=4, N=6, l=2)
def fixup(case: Case) -> Trial:
    N, layers = case["N"], case["l"]
    wrong = {
        "N^(-1/(2 m))": (N ** (-1 / (2 * layers + 2)) / case.claim()) ** (-2 * layers),
        "N^(-1/2), whatever m": N ** (layers - 1),
        "1": 1 / N,
        "N^(-1/(4 m - 4))": 1 / sqrt(N),
        "(2 N)^(-1/(2 m - 2)), layers counted": 2,
    }
    return first_step(case, case.size("l"), float(case.claim() ** layers), wrong)


def kernel(
    case: Case, count: int, alpha: Number, beta: Number, wrong: Mapping[str, Number]
) -> Trial:
    """The sum of squared derivatives of sub-layers (alpha x + v w x)/alpha, at x^2 = 1."""
    weights = Drawn(case.weights, float(beta) ** 2)
    a = float(alpha)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (count, replicates))
        v, w = (weights.sample(rng, (count, replicates)) for _ in "vw")

        def out(v: Draws, w: Draws) -> Draws:
            return np.asarray((a * x + v * w * x) / a)

        slopes = (
            (out(v + STEP, w) - out(v - STEP, w)) / (2 * STEP),
            (out(v, w + STEP) - out(v, w - STEP)) / (2 * STEP),
        )
        return np.asarray(np.sum(slopes[0] ** 2 + slopes[1] ** 2, axis=0))

    spread = count * 2 * (float(case.weights.moment(4)) - 1) * (float(beta) / a) ** 4
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 3 * count, 1, spread, told)


@experiment(
    law="deepnorm-ratio",
    quantity="sum of (dy/dv)^2 + (dy/dw)^2",
    weights=ANY,
    N=4,
    alpha=Fraction(3, 2),
)
def deepnorm_ratio(case: Case) -> Trial:
    N = case["N"]
    wrong = {
        "beta = alpha/sqrt(N)": Fraction(1, 4),
        "beta = alpha/(2 N)": N,
        "beta = alpha/sqrt(2 N), N sub-layers counted": Fraction(1, 2),
        "beta = alpha": 1 / (4 * N),
    }
    return kernel(case, 2 * case.size("N"), case["alpha"], case.claim(), wrong)


@experiment(law="deepnorm", quantity="sum of (dy/dv)^2 + (dy/dw)^2", weights=ANY, N=4)
def deepnorm(case: Case) -> Trial:
    N = case["N"]
    wrong = {
        "beta = (2 N)^(-1/4)": Fraction(1, 2),
        "beta = (8 N)^(-1/2)": sqrt(8 * N),
        "beta = (12 N)^(-1/4), of a decoder with an encoder": sqrt(exact(Fraction(3, 2))),
        "beta = 1": 1 / sqrt(8 * N),
    }
    alpha = (2 * N) ** exact(Fraction(1, 4))
    return kernel(case, 2 * case.size("N"), alpha, case.claim(), wrong)


@experiment(law="deepnorm-decoder", quantity="sum of (dy/dv)^2 + (dy/dw)^2", weights=ANY, M=4)
def deepnorm_decoder(case: Case) -> Trial:
    M = case["M"]
    alpha = (3 * M) ** exact(Fraction(1, 4))
    wrong = {
        "beta = (8 M)^(-1/4), of an encoder": sqrt(exact(Fraction(3, 2))),
        "beta = (12 M)^(-1/2)": 1 / sqrt(12 * M),
        "beta = (3 M)^(-1/4)": 2,
        "beta = 1": sqrt(12 * M),
    }
    return kernel(case, 3 * case.size("M"), alpha, case.claim(), wrong)


def products(case: Case, count: int, stds: tuple[float, ...], wrong: Mapping[str, Number]) -> Trial:
    """The sum of squared derivatives of `count` branches v w u with weights of some stds."""
    drawn = [Drawn(case.weights, std**2) for std in stds]
    fourth = float(case.weights.moment(4))

    def draw(rng: Generator, replicates: int) -> Draws:
        given = [weights.sample(rng, (count, replicates)) for weights in drawn]
        total = np.zeros(replicates)
        for k in range(3):
            up, down = (
                [x + (place == k) * step for place, x in enumerate(given)] for step in (STEP, -STEP)
            )
            slope = (np.prod(up, axis=0) - np.prod(down, axis=0)) / (2 * STEP)
            total += np.sum(slope**2, axis=0)
        return total

    a, b, c = (std**2 for std in stds)
    pairs = a * b, b * c, a * c
    square = fourth**2 * sum(p**2 for p in pairs) + 2 * fourth * a * b * c * (a + b + c)
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 3 * count, 1, count * (square - sum(pairs) ** 2), told)


@experiment(law="t-fixup", quantity="sum of squared derivatives", weights=ANY, N=3)
def t_fixup(case: Case) -> Trial:
    wrong = {
        "(6 N)^(-1/4)": Fraction(2, 3),
        "(3 N)^(-1/4), branches counted": Fraction(1, 3),
        "N^(-1/4)": Fraction(1, 9),
        "0.67 N^(-1/4), as in encoders": 1 / (9 * Fraction(67, 100) ** 4),
        "(9 N)^(-1/2)": 9 * case["N"],
    }
    return products(case, 3 * case.size("N"), (float(case.claim()),) * 3, wrong)


@experiment(law="t-fixup-encoder", quantity="sum of squared derivatives", weights=ANY, N=3)
def t_fixup_encoder(case: Case) -> Trial:
    """Neighbours are other values of beta^2 sqrt(N) = c: the sum is 2 c (2/3 + c) there."""
    beta, mu = float(case.claim()), float((9 * case["N"]) ** exact(Fraction(-1, 4)))
    others = {
        "(9 N)^(-1/4), as in decoders": 1 / 3,
        "(6 N)^(-1/4)": 6**-0.5,
        "N^(-1/4)": 1.0,
        "0.67 N^(-1/2)": 0.45 * float(case["N"]) ** -0.5,
    }
    wrong = {name: 1 / (2 * c * (2 / 3 + c)) for name, c in others.items()}
    return products(case, 2 * case.size("N"), (beta, beta, mu), wrong)
