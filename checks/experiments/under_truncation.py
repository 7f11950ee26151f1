"""Laws of truncated weights once more, by quadrature, to 10^-6.

Their definitions hold the variance of such a weight written out: a factor deep in there changes
them by as little as 10^-5, which no drawing tells from nothing.
"""

from collections.abc import Callable
from fractions import Fraction
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


def integral(f: Callable[[float], float], low: float, high: float) -> float:
    return float(quad(f, low, high, points=(0.0,), epsabs=0, epsrel=1e-12)[0])


def mean(f: Callable[[float], float], high: float = 40.0, low: float | None = None) -> float:
    """E[f(z) | low < z < high] for z ~ N(0, 1); low is -high if it is not given."""
    ends = -high if low is None else low, high
    return integral(lambda x: f(x) * bell(x), *ends) / integral(bell, *ends)


def square(x: float) -> float:
    return x * x


def left() -> float:
    """What is left of the variance of a normal weight."""
    return mean(square, 2.0)


def query() -> float:
    """The second moment of a linear layer of BERT at inputs of mean square 1."""
    return WIDTH * left() * STEP**2


def feed_forward() -> float:
    """The second moment of BERT's feed-forward branch."""
    std = sqrt(query())
    second = mean(lambda x: float(gelu(np.asarray(std * x))) ** 2)
    return HIDDEN * left() * STEP**2 * second


def floats(case: Case, *names: str) -> list[float]:
    return [float(case[name]) for name in names]


def compared(case: Case, value: float, **wrong: float) -> Trial:
    """The claim against a value of quadrature, with what it is not."""
    others = {"1": 1.0, "its square": value**2, "its half": value / 2, **wrong}
    told = {name.replace("_", " "): exact_of(number) for name, number in others.items()}
    return computed(case.claim(), value, told).finer(1e-4)


@experiment(law="truncated-normal", quantity=QUANTITY, weights=NORMAL, c=Fraction(3, 2))
def two_sided(case: Case) -> Trial:
    (c,) = floats(case, "c")
    return compared(case, mean(square, c), as_if_uniform=c**2 / 3)


@experiment(law="truncated-normal-factor", quantity=QUANTITY, weights=NORMAL)
def factor(case: Case) -> Trial:
    return compared(case, left(), its_root=sqrt(left()))


@experiment(law="truncated-normal-bert", quantity=QUANTITY, weights=NORMAL)
def bert(case: Case) -> Trial:
    return compared(case, STEP * sqrt(left()), times_the_variance=STEP * left())


@experiment(
    law="truncated-normal-absolute",
    quantity=QUANTITY,
    weights=NORMAL,
    s=Fraction(4, 5),
    a=Fraction(6, 5),
)
def absolute(case: Case) -> Trial:
    s, a = floats(case, "s", "a")
    return compared(case, s**2 * mean(square, a / s), bound_of_a_stds=s**2 * mean(square, a))


@experiment(
    law="truncated-normal-mean", quantity=QUANTITY, weights=NORMAL, l=Fraction(1, 2), r=Fraction(2)
)
def one_sided_mean(case: Case) -> Trial:
    left, right = floats(case, "l", "r")
    return compared(case, mean(lambda x: x, right, -left), as_if_uniform=(right - left) / 2)


@experiment(
    law="truncated-normal-bounds",
    quantity=QUANTITY,
    weights=NORMAL,
    l=Fraction(1, 2),
    r=Fraction(2),
)
def one_sided_variance(case: Case) -> Trial:
    left, right = floats(case, "l", "r")
    centre = mean(lambda x: x, right, -left)
    spread = mean(lambda x: (x - centre) ** 2, right, -left)
    return compared(case, spread, second_moment=spread + centre**2)


@experiment(law="truncated-normal-pytorch", quantity=QUANTITY, weights=NORMAL, c=Fraction(2))
def lost(case: Case) -> Trial:
    gone = mean(lambda x: 1 - x * x, *floats(case, "c"))
    return compared(case, gone, what_is_left=1 - gone)


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
