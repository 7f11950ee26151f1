"""Experiments on blends, concatenations, centred weights, gated units and squashed ones."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.special import expit
from sympy import Expr, Rational, sqrt

from varlaw.checks.experiments.activations import exact_of, over_units, value
from varlaw.checks.experiments.branches import one_branch
from varlaw.checks.experiments.forward import INPUT, SIGNS, multiply
from varlaw.checks.experiments.moments import Number, Scaled, exact
from varlaw.checks.experiments.registry import ANY, SYMMETRIC, Case, Draws, Trial, experiment
from varlaw.checks.experiments.stacks import Drawn, rectified
from varlaw.checks.statistics.sampling import shifted

NORMAL = ("normal",)
HALF = Fraction(1, 2)
UNITS = 8


def over_divisors(claim: Expr, others: dict[str, Number], power: int = 2) -> dict[str, Number]:
    """What is claimed of a size that is 1 over `claim` by those who divide by something else."""
    return {name: (exact(other) / claim) ** power for name, other in others.items()}


@experiment(
    law="mp-sum",
    quantity="E[(f a + t b)^2]/c^2",
    weights=ANY,
    d=4,
    f=Fraction(1, 2),
    t=Fraction(4, 9),
)
def mp_sum(case: Case) -> Trial:
    """The branch b is a linear layer on the stream a, whose entries are signs of mean 3/5."""
    d, c, f, t = case["d"], case.claim(), case["f"], case["t"]
    kept, weights = float(f / c), case.scaled(1 / d)
    size = case.size("d")

    def draw(rng: Generator, replicates: int) -> Draws:
        a = SIGNS.sample(rng, (size, replicates))
        b = multiply(a, weights.sample(rng, (size, size, replicates)))
        return np.asarray(np.mean((kept * a + float(t / c) * b) ** 2, axis=0))

    # u = x a + y b with a^2 = 1; columns, and so units, are independent given a
    x, y = f / c, t / c
    third = case.weights.moment(3) * (1 + (d - 1) * SIGNS.moment(1) ** 2) / d ** Rational(3, 2)
    fourth = 3 + (case.weights.moment(4) - 3) / d
    spread = (x**4 + 6 * x**2 * y**2 + 4 * x * y**3 * third + y**4 * fourth - 1) / d
    wrong = over_divisors(
        c,
        {
            "f + t, as of equal ones": f + t,
            "sqrt(2), as of a + b": sqrt(2),
            "f": f,
            "f^2 + t^2": f**2 + t**2,
        },
    )
    return Trial(draw, size * (size + 1), 1, spread, wrong)


@experiment(
    law="mp-cat",
    quantity="mean square over q",
    weights=ANY,
    m=3,
    n=5,
    f=Fraction(1, 2),
    t=Fraction(4, 9),
)
def mp_cat(case: Case) -> Trial:
    """Channels of mean 1/2 and variance 1."""
    m, n, f, t, c = case["m"], case["n"], case["f"], case["t"], case.claim()
    channels = shifted(case.weights, HALF)
    q = channels.moment(2)
    whole = (m + n) * q
    first, second = c * f / sqrt(m), c * t / sqrt(n)

    def draw(rng: Generator, replicates: int) -> Draws:
        a, b = (channels.sample(rng, (case.size(name), replicates)) for name in "mn")
        parts = [float(first) * a, float(second) * b]
        return np.asarray((np.concatenate(parts) ** 2).sum(axis=0) / float(whole))

    spread = (m * first**4 + n * second**4) * (channels.moment(4) - q**2) / whole**2
    others: dict[str, Number] = {
        "sqrt(m + n), without the blend": sqrt(m + n),
        "sqrt(1/(f^2 + t^2))": c / sqrt(m + n),
        "(m + n)/(f^2 + t^2), without the root": c**2,
        "sqrt(m n)": sqrt(m * n),
    }
    return Trial(draw, int(m + n), 1, spread, {k: (c / exact(o)) ** 2 for k, o in others.items()})


@experiment(law="centred-weights", quantity="E[y^2]", weights=ANY, m=4, s2=Fraction(2, 3))
def centred_weights(case: Case) -> Trial:
    """Inputs of mean 1/2 and variance 1, weights whose mean is their std."""
    m, s2, size = case["m"], case["s2"], case.size("m")
    weights = Scaled(shifted(case.weights, Fraction(1)), s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = INPUT.sample(rng, (size, replicates))
        w = weights.sample(rng, (size, replicates))
        return np.asarray((x * (w - w.mean(axis=0))).sum(axis=0) ** 2)

    # y = Sum d_i w_i with the centred inputs d; of these E[(Sum d^2)^2] and E[d^4]
    fourth = exact(shifted(INPUT, -HALF).moment(4))
    square = (m - 1) ** 2 + (m - 1) ** 2 / m * (fourth - (m - 3) / (m - 1))
    coefficients = [1 - 1 / m, *[-1 / m] * (size - 1)]
    powers = sum(k**4 for k in coefficients)
    single = powers * fourth + 3 * ((1 - 1 / m) ** 2 - powers)
    excess = case.weights.moment(4) - 3
    claim = case.claim({"w": weights}, mu=HALF, q=INPUT.moment(2))
    spread = s2**2 * (3 * square + excess * m * single) - claim**2
    second = exact(INPUT.moment(2))
    wrong = {
        "(m - 1) s2 q, of the second moment": (m - 1) * s2 * second,
        "m s2 q, not centred": m * s2 * second,
        "m s2 v": m * s2,
        "s2 v": s2,
    }
    return Trial(draw, 2 * size, claim, spread, wrong)


@experiment(law="small-init", quantity="E[F^2]", weights=SYMMETRIC, d=4)
def small_init(case: Case) -> Trial:
    width = case.size("d")
    drawn = Drawn(case.weights, 2 / (5 * width))
    wrong = {
        "1/2, at Xavier's variance of square matrices": 0.5,
        "2/5, of one layer": 0.4,
        "16/25, without ReLU": 0.64,
        "4/25, of attention": 0.16,
    }
    return one_branch(rectified(drawn, drawn, width, 4 * width), case.claim(), wrong)


@experiment(law="glu-init", quantity="E[(sigmoid(z) b)^2] - 1", weights=NORMAL, d=3)
def glu_init(case: Case) -> Trial:
    """A layer of gated units at a fixed input of mean square 1.

    Less 1, what a gate of 1/2 makes of E[b^2] = 4 at any variance of z.
    """
    d = case.size("d")
    drawn = Drawn(case.weights, 4 / d)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = SIGNS.sample(rng, (d, replicates))
        z, b = (multiply(x, drawn.sample(rng, (d, UNITS, replicates))) for _ in "zb")
        return np.asarray(np.mean(((expit(z) - 0.5) * b) ** 2, axis=0))

    square, fourth = (value(f"(sigmoid(x) - 1/2)^{k}", 4) for k in (2, 4))
    wrong = {
        "1": 1.0,
        "4 E[sigmoid(z)^2] at N(0, 1)": 4 * value("sigmoid(x)^2"),
        "2, as with ReLU": 2.0,
        "its square root": 2 * value("sigmoid(x)^2", 4) ** 0.5,
    }
    told = {name: exact_of(number - 1) for name, number in wrong.items()}
    spread = (48 * fourth - (4 * square) ** 2) / UNITS
    return Trial(draw, d * (2 * UNITS + 1), case.claim() - 1, spread, told)


@experiment(law="dyt-start", quantity="E[tanh(z/2)^2]", weights=NORMAL)
def dyt_start(case: Case) -> Trial:
    wrong = {
        "1, as a Norm": 1.0,
        "1/4, as if linear": 0.25,
        "E[tanh(z)^2]": value("tanh(x)^2"),
        "its square root": value("tanh(x/2)^2") ** 0.5,
    }
    return over_units(
        case, lambda z: np.tanh(z / 2) ** 2, value("tanh(x/2)^4"), case.claim(), wrong
    )


@experiment(law="lecun-tanh", quantity="(E[f(z)^2] - k v)/(1 - k)", weights=NORMAL)
def lecun_tanh(case: Case) -> Trial:
    """A step of Newton from v, with k the slope of the layer map by differences."""
    v = Fraction(float(case.claim())).limit_denominator(10**12)
    squares = "(17159/10000*tanh(2*x/3))^2"
    second, fourth = value(squares, v), value("(17159/10000*tanh(2*x/3))^4", v)
    step = Fraction(1, 1000)
    k = (value(squares, v + step) - value(squares, v - step)) / float(2 * step)
    level = k * float(v)
    return over_units(
        case,
        lambda z: ((1.7159 * np.tanh(2 * z / 3)) ** 2 - level) / (1 - k),
        (fourth - 2 * level * second + level**2) / (1 - k) ** 2,
        case.claim(),
        {"1": 1, "0.7504, one layer from 1": value(squares), "1/2": 0.5},
        variance=v,
    )
