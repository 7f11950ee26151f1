"""Experiments on attention logits: draw queries and keys, multiply, take the power."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import sqrt

from varlaw.checks.experiments.moments import Number, Orders, exact, sum_moment
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment
from varlaw.checks.statistics.sampling import Law

TOKENS = 16  # queries and keys per replicate: all their logits are averaged first


def halved_difference(
    case: Case, factor: Number, claimed: Number, wrong: Mapping[str, Number]
) -> Trial:
    """`factor` times half the squared difference of two independent logits: no mean is assumed."""
    d, entries = case.size("d"), case.weights

    def draw(rng: Generator, replicates: int) -> Draws:
        q, k = (entries.sample(rng, (2, d, replicates)) for _ in "qk")
        first, second = np.einsum("cir,cir->cr", q, k)
        return np.asarray(float(factor) * (first - second) ** 2 / 2)

    def difference(powers: Orders) -> Fraction:  # q_i k_i - q'_i k'_i
        (order,) = powers
        return sum(
            (
                math.comb(order, k)
                * (-1) ** k
                * product_moment(entries, k)
                * product_moment(entries, order - k)
                for k in range(order + 1)
            ),
            Fraction(0),
        )

    mean, square = (sum_moment(d, (p,), difference) / 2 ** (p // 2) for p in (2, 4))
    return Trial(draw, 4 * d, claimed, exact(factor) ** 2 * exact(square - mean**2), wrong)


@experiment(law="attention-qk", quantity="Var(q.k)", weights=ANY, d=4)
def attention_qk(case: Case) -> Trial:
    width = case["d"]
    wrong = {
        "d^2": width**2,
        "sqrt(d), the std": sqrt(width),
        "d^2/sqrt(d)": width**2 / sqrt(width),
        "1, as if divided by sqrt(d)": 1,
    }
    return halved_difference(case, 1, case.claim(), wrong)


def product_moment(entries: Law, order: int) -> Fraction:
    """E[(q_i k_i)^order]."""
    return entries.moment(order) ** 2


def logits(case: Case, order: int, wrong: Mapping[str, Number]) -> Trial:
    """The mean of (q.k)^order over all pairs of some queries and keys."""
    d, entries = case.size("d"), case.weights

    def draw(rng: Generator, replicates: int) -> Draws:
        q, k = (entries.sample(rng, (TOKENS, d, replicates)) for _ in "qk")
        return np.asarray(np.mean(even_power(np.einsum("bir,cir->bcr", q, k), order), axis=(0, 1)))

    claim = case.claim({"q": entries, "k": entries})
    return Trial(
        draw, 2 * TOKENS * d, claim, logits_variance(entries, d, order), wrong, work=TOKENS**2
    )


def logits_variance(entries: Law, d: int, order: int) -> Fraction:
    """The variance of the mean of (q_b.k_c)^order over all pairs (b, c).

    Pairs that share their query or their key are dependent, all others are not.
    """

    def shared(powers: Orders) -> Fraction:  # q_i k_i and q_i k'_i
        first, second = powers
        return entries.moment(first + second) * entries.moment(first) * entries.moment(second)

    mean, square = (
        sum_moment(d, (p,), lambda powers: product_moment(entries, *powers))
        for p in (order, 2 * order)
    )
    beside, others = sum_moment(d, (order, order), shared), TOKENS - 1
    return (square + 2 * others * beside + (others * mean) ** 2) / TOKENS**2 - mean**2


def even_power(values: Draws, order: int) -> Draws:
    """values^order by multiplications in place; NumPy's power takes ten times as long."""
    np.multiply(values, values, out=values)
    match order:
        case 4:
            np.multiply(values, values, out=values)
        case 6:
            values *= values * values
        case 8:
            np.multiply(values, values, out=values)
            np.multiply(values, values, out=values)
    return values


@dataclass(frozen=True)
class Symmetrised:
    """The moments of a law, as if those of odd order vanished."""

    law: Law

    def moment(self, k: int) -> Fraction:
        return Fraction(0) if k % 2 else self.law.moment(k)


def wrong_moments(case: Case, order: int) -> dict[str, Number]:
    """What is claimed by those who forget that indices coincide, or that moments are not normal."""
    d, pairs = case["d"], double_factorial(order - 1)
    distinct = math.prod((d - k for k in range(order // 2)), start=pairs)
    twice = pairs * d ** (order // 2) + d * exact(product_moment(case.weights, order))
    found = {
        f"{pairs} d^{order // 2}, as if q.k were Gaussian": pairs * d ** (order // 2),
        "only distinct pairs of indices": distinct,
        "the Gaussian value and the coincidence of all": twice,
    }
    if not case.weights.symmetric and order > 4:
        symmetric = Symmetrised(case.weights)
        found["without moments of odd order"] = case.claim({"q": symmetric, "k": symmetric})
    return found


def double_factorial(number: int) -> int:
    """1 * 3 * ... * number, how many ways there are to pair number + 1 things."""
    return math.prod(range(1, number + 1, 2))


@experiment(
    law="attention-qk-fourth",
    quantity="E[(q.k)^4]",
    d=3,
    weights=("normal", "rademacher", "skewed"),
)
def attention_qk_fourth(case: Case) -> Trial:
    return logits(case, 4, wrong_moments(case, 4))


@experiment(
    law="attention-qk-sixth",
    quantity="E[(q.k)^6]",
    d=2,
    weights=("uniform", "rademacher", "skewed"),
)
def attention_qk_sixth(case: Case) -> Trial:
    return logits(case, 6, wrong_moments(case, 6))


@experiment(
    law="attention-qk-eighth",
    quantity="E[(q.k)^8]",
    d=4,
    weights=("uniform", "rademacher", "leaning"),
)
def attention_qk_eighth(case: Case) -> Trial:
    return logits(case, 8, wrong_moments(case, 8))


@experiment(law="attention-qk-kurtosis", quantity="E[(q.k)^4]/d^2", weights=("normal",), d=3)
def attention_qk_kurtosis(case: Case) -> Trial:
    d, width, fourth = case["d"], case.size("d"), logits(case, 4, {})

    def draw(rng: Generator, replicates: int) -> Draws:
        return fourth.draw(rng, replicates) / width**2

    return Trial(
        draw,
        fourth.numbers,
        case.claim(),
        exact(fourth.variance) / d**4,
        {
            "3, as if q.k were Gaussian": 3,
            "3 + 3/d": 3 + 3 / d,
            "3 + 6/d^2": 3 + 6 / d**2,
            "3 + 6/sqrt(d)": 3 + 6 / sqrt(d),
        },
        work=TOKENS**2,
    )
