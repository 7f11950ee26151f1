"""Experiments on sampling error, products, biases and dropout."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, sqrt

from varlaw.checks.experiments.activations import FEATURES
from varlaw.checks.experiments.moments import Number, exact, sum_moment
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.statistics.sampling import LAWS, Law, shifted

MANY = 8  # samples per replicate
SIGNS = LAWS["rademacher"]


def halved(
    one: Callable[[Generator, tuple[int, ...]], Draws],
    moments: Callable[[int], Fraction],
    numbers: int,
    claim: Number,
    wrong: Mapping[str, Number],
) -> Trial:
    """The variance of a quantity with known moments, by half the squares of differences."""

    def draw(rng: Generator, replicates: int) -> Draws:
        first, second = (one(rng, (MANY, replicates)) for _ in range(2))
        return np.asarray(np.mean((first - second) ** 2, axis=0) / 2)

    m1, m2, m3, m4 = (moments(k) for k in (1, 2, 3, 4))
    square = (2 * m4 - 8 * m3 * m1 + 6 * m2**2) / 4
    spread = exact((square - (m2 - m1**2) ** 2) / MANY)
    return Trial(draw, 2 * MANY * numbers, claim, spread, wrong)


@experiment(
    law="product-variance",
    quantity="Var(x y)",
    weights=ANY,
    mu=Fraction(4, 3),
    nu=Fraction(3, 2),
    v=Fraction(2, 3),
    r=Fraction(4, 9),
)
def product_variance(case: Case) -> Trial:
    mu, nu, v, r = (case[name] for name in ("mu", "nu", "v", "r"))
    weights, other = case.weights, SIGNS
    parts: tuple[tuple[Law, Expr, Expr], ...] = ((weights, mu, v), (other, nu, r))

    def one(rng: Generator, shape: tuple[int, ...]) -> Draws:
        x, y = (float(m) + float(s) ** 0.5 * law.sample(rng, shape) for law, m, s in parts)
        return np.asarray(x * y)

    def moments(k: int) -> Fraction:
        found = 1.0
        for law, m, s in parts:
            scale = float(s) ** 0.5
            found *= float(shifted(law, Fraction(float(m) / scale)).moment(k)) * scale**k
        return Fraction(found)

    wrong = {
        "v r": v * r,
        "v r + nu^2 v": v * r + nu**2 * v,
        "v r + mu^2 v + nu^2 r": v * r + mu**2 * v + nu**2 * r,
        "E[x^2] E[y^2]": (v + mu**2) * (r + nu**2),
    }
    return halved(one, moments, 2, case.claim(), wrong)


@experiment(
    law="linear-bias",
    quantity="E[y^2]",
    weights=ANY,
    m=5,
    n=4,
    s2=Fraction(1, 3),
    b2=Fraction(3, 2),
)
def linear_bias(case: Case) -> Trial:
    """A layer with one more input, which is 1, and whose weights are the biases."""
    m, n, s2, b2 = case.size("m"), case.size("n"), case["s2"], case["b2"]
    q = exact(FEATURES.moment(2))
    weights, biases = case.scaled(s2), case.scaled(b2)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = FEATURES.sample(rng, (m, replicates))
        w = weights.sample(rng, (m, n, replicates))
        y = biases.sample(rng, (n, replicates)) + np.einsum("ir,ijr->jr", x, w)
        return np.asarray(np.mean(y**2, axis=0))

    # E[y^4] of independent terms, and E[y_1^2 y_2^2] given x, in the mean square of x
    fourth, inputs = exact(case.weights.moment(4)), exact(FEATURES.moment(4))
    square = m * inputs + m * (m - 1) * q**2  # E[(Sum x^2)^2]
    four = (fourth - 3) * (b2**2 + m * inputs * s2**2) + 3 * (
        b2**2 + 2 * b2 * m * q * s2 + s2**2 * square
    )
    two = b2**2 + 2 * b2 * m * q * s2 + s2**2 * square
    spread = (four + (n - 1) * two) / n - (b2 + m * q * s2) ** 2
    wrong = {
        "m q s2": m * q * s2,
        "m (q s2 + b2)": m * (q * s2 + b2),
        "m q s2 + sqrt(b2)": m * q * s2 + sqrt(b2),
        "m s2 + b2": m * s2 + b2,
    }
    return Trial(draw, m + n * (m + 1), case.claim(q=q), spread, wrong)


def mask(rng: Generator, keep: Fraction, shape: tuple[int, ...]) -> Draws:
    """1/p with probability p, else 0."""
    return np.asarray((rng.random(shape) < float(keep)) / float(keep))


@experiment(law="dropout-second-moment", quantity="E[(b x)^2]", weights=ANY, p=Fraction(3, 5))
def dropout_second_moment(case: Case) -> Trial:
    p, centre = Fraction(case.values["p"]), Fraction(1, 2)
    entries = shifted(case.weights, centre)
    q = exact(entries.moment(2))

    def draw(rng: Generator, replicates: int) -> Draws:
        shape = (MANY, replicates)
        return np.asarray(np.mean((mask(rng, p, shape) * entries.sample(rng, shape)) ** 2, axis=0))

    spread = (exact(entries.moment(4)) / p**3 - (q / p) ** 2) / MANY
    wrong = {"q, kept": q, "q p": q * p, "q/p^2": q / p**2, "q/(1 - p)": q / (1 - p)}
    return Trial(draw, 2 * MANY, case.claim(q=q), spread, wrong)


@experiment(
    law="dropout-variance",
    quantity="Var(b x)",
    weights=ANY,
    p=Fraction(3, 5),
    mu=Fraction(3, 2),
    most={"p": 1},
)
def dropout_variance(case: Case) -> Trial:
    p, mu = Fraction(case.values["p"]), Fraction(case.values["mu"])
    entries = shifted(case.weights, mu)

    def one(rng: Generator, shape: tuple[int, ...]) -> Draws:
        return np.asarray(mask(rng, p, shape) * entries.sample(rng, shape))

    def moments(k: int) -> Fraction:
        return entries.moment(k) / p ** (k - 1)

    wrong = {
        "v/p": 1 / p,
        "v, kept": 1,
        "(v + p mu^2)/p, of the drop rate": (1 + p * mu**2) / p,
        "(v + mu^2)/p, the second moment": (1 + mu**2) / p,
    }
    return halved(one, moments, 2, case.claim(v=1), wrong)


@experiment(law="batch-gradient", quantity="E[a^2]", weights=ANY, B=6, mu=Fraction(1, 2))
def batch_gradient(case: Case) -> Trial:
    B, mu = case.size("B"), Fraction(case.values["mu"])
    entries = shifted(case.weights, mu)

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean(entries.sample(rng, (B, replicates)), axis=0) ** 2)

    third, fourth = (exact(case.weights.moment(k)) for k in (3, 4))
    four = mu**4 + 6 * mu**2 / B + 4 * mu * third / B**2 + (fourth + 3 * (B - 1)) / B**3
    square = exact(mu) ** 2
    wrong = {
        "(mu^2 + v)/B": (square + 1) / B,
        "mu^2 + v, of one sample": square + 1,
        "mu^2 + v/B^2": square + exact(Fraction(1, B**2)),
        "mu^2": square,
    }
    return Trial(
        draw, B, case.claim(v=1), exact(four) - (square + exact(Fraction(1, B))) ** 2, wrong
    )


@experiment(law="sample-variance", quantity="Var(S)", weights=("normal", "uniform", "skewed"), n=6)
def sample_variance(case: Case) -> Trial:
    n, weights = case.size("n"), case.weights
    powers = tuple(weights.moment(2 * k) for k in range(5))

    def one(rng: Generator, shape: tuple[int, ...]) -> Draws:
        return np.asarray(np.mean(weights.sample(rng, (n, *shape)) ** 2, axis=0))

    def moments(k: int) -> Fraction:
        return sum_moment(n, (k,), lambda order: Fraction(powers[order[0]])) / n**k

    second, fourth = 1, exact(weights.moment(4))
    wrong = {
        "E[w^4]/n": fourth / n,
        "(E[w^4] - s2^2)/n^2": (fourth - second) / n**2,
        "E[w^4] - s2^2, of one": fourth - second,
        "s2^2/(2 n), as of the std": exact(Fraction(second, 2 * n)),
    }
    claim = case.claim({"w": weights}, s2=1)
    return halved(one, moments, n, claim, wrong)


@experiment(law="sample-mean", quantity="Var(a)", weights=ANY, n=6, s2=Fraction(2, 3))
def sample_mean(case: Case) -> Trial:
    n, s2 = case.size("n"), case["s2"]
    weights = case.scaled(s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean(weights.sample(rng, (n, replicates)), axis=0) ** 2)

    fourth = exact(case.weights.moment(4))
    spread = s2**2 * ((fourth + 3 * (n - 1)) / n**3 - exact(Fraction(1, n**2)))
    wrong = {"s2": s2, "s2/n^2": s2 / n**2, "s2/(n - 1)": s2 / (n - 1), "0": 0}
    return Trial(draw, n, case.claim(), spread, wrong)


@experiment(law="rounding-noise", quantity="E[z^2]", weights=ANY, m=5, Delta=Fraction(1, 4))
def rounding_noise(case: Case) -> Trial:
    """Weights spread evenly over seven steps, rounded."""
    m, step, steps = case.size("m"), float(case["Delta"]), 7

    def draw(rng: Generator, replicates: int) -> Draws:
        w = step * steps * (rng.random((m, MANY, replicates)) - 0.5)
        x = case.weights.sample(rng, (m, replicates))
        z = np.einsum("ir,ijr->jr", x, step * np.round(w / step) - w)
        return np.asarray(np.mean(z**2, axis=0))

    # of errors u of variance 1: E[u^4] = 9/5; z_1 and z_2 share their inputs
    square = m * exact(case.weights.moment(4)) + m * (m - 1)  # E[(Sum x^2)^2]
    fourth = 3 * square + m * exact(case.weights.moment(4)) * (Fraction(9, 5) - 3)
    claim = case.claim(q=1)
    spread = claim**2 / m**2 * ((fourth + (MANY - 1) * square) / MANY - m**2)
    wrong = {
        "m q Delta^2/4": 3 * claim,
        "m q Delta^2/3": 4 * claim,
        "q Delta^2/12": claim / m,
        "m q Delta^2/24": claim / 2,
    }
    return Trial(draw, m * (MANY + 1), claim, spread, wrong)


@experiment(law="experts-average", quantity="E[y^2]", weights=ANY, n=3, s2=Fraction(3, 2))
def experts_average(case: Case) -> Trial:
    n, s2, experts = case.size("n"), case["s2"], case.scaled(case["s2"])

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean(experts.sample(rng, (n, MANY, replicates)), axis=0) ** 2).mean(0)

    fourth = exact(case.weights.moment(4))
    spread = s2**2 * ((n * fourth + 3 * n * (n - 1)) / exact(n) ** 4 - 1 / exact(n) ** 2) / MANY
    wrong = {"s2": s2, "n s2": n * s2, "s2/n^2": s2 / n**2, "s2/sqrt(n)": s2 / sqrt(n)}
    return Trial(draw, n * MANY, case.claim(), spread, wrong)
