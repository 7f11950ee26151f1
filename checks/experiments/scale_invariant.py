"""Experiments on weights whose scale does not matter: steps on a neuron that divides by their norm.

Gradients are taken by a complex step, so that no formula of the laws has a part in them.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sympy import sqrt

from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import ANY, Case, Draws, LimitTrial, Trial, experiment
from varlaw.checks.statistics.sampling import Law, shifted
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.terms import IndexSum

STEP = 1e-30  # of the complex step: what it neglects is of its square
LAMBDA: dict[str, Any] = {"lambda": Fraction(1, 2)}  # a name that Python keeps for itself
OFFSET = Fraction(3)  # keeps the weights away from 0


def neuron(x: NDArray[np.complex128], w: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """x.w/|w| along the first axis, analytic in w."""
    return np.asarray((x * w).sum(axis=0) / np.sqrt((w * w).sum(axis=0)))


def slopes(x: Draws, w: Draws) -> Draws:
    """The derivatives of the neuron by its weights."""
    found = np.empty_like(w)
    for k in range(len(w)):
        moved = w.astype(complex)
        moved[k] += 1j * STEP
        found[k] = neuron(x.astype(complex), moved).imag / STEP
    return found


def drawn(law: Law, rng: Generator, size: int, replicates: int) -> tuple[Draws, Draws]:
    """Normal inputs, so that no slope is 0, and weights of a law away from 0."""
    weights = shifted(law, OFFSET).sample(rng, (size, replicates))
    return rng.standard_normal((size, replicates)), weights


@experiment(law="scale-invariant-gradient", quantity="w.dy/dw", weights=ANY, n=5)
def scale_invariant_gradient(case: Case) -> Trial:
    """Nothing is left to vary: the sum is 0 in every draw."""

    def draw(rng: Generator, replicates: int) -> Draws:
        x, w = drawn(case.weights, rng, case.size("n"), replicates)
        return np.asarray((w * slopes(x, w)).sum(axis=0))

    wrong = {
        "y, as for a layer without normalisation": Fraction(1),
        "-y": Fraction(-1),
        "2 y, as for a quadratic one": Fraction(2),
    }
    return Trial(draw, 2 * case.size("n"), case.claim(), 0, wrong, scale=1.0)


WEIGHTS = np.array([2.0, 1.0, 1.0, -1.0])
LENGTH = 7  # their square


@experiment(
    law="scale-invariant-norm",
    quantity="E[|w - eta p dy/dw|^2]",
    weights=ANY,
    eta=Fraction(2),
    p=Fraction(3, 2),
)
def scale_invariant_norm(case: Case) -> Trial:
    """Fixed weights and random inputs x: the claim is linear in |x|^2 and in (w.x)^2."""
    eta, p = (float(case[name]) for name in ("eta", "p"))
    size = len(WEIGHTS)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = case.weights.sample(rng, (size, replicates))
        w = np.repeat(WEIGHTS[:, None], replicates, axis=1)
        return np.asarray(((w - eta * p * slopes(x, w)) ** 2).sum(axis=0))

    claim, means = case.law.statement.rhs, {}
    for total in claim.atoms(IndexSum):
        names = {e.array.name for e in total.atoms(Entry)}
        if names == {"x", "w"}:
            means[total] = sqrt(LENGTH)  # E[(w.x)^2] = |w|^2
        else:
            means[total] = exact(size if names == {"x"} else LENGTH)
    claimed, growth = case.at(claim.xreplace(means)), (case["eta"] * case["p"]) ** 2
    square = size**2 + size * (case.weights.moment(4) - 1)  # E[|x|^4]
    return Trial(
        draw,
        size,
        claimed,
        growth**2 * square / LENGTH**2,
        {
            "no growth": LENGTH,
            "without the projection": LENGTH + growth * size / LENGTH,
            "a gradient that does not fall with |w|": LENGTH + growth * (size - 1),
            "eta for eta^2": LENGTH + growth / case["eta"] * (size - 1) / LENGTH,
        },
    )


@experiment(
    law="scale-invariant-rate",
    quantity="slope at c w over slope at w",
    weights=ANY,
    n=4,
    c=Fraction(3),
)
def scale_invariant_rate(case: Case) -> Trial:
    c = float(case["c"])

    def draw(rng: Generator, replicates: int) -> Draws:
        x, w = drawn(case.weights, rng, size, replicates)
        near, far = slopes(x, w), slopes(x, c * w)
        return np.asarray((near * far).sum(axis=0) / (near**2).sum(axis=0))

    size, factor = case.size("n"), case["c"]
    claim = case.claim_at({"x": range(1, size + 1), "w": size * (1,)}, i=1)
    wrong = {"1": 1, "1/c^2": 1 / factor**2, "c": factor}
    return Trial(draw, 2 * size, claim, 0, wrong)


def decayed(case: Case, steps: int) -> Trial:
    """|w|^4 after steps of gradient and decay from weights of length 1.

    The gradient has length sqrt(G)/|w| and a direction drawn anew, orthogonal to the weights: its
    length is all that counts, so nothing is left to vary.
    """
    rate, decay, size = (float(case[name]) for name in ("eta", "lambda", "G"))

    def draw(rng: Generator, replicates: int) -> Draws:
        w = np.zeros((4, replicates))
        w[0] = 1.0
        for noise in case.weights.sample(rng, (steps, 4, replicates)):
            square = (w**2).sum(axis=0)
            g = noise - w * (noise * w).sum(axis=0) / square
            g *= np.sqrt(size / square / (g**2).sum(axis=0))
            w = (1 - rate * decay) * w - rate * g
        return np.asarray((w**2).sum(axis=0) ** 2)

    return Trial(draw, 4 * steps, case.claim(), 0, {})


@experiment(
    law="scale-invariant-decay",
    quantity="|w|^4",
    weights=("normal", "uniform"),
    eta=Fraction(1, 2),
    G=Fraction(3),
    **LAMBDA,
)
def scale_invariant_decay(case: Case) -> Trial:
    eta, decay, size = case["eta"], case["lambda"], case["G"]
    made = decayed(case, 40)
    wrong = {
        "first order in eta lambda": eta * size / (2 * decay),
        "decay of the square": eta * size / decay,
        "eta^2": eta**2 * size / (decay * (2 - eta * decay)),
    }
    return Trial(made.draw, made.numbers, made.claimed, 0, wrong)


@experiment(
    law="scale-invariant-equilibrium",
    quantity="|w|^4 over the claim as eta lambda -> 0",
    weights=("normal", "uniform"),
    eta=Fraction(1, 2),
    G=Fraction(3),
)
def scale_invariant_equilibrium(case: Case) -> LimitTrial:
    """At eta lambda = 1/n; the error of the law is of order 1/n."""
    sizes = (4, 8, 16)

    def trial(n: int) -> Trial:
        decay = Fraction(1, n) / Fraction(case.values["eta"])
        at = Case(case.law, case.weights, {**case.values, "lambda": decay})
        made = decayed(at, 6 * n)
        scale = float(1 / at.claim())

        def draw(rng: Generator, replicates: int) -> Draws:
            return scale * made.draw(rng, replicates)

        return Trial(draw, made.numbers, 1, 0, {})

    wrong: dict[str, Number] = {"eta G/lambda": 2, "its half": Fraction(1, 2), "its root": sqrt(2)}
    margins = (0.001, 0.001, 0.001)
    return LimitTrial(sizes, tuple(map(trial, sizes)), 1, wrong, margins)
