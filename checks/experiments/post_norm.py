"""Experiments on Post-Norm streams and their gradients."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Integer

from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.networks import Network, post_norm
from varlaw.checks.experiments.registry import (
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import IndexSum

HALF = Integer(1) / 2


def network(case: Case, s2: Number) -> Network:
    return post_norm(case.weights, case.size("d"), case.size("l"), s2)


def weight_of_start(case: Case, s2: Number) -> Trial:
    """E[x_l x_0]/E[x_0^2], the weight of x_0 in x_l."""
    model, l = network(case, s2), case["l"]  # noqa: E741

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, _ = model.forward(rng, replicates)
        return np.asarray(np.mean(stream[0] * stream[-1], axis=0))

    rhs = case.law.statement.rhs.expand()
    (start,) = (e for e in rhs.atoms(Entry) if e.array.name == "x")
    claim, grown = case.at(rhs.coeff(start)), 1 + exact(s2)
    return Trial(
        draw,
        model.numbers,
        claim,
        model.moments().overlap_variance / model.width**2,
        {
            "(1 + s2)^-l, the square": grown**-l,
            "1, as in Pre-Norm": 1,
            "(1 + s2)^(-(l-1)/2), one layer short": grown ** (-(l - 1) / 2),
            "(1 + s2)^(-(l+1)/2), one layer too many": grown ** (-(l + 1) / 2),
            "(1 + s2)^(l/2), the inverse": grown ** (l / 2),
        },
    )


def weight_of_branch(case: Case, s2: Number) -> Trial:
    """E[x_l F_k]/E[F_k^2], the weight of F_k in x_l, for a k about the middle."""
    model, l = network(case, s2), case.size("l")  # noqa: E741
    k, unit = l // 2, 1 / float(s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, branches = model.forward(rng, replicates)
        return np.asarray(unit * np.mean(branches[k] * stream[-1], axis=0))

    rhs = case.law.statement.rhs.expand()
    (total,) = rhs.atoms(IndexSum)
    (branch,) = (e for e in total.atoms(Entry) if e.array.name == "F")
    weight = rhs.coeff(total) * total.summand.coeff(branch)
    claim = case.at(weight, None, **{total.bound[0].name: k})
    spread = model.moments(capture=k).overlap_variance / (model.width * exact(s2)) ** 2
    grown, above = 1 + exact(s2), Integer(l - k)
    return Trial(
        draw,
        model.numbers,
        claim,
        spread,
        {
            "(1 + s2)^-(l-k), the square": grown**-above,
            "1, as in Pre-Norm": 1,
            "(1 + s2)^(-(l-k-1)/2), one layer short": grown ** (HALF * (1 - above)),
            "(1 + s2)^(-(l-k+1)/2), one layer too many": grown ** (-HALF * (1 + above)),
        },
    )


@experiment(
    law="post-norm-decay", quantity="weight of x_0", weights=SYMMETRIC, d=4, l=3, s2=Fraction(1, 2)
)
def decay_of_start(case: Case) -> Trial:
    return weight_of_start(case, case["s2"])


@experiment(
    law="post-norm-decay",
    quantity="weight of F_k",
    weights=NON_GAUSSIAN,
    d=4,
    l=3,
    s2=Fraction(1, 2),
)
def decay_of_branch(case: Case) -> Trial:
    return weight_of_branch(case, case["s2"])


@experiment(law="post-norm-unit", quantity="weight of x_0", weights=NON_GAUSSIAN, d=4, l=3)
def unit_start(case: Case) -> Trial:
    return weight_of_start(case, 1)


@experiment(law="post-norm-unit", quantity="weight of F_k", weights=NON_GAUSSIAN, d=4, l=3)
def unit_branch(case: Case) -> Trial:
    return weight_of_branch(case, 1)


@experiment(
    law="post-norm-energy", quantity="E[x_l^2]", weights=NON_GAUSSIAN, d=4, l=3, s2=Fraction(1, 2)
)
def energy(case: Case) -> Trial:
    """The squared weights times E[x_0^2] = 1 and E[F_k^2] = s2 add up to E[x_l^2]."""
    model, l, grown = network(case, case["s2"]), case["l"], 1 + case["s2"]  # noqa: E741

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, _ = model.forward(rng, replicates)
        return np.asarray(np.mean(stream[-1] ** 2, axis=0))

    spread = model.moments().variance / model.width**2
    return Trial(
        draw,
        model.numbers,
        case.claim(),
        spread,
        {
            "(1 + s2)^l, without Norm": grown**l,
            "(1 + s2)^-l, x_0 alone": grown**-l,
            "1 - (1 + s2)^-l, the branches alone": 1 - grown**-l,
            "1 + l s2, as in Pre-Norm": 1 + l * case["s2"],
        },
    )


@experiment(
    law="post-norm-gradient",
    quantity="E[(dl/dx_0)^2]/E[(dl/dx_l)^2]",
    weights=NON_GAUSSIAN,
    d=4,
    l=3,
    s2=Fraction(3, 4),
    g=Fraction(1, 2),
)
def gradient(case: Case) -> Trial:
    """A probe pulled back through l layers whose branches have backward gain g."""
    forward, l = network(case, case["s2"]), case["l"]  # noqa: E741
    jacobian = case.scaled(case["g"] / case["d"])
    model = replace(
        forward, layers=tuple(replace(layer, weights=jacobian) for layer in forward.layers)
    )

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean(model.backward(rng, replicates) ** 2, axis=0))

    claim = case.at(case.law.statement.rhs.xreplace({Term("v", 0): Integer(1)}))
    spread = model.backward_moments().variance / model.width**2
    kept, grown = 1 / (1 + case["s2"]), 1 + case["g"]
    return Trial(
        draw,
        model.numbers,
        claim,
        spread,
        {
            "(1 + s2)^-l, the identity path alone": kept**l,
            "1, kept": 1,
            "(1 + g)^l, without Norm": grown**l,
            "((1 + g)/(1 + s2))^(l/2), the std": (grown * kept) ** (l / 2),
            "((1 + g)/(1 + s2))^(l+1), one layer too many": (grown * kept) ** (l + 1),
        },
    )
