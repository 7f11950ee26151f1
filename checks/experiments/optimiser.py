"""Experiments on the optimiser's step: run the update rule itself, step by step."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import sqrt

from varlaw.checks.experiments.moments import Number, Scaled, exact
from varlaw.checks.experiments.registry import (
    ANY,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.statistics.sampling import LAWS, shifted
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.sequences import Term

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)


def adam(gradients: Draws, b1: float, b2: float, corrected: bool = True) -> Draws:
    """Adam's last step for a row of gradients, in units of the learning rate."""
    m, v = np.zeros(gradients.shape[1]), np.zeros(gradients.shape[1])
    for gradient in gradients:
        m = b1 * m + (1 - b1) * gradient
        v = b2 * v + (1 - b2) * gradient**2
    if corrected:
        m, v = m / (1 - b1 ** len(gradients)), v / (1 - b2 ** len(gradients))
    return np.asarray(m / np.sqrt(v))


def fourth_of_sum(variances: list[Fraction], fourths: list[Fraction]) -> Fraction:
    """E[S^4] for a sum of independent terms of mean 0."""
    total = sum(variances, Fraction(0))
    return 3 * total**2 + sum(
        (f - 3 * v**2 for v, f in zip(variances, fourths, strict=True)), Fraction(0)
    )


@experiment(law="adam-ratio", quantity="E[m]/sqrt(E[g^2])", weights=ANY, r=HALF, eta=Fraction(3, 2))
def adam_ratio(case: Case) -> Trial:
    """The corrected average of three steps, over the root of the sampler's own second moment."""
    eta, r, b, steps = case["eta"], case["r"], HALF, 3
    law = shifted(case.weights, Fraction(case.values["r"]))
    unit = float(eta) / float(sqrt(exact(law.moment(2))))
    shares = [(1 - b) * b**k / (1 - b**steps) for k in range(steps)]

    def draw(rng: Generator, replicates: int) -> Draws:
        gradients = law.sample(rng, (steps, replicates))
        return np.asarray(unit * np.einsum("k,kr->r", list(map(float, shares)), gradients))

    spread = unit**2 * float(sum(share**2 for share in shares))
    return Trial(
        draw,
        steps,
        case.claim(),
        spread,
        {
            "eta": eta,
            "eta r": eta * r,
            "eta r/(1 + r)": eta * r / (1 + r),
            "eta r^2/(1 + r^2)": eta * r**2 / (1 + r**2),
        },
    )


@experiment(
    law="adam-average",
    quantity="E[m_t^2]",
    weights=ANY,
    b=Fraction(3, 4),
    v=Fraction(2),
    t=3,
)
def adam_average(case: Case) -> Trial:
    """The average from a start of its own second moment, 3."""
    steps, start = case.size("t"), Fraction(3)
    b, v = Fraction(case.values["b"]), Fraction(case.values["v"])
    noise, first = case.scaled(v), Scaled(LAWS["uniform"], start)

    def draw(rng: Generator, replicates: int) -> Draws:
        m = first.sample(rng, (replicates,))
        for gradient in noise.sample(rng, (steps, replicates)):
            m = float(b) * m + (1 - float(b)) * gradient
        return np.asarray(m**2)

    claim = case.law.statement.rhs
    (term,) = claim.atoms(Term)
    claimed = case.at(claim.xreplace({term: exact(start)}))
    scales = [b ** (2 * steps) * start] + [((1 - b) * b**k) ** 2 * v for k in range(steps)]
    kurtosis = [LAWS["uniform"].moment(4)] + [case.weights.moment(4)] * steps
    fourths = [s**2 * f for s, f in zip(scales, kurtosis, strict=True)]
    spread = fourth_of_sum(scales, fourths) - sum(scales, Fraction(0)) ** 2
    settled = v * (1 - b) / (1 + b)
    return Trial(
        draw,
        steps + 1,
        claimed,
        spread,
        {
            "the stationary value": settled,
            "b^t instead of b^(2 t)": b**steps * start + settled * (1 - b**steps),
            "v (1 - b)^2": v * (1 - b) ** 2,
            "the start at 0": settled * (1 - b ** (2 * steps)),
        },
    )


def settled_square(
    case: Case, b: Fraction, scale: Fraction, steps: int
) -> tuple[Callable[[Generator, int], Draws], Fraction]:
    """m^2 times a scale after so many steps from 0, and its exact variance."""
    noise = case.weights

    def draw(rng: Generator, replicates: int) -> Draws:
        m = np.zeros(replicates)
        for gradient in noise.sample(rng, (steps, replicates)):
            m = float(b) * m + (1 - float(b)) * gradient
        return np.asarray(float(scale) * m**2)

    parts = [((1 - b) * b**k) ** 2 * scale for k in range(steps)]
    fourths = [p**2 * noise.moment(4) for p in parts]
    return draw, fourth_of_sum(parts, fourths) - sum(parts, Fraction(0)) ** 2


@experiment(law="adam-stationary", quantity="E[m^2]", weights=ANY, b=Fraction(1, 2), v=Fraction(3))
def adam_stationary(case: Case) -> Trial:
    """The moving average from 0; after 20 steps at b = 1/2 less than 1e-12 of the start is left."""
    b, v, steps = Fraction(case.values["b"]), Fraction(case.values["v"]), 20
    draw, spread = settled_square(case, b, v, steps)
    return Trial(
        draw,
        steps,
        case.claim(),
        spread,
        {
            "v": v,
            "v (1 - b)": v * (1 - b),
            "v (1 - b)^2": v * (1 - b) ** 2,
            "v sqrt((1 - b)/(1 + b)), the root": exact(v) * sqrt(exact((1 - b) / (1 + b))),
        },
    )


@experiment(
    law="adam-noise",
    quantity="E[step^2]",
    weights=("rademacher",),
    b=Fraction(1, 2),
    eta=Fraction(3, 2),
)
def adam_noise(case: Case) -> Trial:
    """Adam on gradients +1 and -1, where the second-moment estimate is at its mean."""
    b, rate, steps = Fraction(case.values["b"]), Fraction(case.values["eta"]), 24
    _, spread = settled_square(case, b, rate**2, steps)

    def draw(rng: Generator, replicates: int) -> Draws:
        gradients = case.weights.sample(rng, (steps, replicates))
        return np.asarray((float(rate) * adam(gradients, float(b), 0.9)) ** 2)

    return Trial(
        draw,
        steps,
        case.claim() ** 2,
        spread,
        {
            "eta^2, as if every step were eta": rate**2,
            "eta^2 (1 - b)": rate**2 * (1 - b),
            "eta^2 (1 - b)^2/(1 + b)^2": rate**2 * ((1 - b) / (1 + b)) ** 2,
        },
    )


@experiment(law="adam-noise-default", quantity="E[step^2] at b_1 = 0.9", weights=("rademacher",))
def adam_noise_default(case: Case) -> Trial:
    b, steps = Fraction(9, 10), 90
    _, spread = settled_square(case, b, Fraction(1), steps)

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(adam(case.weights.sample(rng, (steps, replicates)), 0.9, 0.999) ** 2)

    wrong = {"eta": Fraction(1), "eta sqrt(1 - b)": TENTH, "eta (1 - b)": TENTH**2}
    return Trial(draw, steps, float_of(case) ** 2, spread, wrong)


def float_of(case: Case) -> Fraction:
    return Fraction(float(case.claim()))


def first_step(case: Case, corrected: bool, wrong: Mapping[str, Number]) -> Trial:
    """Adam's first step times the sign of the gradient; nothing is left to vary."""
    rate, b1, b2 = (float(case[name]) for name in ("eta", "b_1", "b_2"))

    def draw(rng: Generator, replicates: int) -> Draws:
        gradients = case.weights.sample(rng, (1, replicates)) / 1000
        return np.asarray(rate * adam(gradients, b1, b2, corrected) * np.sign(gradients[0]))

    claim = case.law.statement.rhs
    signed = claim.xreplace({entry: exact(1) for entry in claim.atoms(Entry)})
    return Trial(draw, 1, case.at(signed), 0, wrong)


@experiment(
    law="adam-first-step",
    quantity="step sign(g)",
    weights=ANY,
    eta=Fraction(3, 2),
    b_1=Fraction(9, 10),
    b_2=Fraction(4, 5),
)
def adam_first_step(case: Case) -> Trial:
    eta, b1, b2 = case["eta"], case["b_1"], case["b_2"]
    return first_step(
        case,
        True,
        {
            "eta g": eta / 1000,
            "eta (1 - b_1)": eta * (1 - b1),
            "eta (1 - b_1)/(1 - b_2)": eta * (1 - b1) / (1 - b2),
        },
    )


@experiment(
    law="adam-first-step-uncorrected",
    quantity="step sign(g)",
    weights=ANY,
    eta=Fraction(3, 2),
    b_1=Fraction(3, 4),
    b_2=Fraction(4, 5),
)
def adam_first_step_uncorrected(case: Case) -> Trial:
    eta, b1, b2 = case["eta"], case["b_1"], case["b_2"]
    return first_step(
        case,
        False,
        {
            "eta": eta,
            "eta (1 - b_1)/(1 - b_2)": eta * (1 - b1) / (1 - b2),
            "eta b_1/sqrt(b_2)": eta * b1 / sqrt(b2),
        },
    )


@experiment(
    law="sgd-step",
    quantity="E[step^2]",
    weights=ANY,
    eta=Fraction(3, 2),
    c=Fraction(2),
    q=Fraction(5, 3),
)
def sgd_step(case: Case) -> Trial:
    eta, c, q = (Fraction(case.values[name]) for name in ("eta", "c", "q"))
    gradients = case.scaled(q)

    def draw(rng: Generator, replicates: int) -> Draws:
        losses = float(c) * gradients.sample(rng, (8, replicates))
        return np.asarray(((float(eta) * losses) ** 2).mean(axis=0))

    spread = (eta * c) ** 4 * q**2 * (case.weights.moment(4) - 1) / 8
    return Trial(
        draw,
        8,
        case.claim() ** 2,
        spread,
        {
            "eta^2, as for Adam": eta**2,
            "without the scale of the loss": eta**2 * q,
            "c for c^2": eta**2 * c * q,
        },
    )
