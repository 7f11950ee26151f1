"""Experiments on NormFormer: stacks with Norms in and behind their branches, and pull-backs."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.random import Generator
from sympy import Integer

from varlaw.checks.experiments.branches import last_square
from varlaw.checks.experiments.forward import multiply
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.pre_norm import pulled_through, unit_branches
from varlaw.checks.experiments.registry import ANY, NON_GAUSSIAN, Case, Draws, Trial, experiment
from varlaw.checks.experiments.scaling import CONTINUOUS, SIGNED, from_start, linear_branch
from varlaw.checks.experiments.stacks import Branch, Drawn, Stack, normalised, outputs
from varlaw.checks.statistics.sampling import LAWS, shifted

ATTENDED = shifted(LAWS["uniform"], Fraction(1, 2))  # what heads give: mean 1/2 and variance 1
GAINS = (Fraction(1), Fraction(2), Fraction(1, 2))  # of three heads


def feed_forward(case: Case) -> Branch:
    """A layer of tanh units, their RMSNorm, and a last layer of weights of variance s."""
    width, hidden = case.size("d"), case.size("n")
    first = Drawn(case.weights, 1 / width)
    last = Drawn(case.weights, float(case["s"]))
    second = hidden * last.variance

    def draw(rng: Generator, h: Draws) -> Draws:
        units = np.tanh(multiply(h, first.sample(rng, (width, hidden, h.shape[1]))))
        return multiply(normalised(units), last.sample(rng, (hidden, width, h.shape[1])))

    fourth = outputs(width, last.kurtosis) * second**2
    return Branch(width, second, fourth, 2 * width * hidden, draw)


@experiment(
    law="normformer-stream",
    quantity="Var(x_L)",
    weights=CONTINUOUS,
    d=4,
    n=6,
    L=2,
    s=Fraction(1, 5),
    s2=Fraction(1, 4),
)
def normformer_stream(case: Case) -> Trial:
    """The branch of attention, of variance s2, is divided by its population root second moment."""
    attention = linear_branch(case, case["s2"])
    block = [attention.scaled(attention.second**-0.5), feed_forward(case)]
    L, n, s, s2 = (case[name] for name in ("L", "n", "s", "s2"))
    wrong: dict[str, Number] = {
        "1 + L (s2 + n s), no Norm behind attention": 1 + L * (s2 + n * s),
        "1 + 2 L, a Norm behind both": 1 + 2 * L,
        "1 + L, attention alone": 1 + L,
        "1 + L (1 + s)": 1 + L * (1 + s),
    }
    return last_square(Stack(block * case.size("L"), SIGNED), from_start(case, 1), wrong)


@experiment(law="normformer-heads", quantity="E[y^2]", weights=ANY, H=3, b=2, s2=Fraction(1, 6))
def normformer_heads(case: Case) -> Trial:
    """Three heads of gains 1, 2 and 1/2."""
    heads, width, s2 = case.size("H"), case.size("b"), case["s2"]
    kappa = exact(sum((gain**2 for gain in GAINS), Fraction(0))) / heads
    r = exact(ATTENDED.moment(2))
    claim = case.claim(kappa=kappa, r=r)
    gains = np.array([float(gain) for gain in GAINS])[:, None, None]
    weights = case.scaled(s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        a = gains * ATTENDED.sample(rng, (heads, width, replicates))
        w = weights.sample(rng, (heads, width, replicates))
        return np.asarray((a * w).sum(axis=(0, 1)) ** 2)

    # E[(Sum u_i)^4] = 3 (Sum E u_i^2)^2 + Sum (E u_i^4 - 3 E[u_i^2]^2) for independent centred u_i
    squares = [float(gain) ** 2 * float(s2 * r) for gain in GAINS]
    fourths = [
        float(gain) ** 4 * float(s2) ** 2 * float(ATTENDED.moment(4) * case.weights.moment(4))
        for gain in GAINS
    ]
    excess = sum(f - 3 * q**2 for f, q in zip(fourths, squares, strict=True)) * width
    spread = 2 * float(claim) ** 2 + excess
    wrong: dict[str, Number] = {
        "the mean gain, squared": claim * Fraction(7, 6) ** 2 / kappa,
        "all gains 1": claim / kappa,
        "the variance of what heads give": claim / r,
        "kappa r s2 H": claim / width,
    }
    return Trial(draw, 2 * heads * width, claim, spread, wrong)


@experiment(
    law="pre-norm-mismatch",
    quantity="E[(dl/dx_k)^2]/E[(dl/dx_L)^2]",
    weights=NON_GAUSSIAN,
    d=4,
    L=5,
    k=2,
)
def pre_norm_mismatch(case: Case) -> Trial:
    """The last L - k of L unit branches."""
    L, k = case["L"], case["k"]
    whole = unit_branches(case, depth=case.size("L"))
    upper = replace(whole, layers=whole.layers[case.size("k") :])
    wrong: dict[str, Number] = {
        "1": Integer(1),
        "L - k + 1, as if from the input on": L - k + 1,
        "2^(L - k), without Norm": 2 ** (L - k),
        "L/(k + 1)": L / (k + 1),
        "L + 1": L + 1,
    }
    return pulled_through(case, upper, 1, wrong)
