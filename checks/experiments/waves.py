"""Experiments on sines and exponentials: units of a layer, and random features of two inputs."""

from fractions import Fraction
from math import exp, factorial

import numpy as np

from varlaw.checks.experiments.activations import NORMAL, exact_of, over_units, value
from varlaw.checks.experiments.kernels import FIRST, NEAR, SECOND, WIDTH, along
from varlaw.checks.experiments.noise import halved
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment


@experiment(law="sine-second-moment", quantity="E[sin(z)^2]", weights=NORMAL, v=Fraction(2, 3))
def sine_second_moment(case: Case) -> Trial:
    v = float(case["v"])
    wrong = {
        "1/2": 0.5,
        "v, as if linear": v,
        "(1 + e^(-2 v))/2, of a cosine": (1 + exp(-2 * v)) / 2,
        "(1 - e^(-v))/2": (1 - exp(-v)) / 2,
        "1 - e^(-2 v)": 1 - exp(-2 * v),
    }
    fourth = value("sin(x)^4", case["v"])
    return over_units(case, lambda z: np.sin(z) ** 2, fourth, case.claim(), wrong, case["v"])


@experiment(law="siren-fixed-point", quantity="2 E[sin(z)^2]", weights=NORMAL)
def siren_fixed_point(case: Case) -> Trial:
    """A step of Newton from v, roughly: the map's slope there is 0.4."""
    v = Fraction(float(case.claim())).limit_denominator(10**12)
    second, fourth = (value(f"sin(x)^{k}", v) for k in (2, 4))
    slope, level = 2 * (1 - float(v)), float(v)
    return over_units(
        case,
        lambda z: (2 * np.sin(z) ** 2 - slope * level) / (1 - slope),
        (4 * fourth - 4 * slope * level * second + (slope * level) ** 2) / (1 - slope) ** 2,
        case.claim(),
        {"1": 1, "one layer from v = 1": 2 * value("sin(x)^2"), "1/2": 0.5},
        variance=v,
    )


def pair(one: Draws, other: Draws) -> Draws:
    """What a pair of a cosine and a sine adds to the kernel."""
    return np.asarray(np.cos(one) * np.cos(other) + np.sin(one) * np.sin(other))


def other_kernels(q: float, rho: float) -> dict[str, float]:
    return {
        "exp(-2 q (1 - rho))": exp(-2 * q * (1 - rho)),
        "exp(-q (1 - rho)/2)": exp(-q * (1 - rho) / 2),
        "cosines alone": exp(-q) * np.cosh(q * rho),
        "1 - q (1 - rho), its start": 1 - q * (1 - rho),
    }


@experiment(
    law="random-fourier-features",
    quantity="E[cos cos + sin sin]",
    weights=NORMAL,
    q=Fraction(3, 2),
)
def random_fourier_features(case: Case) -> Trial:
    """Two inputs of length 3 and correlation 4/9; frequencies of variance q/9."""
    q, rho = float(case["q"]), float(along(SECOND))
    frequencies = case.scaled(case["q"] / 9)

    def draw(rng: np.random.Generator, replicates: int) -> Draws:
        w = frequencies.sample(rng, (3, WIDTH, replicates))
        one, other = (np.einsum("i,ijr->jr", x, w) for x in (FIRST, SECOND))
        return np.asarray(pair(one, other).mean(axis=0))

    wrong = other_kernels(q, rho)
    claimed = case.claim(rho=along(SECOND))
    # E[cos(d)^2] = (1 + e^(-2 Var d))/2 for the difference d, of variance 2 q (1 - rho)
    square = (1 + exp(-4 * q * (1 - rho))) / 2
    spread = (square - float(claimed) ** 2) / WIDTH
    return Trial(draw, 3 * WIDTH, claimed, spread, {name: exact_of(w) for name, w in wrong.items()})


@experiment(
    law="random-fourier-features",
    quantity="E[cos cos + sin sin] to 0.1 %, near",
    weights=NORMAL,
    q=Fraction(6),
)
def random_fourier_features_near(case: Case) -> Trial:
    """Inputs of correlation 8/9, in units of the claim and less it: its tolerance is a tenth.

    Of cos(d), d = z - z_2, the parts along Hermite polynomials of d are taken off, of mean 0 and
    variance k!: a factor in what norms z_2 changes the mean by less than 1 %.
    """
    q, rho, claim = float(case["q"]), float(along(NEAR)), float(case.claim(rho=along(NEAR)))
    frequencies, s2 = case.scaled(case["q"] / 9), 2 * q * (1 - rho)  # Var d
    right = exp(-s2 / 2)
    parts = [(-s2) ** k * right / factorial(2 * k) for k in (1, 2, 3)]

    def draw(rng: np.random.Generator, replicates: int) -> Draws:
        w = frequencies.sample(rng, (3, WIDTH, replicates))
        one, other = (np.einsum("i,ijr->jr", x, w) for x in (FIRST, NEAR))
        s = (one - other) ** 2 / s2
        along = (s - 1, s**2 - 6 * s + 3, s**3 - 15 * s**2 + 45 * s - 15)
        taken = sum(c * he for c, he in zip(parts, along, strict=True))
        return np.asarray(((pair(one, other) - taken) / claim - 1).mean(axis=0))

    # E[cos(d) He_2k(d/s)] = (-s^2)^k e^(-s^2/2)
    known = right**2 * sum(s2 ** (2 * k) / factorial(2 * k) for k in range(4))
    left = (1 + exp(-2 * s2)) / 2 - known
    wrong = {name: exact_of(w / claim - 1) for name, w in other_kernels(q, rho).items()}
    return Trial(draw, 3 * WIDTH, 0, left / claim**2 / WIDTH, wrong, scale=0.1)


@experiment(law="positive-features", quantity="relative variance", weights=NORMAL, v=Fraction(1, 3))
def positive_features(case: Case) -> Trial:
    """Features of a query and a key, the product of both over e^(q.k)."""
    v = float(case["v"])
    scale = (v / float((FIRST + SECOND) @ (FIRST + SECOND))) ** 0.5
    q, k = scale * FIRST, scale * SECOND

    def one(rng: np.random.Generator, shape: tuple[int, ...]) -> Draws:
        w = case.weights.sample(rng, (3, *shape))
        features = (np.exp(np.tensordot(x, w, 1) - x @ x / 2) for x in (q, k))
        return np.asarray(np.prod(list(features), axis=0) / np.exp(q @ k))

    wrong = {
        "e^(v/2) - 1": exp(v / 2) - 1,
        "e^v": exp(v),
        "v, its start": v,
        "e^(2 v) - 1": exp(2 * v) - 1,
        "e^(|q - k|^2) - 1": exp(float((q - k) @ (q - k))) - 1,
    }
    told = {name: exact_of(number) for name, number in wrong.items()}
    return halved(one, lambda n: Fraction(exp(v * n * (n - 1) / 2)), 3, case.claim(), told)
