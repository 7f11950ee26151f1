"""Experiments on the output head and the loss at step 0: draw logits, take the cross-entropy.

The loss less its linear part in the mean u of exp(z - s^2/2) over the classes has an expectation
that is the same, and a small variance: its rest R = u - 1 - log u lies between 0 and (u - 1)^2/u.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.fft import dct
from scipy.special import logsumexp, ndtri
from sympy import Rational

from varlaw.checks.experiments.forward import layer, units
from varlaw.checks.experiments.registry import ANY, Case, Draws, LimitTrial, Trial, experiment
from varlaw.checks.experiments.softmax import of_means, of_sizes, remainder, signed
from varlaw.checks.experiments.truncation import within
from varlaw.checks.statistics.sampling import LAWS
from varlaw.symbolic.gaussian.moment import moment

NORMAL = ("normal",)
HALF = Fraction(1, 2)


@experiment(law="head-logits", quantity="Var(z)", weights=ANY, m=6, n=4, s2=Fraction(1, 3))
def head_logits(case: Case) -> Trial:
    s2, width = case["s2"], case["m"]
    square = [s2 * y**2 for y in units()]
    draw, numbers, spread = layer(case, LAWS["uniform"], s2, lambda z: z**2, square)
    wrong = {"s2": s2, "d s2^2": width * s2**2, "d s2/2": width * s2 / 2}
    return Trial(draw, numbers, case.claim(d=width), spread, wrong)


@experiment(law="head-bert", quantity="E[z^2]", weights=NORMAL)
def head_bert(case: Case) -> Trial:
    """One truncated embedding times 768 orthogonal features of mean square 1."""
    width, std = 768, 0.02
    second, fourth = (float(moment(f"x^{k}", given="|x| < 2").digits().digits) for k in (2, 4))

    def draw(rng: Generator, replicates: int) -> Draws:
        embedding = std * within(-2.0, 2.0, rng, (width, replicates))
        logits = math.sqrt(width) * dct(embedding, axis=0, norm="ortho")
        return np.asarray((logits**2).mean(axis=0))

    spread = std**4 * width * (fourth - second**2)
    wrong = {
        "not truncated": Fraction(192, 625),
        "0.554, its std": Fraction(554, 1000),
        "the std truncated by gamma": Rational(width * (std * second) ** 2),
        "of one feature": Rational(std**2 * second),
    }
    return Trial(draw, width, Rational(float(case.claim()) ** 2), spread, wrong, work=2 * width)


def excess(z: Draws, s2: float) -> Draws:
    """The loss less log K, without what is linear in u; the label's logit has mean 0."""
    u = np.exp(z - s2 / 2).mean(axis=0)
    return np.asarray(logsumexp(z, axis=0) - math.log(len(z)) - (u - 1))


@experiment(law="loss-upper", quantity="loss - log K", weights=NORMAL, s=HALF)
def loss_upper(case: Case) -> LimitTrial:
    """The bound is what the loss tends to as K grows."""
    s2 = float(case["s"] ** 2)
    wrong = {"s^2": case["s"] ** 2, "s/2": case["s"] / 2, "s^2/4": case["s"] ** 2 / 4}
    return of_sizes(
        case,
        (16, 32, 64),
        lambda z, n: excess(z, s2),
        lambda n: s2 / 2,
        lambda n: remainder(n, s2),
        wrong,
        claimed=case.claim(K=1),
    )


@experiment(
    law="loss-delta",
    quantity="K (loss - log K - s^2/2) at K, 2 K, 4 K",
    weights=NORMAL,
    s=HALF,
    K=32,
)
def loss_delta(case: Case) -> LimitTrial:
    claimed, base = case.claim(), case.size("K")
    sizes = (base, 2 * base, 4 * base)
    wrong = {"-s^2": -(case["s"] ** 2), "1 - e^(s^2)": 2 * claimed, "(1 - e^(s^2))/4": claimed / 2}
    trials = tuple(scaled_excess(float(case["s"] ** 2), n) for n in sizes)
    return LimitTrial(sizes, trials, claimed, wrong, margins=(4e-5, 4e-5, 3e-5))


def scaled_excess(s2: float, n: int) -> Trial:
    """K (loss - log K - s^2/2) of K classes.

    Less its terms in y = u - 1 up to y^7, of known means; y^8 (1 + 1/u)/8 bounds the rest.
    """

    def power(order: int, shift: float = 0.0) -> float:
        """E[y^order] at shifted logits."""
        return of_means(n, (order,), lambda p: signed(s2, p[0], 0, shift, 0))

    orders = range(2, 8)
    known = sum((-1) ** (k + 1) * power(k) / k for k in orders)

    def draw(rng: Generator, replicates: int) -> Draws:
        z = math.sqrt(s2) * rng.standard_normal((n, replicates))
        y = np.expm1(z - s2 / 2).mean(axis=0)
        series = sum((-1) ** (k + 1) * y**k / k for k in orders)
        return np.asarray(n * (excess(z, s2) - s2 / 2 - series + known))

    spread = n**2 / 32 * (power(16) + math.exp(s2 + 2 * s2 / n) * power(16, 2 * s2 / n))
    return Trial(draw, n, 1, spread, {})


@experiment(law="loss-one-nat", quantity="loss - log K", weights=NORMAL)
def loss_one_nat(case: Case) -> Trial:
    std, count = float(case.claim()), 1000

    def draw(rng: Generator, replicates: int) -> Draws:
        return excess(std * rng.standard_normal((count, replicates)), std**2)

    wrong = {"s^2": Rational(std**2), "s": Rational(std), "1/2": HALF}
    return Trial(draw, count, 1, remainder(count, std**2), wrong)


@experiment(law="loss-saturated", quantity="loss", weights=NORMAL)
def loss_saturated(case: Case) -> Trial:
    """The 200 largest of 32128 logits, from the uniform law of their tails; the rest is below
    rounding. The gradient of log Sum exp is at most 1 in norm, so its variance at most 768.
    """
    count, top, std = 32128, 200, math.sqrt(768)

    def draw(rng: Generator, replicates: int) -> Draws:
        tail = rng.beta(top + 1, count - top, replicates)
        logits = -std * ndtri(tail * rng.random((top, replicates)))
        return np.asarray(logsumexp(logits, axis=0))

    wrong = {
        "log K + s^2/2": Rational(math.log(count) + 384),
        "log K": Rational(math.log(count)),
        "s sqrt(2 log K)": Rational(std * math.sqrt(2 * math.log(count))),
    }
    return Trial(draw, top + 1, case.claim(), 768, wrong)
