"""Experiments on shaped activations: Gaussian weights times fixed inputs, and composed maps."""

from fractions import Fraction
from math import pi

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from sympy import Expr

from varlaw.checks.experiments.activation_gains import halved_difference
from varlaw.checks.experiments.activations import exact_of, gelu, over_units, relu, value
from varlaw.checks.experiments.attained import computed
from varlaw.checks.experiments.kernels import FIRST, NORMAL, SECOND, WIDTH
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment

ACROSS = np.array([2.0, -2.0, 1.0])  # orthogonal to FIRST, of length 3 as well
APART = Fraction(-4, 9)  # the correlation of FIRST and -SECOND


def leaky(z: Draws, a: float) -> Draws:
    return np.where(z > 0, z, a * z)


def paired(
    case: Case, other: Draws, less: float, spread: float, claimed: Expr, **wrong: Expr
) -> Trial:
    """The mean of 2 f(z) f(z_2)/((1 + a^2) q) - less z z_2/q over weights and their negatives."""
    weights, a, q = case.scaled(case["q"] / 9), float(case["a"]), float(case["q"])

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (3, WIDTH, replicates))
        one, two = (np.einsum("i,ijr->jr", x, drawn) for x in (FIRST, other))
        both = leaky(one, a) * leaky(two, a) + leaky(-one, a) * leaky(-two, a)
        return np.asarray((both / (1 + a**2) - less * one * two).mean(axis=0) / q)

    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 3 * WIDTH, claimed, spread / WIDTH, told)


@experiment(
    law="tat-correlation", quantity="C(rho) - rho", weights=NORMAL, q=Fraction(2), a=Fraction(1, 5)
)
def tat_correlation(case: Case) -> Trial:
    """In pairs it is (1 - a)^2/(1 + a^2) times the negative part of z z_2/q."""
    a, rho = case["a"], float(APART)
    part, claimed = float((1 - a) ** 2 / (1 + a**2)), case.claim(rho=APART)
    wrong = {
        "of ReLU": float(claimed) / part,
        "(1 - a)^2 of it": float(claimed) / part * float(1 - a) ** 2,
        "at -rho": float(case.claim(rho=-APART)),
        "0": 0.0,
    }
    return paired(case, -SECOND, 1.0, part**2 * (1 + 2 * rho**2), claimed, **wrong)


@experiment(law="tat-orthogonal", quantity="C(0)", weights=NORMAL, q=Fraction(2), a=Fraction(1, 4))
def tat_orthogonal(case: Case) -> Trial:
    a = float(case["a"])
    wrong = {
        "0": 0.0,
        "1/pi, of ReLU": 1 / pi,
        "(1 - a)^2/(2 pi), without the gain": (1 - a) ** 2 / (2 * pi),
        "((1 - a)/(1 + a))^2/pi": ((1 - a) / (1 + a)) ** 2 / pi,
    }
    # in pairs z z_2/q times 1 or -2 a/(1 + a^2), by the sign of z z_2
    square = (1 + (2 * a / (1 + a**2)) ** 2) / 2
    mean = (1 - a) ** 2 / (pi * (1 + a**2))
    return paired(case, ACROSS, 0.0, square - mean**2, case.claim(), **wrong)


@experiment(
    law="tat-slope", quantity="2 f'(z)^2/(1 + a^2)", weights=NORMAL, a=Fraction(1, 5), v=Fraction(2)
)
def tat_slope(case: Case) -> Trial:
    a = float(case["a"])
    gain = 2 / (1 + a**2)
    wrong = {"1/2, without the gain": 1 / gain, "2/(1 + a)": 2 / (1 + a), "2/(1 + a^2)": gain}

    def statistic(z: Draws) -> Draws:
        return gain * np.where(z > 0, 1.0, a**2)

    square = gain**2 * (1 + a**4) / 2
    return over_units(case, statistic, square, case.claim(), wrong, variance=case["v"])


@experiment(law="dks-output", quantity="(g (f(z) - mu))^2", weights=NORMAL)
def dks_output(case: Case) -> Trial:
    """GELU, centred and scaled."""
    first, second, third, fourth = (value(f"gelu(x)^{k}") for k in (1, 2, 3, 4))
    variance = second - first**2
    gain = float(case.claim(v=exact_of(variance), mu=exact_of(first)))
    centred = fourth - 4 * third * first + 6 * second * first**2 - 3 * first**4
    wrong = {
        "1/sqrt(E[f^2])": variance / second,
        "1": variance,
        "1/Var f": 1 / variance,
        "not shifted": second / variance,
    }
    return over_units(case, lambda z: (gain * (gelu(z) - first)) ** 2, gain**4 * centred, 1, wrong)


@experiment(law="dks-depth", quantity="C_f'(1)", weights=NORMAL, L=5, T=Fraction(3, 2))
def dks_depth(case: Case) -> Trial:
    """C(c) = (2 - zeta) c + (zeta - 1) c^2, that of z + b (z^2 - 1) made of second moment 1."""
    zeta, layers, target = float(case.claim()), case.size("L"), case["T"]
    correlation, slope = 1.0, 1.0
    for _ in range(layers):
        slope *= (2 - zeta) + 2 * (zeta - 1) * correlation
        correlation *= (2 - zeta) + (zeta - 1) * correlation
    wrong = {
        "T for each layer": float(target) ** layers,
        "1 + (T - 1)/L for each": (1 + (float(target) - 1) / layers) ** layers,
        "1": 1.0,
    }
    return computed(target, slope, {name: exact_of(number) for name, number in wrong.items()})


@experiment(law="dks-relu-limit", quantity="C'(1) Var[relu(z)]/v", weights=NORMAL, v=Fraction(5, 2))
def dks_relu_limit(case: Case) -> Trial:
    """The slope E[relu'(z)^2] is 1/2, whatever is measured."""
    slope, v = float(case.claim()), Fraction(case.values["v"])
    others = {"1": 1.0, "2": 2.0, "pi/2": pi / 2, "4/3": 4 / 3}
    wrong = {name: slope / (2 * number) for name, number in others.items()}
    half = Fraction(1, 2)
    return halved_difference(case, relu, "relu(x)", slope / float(v), half, wrong, v)


@experiment(law="dks-shift-limit", quantity="tanh(b) at a = 1/100", weights=NORMAL)
def dks_shift_limit(case: Case) -> Trial:
    """The shift at which Q'(1) = Q(1), by quadrature at a small input scale."""
    scale = 0.01
    z, weights = np.polynomial.hermite_e.hermegauss(24)
    weights /= weights.sum()

    def gap(shift: float) -> float:
        h = np.tanh(scale * z + shift)
        centred, slope = h - weights @ h, scale * (1 - h**2)
        return float(weights @ (z * slope * centred - centred**2) / scale**4)

    wrong = {
        "1/sqrt(3), where f'' is largest": 1 / np.sqrt(3),
        "b = 1/2": float(np.tanh(0.5)),
        "1/sqrt(3 + sqrt(2)), of TAT": 1 / np.sqrt(3 + np.sqrt(2)),
        "1/4, its square": 0.25,
    }
    found = float(np.tanh(brentq(gap, 0.1, 1.0)))
    return computed(case.claim(), found, {name: exact_of(float(w)) for name, w in wrong.items()})
