"""Experiments on Pre-Norm streams and their gradients."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, sqrt

from varlaw.checks.experiments.forward import SIGNS
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.networks import Network, Start, pre_norm
from varlaw.checks.experiments.registry import (
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    LimitTrial,
    Trial,
    experiment,
)
from varlaw.checks.experiments.stacks import Drawn, Stack, linear
from varlaw.checks.experiments.streams import PRODUCT, SQUARE
from varlaw.checks.statistics.sampling import LAWS
from varlaw.symbolic.sequences import Branch, Term
from varlaw.symbolic.terms import IndexSum

CENTRED = Start(LAWS["rademacher"])  # variance 1, and so has the other
SHIFTED = Start(SIGNS, Fraction(5, 4))  # of mean 3/4


@experiment(
    law="pre-norm-growth", quantity="Var(x_l)", weights=SYMMETRIC, d=4, l=3, s2=Fraction(1, 2)
)
def growth(case: Case) -> Trial:
    """The mean square distance from the mean of x_0, which centred branches leave alone."""
    l, s2 = case["l"], case["s2"]  # noqa: E741
    model = pre_norm(case.weights, case.size("d"), case.size("l"), s2, SHIFTED)
    centre = float(SIGNS.moment(1) * SHIFTED.scale) ** 2

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, _ = model.forward(rng, replicates)
        return np.asarray(np.mean(stream[-1] ** 2, axis=0) - centre)

    spread = model.moments().variance / model.width**2
    return Trial(
        draw,
        model.numbers,
        case.claim(),
        spread,
        {
            "(1 + s2)^l, without Norm": (1 + s2) ** l,
            "1 + 2 l s2": 1 + 2 * l * s2,
            "sqrt(1 + l s2), the std": sqrt(1 + l * s2),
            "l s2, without x_0": l * s2,
            "1, as in Post-Norm": 1,
        },
    )


@experiment(law="pre-norm-std", quantity="lim std(x_l)^2/l", weights=NON_GAUSSIAN, d=3, l=2)
def std(case: Case) -> Trial:
    """Var(x_t)/t at t = l and 2l, extrapolated to infinite depth with an error of order 1/t.

    By Richardson 2 Var(x_2l)/(2l) - Var(x_l)/l, in units of the statement's own square.
    """
    depth = case.size("l")
    model = pre_norm(case.weights, case.size("d"), 2 * depth, 1, CENTRED)
    first, second = (1 / case.claim(l=k * depth) ** 2 / model.width for k in (1, 2))
    weights = -float(first), 2 * float(second)

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, _ = model.forward(rng, replicates)
        early, late = (np.sum(stream[k * depth] ** 2, axis=0) for k in (1, 2))
        return np.asarray(weights[0] * early + weights[1] * late)

    early, late = replace(model, layers=model.layers[:depth]).moments(), model.moments(mark=depth)
    mean = 2 * second * late.second_moment - first * early.second_moment
    square = (
        4 * second**2 * late[SQUARE] - 4 * first * second * late[PRODUCT] + first**2 * early[SQUARE]
    )
    spread = square - (model.width * mean) ** 2
    return Trial(
        draw,
        model.numbers,
        1,
        spread,
        {
            "std ~ sqrt(2 l)": 2,
            "std ~ l": 3 * depth,
            "std ~ sqrt(l/2)": Fraction(1, 2),
            "std ~ l^(1/4)": (sqrt(2) - 1) / sqrt(depth),
            "1 + 1/l, not extrapolated": 1 + 1 / case["l"],
        },
    )


@experiment(
    law="pre-norm-std", quantity="Var(x_l)/l at l, 2 l, 4 l", weights=NON_GAUSSIAN, d=2, l=3
)
def std_order(case: Case) -> LimitTrial:
    """1 + 1/l: |x_0|^2 and the sum of all |F_k|^2; the products 2 x_k.F_k have mean 0."""
    width, sizes = case.size("d"), tuple(case.size("l") * k for k in (1, 2, 4))
    branch = linear(Drawn(case.weights, 1 / width), width)

    def at(depth: int) -> Trial:
        stack = Stack([branch] * depth, LAWS["rademacher"])
        unit = float(1 / case.claim(l=depth) ** 2)

        def draw(rng: Generator, replicates: int) -> Draws:
            squares = (np.mean(added**2, axis=0) for _, added in stack.run(rng, replicates))
            return np.asarray(unit * (1 + sum(squares)))

        spread = unit**2 * depth * (branch.fourth / width**2 - 1)
        return Trial(draw, stack.numbers, 1, spread, {}, work=stack.work)

    wrong = {"std ~ sqrt(2 l)": 2, "std ~ sqrt(l/2)": Fraction(1, 2), "9/10": Fraction(9, 10)}
    trials = tuple(map(at, sizes))
    return LimitTrial(sizes, trials, 1, wrong, margins=(4e-3, 2.5e-3, 2e-3))


def expansion(case: Case) -> tuple[Expr, Expr, int]:
    """The weight of F_k in the statement, the divisor of its argument, for a k about the middle."""
    k = case.size("l") // 2
    rhs = case.law.statement.rhs.expand()
    (total,) = rhs.atoms(IndexSum)
    (branch,) = total.atoms(Branch)
    argument = branch.args[1]
    (inside,) = argument.atoms(Term)
    values: dict[str, Number] = {total.bound[0].name: k}
    weight = case.at(rhs.coeff(total) * total.summand.coeff(branch), None, **values)
    return weight, case.at(inside / argument, None, **values), k


@experiment(law="pre-norm-expansion", quantity="weight of F_k", weights=NON_GAUSSIAN, d=4, l=3)
def expansion_weight(case: Case) -> Trial:
    """E[x_l F_k]/E[F_k^2] at unit branches."""
    claim, _, k = expansion(case)
    model = unit_branches(case)

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, branches = model.forward(rng, replicates)
        return np.asarray(np.mean(branches[k] * stream[-1], axis=0))

    spread = model.moments(capture=k).overlap_variance / model.width**2
    above = Integer(case.size("l") - k)
    return Trial(
        draw,
        model.numbers,
        claim,
        spread,
        {
            "2^(-(l-k)/2), as in Post-Norm": 2 ** (-above / 2),
            "1/sqrt(k + 1)": 1 / sqrt(k + 1),
            "sqrt(l + 1), as large as the sum": sqrt(case["l"] + 1),
            "2": 2,
        },
    )


@experiment(law="pre-norm-expansion", quantity="E[x_k^2]/(k + 1)", weights=NON_GAUSSIAN, d=4, l=5)
def expansion_norm(case: Case) -> Trial:
    """Norm(x_k) = x_k/sqrt(k + 1) has second moment 1."""
    _, divisor, k = expansion(case)
    model = unit_branches(case, depth=k)
    unit = 1 / float(divisor) ** 2

    def draw(rng: Generator, replicates: int) -> Draws:
        stream, _ = model.forward(rng, replicates)
        return np.asarray(unit * np.mean(stream[-1] ** 2, axis=0))

    spread = model.moments().variance / (model.width * divisor**2) ** 2
    size = exact(k + 1)
    return Trial(
        draw,
        model.numbers,
        1,
        spread,
        {
            "divisor sqrt(k + 2)": size / (size + 1),
            "divisor k + 1": 1 / size,
            "divisor 1": size,
            "divisor 2^(k/2), without Norm": size / 2**k,
        },
    )


def unit_branches(case: Case, depth: int | None = None) -> Network:
    layers = case.size("l") if depth is None else depth
    return pre_norm(case.weights, case.size("d"), layers, 1)


def pulled_back(case: Case, g: Number, wrong: dict[str, Number]) -> Trial:
    """A probe pulled back through l layers with unit branches of backward gain g."""
    return pulled_through(case, unit_branches(case), g, wrong)


def pulled_through(case: Case, forward: Network, g: Number, wrong: dict[str, Number]) -> Trial:
    """A probe pulled back through the layers of a network, of backward gain g each."""
    jacobian = case.scaled(exact(g) / case["d"])
    model = replace(
        forward, layers=tuple(replace(layer, weights=jacobian) for layer in forward.layers)
    )

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(np.mean(model.backward(rng, replicates) ** 2, axis=0))

    claim = case.at(case.law.statement.rhs.xreplace({Term("v", 0): Integer(1)}))
    spread = model.backward_moments().variance / model.width**2
    return Trial(draw, model.numbers, claim, spread, wrong)


@experiment(
    law="pre-norm-gradient",
    quantity="E[(dl/dx_0)^2]/E[(dl/dx_l)^2]",
    weights=NON_GAUSSIAN,
    d=4,
    l=3,
    g=Fraction(1, 2),
)
def gradient(case: Case) -> Trial:
    l, g = case["l"], case["g"]  # noqa: E741
    return pulled_back(
        case,
        g,
        {
            "l + 1, as at g = 1": l + 1,
            "(1 + g)^l, without Norm": (1 + g) ** l,
            "1 + l g": 1 + l * g,
            "1, kept": 1,
            "(1 + g/l)^l": (1 + g / l) ** l,
        },
    )


@experiment(
    law="pre-norm-gradient-unit",
    quantity="E[(dl/dx_0)^2]/E[(dl/dx_l)^2]",
    weights=NON_GAUSSIAN,
    d=4,
    l=3,
)
def gradient_unit(case: Case) -> Trial:
    l = case["l"]  # noqa: E741
    return pulled_back(
        case,
        1,
        {
            "2^l, without Norm": 2**l,
            "l": l,
            "2 l + 1": 2 * l + 1,
            "1, kept": 1,
            "sqrt(l + 1), the std": sqrt(l + 1),
        },
    )
