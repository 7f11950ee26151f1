"""Experiments on backward laws: pull a probe back through a layer by the chain rule."""

import numpy as np
from numpy.random import Generator
from sympy import Expr, Integer, Rational, sqrt

from varlaw.checks.experiments.forward import INPUT, multiply
from varlaw.checks.experiments.moments import exact, expected, variance_of_mean
from varlaw.checks.experiments.registry import (
    ANY,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
    instead,
)
from varlaw.checks.statistics.sampling import LAWS
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.sequences import named
from varlaw.symbolic.terms import Sum, indicator

PROBE = LAWS["uniform"]

m, n = dimensions("m n")
j, k = indices("j k")
g, x = random_array("g"), random_array("x")
centred = random_array("g", mean=0)


def pull_back(probe: Draws, weights: Draws) -> Draws:
    """g W^T, with the replicates on the last axis: (n, r) and (m, n, r) to (m, r)."""
    return np.asarray(np.einsum("jr,ijr->ir", probe, weights))


@experiment(law="backward", quantity="E[(dl/dx)^2]/E[(dl/dy)^2]", weights=ANY, m=4, n=5)
def backward(case: Case) -> Trial:
    rows, cols, claim = case.size("m"), case.size("n"), case.claim()
    v, weights = exact(INPUT.moment(2)), case.scaled(claim)

    def draw(rng: Generator, replicates: int) -> Draws:
        probe = INPUT.sample(rng, (cols, replicates))
        drawn = weights.sample(rng, (rows, cols, replicates))
        return np.mean(pull_back(probe, drawn) ** 2, axis=0) / float(v)

    one, other = (Sum(g[j] * random_array(name, mean=0, variance=1)[j], (j, 1, n)) for name in "uv")
    laws = {"g": INPUT, "u": case.weights, "v": case.weights}
    mean, square, both = (
        expected(s, case.values, laws) for s in (one**2, one**4, one**2 * other**2)
    )
    variance = (claim / v) ** 2 * variance_of_mean(rows, mean, square, both)
    fan_in, fan_out = case["m"], case["n"]
    return Trial(
        draw,
        cols * (rows + 1),
        1,
        variance,
        instead(
            claim,
            {
                "1/m": 1 / fan_in,
                "2/n": 2 / fan_out,
                "1/n^2": 1 / fan_out**2,
                "1/sqrt(n)": 1 / sqrt(fan_out),
            },
        ),
    )


@experiment(law="he-backward", quantity="E[(dl/dx)^2]/E[(dl/dh)^2]", weights=SYMMETRIC, m=4, n=6)
def he_backward(case: Case) -> Trial:
    rows, cols, claim = case.size("m"), case.size("n"), case.claim()
    weights = case.scaled(claim)

    def draw(rng: Generator, replicates: int) -> Draws:
        inputs = INPUT.sample(rng, (rows, replicates))
        drawn = weights.sample(rng, (rows, cols, replicates))
        probe = PROBE.sample(rng, (cols, replicates))
        masked = probe * (multiply(inputs, drawn) > 0)  # dl/dz = dl/dh relu'(z)
        return np.asarray(np.mean(pull_back(masked, drawn) ** 2, axis=0))

    mean = cols * masked_moment(case, 1, 2, 0)
    square, both = (by_columns(case, cols, *powers) for powers in ((4, 0), (2, 2)))
    variance = claim**2 * variance_of_mean(rows, mean, square, both)
    fan_in, fan_out = case["m"], case["n"]
    return Trial(
        draw,
        rows + cols * (rows + 1),
        1,
        variance,
        instead(
            claim,
            {"1/n": 1 / fan_out, "2/m": 2 / fan_in, "4/n": 4 / fan_out, "4/n^2": 4 / fan_out**2},
        ),
    )


def by_columns(case: Case, cols: int, first: int, second: int) -> Expr:
    """E[b_1^first b_2^second], of order 4, with `cols` columns of W.

    Each factor of the centred probe stands at least twice in a product that does not vanish, so
    that at most two columns meet in one: the expectation is alpha n + beta n (n - 1) / 2.
    """
    one, two = (masked_moment(case, number, first, second) for number in (1, 2))
    return cols * one + Rational(cols * (cols - 1), 2) * (two - 2 * one)


def masked_moment(case: Case, number: int, first: int, second: int) -> Expr:
    """E[b_1^first b_2^second] for the probe pulled back through 1 or 2 standardised columns."""
    columns = [random_array(name, symmetric=True, variance=1) for name in "uv"[:number]]
    masks = [indicator(named(f"z_{w.name}", Sum(x[k] * w[k], (k, 1, m))), ">") for w in columns]

    def pulled(channel: int) -> Expr:
        parts = zip(columns, masks, strict=True)
        return sum(
            (centred[c] * w[channel] * mask for c, (w, mask) in enumerate(parts, 1)), Integer(0)
        )

    laws = {"g": PROBE, "x": INPUT, "u": case.weights, "v": case.weights}
    return expected((pulled(1) ** first * pulled(2) ** second).expand(), case.values, laws)
