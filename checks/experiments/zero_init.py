"""Experiments on branches that start at zero: gradients by differences, and real steps of SGD."""

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr
from sympy import Integer, sqrt

from varlaw.checks.experiments.activations import exact_of
from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    SYMMETRIC,
    Case,
    Draws,
    Trial,
    experiment,
)
from varlaw.checks.experiments.stacks import Drawn
from varlaw.checks.sampling import LAWS
from varlaw.symbolic.sequences import Term

STEP = 1e-3  # of central differences
RATE = 1e-6  # of SGD: what is not of leading order is as small as this
CONTINUOUS = ("normal", "uniform")  # of discrete ones, p.F may be 0
PROBE = Fraction(3, 2)  # p is this times a sign
G = PROBE**2
Function = Callable[[Draws], Draws]


def relu(z: Draws) -> Draws:
    return np.maximum(z, 0)


def gelu(z: Draws) -> Draws:
    return np.asarray(z * ndtr(z))


def probe(rng: Generator, shape: tuple[int, ...]) -> Draws:
    return float(PROBE) * LAWS["rademacher"].sample(rng, shape)


def loss(p: Draws, x: Draws, u: Draws, w: Draws, f: Function) -> Draws:
    """p.y for the block y = x + f(x u) w."""
    return np.asarray(np.sum(p * (x + multiply(f(multiply(x, u)), w)), axis=0))


def difference(of: Callable[[Draws], Draws], at: Draws, place: tuple[int, ...]) -> Draws:
    """The central difference of a loss by one weight."""
    up, down = at.copy(), at.copy()
    up[place] += STEP
    down[place] -= STEP
    return np.asarray((of(up) - of(down)) / (2 * STEP))


def one_gradient(
    case: Case,
    f: Function,
    first: float,
    last: float,
    by: str,
    fourth: float,
    wrong: Mapping[str, Number],
) -> Trial:
    """The squared gradient by one weight of the first or last layer, of variances given."""
    d, n = case.size("d"), case.size("n")
    inner, outer = Drawn(case.weights, first), Drawn(case.weights, last)

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        u, w = inner.sample(rng, (d, n, replicates)), outer.sample(rng, (n, d, replicates))
        if by == "u":
            return difference(lambda v: loss(p, x, v, w, f), u, (0, 0)) ** 2
        return difference(lambda v: loss(p, x, u, v, f), w, (0, 0)) ** 2

    claim = case.claim(q=1, g=G)
    spread = max(fourth - float(claim) ** 2, 0.0)
    return Trial(draw, 2 * d * (n + 1), claim, spread, wrong, scale=float(G))


@experiment(
    law="zero-last-layer", quantity="E[(dl/dw)^2]", weights=SYMMETRIC, d=4, n=3, s=Fraction(2, 3)
)
def zero_last_layer(case: Case) -> Trial:
    d, s, g = case["d"], case["s"], exact(G)
    wrong = {"0": 0, "d g q s, without ReLU": d * g * s, "g q s/2, of one unit": g * s / 2}
    kurtosis = Drawn(case.weights, 1).kurtosis
    fourth = float(G**2) * kurtosis * float(d * s) ** 2 / 2
    return one_gradient(case, relu, float(s), 0.0, "w", fourth, wrong)


@experiment(
    law="zero-last-layer-before",
    quantity="E[(dl/du)^2]",
    weights=SYMMETRIC,
    d=4,
    n=3,
    s=Fraction(1),
)
def zero_last_layer_before(case: Case) -> Trial:
    wrong = {"d g q s/2, as with random last layers": case["d"] * exact(G) * case["s"] / 2}
    return one_gradient(case, relu, float(case["s"]), 0.0, "u", 0.0, wrong)


@experiment(
    law="zero-first-layer-relu",
    quantity="E[(dl/du)^2] + E[(dl/dw)^2]",
    weights=SYMMETRIC,
    d=4,
    n=3,
    s=Fraction(2, 3),
)
def zero_first_layer_relu(case: Case) -> Trial:
    """By back-propagation with the mask 1[z > 0], as libraries do."""
    d, n, s = case.size("d"), case.size("n"), case["s"]
    outer = Drawn(case.weights, float(s))

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        u, w = np.zeros((d, n, replicates)), outer.sample(rng, (n, d, replicates))
        z = multiply(x, u)
        back = np.einsum("ir,jir->jr", p, w) * (z > 0)
        return np.asarray((x[0] * back[0]) ** 2 + (relu(z)[0] * p[0]) ** 2)

    wrong = {
        "with slope 1/2 at 0": case["d"] * exact(G) * s / 4,
        "with slope 1 at 0": case["d"] * exact(G) * s,
    }
    return Trial(draw, 2 * d + n * d, case.claim(), 0.0, wrong, scale=float(G))


def smooth(case: Case, f: Function, slope: Fraction, wrong: Mapping[str, Number]) -> Trial:
    kurtosis = Drawn(case.weights, 1).kurtosis
    fourth = float(slope**4 * G**2) * kurtosis * float(case["d"] * case["s"]) ** 2
    return one_gradient(case, f, 0.0, float(case["s"]), "u", fourth, wrong)


@experiment(
    law="zero-first-layer-gelu", quantity="E[(dl/du)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3)
)
def zero_first_layer_gelu(case: Case) -> Trial:
    whole = case["d"] * exact(G) * case["s"]
    wrong = {
        "0, stuck as ReLU": 0,
        "slope 1": whole,
        "its slope for 1/4": whole / 2,
        "n for d": case["n"] * exact(G) * case["s"] / 4,
    }
    return smooth(case, gelu, Fraction(1, 2), wrong)


@experiment(
    law="zero-first-layer-tanh", quantity="E[(dl/du)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3)
)
def zero_first_layer_tanh(case: Case) -> Trial:
    whole = case["d"] * exact(G) * case["s"]
    wrong = {"0, stuck as ReLU": 0, "slope 1/2": whole / 4, "n for d": whole * 3 / 4}
    return smooth(case, np.tanh, Fraction(1), wrong)


@experiment(law="zero-gamma", quantity="E[(dl/dgamma)^2]", weights=ANY, d=4)
def zero_gamma(case: Case) -> Trial:
    """y = x + gamma h; the laws of weights serve as laws of h."""
    d = case.size("d")

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        h = case.weights.sample(rng, (d, replicates))
        zero = np.zeros((d, replicates))
        slope = difference(lambda gamma: np.sum(p * (x + gamma * h), axis=0), zero, (0,))
        return slope**2

    spread = float(G**2) * (float(case.weights.moment(4)) - 1)
    wrong = {"0": 0, "d g": case["d"] * exact(G), "sqrt(g)": exact(PROBE)}
    return Trial(draw, 3 * d, case.claim(g=G), spread, wrong)


def scalar_factor(case: Case, by: str, fourth: float, wrong: Mapping[str, Number]) -> Trial:
    """y = x + alpha h w with alpha = 0; by alpha, or by one entry of w."""
    d, n = case.size("d"), case.size("n")
    outer = Drawn(case.weights, float(case["s"]))

    def draw(rng: Generator, replicates: int) -> Draws:
        x, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        h, w = SIGNS.sample(rng, (n, replicates)), outer.sample(rng, (n, d, replicates))
        alpha = np.zeros((1, replicates))
        if by == "w":
            return (
                difference(lambda v: np.sum(p * (x + alpha * multiply(h, v)), axis=0), w, (0, 0))
                ** 2
            )
        return difference(lambda v: np.sum(p * (x + v * multiply(h, w)), axis=0), alpha, (0,)) ** 2

    claim = case.claim(q=1, g=G)
    spread = max(fourth - float(claim) ** 2, 0.0)
    return Trial(draw, 2 * d + n * (d + 1), claim, spread, wrong, scale=float(G))


@experiment(law="rezero", quantity="E[(dl/dalpha)^2]", weights=ANY, d=4, n=3, s=Fraction(2, 3))
def rezero(case: Case) -> Trial:
    d, n, s, g = case["d"], case["n"], case["s"], exact(G)
    kurtosis = Drawn(case.weights, 1).kurtosis
    wrong = {"0": 0, "n g q s, of one unit": n * g * s, "d g q s": d * g * s}
    return scalar_factor(case, "alpha", kurtosis * float(d * n * s * g) ** 2, wrong)


@experiment(law="zero-gamma-before", quantity="E[(dl/dw)^2]", weights=ANY, d=4, n=3, s=Fraction(1))
def zero_gamma_before(case: Case) -> Trial:
    """All gains alike, as one factor alpha = 0."""
    return scalar_factor(case, "w", 0.0, {"g q, as at gamma = 1": exact(G)})


@experiment(law="rezero-ramp", quantity="alpha_l/(eta p.F)", weights=CONTINUOUS, d=4, n=3, l=5)
def rezero_ramp(case: Case) -> Trial:
    """SGD on alpha and on the branch's last layer, at a small learning rate."""
    d, n, steps = case.size("d"), case.size("n"), case.size("l")

    def draw(rng: Generator, replicates: int) -> Draws:
        h, p = SIGNS.sample(rng, (n, replicates)), probe(rng, (d, replicates))
        w = case.weights.sample(rng, (n, d, replicates))
        alpha = np.zeros(replicates)
        begin = np.sum(p * multiply(h, w), axis=0)
        rate = RATE * np.minimum(1, begin**2)  # smaller where the first gradient is
        for _ in range(steps):
            slope = np.sum(p * multiply(h, w), axis=0)
            back = alpha * h[:, None] * p[None]
            alpha, w = alpha - rate * slope, w - rate * back
        return np.asarray(alpha / (rate * begin))

    claim = case.at(case.law.statement.rhs.xreplace({Term("alpha", 0): Integer(0)}), c=1)
    steps_ = case["l"]
    wrong = {"-1": -1, "-l^2": -(steps_**2), "0": 0, "-l (l - 1)/2": -steps_ * (steps_ - 1) / 2}
    return Trial(draw, 2 * d + n * (d + 1), claim, 1e-8, wrong)


def first_step(case: Case, layers: int, scale: float, wrong: Mapping[str, Number]) -> Trial:
    """What one step of SGD on N zero last layers changes the loss by, to that of one unscaled one.

    Each branch has `layers` ReLU layers at He's variance, which together scale by `scale`.
    """
    d, n, branches = case.size("d"), case.size("n"), case.size("N")
    kurtosis = Drawn(case.weights, 1).kurtosis

    def draw(rng: Generator, replicates: int) -> Draws:
        x0, p = SIGNS.sample(rng, (d, replicates)), probe(rng, (d, replicates))
        x, factor = x0, scale ** (1 / layers)
        for _ in range(branches):
            weights = [
                Drawn(case.weights, 2 / rows).sample(rng, (rows, n, replicates))
                for rows in (d, *(n,) * (layers - 1))
            ]

            def features(h: Draws, weights: list[Draws] = weights) -> Draws:
                for u in weights:
                    h = relu(factor * multiply(h, u))
                return h

            stepped = -RATE * features(x0)[:, None] * p[None]  # w behind a step, from w = 0
            x = x + multiply(features(x), stepped)
        moved = np.sum(p * (x - x0), axis=0)
        return np.asarray(-moved / (RATE * n * d * float(G)))

    fourth = 2 * kurtosis * n + n * (n - 1)  # of the first layer's |h|^4
    fourth *= (2 * kurtosis / n + (n - 1) / n) ** (layers - 1)
    spread = branches * (fourth / n**2 - 1) * scale**4
    numbers = 2 * d + branches * (d * n + (layers - 1) * n**2)
    return Trial(draw, numbers, 1, spread, wrong)


@experiment(law="fixup-features", quantity="dl of N to dl of 1", weights=SYMMETRIC, d=3, n=4, N=6)
def fixup_features(case: Case) -> Trial:
    N = case["N"]
    wrong = {
        "b = 1": 1 / N,
        "b = 1/N": N,
        "b = N^(-1/4)": 1 / sqrt(N),
        "b = 1/sqrt(2 N), layers counted": 2,
    }
    return first_step(case, 1, float(case.claim()), wrong)


@experiment(law="fixup", quantity="dl of N to dl of 1", weights=SYMMETRIC, d=3, n=4, N=6, l=2)
def fixup(case: Case) -> Trial:
    N, layers = case["N"], case["l"]
    wrong = {
        "N^(-1/(2 m))": (N ** (-1 / (2 * layers + 2)) / case.claim()) ** (-2 * layers),
        "N^(-1/2), whatever m": N ** (layers - 1),
        "1": 1 / N,
        "N^(-1/(4 m - 4))": 1 / sqrt(N),
        "(2 N)^(-1/(2 m - 2)), layers counted": 2,
    }
    return first_step(case, case.size("l"), float(case.claim() ** layers), wrong)


def kernel(case: Case, alpha: Number, beta: Number, wrong: Mapping[str, Number]) -> Trial:
    """The sum of squared derivatives of 2 N sub-layers (alpha x + v w x)/alpha, at x^2 = 1."""
    count, weights = 2 * case.size("N"), Drawn(case.weights, float(beta) ** 2)
    a = float(alpha)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (count, replicates))
        v, w = (weights.sample(rng, (count, replicates)) for _ in "vw")

        def out(v: Draws, w: Draws) -> Draws:
            return np.asarray((a * x + v * w * x) / a)

        slopes = (
            (out(v + STEP, w) - out(v - STEP, w)) / (2 * STEP),
            (out(v, w + STEP) - out(v, w - STEP)) / (2 * STEP),
        )
        return np.asarray(np.sum(slopes[0] ** 2 + slopes[1] ** 2, axis=0))

    spread = count * 2 * (float(case.weights.moment(4)) - 1) * (float(beta) / a) ** 4
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 3 * count, 1, spread, told)


@experiment(
    law="deepnorm-ratio",
    quantity="sum of (dy/dv)^2 + (dy/dw)^2",
    weights=ANY,
    N=4,
    alpha=Fraction(3, 2),
)
def deepnorm_ratio(case: Case) -> Trial:
    N = case["N"]
    wrong = {
        "beta = alpha/sqrt(N)": Fraction(1, 4),
        "beta = alpha/(2 N)": N,
        "beta = alpha/sqrt(2 N), N sub-layers counted": Fraction(1, 2),
        "beta = alpha": 1 / (4 * N),
    }
    return kernel(case, case["alpha"], case.claim(), wrong)


@experiment(law="deepnorm", quantity="sum of (dy/dv)^2 + (dy/dw)^2", weights=ANY, N=4)
def deepnorm(case: Case) -> Trial:
    N = case["N"]
    wrong = {
        "beta = (2 N)^(-1/4)": Fraction(1, 2),
        "beta = (8 N)^(-1/2)": sqrt(8 * N),
        "beta = (12 N)^(-1/4), of a decoder with an encoder": sqrt(exact(Fraction(3, 2))),
        "beta = 1": 1 / sqrt(8 * N),
    }
    return kernel(case, (2 * N) ** exact(Fraction(1, 4)), case.claim(), wrong)


@experiment(law="t-fixup", quantity="sum of squared derivatives", weights=ANY, N=3)
def t_fixup(case: Case) -> Trial:
    count, mu = 3 * case.size("N"), float(case.claim())
    weights, fourth = Drawn(case.weights, mu**2), float(case.weights.moment(4))

    def draw(rng: Generator, replicates: int) -> Draws:
        given = [weights.sample(rng, (count, replicates)) for _ in "vwu"]
        total = np.zeros(replicates)
        for k in range(3):
            up, down = (
                [x + (place == k) * step for place, x in enumerate(given)] for step in (STEP, -STEP)
            )
            slope = (np.prod(up, axis=0) - np.prod(down, axis=0)) / (2 * STEP)
            total += np.sum(slope**2, axis=0)
        return total

    spread = count * (3 * fourth**2 + 6 * fourth - 9) * mu**8
    wrong = {
        "(6 N)^(-1/4)": Fraction(2, 3),
        "(3 N)^(-1/4), branches counted": Fraction(1, 3),
        "N^(-1/4)": Fraction(1, 9),
        "0.67 N^(-1/4), as in encoders": 1 / (9 * Fraction(67, 100) ** 4),
        "(9 N)^(-1/2)": 9 * case["N"],
    }
    return Trial(draw, 3 * count, 1, spread, wrong)
