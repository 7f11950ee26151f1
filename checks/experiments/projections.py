"""Experiments on projections to queries and keys: draw tokens and weights, multiply, square."""

from collections.abc import Mapping
from fractions import Fraction
from math import comb

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, sqrt

from varlaw.checks.experiments.attention import halved_difference
from varlaw.checks.experiments.forward import layer, units
from varlaw.checks.experiments.moments import Number, Orders, exact, sum_moment
from varlaw.checks.experiments.registry import (
    ANY,
    SYMMETRIC,
    AnyTrial,
    Case,
    Draws,
    LimitTrial,
    Trial,
    experiment,
)
from varlaw.checks.statistics.methods import Bounded
from varlaw.checks.statistics.sampling import LAWS

NORMAL = ("normal",)
TOKENS = LAWS["rademacher"]  # of square 1, so that queries depend on the weights alone


@experiment(law="attention-projection", quantity="Var(q)", weights=ANY, m=6, n=4, s2=Fraction(1, 3))
def attention_projection(case: Case) -> Trial:
    s2, fan_in = case["s2"], case["m"]
    square = [s2 * y**2 for y in units()]
    draw, numbers, spread = layer(case, LAWS["uniform"], s2, lambda q: q**2, square)
    wrong = {"s2": s2, "m s2^2": fan_in * s2**2, "m s2/2": fan_in * s2 / 2}
    return Trial(draw, numbers, case.claim(), spread, wrong)


@experiment(law="attention-scaled", quantity="Var(c q.k)", weights=ANY, d=4)
def attention_scaled(case: Case) -> Trial:
    wrong = {"c = 1": case["d"], "c = 1/d": 1 / case["d"], "c = d^(-1/4)": sqrt(case["d"])}
    return halved_difference(case, case.claim() ** 2, 1, wrong)


def projected(
    case: Case, query: Number, key: Number, claimed: Number, wrong: Mapping[str, Number]
) -> Trial:
    """(q.k)^2 of two tokens, with projections of weight variances `query` and `key`."""
    rows, cols, factor = case.size("m"), case.size("d"), exact(query) * exact(key)
    pair = case.scaled(query), case.scaled(key)

    def draw(rng: Generator, replicates: int) -> Draws:
        q, k = (
            np.einsum(
                "jr,jir->ir",
                TOKENS.sample(rng, (rows, replicates)),
                weights.sample(rng, (rows, cols, replicates)),
            )
            for weights in pair
        )
        return np.asarray(np.einsum("ir,ir->r", q, k) ** 2)

    def product(powers: Orders) -> Fraction:  # q_i k_i at weights of variance 1
        return sum_moment(rows, powers, lambda p: case.weights.moment(*p)) ** 2

    mean, square = (sum_moment(cols, (order,), product) for order in (2, 4))
    spread = factor**2 * (exact(square) - exact(mean) ** 2)
    return Trial(draw, 2 * rows * (cols + 1), claimed, spread, wrong)


@experiment(law="attention-both-scaled", quantity="Var(q.k)", weights=SYMMETRIC, m=4, d=4)
def attention_both_scaled(case: Case) -> Trial:
    rows, width = case["m"], case["d"]
    variance = 1 / (rows * case.claim())
    wrong = {"not divided": width, "each by d": 1 / width, "one of them": sqrt(width)}
    return projected(case, variance, variance, 1, wrong)


@experiment(law="attention-t5", quantity="Var(q.k)", weights=SYMMETRIC, m=4, d=4)
def attention_t5(case: Case) -> Trial:
    rows, width = case["m"], case["d"]
    wrong = {
        "key by d as well": 1 / width,
        "query by sqrt(d)": sqrt(width),
        "scaled twice": 1 / width,
    }
    return projected(case, 1 / (rows * width), 1 / rows, case.claim(), wrong)


@experiment(law="attention-fused-xavier", quantity="Var(q.k)/d", weights=SYMMETRIC, m=4, d=4)
def attention_fused_xavier(case: Case) -> Trial:
    variance = 2 / (case["m"] + 3 * case["m"])
    wrong = {
        "1, as if apart": 1,
        "1/2, as the weights": Fraction(1, 2),
        "1/9, by the fan-out alone": Fraction(1, 9),
    }
    return projected(case, variance, variance / case["d"], case.claim(), wrong)


@experiment(law="attention-qk-norm", quantity="E[a^2]", weights=SYMMETRIC, d=4, g=Fraction(3, 2))
def attention_qk_norm(case: Case) -> Trial:
    """Unit vectors from symmetric entries; a^2 lies between 0 and g^2."""
    width, gain = case["d"], case["g"]

    def unit(rng: Generator, replicates: int) -> Draws:
        v = case.weights.sample(rng, (case.size("d"), replicates))
        return np.asarray(v / np.linalg.norm(v, axis=0))

    def draw(rng: Generator, replicates: int) -> Draws:
        q, k = unit(rng, replicates), unit(rng, replicates)
        return np.asarray(np.clip(np.einsum("ir,ir->r", q, k), -1, 1) ** 2 * float(gain**2))

    wrong = {"g^2": gain**2, "g^2/sqrt(d)": gain**2 / sqrt(width), "g^2/d^2": gain**2 / width**2}
    within = Bounded(0.0, float(gain**2))
    return Trial(draw, 2 * case.size("d"), case.claim(), gain**4 / 4, wrong, method=within)


# Queries and keys that correlate


def pair_moment(rho: Fraction, order: int) -> Fraction:
    """E[(q k)^order] for k = rho q + sqrt(1 - rho^2) u."""
    z = LAWS["normal"].moment
    return sum(
        (
            comb(order, j) * rho ** (order - j) * (1 - rho**2) ** (j // 2) * z(2 * order - j) * z(j)
            for j in range(0, order + 1, 2)
        ),
        Fraction(0),
    )


def correlated(case: Case, width: int, rng: Generator, shape: tuple[int, ...]) -> Draws:
    """q.k, in an array of the shape."""
    rho = float(case["rho"])
    q, u = rng.standard_normal((2, width, *shape))
    return np.asarray((q * (rho * q + np.sqrt(1 - rho**2) * u)).sum(axis=0))


def logit_moment(case: Case, width: int, order: int) -> Fraction:
    """E[(q.k)^order], exactly."""
    rho = Fraction(case.values["rho"])
    return sum_moment(width, (order,), lambda p: pair_moment(rho, *p))


def power(case: Case, order: int, claimed: Number, wrong: Mapping[str, Number]) -> Trial:
    """(q.k)^order."""
    width = case.size("d")
    mean, square = (logit_moment(case, width, k * order) for k in (1, 2))
    return Trial(
        lambda rng, replicates: correlated(case, width, rng, (replicates,)) ** order,
        2 * width,
        claimed,
        square - mean**2,
        wrong,
    )


HALF, NEAR = Fraction(1, 2), Fraction(9, 10)
ONE = Integer(1)


@experiment(law="attention-correlated-mean", quantity="E[q.k]", weights=NORMAL, d=8, rho=HALF)
def attention_correlated_mean(case: Case) -> Trial:
    rho, width = case["rho"], case["d"]
    wrong = {"0, as if independent": 0, "rho sqrt(d)": rho * sqrt(width), "rho^2 d": rho**2 * width}
    return power(case, 1, case.claim(), wrong)


def about_mean(case: Case, claimed: Expr, wrong: Mapping[str, Number], unit: Expr = ONE) -> Trial:
    """(q.k/unit)^2 less (rho d/unit)^2: 2 rho d (q.k - rho d) is taken off, of mean 0.

    What is left does not drown in the square of the mean.
    """
    width = case.size("d")
    mean, two, three, four = (logit_moment(case, width, k) for k in (1, 2, 3, 4))
    square = four - 4 * mean * three + 6 * mean**2 * two - 3 * mean**4
    off, scale = exact(mean) ** 2 / unit**2, float(unit) ** 2

    def draw(rng: Generator, replicates: int) -> Draws:
        return (correlated(case, width, rng, (replicates,)) - float(mean)) ** 2 / scale

    spread = exact(square - (two - mean**2) ** 2) / unit**4
    others = {name: exact(value) - off for name, value in wrong.items()}
    return Trial(draw, 2 * width, claimed - off, spread, others)


@experiment(
    law="attention-correlated-second",
    quantity="E[(q.k)^2] - (rho d)^2",
    weights=NORMAL,
    d=6,
    rho=HALF,
)
def attention_correlated_second(case: Case) -> Trial:
    rho, width = case["rho"], case["d"]
    wrong = {
        "d, as if independent": width,
        "the variance alone": width * (1 + rho**2),
        "d + rho^2 d^2": width + rho**2 * width**2,
    }
    return about_mean(case, case.claim(), wrong)


@experiment(
    law="attention-correlated-second",
    quantity="E[(q.k)^2] - (rho d)^2, almost equal",
    weights=NORMAL,
    d=6,
    rho=NEAR,
)
def attention_correlated_second_near(case: Case) -> AnyTrial:
    return attention_correlated_second.build(case)


@experiment(
    law="attention-mup",
    quantity="E[(q.k/d)^2] - rho^2",
    weights=NORMAL,
    d=6,
    rho=HALF,
)
def attention_mup(case: Case) -> Trial:
    rho, width = case["rho"], case["d"]
    wrong = {
        "rho^2, as if d were infinite": rho**2,
        "1/d, as if independent": 1 / width,
        "rho^2 + 1/d": rho**2 + 1 / width,
        "divided by sqrt(d)": width * case.claim(),
    }
    return about_mean(case, case.claim(), wrong, width)


@experiment(
    law="attention-mup",
    quantity="E[(q.k/d)^2] - rho^2, almost equal",
    weights=NORMAL,
    d=6,
    rho=NEAR,
)
def attention_mup_near(case: Case) -> AnyTrial:
    return attention_mup.build(case)


@experiment(law="attention-correlated", quantity="Var(q.k)", weights=NORMAL, d=6, rho=HALF)
def attention_correlated(case: Case) -> Trial:
    """Half the squared difference of two independent logits, so that no mean is assumed."""
    rho, width = Fraction(case.values["rho"]), case.size("d")

    def draw(rng: Generator, replicates: int) -> Draws:
        first, second = correlated(case, width, rng, (2, replicates))
        return np.asarray((first - second) ** 2 / 2)

    def difference(powers: Orders) -> Fraction:
        (order,) = powers
        terms = (
            comb(order, k) * (-1) ** k * pair_moment(rho, k) * pair_moment(rho, order - k)
            for k in range(order + 1)
        )
        return sum(terms, Fraction(0))

    mean, square = (sum_moment(width, (p,), difference) / 2 ** (p // 2) for p in (2, 4))
    wrong = {
        "d, as if independent": width,
        "d (1 - rho^2)": width * (1 - rho**2),
        "the second moment": logit_moment(case, width, 2),
    }
    return Trial(draw, 4 * width, case.claim(), square - mean**2, wrong)


@experiment(
    law="attention-correlated", quantity="Var(q.k), almost equal", weights=NORMAL, d=6, rho=NEAR
)
def attention_correlated_near(case: Case) -> AnyTrial:
    return attention_correlated.build(case)


@experiment(
    law="attention-correlated-growth",
    quantity="E[(q.k)^2]/d over the claim squared",
    weights=NORMAL,
    rho=HALF,
)
def attention_correlated_growth(case: Case) -> LimitTrial:
    """Its limit is 1.

    For z = q.k/d, 2 rho (z - rho) is taken off z^2: of mean 0, as the sampler has it.
    """
    rho, sizes = Fraction(case.values["rho"]), (8, 16, 32)

    def at(width: int) -> Trial:
        second, third, fourth = (
            logit_moment(case, width, order) / Fraction(width**order) for order in (2, 3, 4)
        )
        unit = float(width / case.claim(d=width) ** 2)

        def draw(rng: Generator, replicates: int) -> Draws:
            z = correlated(case, width, rng, (replicates,)) / width
            return np.asarray(unit * (z**2 - 2 * float(rho) * (z - float(rho))))

        square = fourth - 4 * rho * third + 4 * rho**2 * second
        spread = float(square - (second - 2 * rho**2) ** 2)
        return Trial(draw, 2 * width, 1, unit**2 * spread, {})

    wrong: dict[str, Number] = {"1 + rho^2": 1 + 1 / rho**2, "rho": 1 / rho, "2 rho^2": 2}
    return LimitTrial(sizes, tuple(map(at, sizes)), 1, wrong, (0.01, 0.007, 0.004))


@experiment(law="attention-mup-scale", quantity="E[(c q.k/b)^2]", weights=ANY, b=9)
def attention_mup_scale(case: Case) -> Trial:
    """Logits of heads of the base width, scaled by the derived c over it."""
    width, scale = case.size("b"), float(case.claim()) / case.size("b")

    def draw(rng: Generator, replicates: int) -> Draws:
        q, k = (case.weights.sample(rng, (width, replicates)) for _ in "qk")
        return np.asarray((scale * np.sum(q * k, axis=0)) ** 2)

    kurtosis, b = case.weights.moment(4), case["b"]
    spread = (3 * b * (b - 1) + b * exact(kurtosis) ** 2) / b**2 - 1
    wrong = {"c = 1": b, "c = b": 1 / b, "c = b^(1/4)": sqrt(b), "c = 8": b / 64}
    return Trial(draw, 2 * width, 1, spread, wrong)
