"""Experiments on truncated normal laws: draw again until the value lies within the bounds."""

from collections.abc import Mapping
from fractions import Fraction
from math import erfc, sqrt

import numpy as np
from numpy.random import Generator

from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment
from varlaw.symbolic.gaussian.moment import moment

NORMAL = ("normal",)
DRAWS = 16


def within(low: float, high: float, rng: Generator, shape: tuple[int, ...]) -> Draws:
    """Standard normal values, those outside drawn again."""
    z = rng.standard_normal(shape)
    values = z.reshape(-1)
    (outside,) = np.nonzero((values < low) | (values > high))
    while outside.size:
        values[outside] = again = rng.standard_normal(outside.size)
        outside = outside[(again < low) | (again > high)]
    return z


def raw(order: int, low: Number, high: Number) -> float:
    """E[z^order] of the sampler."""
    return float(moment(f"x^{order}", given=f"{low} < x < {high}").digits().digits)


def squares(
    bound: Number, claimed: Number, neighbours: Mapping[str, Number], scale: float = 1.0
) -> Trial:
    """The mean of (s z)^2 over truncated draws; the fourth moment is that of the sampler."""

    def draw(rng: Generator, replicates: int) -> Draws:
        z = scale * within(-float(bound), float(bound), rng, (DRAWS, replicates))
        return np.asarray((z**2).mean(axis=0))

    spread = (scale**4 * raw(4, -bound, bound) - float(claimed) ** 2) / DRAWS
    return Trial(draw, DRAWS, claimed, spread, neighbours)


@experiment(law="truncated-normal", quantity="E[z^2 | |z| < c]", weights=NORMAL, c=Fraction(3, 2))
def truncated_normal(case: Case) -> Trial:
    bound = case.values["c"]
    return squares(
        bound,
        case.claim(),
        {
            "1": 1,
            "c^2/3, as if uniform": Fraction(bound) ** 2 / 3,
            "its square root": Fraction(sqrt(case.claim())),
        },
    )


@experiment(law="truncated-normal-factor", quantity="E[z^2 | |z| < 2]", weights=NORMAL)
def truncated_normal_factor(case: Case) -> Trial:
    std = Fraction(sqrt(case.claim()))
    return squares(2, case.claim(), {"its square root": std, "1": 1, "2/3": Fraction(2, 3)})


@experiment(law="truncated-normal-correction", quantity="E[(s z)^2 | |z| < 2]", weights=NORMAL)
def truncated_normal_correction(case: Case) -> Trial:
    s = float(case.claim())
    wrong = {
        "s = 1": Fraction(1 / s**2),
        "s = 1/gamma": Fraction(s**2),
        "s = 2": Fraction(4 / s**2),
    }
    return squares(2, 1, wrong, scale=s)


@experiment(law="truncated-normal-bert", quantity="E[(z/50)^2 | |z| < 2]", weights=NORMAL)
def truncated_normal_bert(case: Case) -> Trial:
    std = case.claim()
    wrong = {
        "0.02^2": Fraction(1, 2500),
        "0.02 times the variance": std / 50,
        "0.02": Fraction(1, 50),
    }
    return squares(2, std**2, wrong, scale=0.02)


@experiment(
    law="truncated-normal-mean",
    quantity="E[z | -l < z < r]",
    weights=NORMAL,
    l=Fraction(1, 2),
    r=Fraction(2),
)
def truncated_normal_mean(case: Case) -> Trial:
    low, high = -Fraction(case.values["l"]), Fraction(case.values["r"])

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(within(float(low), float(high), rng, (DRAWS, replicates)).mean(axis=0))

    spread = (raw(2, low, high) - raw(1, low, high) ** 2) / DRAWS
    wrong = {
        "0, as if the bounds did not matter": 0,
        "(r - l)/2, as if uniform": (low + high) / 2,
        "its negative": -case.claim(),
    }
    return Trial(draw, DRAWS, case.claim(), spread, wrong)


@experiment(
    law="truncated-normal-bounds",
    quantity="Var(z | -l < z < r)",
    weights=NORMAL,
    l=Fraction(1, 2),
    r=Fraction(2),
)
def truncated_normal_bounds(case: Case) -> Trial:
    """Half the squared difference of two draws, so that no mean is assumed."""
    low, high = -Fraction(case.values["l"]), Fraction(case.values["r"])

    def draw(rng: Generator, replicates: int) -> Draws:
        first, second = within(float(low), float(high), rng, (2, DRAWS, replicates))
        return np.asarray(((first - second) ** 2 / 2).mean(axis=0))

    one, two, three, four = (raw(order, low, high) for order in (1, 2, 3, 4))
    variance = two - one**2
    fourth = (2 * four - 8 * three * one + 6 * two**2) / 4  # of the difference, over 4
    wrong = {
        "the second moment": Fraction(two),
        "(l + r)^2/12, as if uniform": (high - low) ** 2 / 12,
        "1": 1,
        "as between -(l + r)/2 and (l + r)/2": Fraction(raw(2, (low - high) / 2, (high - low) / 2)),
    }
    return Trial(draw, 2 * DRAWS, case.claim(), (fourth - variance**2) / DRAWS, wrong)


@experiment(
    law="truncated-normal-absolute",
    quantity="E[(s z)^2 | |s z| < a]",
    weights=NORMAL,
    s=Fraction(4, 5),
    a=Fraction(6, 5),
)
def truncated_normal_absolute(case: Case) -> Trial:
    s, a = Fraction(case.values["s"]), Fraction(case.values["a"])
    return squares(
        a / s,
        case.claim(),
        {
            "s^2": s**2,
            "a bound of a standard deviations": s**2 * Fraction(raw(2, -a, a)),
            "s^2 times the factor at two": s**2 * Fraction(raw(2, -2, 2)),
        },
        scale=float(s),
    )


@experiment(
    law="truncated-normal-pytorch", quantity="1 - E[z^2 | |z| < c]", weights=NORMAL, c=Fraction(2)
)
def truncated_normal_lost(case: Case) -> Trial:
    bound, lost = Fraction(case.values["c"]), case.claim()
    inner = squares(bound, 1 - lost, {})

    def draw(rng: Generator, replicates: int) -> Draws:
        return 1 - inner.draw(rng, replicates)

    wrong = {
        "what is left": 1 - lost,
        "0": 0,
        "the chance to lie outside": Fraction(erfc(bound / sqrt(2))),
    }
    return Trial(draw, DRAWS, lost, inner.variance, wrong)


@experiment(
    law="truncated-normal-pytorch", quantity="E[w^2 | |w| < 2]", weights=NORMAL, c=Fraction(100)
)
def truncated_normal_pytorch(case: Case) -> Trial:
    """Weights with the bounds -2 and 2, of std 2/c; the claim is the share of variance lost."""
    std = 2 / Fraction(case.values["c"])
    cut = std**2 * Fraction(raw(2, -2, 2))
    wrong = {"cut at two standard deviations": cut, "the std": std, "3 std^2": 3 * std**2}
    return squares(2 / std, std**2 * (1 - case.claim()), wrong, scale=float(std))
