"""Experiments on the laws that weigh fan-in against fan-out: both passes through one W."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from sympy import Expr, Poly, Symbol, sqrt

from varlaw.checks.experiments.backward import pull_back
from varlaw.checks.experiments.forward import INPUT, SIGNS, multiply
from varlaw.checks.experiments.moments import evaluate, exact, expected
from varlaw.checks.experiments.registry import (
    ANY,
    AnyTrial,
    Case,
    Draws,
    Trial,
    experiment,
    instead,
)
from varlaw.checks.experiments.streams import Stream
from varlaw.checks.statistics.sampling import LAWS
from varlaw.derivations import fans as laws_of_fans
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import Sum

m, n = dimensions("m n")
i, j, k = indices("i j k")
DEPTH = k  # of the chain
COPIES = 8  # of W, from whose pairs squared expectations are estimated
x, g = random_array("x"), random_array("g")
w, v = (random_array(name, mean=0, variance=1) for name in "wv")

FORWARD = Sum(Sum(x[i] * w[i, j], (i, 1, m)) ** 2, (j, 1, n))  # |x W|^2
BACKWARD = Sum(Sum(g[j] * w[i, j], (j, 1, n)) ** 2, (i, 1, m))  # |g W^T|^2

Gains = Callable[[Generator, int], tuple[Draws, Draws]]


def draw_gains(case: Case, variance: Expr) -> Gains:
    """Draws the forward gain |xW|^2/(n q) and the backward gain |gW^T|^2/(m q) of one W."""
    rows, cols, weights = case.size("m"), case.size("n"), case.scaled(variance)
    unit = 1 / float(INPUT.moment(2))

    def draw(rng: Generator, replicates: int) -> tuple[Draws, Draws]:
        inputs, probe = (INPUT.sample(rng, (size, replicates)) for size in (rows, cols))
        drawn = weights.sample(rng, (rows, cols, replicates))
        forward = unit * np.mean(multiply(inputs, drawn) ** 2, axis=0)
        back = unit * np.mean(pull_back(probe, drawn) ** 2, axis=0)
        return forward, back

    return draw


def gain_moments(case: Case, variance: Expr) -> dict[str, Expr]:
    """E[f], E[b], E[ff], E[fb], E[bb] of the forward and backward gains f and b."""
    laws = {"x": INPUT, "g": INPUT, "w": case.weights}
    scale = variance / exact(INPUT.moment(2))
    one = {"f": scale / case["n"] * FORWARD, "b": scale / case["m"] * BACKWARD}
    both = {a + b: one[a] * one[b] for a, b in ("ff", "fb", "bb")}
    return {name: expected(s, case.values, laws) for name, s in (one | both).items()}


def other_fans(case: Case) -> dict[str, Expr]:
    """The variances that the other laws of the family would choose."""
    fan_in, fan_out = case["m"], case["n"]
    return {
        "1/m": 1 / fan_in,
        "1/n": 1 / fan_out,
        "2/(m + n)": 2 / (fan_in + fan_out),
        "1/sqrt(m n)": 1 / sqrt(fan_in * fan_out),
        "(m + n)/(m^2 + n^2)": (fan_in + fan_out) / (fan_in**2 + fan_out**2),
    }


def without(others: dict[str, Expr], name: str) -> dict[str, Expr]:
    return {key: value for key, value in others.items() if key != name}


@experiment(law="xavier", quantity="mean of forward and backward gain", weights=ANY, m=3, n=8)
def xavier_gain(case: Case) -> Trial:
    """Var(w) m is the forward gain and Var(w) n the backward one: at 2/(m + n) their mean is 1."""
    claim = case.claim()
    gains, e = draw_gains(case, claim), gain_moments(case, claim)

    def draw(rng: Generator, replicates: int) -> Draws:
        forward, back = gains(rng, replicates)
        return (forward + back) / 2

    variance = (e["ff"] + 2 * e["fb"] + e["bb"] - (e["f"] + e["b"]) ** 2) / 4
    rows, cols = case.size("m"), case.size("n")
    return Trial(
        draw,
        rows * cols + rows + cols,
        1,
        variance,
        instead(claim, without(other_fans(case), "2/(m + n)")),
    )


@experiment(
    law="xavier",
    quantity="mean of forward and backward gain, narrowing",
    weights=ANY,
    m=8,
    n=3,
)
def xavier_gain_narrowing(case: Case) -> AnyTrial:
    """Where more than half of the claim comes from the fan-in."""
    return xavier_gain.build(case)


@experiment(law="xavier-uniform", quantity="Var(w)", weights=("uniform",), m=3, n=8)
def xavier_uniform(case: Case) -> Trial:
    """Weights drawn between -a and a have Xavier's variance."""
    rows, cols, bound = case.size("m"), case.size("n"), case.claim()
    claim, half = case.at(laws_of_fans.xavier.statement.rhs), float(bound)

    def draw(rng: Generator, replicates: int) -> Draws:
        weights = rng.uniform(-half, half, (rows * cols, replicates))
        return np.asarray(np.mean(weights**2, axis=0))

    uniform = LAWS["uniform"]  # on [-sqrt(3), sqrt(3)]
    scale = bound**2 / 3
    square = exact(uniform.moment(4) - 1)
    variance = scale**2 * square / (rows * cols)
    fan_in, fan_out = case["m"], case["n"]
    bounds = {
        "sqrt(2/(m + n)), the std": sqrt(2 / (fan_in + fan_out)),
        "sqrt(3/(m + n))": sqrt(3 / (fan_in + fan_out)),
        "sqrt(6/m)": sqrt(6 / fan_in),
        "sqrt(6/n)": sqrt(6 / fan_out),
        "6/(m + n)": 6 / (fan_in + fan_out),
    }
    return Trial(
        draw,
        rows * cols,
        claim,
        variance,
        {f"bound {name}": claim * (bound / other) ** 2 for name, other in bounds.items()},
    )


def two_layers(case: Case, size: int, draw: Callable[[Generator, int], Draws]) -> Trial:
    """|y|^2/m for y = x W1 W2, or for the probe g W2^T W1^T: the same moments, as x^2 = 1."""
    claim, rows = case.claim(), case.size("m")
    output = Sum(x[i] * w[i, k] * v[k, j], (i, 1, m), (k, 1, n)) ** 2
    total = Sum(output, (j, 1, m))
    laws = {"x": SIGNS, "w": case.weights, "v": case.weights}
    mean, square = (expected(s, case.values, laws) for s in (total, total**2))
    scale = claim**2 / rows
    others = without(other_fans(case), "1/sqrt(m n)")
    return Trial(draw, size, 1, scale**2 * (square - mean**2), instead(claim, others, power=2))


@experiment(law="xavier-geometric", quantity="E[y^2]/E[x^2]", weights=ANY, m=2, n=5)
def xavier_geometric(case: Case) -> Trial:
    rows, cols, weights = case.size("m"), case.size("n"), case.scaled(case.claim())

    def draw(rng: Generator, replicates: int) -> Draws:
        hidden = multiply(
            SIGNS.sample(rng, (rows, replicates)), weights.sample(rng, (rows, cols, replicates))
        )
        output = multiply(hidden, weights.sample(rng, (cols, rows, replicates)))
        return np.mean(output**2, axis=0)

    return two_layers(case, rows * (2 * cols + 1), draw)


@experiment(
    law="xavier-geometric-backward", quantity="E[(dl/dx)^2]/E[(dl/dy)^2]", weights=ANY, m=2, n=5
)
def xavier_geometric_backward(case: Case) -> Trial:
    rows, cols, weights = case.size("m"), case.size("n"), case.scaled(case.claim())

    def draw(rng: Generator, replicates: int) -> Draws:
        first = weights.sample(rng, (rows, cols, replicates))
        second = weights.sample(rng, (cols, rows, replicates))
        hidden = pull_back(SIGNS.sample(rng, (rows, replicates)), second)
        return np.mean(pull_back(hidden, first) ** 2, axis=0)

    return two_layers(case, rows * (2 * cols + 1), draw)


@experiment(
    law="geometric-chain",
    quantity="E[y^2]/E[x^2]",
    weights=("uniform", "skewed"),
    d_0=3,
    d_1=4,
    d_2=2,
    d_3=5,
)
def geometric_chain(case: Case) -> Trial:
    """Three layers, each with one over the geometric mean of its fans as variance."""
    widths = [case.size(f"d_{step}") for step in range(4)]
    ends = {Term("d", 0): case["d_0"], Term("d", DEPTH): case["d_3"]}
    claim = case.law.statement.rhs.xreplace(ends)
    layers = list(pairwise(widths))
    geometric = laws_of_fans.xavier_geometric.statement.rhs
    variances = [evaluate(geometric, {"m": a, "n": b}) for a, b in layers]

    def draw(rng: Generator, replicates: int) -> Draws:
        values = SIGNS.sample(rng, (widths[0], replicates))
        for (a, b), variance in zip(layers, variances, strict=True):
            values = multiply(values, case.scaled(variance).sample(rng, (a, b, replicates)))
        return np.mean(values**2, axis=0)

    stream = Stream.begin(SIGNS, widths[0])
    for (_, b), variance in zip(layers, variances, strict=True):
        stream = stream.through(case.weights, variance, b)
    spread = stream.variance / widths[-1] ** 2
    ratio = case["d_0"] / case["d_3"]
    numbers = widths[0] + sum(math.prod(layer) for layer in layers)
    return Trial(
        draw,
        numbers,
        claim,
        spread,
        {
            "d_0/d_k, without the root": ratio,
            "1, as if every layer kept it": 1,
            "sqrt(d_k/d_0), the backward gain": 1 / sqrt(ratio),
            "sqrt(d_0/d_(k-1)), one layer short": sqrt(case["d_0"] / case["d_2"]),
        },
    )


@experiment(
    law="xavier-quadratic", quantity="E[f]^2 + E[b]^2", weights=("uniform", "skewed"), m=3, n=7
)
def xavier_quadratic_slope(case: Case) -> Trial:
    """Where the error (f-1)^2 + (b-1)^2 is stationary in the variance, f^2 + b^2 = f + b.

    f and b are the forward and backward gains; the squares of their expectations come from pairs
    of independent copies of W.
    """
    variance = case.claim()
    gains, e = draw_gains(case, variance), gain_moments(case, variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        return over_pairs(*gains(rng, COPIES * replicates))

    spread = spread_over_pairs(e["f"], e["b"], e["ff"], e["fb"], e["bb"])
    claim = -variance * objective(case).coeff_monomial(unknown(case)) / 2  # f + b
    others = without(other_fans(case), "(m + n)/(m^2 + n^2)")
    return Trial(
        draw,
        all_copies(case),
        claim,
        spread,
        {name: claim * value for name, value in instead(variance, others).items()},
    )


@experiment(
    law="xavier-quadratic",
    quantity="(E[f] - 1)^2 + (E[b] - 1)^2",
    weights=("uniform", "rademacher"),
    m=5,
    n=20,
)
def xavier_quadratic_error(case: Case) -> Trial:
    """The error is the derived minimum, and lower than at the variances of the other laws."""
    variance = case.claim()
    gains, e = draw_gains(case, variance), gain_moments(case, variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        forward, back = gains(rng, COPIES * replicates)
        return over_pairs(forward - 1, back - 1)

    ff, bb = e["ff"] - 2 * e["f"] + 1, e["bb"] - 2 * e["b"] + 1
    fb = e["fb"] - e["f"] - e["b"] + 1
    error = objective(case)
    others = without(other_fans(case), "(m + n)/(m^2 + n^2)")
    return Trial(
        draw,
        all_copies(case),
        error.eval(variance),
        spread_over_pairs(e["f"] - 1, e["b"] - 1, ff, fb, bb),
        {f"error at variance {name}": error.eval(other) for name, other in others.items()},
    )


def unknown(case: Case) -> Symbol:
    """The variance as the law's derivation calls it."""
    (name,) = {s for s in case.law.derivation.after("earlier").free_symbols} - {m, n}
    return name


def objective(case: Case) -> Poly:
    """The summed squared error as a polynomial in the variance, from the law's derivation."""
    t = unknown(case)
    return Poly(case.at(case.law.derivation.after("earlier"), **{t.name: t}), t)


def all_copies(case: Case) -> int:
    rows, cols = case.size("m"), case.size("n")
    return COPIES * (rows * cols + rows + cols)


def over_pairs(first: Draws, second: Draws) -> Draws:
    """The mean of f f' + b b' over all pairs of different copies, which estimates E[f]^2 + E[b]^2.

    The copies are every so many numbers: there are `COPIES` of each replicate.
    """
    copies = np.stack([first, second]).reshape(2, COPIES, -1)
    pairs = np.sum(copies.sum(axis=1) ** 2 - np.sum(copies**2, axis=1), axis=0)
    return np.asarray(pairs / (COPIES * (COPIES - 1)))


def spread_over_pairs(f: Expr, b: Expr, ff: Expr, fb: Expr, bb: Expr) -> Expr:
    """The variance of `over_pairs` from E[f], E[b], E[f f], E[f b], E[b b].

    Two pairs have both copies in common, or one of them, or are independent.
    """
    mean = f**2 + b**2
    both = ff**2 + 2 * fb**2 + bb**2 - mean**2
    one = f**2 * ff + 2 * f * b * fb + b**2 * bb - mean**2
    return 2 * (both + 2 * (COPIES - 2) * one) / (COPIES * (COPIES - 1))
