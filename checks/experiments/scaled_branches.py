"""Experiments on streams with linear branches, with He's variance scaled, and with DeepNorm."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Integer, Rational, sqrt

from varlaw.checks.experiments.branches import CENTRED, last_square
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.experiments.scaling import from_start, linear_branch
from varlaw.checks.experiments.stacks import Drawn, Stack, attention, rectified
from varlaw.symbolic.arrays import Entry


@experiment(
    law="pre-norm-linear", quantity="Var(x_l)", weights=SYMMETRIC, d=4, l=3, s=Fraction(2, 5)
)
def pre_norm_linear(case: Case) -> Trial:
    d, l, s = case["d"], case["l"], case["s"]  # noqa: E741
    stack = Stack([linear_branch(case, d * s**2)] * case.size("l"), CENTRED)
    added = d * s**2
    wrong = {
        "1 + d s^2, one branch": 1 + added,
        "1 + l s^2": 1 + l * s**2,
        "1 + l d s": 1 + l * d * s,
        "(1 + d s^2)^l, without Norm": (1 + added) ** l,
        "1, as in Post-Norm": 1,
    }
    return last_square(stack, case.claim(), wrong)


@experiment(law="pre-norm-he-scaled", quantity="Var(x_l)", weights=SYMMETRIC, d=4, n=6, l=3, L=4)
def he_scaled(case: Case) -> Trial:
    width, hidden = case.size("d"), case.size("n")
    l, L = case["l"], case["L"]  # noqa: E741
    branch = rectified(
        Drawn(case.weights, 2 / width), Drawn(case.weights, 2 / hidden), width, hidden
    ).scaled((2 * case.size("L")) ** -0.5)
    stack = Stack([branch] * case.size("l"), CENTRED)
    wrong = {
        "1 + 2 l, unscaled": 1 + 2 * l,
        "1 + l/(2 L), a branch adds 1/(2 L)": 1 + l / (2 * L),
        "1, constant": 1,
        "1 + 2 l/L": 1 + 2 * l / L,
    }
    return last_square(stack, from_start(case, 1), wrong)


def overlap(stack: Stack, claim: Number, wrong: dict[str, Number]) -> Trial:
    """E[x_l x_0]/E[x_0^2], the weight of x_0 in x_l."""

    def draw(rng: Generator, replicates: int) -> Draws:
        first, last = stack.ends(rng, replicates)
        return np.asarray(np.mean(first * last, axis=0))

    return Trial(draw, stack.numbers, claim, stack.overlap_variance(), wrong, work=stack.work)


@experiment(
    law="deepnorm-identity-path",
    quantity="weight of x_0",
    weights=NON_GAUSSIAN,
    d=4,
    l=3,
    s2=Fraction(3, 2),
    alpha=Fraction(7, 4),
)
def deepnorm_path(case: Case) -> Trial:
    """(alpha x + F)/r = (x + F/alpha)/(r/alpha), with r^2 = alpha^2 + s2."""
    l, s2, alpha = case["l"], case["s2"], case["alpha"]  # noqa: E741
    divisor = float(1 + s2 / alpha**2) ** 0.5
    branch = linear_branch(case, s2).scaled(float(1 / alpha))
    stack = Stack([branch] * case.size("l"), CENTRED, divisors=[divisor] * case.size("l"))
    rhs = case.law.statement.rhs.expand()
    (start,) = (e for e in rhs.atoms(Entry) if e.array.name == "x")
    wrong = {
        "(1 + s2)^(-l/2), as in Post-Norm": (1 + s2) ** (-l / 2),
        "(1 + s2/alpha)^(-l/2)": (1 + s2 / alpha) ** (-l / 2),
        "(1 + s2/alpha^2)^-l, its square": (1 + s2 / alpha**2) ** -l,
        "1, as in Pre-Norm": Integer(1),
    }
    return overlap(stack, case.at(rhs.coeff(start)), wrong)


@experiment(
    law="deepnorm-identity-weight", quantity="weight of x_0", weights=NON_GAUSSIAN, d=4, N=2
)
def deepnorm_weight(case: Case) -> Trial:
    """2 N sub-layers of two linear layers of gain beta, behind alpha and Norm."""
    N, width = case["N"], case.size("d")
    alpha = (2 * N) ** Rational(1, 4)
    layer = Drawn(case.weights, float((8 * N) ** Rational(-1, 2)) / width)
    branch = attention(layer, layer, width).scaled(float(1 / alpha))
    count = 2 * case.size("N")
    divisor = (1 + branch.second) ** 0.5
    stack = Stack([branch] * count, CENTRED, divisors=[divisor] * count)
    wrong = {
        "2^-N, as in Post-Norm": exact(2) ** -N,
        "(1 + 1/alpha^2)^-N, without beta": (1 + 1 / alpha**2) ** -N,
        "(1 + 1/(8 N))^-N, without alpha": (1 + 1 / (8 * N)) ** -N,
        "(1 + beta^2/alpha^2)^-N": (1 + 1 / sqrt(8 * N) / alpha**2) ** -N,
    }
    return overlap(stack, case.claim(), wrong)
