"""Laws of weights truncated at two standard deviations once more, by quadrature, to 10^-6.

Their definitions hold the variance of such a weight written out: a factor deep in there changes
them by as little as 10^-5, which no drawing tells from nothing.
"""

from collections.abc import Callable
from math import exp, pi, sqrt

import numpy as np
from scipy.integrate import quad

from varlaw.checks.experiments.activations import NORMAL, exact_of, found, gelu
from varlaw.checks.experiments.attained import computed
from varlaw.checks.experiments.registry import Case, Trial, experiment

QUANTITY = "by quadrature, to 10^-6"
STEP = 1 / 50  # BERT's standard deviation before truncation
WIDTH, HIDDEN, BLOCKS = 768, 3072, 12


def bell(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)


def integral(f: Callable[[float], float], bound: float) -> float:
    return float(quad(f, -bound, bound, points=(0.0,), epsabs=0, epsrel=1e-12)[0])


def mean(f: Callable[[float], float], bound: float = 40.0) -> float:
    """E[f(z) | |z| < bound] for z ~ N(0, 1)."""
    return integral(lambda x: f(x) * bell(x), bound) / integral(bell, bound)


def left() -> float:
    """What is left of the variance of a normal weight."""
    return mean(lambda x: x * x, 2.0)


def query() -> float:
    """The second moment of a linear layer of BERT at inputs of mean square 1."""
    return WIDTH * left() * STEP**2


def feed_forward() -> float:
    """The second moment of BERT's feed-forward branch."""
    std = sqrt(query())
    second = mean(lambda x: float(gelu(np.asarray(std * x))) ** 2)
    return HIDDEN * left() * STEP**2 * second


def compared(case: Case, value: float, **wrong: float) -> Trial:
    """The claim against a value of quadrature, with what it is not."""
    others = {"1": 1.0, "its square": value**2, "its half": value / 2, **wrong}
    told = {name.replace("_", " "): exact_of(number) for name, number in others.items()}
    return computed(case.claim(), value, told).finer(1e-4)


@experiment(law="truncated-normal-correction", quantity=QUANTITY, weights=NORMAL)
def correction(case: Case) -> Trial:
    return compared(case, left() ** -0.5)


@experiment(law="head-bert", quantity=QUANTITY, weights=NORMAL)
def head(case: Case) -> Trial:
    return compared(case, sqrt(query()), not_truncated=sqrt(WIDTH) * STEP)


@experiment(law="attention-bert", quantity=QUANTITY, weights=NORMAL)
def logits(case: Case) -> Trial:
    return compared(case, query() ** 2, not_truncated=(WIDTH * STEP**2) ** 2)


@experiment(law="bert-attention", quantity=QUANTITY, weights=NORMAL)
def attention_branch(case: Case) -> Trial:
    return compared(case, query() ** 2, not_truncated=(WIDTH * STEP**2) ** 2)


@experiment(law="bert-feed-forward", quantity=QUANTITY, weights=NORMAL)
def feed_forward_branch(case: Case) -> Trial:
    return compared(case, feed_forward(), as_for_ReLU=HIDDEN * left() * STEP**2 * query() / 2)


@experiment(law="bert-identity-path-least", quantity=QUANTITY, weights=NORMAL)
def least_path(case: Case) -> Trial:
    kept = ((1 + query() ** 2) * (1 + feed_forward())) ** (-BLOCKS / 2)
    return compared(case, kept, without_attention=found("bert-identity-path-most"))


@experiment(law="bert-identity-path-most", quantity=QUANTITY, weights=NORMAL)
def most_path(case: Case) -> Trial:
    kept = (1 + feed_forward()) ** (-BLOCKS / 2)
    return compared(case, kept, with_attention=found("bert-identity-path-least"))
