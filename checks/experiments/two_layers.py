"""Experiments on layers in a row: forward through two, Jacobians of two behind ReLU."""

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator
from sympy import Rational, exp, log, sqrt

from varlaw.checks.experiments.backward import pull_back
from varlaw.checks.experiments.fans import gain_moments
from varlaw.checks.experiments.forward import INPUT, SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import ANY, SYMMETRIC, Case, Draws, Trial, experiment
from varlaw.checks.experiments.scaling import CONTINUOUS
from varlaw.checks.experiments.stacks import Drawn
from varlaw.checks.experiments.streams import Stream
from varlaw.symbolic.sequences import Term


@experiment(law="xavier-two-layers", quantity="E[y^2]/E[x^2]", weights=ANY, m=3, n=8)
def xavier_two_layers(case: Case) -> Trial:
    wide, narrow = case.size("m"), case.size("n")
    variance = Rational(2, wide + narrow)
    layer = case.scaled(variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        h = SIGNS.sample(rng, (wide, replicates))
        for shape in ((wide, narrow), (narrow, wide)):
            h = multiply(h, layer.sample(rng, (*shape, replicates)))
        return np.asarray(np.mean(h**2, axis=0))

    stream = Stream.begin(SIGNS, wide)
    for width in (narrow, wide):
        stream = stream.through(case.weights, variance, width)
    kept = case.claim(q=1)
    wrong = {
        "1, kept": 1,
        "2 sqrt(m n)/(m + n), its root": sqrt(kept),
        "2 m/(m + n), of the first layer": wide * variance,
        "2 n/(m + n), of the second layer": narrow * variance,
        "its square": kept**2,
    }
    numbers = wide + 2 * wide * narrow
    return Trial(draw, numbers, kept, stream.variance / wide**2, wrong)


@experiment(law="xavier-log-error", quantity="forward times backward gain", weights=ANY, m=3, n=8)
def xavier_log_error(case: Case) -> Trial:
    """Where the errors of the logarithms balance, m t n t = 1; of two independent matrices."""
    rows, cols = case.size("m"), case.size("n")
    lhs = case.law.statement.lhs
    (variance,) = lhs.free_symbols
    t = exp(case.claim() / (lhs / log(variance)))
    layer, unit = case.scaled(t), 1 / float(INPUT.moment(2))

    def draw(rng: Generator, replicates: int) -> Draws:
        x, g = (INPUT.sample(rng, (size, replicates)) for size in (rows, cols))
        one, other = (layer.sample(rng, (rows, cols, replicates)) for _ in "wv")
        ahead = np.mean(multiply(x, one) ** 2, axis=0)
        back = np.mean(pull_back(g, other) ** 2, axis=0)
        return np.asarray(unit**2 * ahead * back)

    e = gain_moments(case, t)
    m, n = case["m"], case["n"]
    others = {"1/m": 1 / m, "1/n": 1 / n, "2/(m + n)": 2 / (m + n), "1/(m n)": 1 / (m * n)}
    others["(m + n)/(m^2 + n^2)"] = (m + n) / (m**2 + n**2)
    wrong = {f"variance {name}": (t / exact(other)) ** 2 for name, other in others.items()}
    return Trial(draw, 2 * rows * cols + rows + cols, 1, e["ff"] * e["bb"] - 1, wrong)


def jacobian(
    case: Case,
    widths: tuple[int, int, int],
    behind_last: bool,
    claim: Number,
    wrong: Mapping[str, Number],
) -> Trial:
    """|J|^2/d_0 of Linear-ReLU-Linear, with or without a ReLU behind it, at He's variances.

    A change of sign of one column of weights switches its ReLU alone, so that each is on with
    probability 1/2, independently of the squares; fourth moments of sums are bounded as usual.
    """
    first, between, last = widths
    one, two = (Drawn(case.weights, 2 / rows) for rows in widths[:2])

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (first, replicates))
        w1 = one.sample(rng, (first, between, replicates))
        w2 = two.sample(rng, (between, last, replicates))
        z = multiply(x, w1)
        mask = multiply(np.maximum(z, 0), w2) > 0 if behind_last else 1.0
        whole = np.einsum("ijr,jr,jkr->ikr", w1, z > 0, w2, optimize=True) * mask
        return np.asarray(np.sum(whole**2, axis=(0, 1)) / first)

    fourth = float(case.weights.moment(4))
    column = one.variance**2 * (first * fourth + first * (first - 1))
    masked = between * (between - 1) * (first * one.variance) ** 2 / 4 + between * column / 2
    on = 0.5 if behind_last else 1.0
    outer = last * (last - 1) * on**2 + last * two.kurtosis * on
    square = two.variance**2 * masked * outer / first**2
    numbers = first + first * between + between * last
    return Trial(draw, numbers, claim, square - float(claim) ** 2, wrong)


@experiment(law="he-backward-chain", quantity="E|J|^2/d_0", weights=CONTINUOUS, k=2, most={"k": 2})
def he_backward_chain(case: Case) -> Trial:
    widths = (4, 6, 3)
    ends = {Term("d", 0): Rational(widths[0]), Term("d", case["k"]): Rational(widths[2])}
    claim = case.at(case.law.statement.rhs).xreplace(ends)
    wrong = {
        "1, kept": 1,
        "d_0/d_k": 1 / claim,
        "2 d_k/d_0, one ReLU less": 2 * claim,
        "(d_1/d_0)^k": Rational(9, 4),
        "d_1/d_0": Rational(3, 2),
    }
    return jacobian(case, widths, True, claim, wrong)


@experiment(law="he-branch-backward", quantity="E[b^2]/E[g^2]", weights=SYMMETRIC, d=5, n=7)
def he_branch_backward(case: Case) -> Trial:
    d, n = case.size("d"), case.size("n")
    wrong = {
        "1, as if 4 and 1/4 cancelled": 1,
        "4, as without ReLU": 4,
        "n/d": Rational(n, d),
        "sqrt(2)": sqrt(2),
    }
    return jacobian(case, (d, n, d), False, case.at(case.law.statement.rhs, v=1), wrong)
