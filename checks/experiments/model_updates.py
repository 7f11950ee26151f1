"""Experiments on model updates: DeepNorm's encoder before a decoder, and Sub-LN's branches."""

from fractions import Fraction
from itertools import product

import numpy as np
from numpy.random import Generator
from sympy import Rational, sqrt

from varlaw.checks.experiments.activations import exact_of
from varlaw.checks.experiments.first_step import kernel
from varlaw.checks.experiments.forward import SIGNS
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import (
    ANY,
    SYMMETRIC,
    Case,
    Draws,
    LimitTrial,
    Trial,
    experiment,
)
from varlaw.checks.experiments.scaling import from_start
from varlaw.checks.experiments.stacks import Drawn
from varlaw.checks.experiments.zero_init import STEP


def memory(case: Case, count: int) -> Trial:
    """M times the sum of squared derivatives of M cross-attentions by what they read."""
    alpha, beta = float(3 * count) ** 0.25, float(12 * count) ** -0.25
    weights = Drawn(case.weights, beta**2)

    def draw(rng: Generator, replicates: int) -> Draws:
        x, h = (SIGNS.sample(rng, (count, replicates)) for _ in "xh")
        u, o = (weights.sample(rng, (count, replicates)) for _ in "uo")
        out = [(alpha * x + u * o * (h + step)) / alpha for step in (STEP, -STEP)]
        return np.asarray(count * np.sum(((out[0] - out[1]) / (2 * STEP)) ** 2, axis=0))

    fourth = float(case.weights.moment(4))
    spread = count**3 * (fourth**2 - 1) * beta**8 / alpha**4
    return Trial(draw, 4 * count, count**2 * beta**4 / alpha**2, spread, {})


@experiment(law="deepnorm-memory", quantity="M times the sum of (dz/dh)^2", weights=ANY, M=4)
def deepnorm_memory(case: Case) -> Trial:
    M, made = case["M"], memory(case, case.size("M"))
    wrong: dict[str, Number] = {
        "without M, as if with random signs": case.claim() / M,
        "M^(1/4), the root": sqrt(case.claim()),
        "three cross-attentions a block": 9 * case.claim(),
        "alpha = 1": case.claim() * sqrt(3 * M),
    }
    return Trial(made.draw, made.numbers, case.claim(), made.variance, wrong)


def behind_decoder(case: Case, alpha: Number, beta: Number, wrong: dict[str, Number]) -> Trial:
    """The squared update behind the decoder: two independent kernels of the encoder, one memory."""
    count = 2 * case.size("N")
    own, passed = kernel(case, count, alpha, beta, {}), memory(case, case.size("M"))

    def draw(rng: Generator, replicates: int) -> Draws:
        first, second = (own.draw(rng, replicates) for _ in range(2))
        return first * second * passed.draw(rng, replicates)

    mean = count * 2 * float(exact(beta) / exact(alpha)) ** 2
    squares = (float(own.variance) + mean**2) ** 2
    reached = float(passed.claimed)
    spread = squares * (float(passed.variance) + reached**2) - (mean**2 * reached) ** 2
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 2 * own.numbers + passed.numbers, 1, spread, told)


@experiment(
    law="deepnorm-encoder-beta",
    quantity="squared update behind the decoder",
    weights=SYMMETRIC,
    N=3,
    M=5,
)
def encoder_beta(case: Case) -> Trial:
    """Neighbours are other values of beta, to whose eighth power the update is proportional."""
    N, M, beta = case["N"], case["M"], case.claim()
    size = (N**4 * M) ** Rational(-1, 16)
    others = {
        "(8 N)^(-1/4), of an encoder alone": (8 * N) ** Rational(-1, 4),
        "(12 M)^(-1/4), as in the decoder": (12 * M) ** Rational(-1, 4),
        "0.81 (N^4 M)^(-1/16), alpha's constant": Rational(81, 100) * size,
        "0.87 (N M)^(-1/8)": Rational(87, 100) * (N * M) ** Rational(-1, 8),
    }
    wrong = {name: (beta / other) ** 8 for name, other in others.items()}
    return behind_decoder(case, 1 / (sqrt(2) * beta), beta, wrong)


@experiment(
    law="deepnorm-encoder-alpha",
    quantity="squared update behind the decoder",
    weights=SYMMETRIC,
    N=3,
    M=5,
)
def encoder_alpha(case: Case) -> Trial:
    N, M, alpha = case["N"], case["M"], case.claim()
    size = (N**4 * M) ** Rational(1, 16)
    others = {
        "(2 N)^(1/4), of an encoder alone": (2 * N) ** Rational(1, 4),
        "(3 M)^(1/4), as in the decoder": (3 * M) ** Rational(1, 4),
        "0.87 (N^4 M)^(1/16), beta's constant": Rational(87, 100) * size,
        "0.81 (N M)^(1/8)": Rational(81, 100) * (N * M) ** Rational(1, 8),
    }
    wrong = {name: (other / alpha) ** 8 for name, other in others.items()}
    return behind_decoder(case, alpha, 1 / (sqrt(2) * alpha), wrong)


def branch(z: Draws, t: int, v: Draws, u: Draws, gamma: float) -> Draws:
    """The stream behind branch t over sqrt(t + 2), from that before it over sqrt(t + 1)."""
    hidden = u * (z / gamma) / gamma
    return np.asarray((np.sqrt(t + 1) * z + v * hidden) / np.sqrt(t + 2))


@experiment(
    law="sub-ln-kernel",
    quantity="sum of squared derivatives",
    weights=SYMMETRIC,
    L=3,
    gamma=Fraction(3, 2),
)
def sub_ln_kernel(case: Case) -> Trial:
    """By finite differences in x_0 and in each weight of the whole stack; v_0 = 1."""
    depth, gamma = case.size("L"), float(case["gamma"])
    weights = Drawn(case.weights, gamma**2)

    def out(places: Draws) -> Draws:
        z = places[0]
        for t in range(depth):
            z = branch(z, t, places[1 + 2 * t], places[2 + 2 * t], gamma)
        return z

    def draw(rng: Generator, replicates: int) -> Draws:
        start = gamma * SIGNS.sample(rng, (1, replicates))
        places = np.concatenate([start, weights.sample(rng, (2 * depth, replicates))])
        total = np.zeros(replicates)
        for place in range(2 * depth + 1):
            step = STEP * (np.arange(2 * depth + 1) == place)[:, None]
            total += ((out(places + step) - out(places - step)) / (2 * STEP)) ** 2
        return total

    L, tail = case["L"], sum(exact(Fraction(1, k + 2)) for k in range(depth))
    wrong: dict[str, Number] = {
        "1 + 2 L, without the growing stream": 1 + 2 * L,
        "2 (1/2 + ..), without the embedding": 2 * tail,
        "1 + 1/2 + .., one weight a branch": 1 + tail,
        "1 + 2 (1 + 1/2 + ..), one branch on": 3 + 2 * (tail - 1 / (L + 1)),
    }
    claim = from_start(case, 1)
    return Trial(draw, 2 * depth + 1, claim, kernel_variance(case, depth, gamma), wrong)


def kernel_variance(case: Case, depth: int, gamma: float) -> float:
    """Var D from E[z^4], E[D z^2] and E[D^2], layer by layer, for symmetric weights.

    D' = ((s + a)^2 D + (u^2 + v^2) z^2/gamma^4)/(t + 2) with s^2 = t + 1, a = u v/gamma^2.
    """
    kurtosis, g = float(case.weights.moment(4)), gamma**2
    zz, dz, dd, mean = g**2, g, 1.0, 1.0
    for t in range(depth):
        own = (t + 1) ** 2 + 6 * (t + 1) + kurtosis**2
        cross, square = (2 * (t + 1) + 2 * kurtosis) / g, (2 * kurtosis + 2) / g**2
        dd = dd * own + 2 * dz * cross + zz * square
        dz, zz = dz * own + zz * cross, zz * own
        dd, dz, zz = (moment / (t + 2) ** 2 for moment in (dd, dz, zz))
        mean += 2 / (t + 2)
    return dd - mean**2


@experiment(
    law="sub-ln",
    quantity="update of branches 2 N to 4 N at N, 2 N, 4 N",
    weights=("rademacher",),
    N=8,
)
def sub_ln(case: Case) -> LimitTrial:
    """Layer by layer in the mean over all signs of its weights, against what gamma^2 grows by."""
    base = case.size("N")
    sizes = (base, 2 * base, 4 * base)
    wrong: dict[str, Number] = {
        "sqrt(2 log(2 N))": Rational(1, 2),
        "sqrt(log(2 N)/2)": 2,
        "sqrt(3 log(2 N))": Rational(1, 3),
    }
    trials = tuple(doubled(case, size) for size in sizes)
    return LimitTrial(sizes, trials, 1, wrong, margins=(3e-4, 2.4e-4, 2e-4))


def doubled(case: Case, size: int) -> Trial:
    """What 2 N more branches add to the sum of squared derivatives, over 2 gamma^2 as claimed."""
    v, u = np.array(list(product((1.0, -1.0), repeat=2))).T
    z = np.ones(4)
    sums = [0.0]

    def slope(t: int, place: int) -> float:
        """The mean square of the derivative by z, v or u at gamma = 1."""
        step = np.zeros(3)
        step[place] = STEP
        up, down = (
            branch(z + s * step[0], t, v + s * step[1], u + s * step[2], 1.0) for s in (1, -1)
        )
        return float(np.mean(((up - down) / (2 * STEP)) ** 2))

    for t in range(4 * size):
        sums.append(slope(t, 0) * sums[-1] + slope(t, 1) + slope(t, 2))
    grown = case.claim(N=2 * size) ** 2 - case.claim(N=size) ** 2
    value = (sums[4 * size] - sums[2 * size]) / (2 * float(grown))

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.full(replicates, value)

    return Trial(draw, 1, 1, 0, {})
