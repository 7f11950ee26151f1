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
from varlaw.checks.experiments.stacks import Branch, Drawn, Stack, attention, rectified
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.terms import IndexSum


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


def deepnorm_stack(case: Case) -> Stack:
    """(alpha x + F)/r = (x + F/alpha)/(r/alpha), with r^2 = alpha^2 + s2."""
    s2, alpha, layers = case["s2"], case["alpha"], case.size("l")
    divisor = float(1 + s2 / alpha**2) ** 0.5
    branch = linear_branch(case, s2).scaled(float(1 / alpha))
    return Stack([branch] * layers, CENTRED, divisors=[divisor] * layers)


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
    l, s2, alpha = case["l"], case["s2"], case["alpha"]  # noqa: E741
    rhs = case.law.statement.rhs.expand()
    (start,) = (e for e in rhs.atoms(Entry) if e.array.name == "x")
    wrong = {
        "(1 + s2)^(-l/2), as in Post-Norm": (1 + s2) ** (-l / 2),
        "(1 + s2/alpha)^(-l/2)": (1 + s2 / alpha) ** (-l / 2),
        "(1 + s2/alpha^2)^-l, its square": (1 + s2 / alpha**2) ** -l,
        "1, as in Pre-Norm": Integer(1),
    }
    return overlap(deepnorm_stack(case), case.at(rhs.coeff(start)), wrong)


@experiment(
    law="deepnorm-identity-path",
    quantity="weight of F_0",
    weights=NON_GAUSSIAN,
    least={"l": 2},
    d=4,
    l=2,
    s2=Fraction(3, 2),
    alpha=Fraction(5, 4),
)
def deepnorm_first_branch(case: Case) -> Trial:
    """E[x_l F_0]/E[F_0^2]."""
    s2, alpha, rhs = case["s2"], case["alpha"], case.law.statement.rhs.expand()
    (total,) = rhs.atoms(IndexSum)
    (branch,) = (e for e in total.summand.atoms(Entry) if e.array.name == "F")
    values: dict[str, Number] = {total.bound[0].name: 0}
    claim = case.at(rhs.coeff(total) * total.summand.coeff(branch), None, **values)
    stack, unit = deepnorm_stack(case), float(alpha / s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        run = list(stack.run(rng, replicates))
        return np.asarray(unit * np.mean(run[1][1] * run[-1][0], axis=0))

    norm = alpha**2 + s2
    wrong = {
        "without its own Norm": claim * sqrt(norm),
        "1/alpha, as if Norms left it": 1 / alpha,
        "weighed by alpha, as x_0": claim * alpha,
        "1, as in Pre-Norm": Integer(1),
    }
    spread = unit**2 * stack.branch_variance(0)
    return Trial(draw, stack.numbers, claim, spread, wrong, work=stack.work)


def deepnorm_branch(case: Case) -> Branch:
    """Two linear layers of gain beta, over alpha, in a DeepNorm of N blocks."""
    N, width = case["N"], case.size("d")
    layer = Drawn(case.weights, float((8 * N) ** Rational(-1, 2)) / width)
    return attention(layer, layer, width).scaled(float((2 * N) ** Rational(-1, 4)))


@experiment(
    law="deepnorm-identity-weight", quantity="weight of x_0", weights=NON_GAUSSIAN, d=4, N=2
)
def deepnorm_weight(case: Case) -> Trial:
    """2 N sub-layers of two linear layers of gain beta, behind alpha and Norm."""
    N, count = case["N"], 2 * case.size("N")
    branch, alpha = deepnorm_branch(case), (2 * N) ** Rational(1, 4)
    divisor = (1 + branch.second) ** 0.5
    stack = Stack([branch] * count, CENTRED, divisors=[divisor] * count)
    wrong = {
        "2^-N, as in Post-Norm": exact(2) ** -N,
        "(1 + 1/alpha^2)^-N, without beta": (1 + 1 / alpha**2) ** -N,
        "(1 + 1/(8 N))^-N, without alpha": (1 + 1 / (8 * N)) ** -N,
        "(1 + beta^2/alpha^2)^-N": (1 + 1 / sqrt(8 * N) / alpha**2) ** -N,
    }
    return overlap(stack, case.claim(), wrong)


@experiment(
    law="deepnorm-identity-weight",
    quantity="E[F^2]/alpha^2",
    weights=NON_GAUSSIAN,
    d=4,
    N=2,
)
def deepnorm_variance(case: Case) -> Trial:
    """What a sub-layer adds, y in the weight (1 + y)^(-N): the weight itself is near 1."""
    N, branch = case["N"], deepnorm_branch(case)

    def draw(rng: Generator, replicates: int) -> Draws:
        added = branch.draw(rng, CENTRED.sample(rng, (branch.width, replicates)))
        return np.asarray(np.mean(added**2, axis=0))

    claim = case.claim() ** (-1 / N) - 1
    wrong = {"1": 1, "alpha = 1": sqrt(2 * N) * claim, "beta = 1": 8 * N * claim}
    wrong |= {"beta^2/alpha^2": sqrt(8 * N) * claim}
    spread = branch.fourth / branch.width**2 - branch.second**2
    return Trial(draw, branch.numbers + branch.width, claim, spread, wrong)
