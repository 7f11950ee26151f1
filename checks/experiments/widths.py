"""Experiments on networks whose layers differ in width."""

from math import prod, sqrt

import numpy as np
from numpy.random import Generator
from sympy import Rational

from varlaw.checks.experiments.depth import factor_moment, from_one
from varlaw.checks.experiments.forward import multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment
from varlaw.symbolic.sequences import IndexProduct, Term

WIDTHS = (6, 9)


@experiment(
    law="depth-he-widths",
    quantity="E[q_2^2]",
    weights=("normal",),
    m=3,
    l=2,
    most={"l": 2},
    least={"l": 2},
)
def depth_he_widths(case: Case) -> Trial:
    """From m inputs with q_0 = 1 through two layers."""
    fan_in = case.size("m")

    def draw(rng: Generator, replicates: int) -> Draws:
        h = np.ones((fan_in, replicates))
        for width in WIDTHS:
            w = case.weights.sample(rng, (len(h), width, replicates)) * sqrt(2 / len(h))
            h = np.maximum(multiply(h, w), 0)
        return np.asarray(np.mean(h**2, axis=0) ** 2)

    claim = case.law.statement.rhs
    (whole,) = claim.atoms(IndexProduct)
    sizes = [Rational(width) for width in WIDTHS]
    at = [whole.term.xreplace({whole.index: exact(t)}) for t in range(len(WIDTHS))]
    values = {Term("n", t + 1): size for t, size in enumerate(sizes)}
    claimed = from_one(case, claim.xreplace({whole: prod(f.xreplace(values) for f in at)}))
    numbers, rows = 0, fan_in
    for width in WIDTHS:
        numbers, rows = numbers + rows * width, width
    wrong: dict[str, Number] = {
        "1, kept": 1,
        "1 + 2/n, without ReLU": prod(1 + 2 / size for size in sizes),
        "1 + 5/fan-in": (1 + Rational(5, fan_in)) * (1 + 5 / sizes[0]),
        "1 + 5 Sum 1/n, not compounded": 1 + sum(5 / size for size in sizes),
        "1 + 6/n, the variance of the raw moment": prod(1 + 6 / size for size in sizes),
    }
    spread = exact(prod(factor_moment(width, 4) for width in WIDTHS)) - claimed**2
    return Trial(draw, numbers, claimed, spread, wrong)
