"""Experiments on the first loss of real heads, and on its gradient."""

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.fft import dct
from sympy import Rational, sqrt

from varlaw.checks.experiments.head import NORMAL, excess
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.experiments.softmax import remainder


@experiment(law="head-gpt2", quantity="E[z^2]", weights=ANY)
def head_gpt2(case: Case) -> Trial:
    """One embedding times 768 orthogonal features of mean square 1."""
    width, std = 768, 0.02

    def draw(rng: Generator, replicates: int) -> Draws:
        embedding = std * case.weights.sample(rng, (width, replicates))
        logits = math.sqrt(width) * dct(embedding, axis=0, norm="ortho")
        return np.asarray((logits**2).mean(axis=0))

    second = width * std**2
    wrong = {
        "its square root": Rational(second**0.5),
        "that of BERT's truncated embeddings": Rational(second * 0.7737413),
        "of one feature": Rational(std**2),
        "times 12 blocks": Rational(12 * second),
    }
    spread = std**4 * width * float(case.weights.moment(4) - 1)
    claim = Rational(float(case.claim()) ** 2)
    return Trial(draw, width, claim, spread, wrong, work=2 * width)


def loss(case: Case, count: int, s2: float, wrong: dict[str, float]) -> Trial:
    """The loss less log K, against what the law says it is; `wrong` are other excesses."""

    def draw(rng: Generator, replicates: int) -> Draws:
        return excess(math.sqrt(s2) * rng.standard_normal((count, replicates)), s2)

    claim = Rational(float(case.claim()) - math.log(count))
    told = {name: Rational(number) for name, number in wrong.items()}
    return Trial(draw, count, claim, remainder(count, s2), told)


@experiment(law="loss-gpt2", quantity="loss - log K", weights=NORMAL)
def loss_gpt2(case: Case) -> Trial:
    s2 = 768 * 0.02**2
    return loss(case, 50257, s2, {"s^2": s2, "s": math.sqrt(s2), "s^2/4": s2 / 4, "0": 0.0})


@experiment(law="loss-he-head", quantity="loss - log K", weights=NORMAL)
def loss_he_head(case: Case) -> Trial:
    return loss(case, 1000, 2.0, {"2": 2.0, "sqrt(2)": math.sqrt(2), "1/2": 0.5, "0": 0.0})


@experiment(law="loss-small-head", quantity="loss - log K", weights=NORMAL)
def loss_small_head(case: Case) -> Trial:
    s2 = 512 * 0.02**2
    return loss(case, 1000, s2, {"s^2": s2, "s": math.sqrt(s2), "s^2/4": s2 / 4, "0": 0.0})


@experiment(law="loss-gradient", quantity="|dl/dz|^2 to 0.02 %", weights=ANY, K=3)
def loss_gradient(case: Case) -> Trial:
    """By finite differences of the loss at zero logits, for a random label.

    Nothing is left to vary. As a function of the probability 1/K the claim is least there, so that
    a factor in it is seen in second order only: the tolerance is a fiftieth.
    """
    K, step = case.size("K"), 1e-4

    def draw(rng: Generator, replicates: int) -> Draws:
        label = np.eye(K)[rng.integers(0, K, replicates)].T
        moved = step * np.eye(K)[:, :, None]

        def at(z: Draws) -> Draws:
            return np.asarray(np.log(np.exp(z).sum(axis=1)) - (z * label).sum(axis=1))

        slope = (at(moved) - at(-moved)) / (2 * step)
        return np.asarray(np.sum(slope**2, axis=0))

    count = case["K"]
    wrong = {
        "0": Fraction(0),
        "1": Fraction(1),
        "(K - 1)/K^2, per logit": (count - 1) / count**2,
        "sqrt(K - 1)/K, the rms": sqrt(count - 1) / count,
        "1/K": 1 / count,
    }
    return Trial(draw, 1, case.claim(), Fraction(1, 10**14), wrong).finer(0.02)


@experiment(law="mse-gradient", quantity="E[(dl/dy)^2]", weights=ANY, v=Fraction(3, 2))
def mse_gradient(case: Case) -> Trial:
    """By finite differences of the squared error; target and output of one law."""
    std, step = float(case["v"]) ** 0.5, 1e-3

    def draw(rng: Generator, replicates: int) -> Draws:
        y, t = std * case.weights.sample(rng, (2, replicates))
        return np.asarray((((y + step - t) ** 2 - (y - step - t) ** 2) / (2 * step)) ** 2)

    v, fourth = case["v"], Rational(case.weights.moment(4))
    wrong = {"v, of the output alone": v, "2 v, without the slope": 2 * v, "4 v": 4 * v}
    spread = 16 * v**2 * (2 * fourth + 6) - 64 * v**2
    return Trial(draw, 2, case.claim(), spread, wrong)
