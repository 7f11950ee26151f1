"""Experiments on what keeps deep stacks near the identity: Admin, LayerScale, stochastic depth."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.random import Generator
from sympy import Integer, sqrt

from varlaw.checks.experiments.branches import CENTRED, last_square
from varlaw.checks.experiments.forward import multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.experiments.scaled_branches import overlap
from varlaw.checks.experiments.scaling import SIGNED, from_start, linear_branch
from varlaw.checks.experiments.stacks import Branch, Stack, normalised
from varlaw.checks.experiments.zero_init import G, difference, probe
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.sequences import IndexProduct, Term
from varlaw.symbolic.terms import IndexSum

HALF = Fraction(1, 2)


FACTORS = Fraction(2), Fraction(3), Fraction(3, 2)  # of residual connections


def admin_stack(case: Case, omegas: Sequence[float | Fraction]) -> Stack:
    """(omega x + F)/r = (x + F/omega)/(r/omega), with r^2 = omega^2 + s2."""
    s2, factors = case["s2"], [float(omega) for omega in omegas]
    branches = [linear_branch(case, s2).scaled(1 / omega) for omega in factors]
    divisors = [(1 + float(s2) / omega**2) ** 0.5 for omega in factors]
    return Stack(branches, CENTRED, divisors=divisors)


def behind(case: Case, omegas: Sequence[float], claim: Number, wrong: dict[str, Number]) -> Trial:
    """The weight of x_0."""
    return overlap(admin_stack(case, omegas), claim, wrong)


@experiment(
    law="admin-recursion",
    quantity="weight of x_0",
    weights=NON_GAUSSIAN,
    d=4,
    s2=Fraction(3, 2),
)
def admin_recursion(case: Case) -> Trial:
    """Three sub-layers of three factors."""
    s2, factors = case["s2"], [exact(f) for f in FACTORS]
    rhs = case.law.statement.rhs.expand()
    (start,) = (e for e in rhs.atoms(Entry) if e.array.name == "x")
    weight = rhs.coeff(start)
    (whole,) = weight.atoms(IndexProduct)
    at = [whole.term.xreplace({whole.index: exact(t)}) for t in range(len(factors))]
    terms = [
        term.xreplace({value: factor for value in term.atoms(Term)})
        for term, factor in zip(at, factors, strict=True)
    ]
    kept = case.at(weight.xreplace({whole: prod(terms)}))
    wrong: dict[str, Number] = {
        "(1 + s2)^(-3/2), as in Post-Norm": (1 + s2) ** Fraction(-3, 2),
        "its square": kept**2,
        "1, as in Pre-Norm": Integer(1),
        "Prod omega": prod(factors),
    }
    return behind(case, [float(f) for f in factors], kept, wrong)


@experiment(
    law="admin-recursion",
    quantity="weight of F_1",
    weights=NON_GAUSSIAN,
    d=4,
    s2=Fraction(3, 2),
)
def admin_branch(case: Case) -> Trial:
    """E[x_l F_1]/E[F_1^2] for the second of three branches."""
    s2, rhs = case["s2"], case.law.statement.rhs.expand()
    (total,) = rhs.atoms(IndexSum)
    (branch,) = (e for e in total.summand.atoms(Entry) if e.array.name == "F")
    weight = rhs.coeff(total) * total.summand.coeff(branch)
    given = case.at(weight, None, l=len(FACTORS), **{total.bound[0].name: 1})
    kept = given.xreplace({e: exact(FACTORS[int(e.args[1])]) for e in given.atoms(Term)})
    stack, unit = admin_stack(case, FACTORS), float(FACTORS[1]) / float(s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        (_, _), (_, _), (_, added), (last, _) = stack.run(rng, replicates)
        return np.asarray(unit * np.mean(added * last, axis=0))

    own, above = (exact(f) ** 2 for f in FACTORS[1:])
    wrong: dict[str, Number] = {
        "without its own Norm": kept * sqrt(own + s2),
        "without the Norm of the last layer": kept * sqrt(above + s2),
        "times omega, as x_0": kept * sqrt(own),
        "1, as in Pre-Norm": Integer(1),
    }
    spread = unit**2 * stack.branch_variance(1)
    return Trial(draw, stack.numbers, kept, spread, wrong, work=stack.work)


@experiment(
    law="admin-identity-path",
    quantity="weight of x_0",
    weights=NON_GAUSSIAN,
    d=4,
    l=4,
    s2=Fraction(3, 2),
)
def admin_identity_path(case: Case) -> Trial:
    l, s2 = case["l"], case["s2"]  # noqa: E741
    omegas = [(1 + float(s2) * t) ** 0.5 for t in range(case.size("l"))]
    wrong: dict[str, Number] = {
        "(1 + s2)^(-l/2), as in Post-Norm": (1 + s2) ** (-l / 2),
        "(1 + l s2)^-1, its square": 1 / (1 + l * s2),
        "(1 + (l - 1) s2)^(-1/2), one layer short": 1 / sqrt(1 + (l - 1) * s2),
        "1, as in Pre-Norm": Integer(1),
    }
    return behind(case, omegas, case.claim(), wrong)


def b2t(case: Case, branch: int | None, blocks: int) -> Trial:
    """Blocks Norm(x + h + F(h)) behind h = Norm(x + A(x)), with the population's divisors.

    Measured is the weight of x_0, whose entries are signs, or of the first A (0) or F (1) in x_l.
    """
    d, s2, weights = case.size("d"), float(case["s2"]), case.scaled(case["s2"] / case["d"])
    a = (1 + s2) ** -0.5
    divisor = ((1 + a) ** 2 + s2 * (1 + a**2)) ** 0.5

    def draw(rng: Generator, replicates: int) -> Draws:
        def added(x: Draws) -> Draws:
            return multiply(normalised(x), weights.sample(rng, (d, d, replicates)))

        first = x = CENTRED.sample(rng, (d, replicates))
        kept: list[Draws] = []
        for _ in range(blocks):
            attention = added(x)
            h = a * (x + attention)
            forward = added(h)
            x = (x + h + forward) / divisor
            kept += [attention, forward]
        probe = first if branch is None else kept[branch] / s2
        return np.asarray(np.mean(probe * x, axis=0))

    rhs, numbers, block = case.law.statement.rhs, d + 2 * blocks * d**2, (1 + a) / divisor
    if branch is None:
        (start,) = (e for e in rhs.atoms(Entry) if e.array.name == "x")
        claim = case.at(rhs.coeff(start), None, l=blocks)
        spread = (1 - block ** (2 * blocks)) / d  # the squared weights add up to 1
        others = {
            "(1 + s2)^-l, as in Post-Norm": (1 + s2) ** -blocks,
            "1, as in Pre-Norm": 1.0,
            "its square": block ** (2 * blocks),
            "the skip counted as a branch": ((1 + a) / (2 + s2) ** 0.5 / (1 + s2)) ** blocks,
        }
    else:
        (total,) = rhs.atoms(IndexSum)
        (own,) = (e for e in total.summand.atoms(Entry) if e.array.name == "AF"[branch])
        weight = rhs.coeff(total) * total.summand.expand().coeff(own)
        claim = case.at(weight, None, **{"l": blocks, total.bound[0].name: 0})
        # F.F/d, and what is uncorrelated with F: weights are symmetric
        c, fourth = float(claim), max(3.0, float(case.weights.moment(4)))
        spread = c**2 * (fourth - 1) / d + (1 - c**2 * s2) / (d * s2)
        true = a ** (1 - branch) / divisor * block ** (blocks - 1)
        others = {
            "1, as in Pre-Norm": 1.0,
            "one block less": true / block,
            "one block more": true * block,
            "the other branch's": true * a ** (2 * branch - 1),
        }
    wrong = {name: exact(Fraction(number)) for name, number in others.items()}
    return Trial(draw, numbers, claim, spread, wrong)


@experiment(
    law="b2t-identity-path",
    quantity="weight of x_0",
    weights=NON_GAUSSIAN,
    d=2,
    l=3,
    s2=Fraction(3, 2),
)
def b2t_start(case: Case) -> Trial:
    return b2t(case, None, case.size("l"))


@experiment(
    law="b2t-identity-path",
    quantity="weight of A_0 behind one block",
    weights=NON_GAUSSIAN,
    d=2,
    s2=Fraction(3, 2),
)
def b2t_attention(case: Case) -> Trial:
    return b2t(case, 0, 1)


@experiment(
    law="b2t-identity-path",
    quantity="weight of F_0 behind two blocks",
    weights=NON_GAUSSIAN,
    d=2,
    s2=Fraction(3, 2),
)
def b2t_forward(case: Case) -> Trial:
    return b2t(case, 1, 2)


@experiment(
    law="layer-scale-gradient", quantity="E[(dl/dw)^2]", weights=ANY, d=4, n=3, c=Fraction(1, 3)
)
def layer_scale_gradient(case: Case) -> Trial:
    """y = x + c h w by one entry of w, by differences; the laws of weights serve as laws of h."""
    d, n, c = case.size("d"), case.size("n"), case["c"]

    def draw(rng: Generator, replicates: int) -> Draws:
        h, p = case.weights.sample(rng, (n, replicates)), probe(rng, (d, replicates))
        w = case.weights.sample(rng, (n, d, replicates))
        slope = difference(lambda v: np.sum(p * float(c) * multiply(h, v), axis=0), w, (0, 0))
        return slope**2

    g = exact(G)
    spread = float(c**4 * g**2) * (float(case.weights.moment(4)) - 1)
    wrong: dict[str, Number] = {
        "0, as at c = 0": 0,
        "c g q": c * g,
        "g q, unscaled": g,
        "c^2 d g q": c**2 * g * d,
    }
    return Trial(draw, n + d + n * d, case.claim(g=G, q=1), spread, wrong)


def dropped(branch: Branch, keep: float) -> Branch:
    """The branch over p with the chance p for a whole sample, else 0."""

    def draw(rng: Generator, h: Draws) -> Draws:
        kept = rng.random(h.shape[1]) < keep
        return np.asarray(branch.draw(rng, h) * kept / keep)

    return replace(
        branch,
        second=branch.second / keep,
        fourth=branch.fourth / keep**3,
        numbers=branch.numbers + 1,
        draw=draw,
    )


@experiment(
    law="drop-path-stream",
    quantity="Var(x_L)",
    weights=SYMMETRIC,
    most={"p": 1},
    d=4,
    L=3,
    s2=Fraction(3, 2),
    p=HALF,
)
def drop_path_stream(case: Case) -> Trial:
    L, s2, p = case["L"], case["s2"], case["p"]
    stack = Stack([dropped(linear_branch(case, s2), float(p))] * case.size("L"), SIGNED)
    wrong: dict[str, Number] = {
        "1 + L s2, nothing dropped": 1 + L * s2,
        "1 + p L s2, not scaled by 1/p": 1 + p * L * s2,
        "1 + L s2/p^2": 1 + L * s2 / p**2,
        "L s2/p, without x_0": L * s2 / p,
    }
    return last_square(stack, from_start(case, 1), wrong)


@experiment(law="stochastic-depth", quantity="layers kept", weights=("normal",), L=6)
def stochastic_depth(case: Case) -> Trial:
    """Less what is kept always, with one layer before the others."""
    layers = case.size("L")
    rates = 1 - np.arange(1, layers + 1) / (2 * layers)

    def draw(rng: Generator, replicates: int) -> Draws:
        kept = rng.random((layers, replicates)) < rates[:, None]
        return np.asarray(1.0 + kept.sum(axis=0))

    L, claim = case["L"], case.law.statement.rhs
    (start,) = claim.atoms(Term)
    wrong: dict[str, Number] = {
        "3 L/4": 1 + 3 * L / 4,
        "L/2": 1 + L / 2,
        "(3 L + 1)/4, rates from 1 on": 1 + (3 * L + 1) / 4,
    }
    spread = float((rates * (1 - rates)).sum())
    return Trial(draw, layers, case.at(claim.xreplace({start: Integer(1)})), spread, wrong)
