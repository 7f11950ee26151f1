"""Experiments on what enters a Transformer: embeddings, positions, gates, adapters, real logits."""

from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from varlaw.checks.experiments.activations import NORMAL, exact_of, value
from varlaw.checks.experiments.branches import BERT, TRUNCATED
from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import exact, sum_moment
from varlaw.checks.experiments.noise import halved
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.experiments.stacks import Drawn, outputs
from varlaw.checks.statistics.sampling import LAWS, shifted

STEP = 1e-2
CENTRED = LAWS["rademacher"]


@experiment(law="embedding-scaled", quantity="E[y^2]", weights=ANY, d=12)
def embedding_scaled(case: Case) -> Trial:
    d = case.size("d")
    weights, factor = case.scaled(Fraction(1, d)), float(case.claim())

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean((factor * weights.sample(rng, (d, replicates))) ** 2, axis=0))

    wrong = {"factor 1": d, "factor d": Fraction(1, d), "factor sqrt(d/2)": 2}
    spread = (exact(case.weights.moment(4)) - 1) / d
    told = {name: exact(number) for name, number in wrong.items()}
    return Trial(draw, d, 1, spread, told)


@experiment(law="sinusoidal-positions", quantity="mean square", weights=ANY, n=8)
def sinusoidal_positions(case: Case) -> Trial:
    """The table of a random position below 4096, as it is made in practice."""
    n = case.size("n")
    frequencies = 10000.0 ** (-np.arange(n) / n)

    def draw(rng: Generator, replicates: int) -> Draws:
        angles = frequencies[:, None] * rng.integers(0, 4096, replicates)
        table = np.concatenate([np.sin(angles), np.cos(angles)])
        return np.asarray(np.mean(table**2, axis=0))

    wrong = {"1": Fraction(1), "1/4": Fraction(1, 4), "1/sqrt(2)": exact_of(sqrt(0.5))}
    return Trial(draw, 2 * n, case.claim(), Fraction(1, 10**8), wrong)


@experiment(law="rotary-positions", quantity="E[y^2]/E[x^2]", weights=ANY, d=8)
def rotary_positions(case: Case) -> Trial:
    """The first half of a query, rotated against the second at the angles of position 500."""
    pairs = case.size("d")
    angles = 500 * 10000.0 ** (-np.arange(pairs) / pairs)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def draw(rng: Generator, replicates: int) -> Draws:
        x, z = (case.weights.sample(rng, (pairs, replicates)) for _ in "xz")
        return np.asarray(np.mean((cosine * x - sine * z) ** 2, axis=0))

    excess = max(float(case.weights.moment(4)), 3.0) - 1
    added = 1 + float(np.mean(np.sin(angles) ** 2 + np.cos(angles) ** 2))
    wrong = {
        "2, added": added,
        "1/2, as of sinusoids": 0.5,
        "sqrt(2)": sqrt(2),
        "cos^2 alone": float(np.mean(cosine**2)),
    }
    told = {name: exact_of(number) for name, number in wrong.items()}
    claims = [case.claim(q=1, theta=Fraction(float(angle))) for angle in angles]
    return Trial(draw, 2 * pairs, sum(claims) / pairs, exact_of(excess / pairs), told)


@experiment(
    law="gated-unit",
    quantity="E[(f b)^2]",
    weights=ANY,
    v=Fraction(5, 4),
    u2=Fraction(2, 3),
)
def gated_unit(case: Case) -> Trial:
    """A gate of mean 1/2 (its activation's output) times a centred value."""
    entries = shifted(CENTRED, Fraction(1, 2))  # of second moment 5/4
    v, u2 = case["v"], case["u2"]
    gate, many = float(v / exact(entries.moment(2))) ** 0.5, 8

    def draw(rng: Generator, replicates: int) -> Draws:
        f = gate * entries.sample(rng, (many, replicates))
        b = float(u2) ** 0.5 * case.weights.sample(rng, (many, replicates))
        return np.asarray(np.mean((f * b) ** 2, axis=0))

    fourth = exact(entries.moment(4)) * gate**4 * exact(case.weights.moment(4)) * u2**2
    wrong = {
        "v": v,
        "u2": u2,
        "(v - 1/4) u2, the gate's variance": (v - exact(Fraction(1, 4))) * u2,
        "v + u2": v + u2,
    }
    spread = (float(fourth) - float(v * u2) ** 2) / many
    return Trial(draw, 2 * many, case.claim(), spread, wrong)


@experiment(law="swiglu", quantity="E[(silu(z) b)^2]", weights=NORMAL, d=3)
def swiglu(case: Case) -> Trial:
    """A layer of 8 gated units at a fixed input of mean square 1."""
    d, units = case.size("d"), 8
    drawn = Drawn(case.weights, 1 / d)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (d, replicates))
        z, b = (multiply(x, drawn.sample(rng, (d, units, replicates))) for _ in "zb")
        return np.asarray(np.mean((z * expit(z) * b) ** 2, axis=0))

    second, fourth = value("silu(x)^2"), value("silu(x)^4")
    wrong = {
        "1/2, as with ReLU": 0.5,
        "the variance of SiLU": second - value("silu(x)") ** 2,
        "1/4": 0.25,
        "its square root": sqrt(second),
        "1": 1.0,
    }
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, d * (2 * units + 1), case.claim(), (3 * fourth - second**2) / units, told)


@experiment(law="attention-qk-means", quantity="Var(q.k)", weights=ANY, d=4, mu=Fraction(3, 4))
def attention_qk_means(case: Case) -> Trial:
    d, mu = case.size("d"), Fraction(case.values["mu"])
    entries = shifted(case.weights, mu)

    def one(rng: Generator, shape: tuple[int, ...]) -> Draws:
        q, k = (entries.sample(rng, (d, *shape)) for _ in "qk")
        return np.asarray(np.sum(q * k, axis=0))

    def moments(order: int) -> Fraction:
        return sum_moment(d, (order,), lambda k: entries.moment(k[0]) ** 2)

    width, square = exact(d), exact(mu) ** 2
    wrong = {
        "d": width,
        "d (1 + mu^2)": width * (1 + square),
        "d (1 + mu^2)^2, about 0": width * (1 + square) ** 2,
        "d (1 + 2 mu^2) + d^2 mu^4, the second moment": width * (1 + 2 * square)
        + width**2 * square**2,
    }
    return halved(one, moments, 2 * d, case.claim(v=1), wrong)


@experiment(law="attention-bert", quantity="E[a^2]", weights=NORMAL, d=4)
def attention_bert(case: Case) -> Trial:
    """Queries and keys of two tokens of width 6, with weights as much larger as that is smaller."""
    d, width = case.size("d"), 6
    drawn = Drawn(TRUNCATED, BERT * 768 / width)

    def draw(rng: Generator, replicates: int) -> Draws:
        tokens = (SIGNS.sample(rng, (width, replicates)) for _ in "qk")
        q, k = (multiply(x, drawn.sample(rng, (width, d, replicates))) for x in tokens)
        return np.asarray(np.sum(q * k, axis=0) ** 2 / d)

    v = 768 * BERT
    kurtosis = drawn.kurtosis  # of a sum of weights, and so of q.k's terms
    fourth = v**4 * (kurtosis**2 / d + 3 * (d - 1) / d)
    wrong = {
        "1": 1.0,
        "v": v,
        "v^2 d, not scaled": v**2 * d,
        "without truncation": (768 * 0.02**2) ** 2,
    }
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 2 * width * (d + 1), case.claim(), fourth - v**4, told)


@experiment(law="logits-outside", quantity="P(some |a| > 3)", weights=NORMAL, n=48)
def logits_outside(case: Case) -> Trial:
    n = case.size("n")

    def draw(rng: Generator, replicates: int) -> Draws:
        logits = case.weights.sample(rng, (n, replicates))
        return np.asarray((np.abs(logits).max(axis=0) > 3).astype(float))

    claim = float(case.claim())
    one = float(case.at(case.law.statement.rhs, n=1))
    wrong = {
        "of one logit": one,
        "n times that": n * one,
        "of one side": 1 - (1 - one / 2) ** n,
        "1": 1.0,
    }
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, n, case.claim(), exact_of(claim * (1 - claim)), told)


@experiment(
    law="lora",
    quantity="E of B's squared gradient",
    weights=ANY,
    d=3,
    r=2,
    s=Fraction(2, 3),
    g=Fraction(5, 4),
)
def lora(case: Case) -> Trial:
    """By central differences of p.y in each entry of B, which is 0."""
    d, rank, s, g = case.size("d"), case.size("r"), case["s"], case["g"]
    drawn = Drawn(case.weights, float(s))

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (d, replicates))
        p = float(g) ** 0.5 * CENTRED.sample(rng, (d, replicates))
        h = multiply(x, drawn.sample(rng, (d, rank, replicates)))

        def loss(b: Draws) -> Draws:
            return np.asarray(np.sum(p * (x + np.einsum("jr,jk->kr", h, b)), axis=0))

        total = np.zeros(replicates)
        for j in range(rank):
            for k in range(d):
                moved = np.zeros((rank, d))
                moved[j, k] = STEP
                total += ((loss(moved) - loss(-moved)) / (2 * STEP)) ** 2
        return total / (rank * d)

    claim = case.claim(q=1)
    wrong = {
        "0, as for A": 0,
        "d g q s/2, as behind ReLU": claim / 2,
        "g q s": claim / d,
        "r g q s": claim * rank / d,
    }
    spread = float(claim) ** 2 * (outputs(rank, drawn.kurtosis) / rank**2 - 1)
    return Trial(draw, d * (rank + 2), claim, spread, wrong)


@experiment(
    law="lora-rank",
    quantity="E of the movement per -eta p",
    weights=ANY,
    d=4,
    r=3,
    s=Fraction(2, 3),
)
def lora_rank(case: Case) -> Trial:
    """By a step of size 1 on B from 0, and what it does to an output at the same input."""
    d, rank, s, factor = case.size("d"), case.size("r"), case["s"], case.claim()
    drawn = Drawn(case.weights, float(s))

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (d, replicates))
        h = multiply(x, drawn.sample(rng, (d, rank, replicates)))
        b = float(factor) * h
        return np.asarray(float(factor) * np.sum(h * b, axis=0))

    claim = d * s
    wrong = {
        "factor 1/r": claim / rank,
        "factor 1": claim * rank,
        "factor r^(-1/4)": claim * sqrt(rank),
    }
    spread = float(claim) ** 2 * (outputs(rank, drawn.kurtosis) / rank**2 - 1)
    return Trial(draw, d * (rank + 1), claim, spread, wrong)
