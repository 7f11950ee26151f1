"""Experiments on scaled residual streams, with and without Norm."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, exp, sqrt

from varlaw.checks.experiments.branches import last_square
from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    NON_GAUSSIAN,
    SYMMETRIC,
    Case,
    Draws,
    LimitTrial,
    Trial,
    experiment,
)
from varlaw.checks.experiments.stacks import (
    Branch,
    Drawn,
    Stack,
    attention,
    linear,
    outputs,
    rectified,
)
from varlaw.checks.statistics.sampling import LAWS
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import IndexSum

SIGNED = LAWS["rademacher"]
CONTINUOUS = ("normal", "uniform")  # of discrete ones, x_t may be 0, which has no Norm


def from_start(case: Case, start: Number) -> Expr:
    """The right-hand side of the statement, from v_0 on."""
    rhs = case.law.statement.rhs.xreplace({Term("v", 0): exact(start)})
    (chosen,) = rhs.atoms(IndexSum) or {None}
    if chosen is None:
        return case.at(rhs)
    (span,), (k,) = chosen.ranges, chosen.bound
    last = int(case.at(span.upper))
    terms = (chosen.summand.subs(k, step) for step in range(int(span.lower), last + 1))
    return case.at(rhs.xreplace({chosen: sum(terms, Integer(0))}))


def linear_branch(case: Case, variance: Number) -> Branch:
    width = case.size("d")
    return linear(Drawn(case.weights, float(variance) / width), width)


@experiment(
    law="scaled-stream",
    quantity="Var(x_N)",
    weights=SYMMETRIC,
    d=4,
    N=3,
    s2=Fraction(3, 2),
    c=Fraction(2, 3),
)
def scaled_stream(case: Case) -> Trial:
    N, s2, c = case["N"], case["s2"], case["c"]
    branch = linear_branch(case, s2).scaled(float(c))
    stack = Stack([branch] * case.size("N"), SIGNED, 0.5)
    start = exact(Fraction(1, 4))
    wrong = {
        "s2, constant": s2,
        "N c^2 s2, without v_0": N * c**2 * s2,
        "v_0 + N c s2": start + N * c * s2,
        "v_0 + c^2 s2, one branch": start + c**2 * s2,
        "v_0 (1 + c^2 s2)^N, without Norm": start * (1 + c**2 * s2) ** N,
    }
    return last_square(stack, from_start(case, start), wrong)


@experiment(law="residual-scaling", quantity="(Var(x_N) - v_0)/s2", weights=SYMMETRIC, d=4, N=6)
def residual_scaling(case: Case) -> Trial:
    """N unit branches scaled by the derived factor add 1."""
    N, factor = case["N"], case.claim()
    branch = linear_branch(case, 1).scaled(float(factor))
    stack = Stack([branch] * case.size("N"), SIGNED, 0.5)
    wrong = {
        "1/sqrt(N/2), half the branches counted": 2,
        "1/sqrt(2 N), each counted twice": Fraction(1, 2),
        "1/N": 1 / N,
        "1": N,
        "N^(-1/4)": sqrt(N),
    }
    told = {f"c = {name}": exact(1 / exact(n)) for name, n in wrong.items()}
    trial = last_square(stack, 1, told)

    def draw(rng: Generator, replicates: int) -> Draws:
        return trial.draw(rng, replicates) - 0.25

    return Trial(draw, trial.numbers, 1, trial.variance, trial.neighbours)


@experiment(
    law="stream-without-depth",
    quantity="Var(x_(2 L))",
    weights=SYMMETRIC,
    d=4,
    L=3,
    s2=Fraction(5, 3),
)
def stream_without_depth(case: Case) -> Trial:
    L, s2, start = case["L"], case["s2"], exact(Fraction(1, 4))
    branch = linear_branch(case, s2).scaled(1 / float(2 * L) ** 0.5)
    stack = Stack([branch] * (2 * case.size("L")), SIGNED, 0.5)
    wrong = {
        "v_0 + 2 s2, by 1/sqrt(L)": start + 2 * s2,
        "v_0 + s2/2": start + s2 / 2,
        "v_0 + s2/L, one block": start + s2 / L,
        "s2, without v_0": s2,
        "v_0 + 2 L s2, unscaled": start + 2 * L * s2,
    }
    return last_square(stack, from_start(case, start), wrong)


def two_per_block(case: Case, factor: Number) -> Stack:
    """Attention of variance a and Linear-ReLU-Linear of variance b in each of L blocks."""
    width, a, b = case.size("d"), float(case["a"]), float(case["b"])
    one = Drawn(case.weights, a**0.5 / width)
    hidden = rectified(Drawn(case.weights, 2 / width), Drawn(case.weights, b / width), width, width)
    kinds = [attention(one, one, width), hidden]
    return Stack([k.scaled(float(factor)) for k in kinds] * case.size("L"), SIGNED, 0.5)


def blocks(case: Case, factor: Number) -> Trial:
    """The variance of the stream after L blocks, from v_0 = 1/4."""
    L, a, b = case["L"], case["a"], case["b"]
    v, square = exact(Fraction(1, 4)), exact(factor) ** 2
    wrong = {
        "one branch of a and b a block": v + L * square * (a + b) / 2,
        "a alone": v + L * square * a,
        "b alone": v + L * square * b,
        "twice as much": v + 2 * L * square * (a + b),
        "without v_0": L * square * (a + b),
    }
    return last_square(two_per_block(case, factor), from_start(case, v), wrong)


@experiment(
    law="block-stream",
    quantity="Var(x_L)",
    weights=NON_GAUSSIAN,
    d=4,
    L=2,
    a=Fraction(3, 2),
    b=Fraction(2),
    c=Fraction(2, 3),
)
def block_stream(case: Case) -> Trial:
    return blocks(case, case["c"])


@experiment(
    law="block-scaling",
    quantity="Var(x_L)",
    weights=NON_GAUSSIAN,
    d=4,
    L=3,
    a=Fraction(1, 2),
    b=Fraction(2),
)
def block_scaling(case: Case) -> Trial:
    return blocks(case, 1 / sqrt(2 * case["L"]))


@experiment(
    law="block-scaling-by-blocks",
    quantity="Var(x_L)",
    weights=NON_GAUSSIAN,
    d=4,
    L=3,
    a=Fraction(1, 2),
    b=Fraction(2),
)
def block_scaling_by_blocks(case: Case) -> Trial:
    return blocks(case, 1 / sqrt(case["L"]))


def without_norm(
    case: Case, depths: list[int], gains: list[Number], weights: list[float], claim: Number
) -> Trial:
    """A weighted sum of E[x_l^2] through x' = x + x W, of independent stacks of some depths.

    With |x_0|^2 = d, E|x'|^4 = (1 + (2 d + 4) s2/d + E|F|^4/|x|^4) |x|^4 for branches of gain s2.
    """
    d = case.size("d")
    drawn = [Drawn(case.weights, float(gain) / d) for gain in gains]

    def draw(rng: Generator, replicates: int) -> Draws:
        total = np.zeros(replicates)
        for depth, layer, weight in zip(depths, drawn, weights, strict=True):
            x = SIGNS.sample(rng, (d, replicates))
            for _ in range(depth):
                x = x + multiply(x, layer.sample(rng, (d, d, replicates)))
            total += weight * np.mean(x**2, axis=0)
        return total

    spread = 0.0
    for depth, layer, weight in zip(depths, drawn, weights, strict=True):
        gain = d * layer.variance
        fourth = 1 + (2 * d + 4) * layer.variance + outputs(d, layer.kurtosis) * layer.variance**2
        spread += weight**2 * (fourth**depth - (1 + gain) ** (2 * depth))
    numbers = sum(d + depth * d**2 for depth in depths)
    return Trial(draw, numbers, claim, spread, {})


@experiment(
    law="unnormalised-residual",
    quantity="E[x_L^2]/E[x_0^2]",
    weights=SYMMETRIC,
    d=4,
    L=3,
    s2=Fraction(1, 2),
)
def unnormalised(case: Case) -> Trial:
    L, s2 = case["L"], case["s2"]
    wrong: dict[str, Number] = {
        "1 + L s2, as behind a Norm": 1 + L * s2,
        "(1 + sqrt(s2))^L": (1 + sqrt(s2)) ** L,
        "2^L, as at s2 = 1": 2**L,
        "(1 + s2)^(L/2), the std": (1 + s2) ** (L / 2),
        "(1 + s2)^(L + 1), one layer too many": (1 + s2) ** (L + 1),
    }
    trial = without_norm(case, [case.size("L")], [s2], [1.0], from_start(case, 1))
    return replace(trial, neighbours=wrong)


@experiment(
    law="unnormalised-scaled",
    quantity="E[x_L^2]/E[x_0^2] at L, 2 L, 4 L",
    weights=("normal",),
    d=2,
    L=3,
    s2=Fraction(3, 8),
)
def unnormalised_scaled(case: Case) -> LimitTrial:
    """The product over the layers of |x_(t+1)|^2/|x_t|^2, in the mean over W and -W.

    Both are equally likely, whatever x_t; their mean is 1 + |u W|^2 for the direction u of x_t.
    """
    s2, base = case["s2"], case.size("L")
    sizes = (base, 2 * base, 4 * base)
    wrong: dict[str, Number] = {
        "1 + s2, as behind a Norm": 1 + s2,
        "e^(s2/2), the std": exp(s2 / 2),
        "e^(2 s2)": exp(2 * s2),
    }
    trials = tuple(both_signs(case, depth, s2 / depth) for depth in sizes)
    return LimitTrial(sizes, trials, from_start(case, 1), wrong, margins=(3e-4, 2.4e-4, 2e-4))


def both_signs(case: Case, depth: int, gain: Number) -> Trial:
    """The growth through `depth` layers x' = x + x W of a gain g, in the mean over both signs.

    The law of u W is the same for every direction u, so that the factors 1 + |u W|^2 of the layers
    are independent. Of their product, what is linear in |u W|^2 - g has the mean 0.
    """
    d = case.size("d")
    layer = Drawn(case.weights, float(gain) / d)
    mean = 1 + d * layer.variance

    def draw(rng: Generator, replicates: int) -> Draws:
        total, linear = np.ones(replicates), np.zeros(replicates)
        x = SIGNS.sample(rng, (d, replicates))
        for _ in range(depth):
            branch = multiply(x, layer.sample(rng, (d, d, replicates)))
            one, other = (np.sum((x + s * branch) ** 2, axis=0) for s in (1, -1))
            factor = (one + other) / (2 * np.sum(x**2, axis=0))
            total, linear = total * factor, linear + factor / mean - 1
            x = x + branch
        return total - mean**depth * linear

    square = (outputs(d, layer.kurtosis) - d**2) * layer.variance**2
    left = (mean**2 + square) ** depth - mean ** (2 * depth)
    spread = left - depth * mean ** (2 * depth - 2) * square
    return Trial(draw, d + depth * d**2, 2, spread, {})


@experiment(
    law="unnormalised-scaled",
    quantity="E[x_L^2]/E[x_0^2] at L",
    weights=NON_GAUSSIAN,
    d=4,
    L=4,
    s2=Fraction(3, 4),
)
def unnormalised_at_depth(case: Case) -> Trial:
    """(1 + s2/L)^L from the step before the limit, which is told from the limit."""
    s2, depth = case["s2"], case.size("L")
    before = case.law.derivation.after("substitute").xreplace({Term("v", 0): Integer(1)})
    limit = from_start(case, 1)
    wrong: dict[str, Number] = {
        "the limit": limit,
        "less s2^2 e^s2/L, twice the error": limit * (1 - s2**2 / depth),
        "1 + s2": 1 + s2,
    }
    trial = without_norm(case, [depth], [s2 / depth], [1.0], case.at(before))
    return replace(trial, neighbours=wrong)


@experiment(
    law="depth-scaled-norm",
    quantity="Var(x_L)",
    weights=SYMMETRIC,
    d=4,
    L=6,
    s2=Fraction(7, 2),  # at a square a stream of signs can be 0, which no norm divides
)
def depth_scaled_norm(case: Case) -> Trial:
    L, s2 = case.size("L"), case["s2"]
    branch = linear_branch(case, s2)
    stack = Stack([branch.scaled((t + 1) ** -0.5) for t in range(L)], SIGNED)
    steps = [exact(Fraction(1, t + 1)) for t in range(L)]
    wrong = {
        "1 + L s2, not scaled": 1 + L * s2,
        "1 + s2 Sum 1/t^2, as if scaled by 1/t": 1 + s2 * sum(u**2 for u in steps),
        "1 + s2 Sum 1/sqrt(t)": 1 + s2 * sum(sqrt(u) for u in steps),
        "1 + s2, scaled by 1/sqrt(L)": 1 + s2,
        "one layer short": 1 + s2 * sum(steps[:-1]),
    }
    return last_square(stack, from_start(case, 1), wrong)


@experiment(law="peri-norm", quantity="Var(x_L)", weights=CONTINUOUS, d=4, L=3, s2=Fraction(1, 4))
def peri_norm(case: Case) -> Trial:
    """Branches of variance s2, each divided by its population root second moment."""
    L, s2 = case["L"], case["s2"]
    branch = linear_branch(case, s2)
    stack = Stack([branch.scaled(branch.second**-0.5)] * case.size("L"), SIGNED)
    wrong = {
        "1 + L s2, without the second Norm": 1 + L * s2,
        "1, as in Post-Norm": 1,
        "2^L": 2**L,
        "L": L,
    }
    return last_square(stack, from_start(case, 1), wrong)
