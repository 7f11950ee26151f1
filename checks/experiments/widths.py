"""Experiments on networks whose layers differ in width."""

from math import prod

import numpy as np
from sympy import Rational

from varlaw.checks.experiments.depth import from_one, square_of
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import Case, Trial, experiment
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

    draw, numbers, spread = square_of(case, np.ones(fan_in), WIDTHS)
    claim = case.law.statement.rhs
    (whole,) = claim.atoms(IndexProduct)
    sizes = [Rational(width) for width in WIDTHS]
    at = [whole.term.xreplace({whole.index: exact(t)}) for t in range(len(WIDTHS))]
    values = {Term("n", t + 1): size for t, size in enumerate(sizes)}
    claimed = from_one(case, claim.xreplace({whole: prod(f.xreplace(values) for f in at)}))
    wrong: dict[str, Number] = {
        "1, kept": 1,
        "1 + 2/n, without ReLU": prod(1 + 2 / size for size in sizes),
        "1 + 5/fan-in": (1 + Rational(5, fan_in)) * (1 + 5 / sizes[0]),
        "1 + 5 Sum 1/n, not compounded": 1 + sum(5 / size for size in sizes),
        "1 + 6/n, the variance of the raw moment": prod(1 + 6 / size for size in sizes),
    }
    return Trial(draw, numbers, claimed, spread, wrong)
