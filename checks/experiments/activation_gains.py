"""Experiments on gains by activation: second moments at the gain, and variances at the gain."""

from collections.abc import Mapping
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from varlaw.checks.experiments.activations import (
    INPUT,
    NORMAL,
    UNITS,
    WIDTH,
    Function,
    elu,
    exact_of,
    found,
    gelu,
    kept,
    over_units,
    pre_activations,
    relu,
    value,
)
from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment

HALF = Fraction(1, 2)  # a slope below 0


def silu(z: Draws) -> Draws:
    return np.asarray(z * expit(z))


def softplus(z: Draws) -> Draws:
    return np.asarray(np.logaddexp(z, 0))


def unit_elu(z: Draws) -> Draws:
    return elu(z, 1.0)


def halved_difference(
    case: Case,
    f: Function,
    text: str,
    factor: float,
    claim: Number,
    wrong: Mapping[str, float],
    variance: Fraction = Fraction(1),
) -> Trial:
    """`factor` times half the squared difference of independent outputs: their variance."""
    layer = pre_activations(case, variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        h = f(layer(rng, replicates))
        return np.asarray(factor * ((h[::2] - h[1::2]) ** 2).mean(axis=0) / 2)

    first, second, third, fourth = (value(f"{text}^{k}", variance) for k in (1, 2, 3, 4))
    square = (2 * fourth - 8 * third * first + 6 * second**2) / 4
    spread = factor**2 * (square - (second - first**2) ** 2) / (UNITS // 2)
    others = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, len(INPUT) * WIDTH, claim, spread, others)


def of_unit_variance(case: Case, f: Function, text: str, others: Mapping[str, float]) -> Trial:
    """g^2 Var[f(z)] at the derived gain g, claimed to be 1; `others` are wrong gains."""
    gain = float(case.claim())
    wrong = {f"gain {name}": (gain / number) ** 2 for name, number in others.items()}
    return halved_difference(case, f, text, gain**2, 1, wrong)


@experiment(law="relu-half", quantity="P(z > 0)", weights=NORMAL)
def relu_half(case: Case) -> Trial:
    wrong = {"1": 1, "1/e, as of e - 1": exp(-1), "1/4": 0.25, "1/sqrt(2 pi)": 1 / sqrt(2 * pi)}
    return over_units(case, lambda z: (z > 0).astype(float), 0.5, case.claim(), wrong)


@experiment(law="relu-mean", quantity="E[relu(z)]", weights=NORMAL, v=Fraction(5, 2))
def relu_mean(case: Case) -> Trial:
    v = float(case["v"])
    wrong = {"0": 0, "sqrt(v/pi)": sqrt(v / pi), "v/sqrt(2 pi)": v / sqrt(2 * pi), "v/2": v / 2}
    return over_units(case, relu, v / 2, case.claim(), wrong, variance=case["v"])


@experiment(law="relu-variance", quantity="Var[relu(z)]", weights=NORMAL, v=Fraction(5, 2))
def relu_variance(case: Case) -> Trial:
    v = case.values["v"]
    size = float(v)
    wrong = {
        "v/2, the second moment": size / 2,
        "v (1/2 - 1/pi)": size * (0.5 - 1 / pi),
        "v (1 - 1/pi)": size * (1 - 1 / pi),
        "v/4": size / 4,
    }
    return halved_difference(case, relu, "relu(x)", 1.0, case.claim(), wrong, Fraction(v))


@experiment(law="gelu-mean", quantity="E[gelu(z)]", weights=NORMAL, v=Fraction(5, 2))
def gelu_mean(case: Case) -> Trial:
    v = float(case["v"])
    wrong = {
        "sqrt(v/(2 pi)), as for ReLU": sqrt(v / (2 * pi)),
        "sqrt(v) times that at v = 1": sqrt(v) / sqrt(4 * pi),
        "v times that at v = 1": v / sqrt(4 * pi),
        "0": 0,
    }
    square = value("gelu(x)^2", case["v"])
    return over_units(case, gelu, square, case.claim(), wrong, variance=case["v"])


@experiment(law="gain-leaky-relu-variance", quantity="g^2 Var[f(z)]", weights=NORMAL, a=HALF)
def gain_leaky_relu_variance(case: Case) -> Trial:
    a = case.values["a"]
    slope = float(a)
    others = {
        "sqrt(2/(1 + a^2)), of the second moment": sqrt(2 / (1 + slope**2)),
        "as for ReLU": float(case.at(case.law.statement.rhs, a=0)),
        "sqrt(2/((1 + a^2)(1 - 1/pi)))": sqrt(2 / ((1 + slope**2) * (1 - 1 / pi))),
        "1": 1.0,
    }
    return of_unit_variance(
        case, lambda z: np.where(z > 0, z, slope * z), f"leaky_relu(x, {a})", others
    )


@experiment(law="gain-tanh", quantity="g^2 E[tanh(z)^2]", weights=NORMAL)
def gain_tanh(case: Case) -> Trial:
    return kept(case, np.tanh, "tanh(x)", {"5/3": 5 / 3, "1": 1.0, "sqrt(2)": sqrt(2)})


@experiment(law="gain-sigmoid", quantity="g^2 (E[sigmoid(z)^2] - 1/4)", weights=NORMAL)
def gain_sigmoid(case: Case) -> Trial:
    """Less the 1/4 that it has at z = 0."""
    others = {"1": 1.0, "2, as at z = 0": 2.0, "of the variance": found("gain-sigmoid-variance")}
    gain = float(case.claim())
    return over_units(
        case,
        lambda z: gain**2 * (expit(z) - 0.5) ** 2,
        gain**4 * value("(sigmoid(x) - 1/2)^4"),
        1 - gain**2 / 4,
        {f"gain {name}": gain**2 * (1 / other**2 - 0.25) for name, other in others.items()},
    )


@experiment(law="gain-sigmoid-variance", quantity="g^2 Var[sigmoid(z)]", weights=NORMAL)
def gain_sigmoid_variance(case: Case) -> Trial:
    others = {
        "1": 1.0,
        "4, as by the slope at 0": 4.0,
        "of the second moment": found("gain-sigmoid"),
    }
    return of_unit_variance(case, expit, "sigmoid(x)", others)


@experiment(law="gain-silu", quantity="g^2 E[silu(z)^2]", weights=NORMAL)
def gain_silu(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "of the variance": found("gain-silu-variance")}
    return kept(case, silu, "silu(x)", others)


@experiment(law="gain-silu-variance", quantity="g^2 Var[silu(z)]", weights=NORMAL)
def gain_silu_variance(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "of the second moment": found("gain-silu")}
    return of_unit_variance(case, silu, "silu(x)", others)


@experiment(law="gain-gelu-variance", quantity="g^2 Var[gelu(z)]", weights=NORMAL)
def gain_gelu_variance(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "of the second moment": found("gain-gelu")}
    return of_unit_variance(case, gelu, "gelu(x)", others)


@experiment(law="gain-elu", quantity="g^2 E[elu(z)^2]", weights=NORMAL)
def gain_elu(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "of SiLU": found("gain-silu")}
    return kept(case, unit_elu, "elu(x)", others)


@experiment(law="gain-elu-variance", quantity="g^2 Var[elu(z)]", weights=NORMAL)
def gain_elu_variance(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "of the second moment": found("gain-elu")}
    return of_unit_variance(case, unit_elu, "elu(x)", others)


@experiment(law="gain-softplus-variance", quantity="g^2 Var[softplus(z)]", weights=NORMAL)
def gain_softplus_variance(case: Case) -> Trial:
    others = {
        "1": 1.0,
        "of the second moment": value("softplus(x)^2") ** -0.5,
        "2, as by the slope at 0": 2.0,
    }
    return of_unit_variance(case, softplus, "softplus(x)", others)


@experiment(law="gain-selu", quantity="g^2 E[selu(z)^2]", weights=NORMAL)
def gain_selu(case: Case) -> Trial:
    scale, alpha, gain = found("selu-lambda"), found("selu-alpha"), float(case.claim())
    square = gain**4 * scale**4 * (1.5 + alpha**4 / 2)
    others = {"3/4": 0.75, "sqrt(2)": sqrt(2), "1/lambda": 1 / scale}
    wrong = {f"gain {name}": (gain / number) ** 2 for name, number in others.items()}
    return over_units(case, lambda z: (gain * scale * elu(z, alpha)) ** 2, square, 1, wrong)


@experiment(law="gain-hardtanh", quantity="g^2 E[clip(z, -1, 1)^2]", weights=NORMAL)
def gain_hardtanh(case: Case) -> Trial:
    others = {
        "of tanh": found("gain-tanh"),
        "of the backward pass": value("step(1-x^2)") ** -0.5,
        "1": 1.0,
        "without the clipped mass": 0.1987480430987992**-0.5,
    }
    return kept(case, lambda z: np.clip(z, -1, 1), "hardtanh(x)", others)


def carried(layers: int) -> float:
    """q after so many GELU layers of variance 2/m from 1, by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    q = 1.0
    for _ in range(layers):
        q = 2 * float(gelu(sqrt(q) * nodes) ** 2 @ weights / weights.sum())
    return q


def last_of(case: Case, layers: int, wrong: Mapping[str, float]) -> Trial:
    """2 E[gelu(z)^2] in the last of some layers."""
    q = carried(layers - 1)
    fourth = 4 * value("gelu(x)^4", Fraction(q).limit_denominator(10**12))
    told = {name: exact_of(number) for name, number in wrong.items()}
    return over_units(
        case, lambda z: 2 * gelu(z) ** 2, fourth, case.claim(), told, variance=Fraction(q)
    )


@experiment(law="gelu-sqrt2-layer", quantity="2 E[gelu(z)^2]", weights=NORMAL)
def gelu_sqrt2_layer(case: Case) -> Trial:
    return last_of(case, 1, {"1, as with ReLU": 1, "2/3": 2 / 3, "1/2": 0.5, "0.85^2": 0.7225})


@experiment(law="gelu-sqrt2-depth", quantity="2 E[gelu(z)^2] in layer 32", weights=NORMAL)
def gelu_sqrt2_depth(case: Case) -> Trial:
    first = carried(1)
    wrong = {
        "1, as with ReLU": 1,
        "0.85044^32": first**32,
        "2^-32": 2.0**-32,
        "of 31 layers": carried(31),
        "of 33 layers": carried(33),
    }
    return last_of(case, 32, wrong)


@experiment(law="relu-squared", quantity="g^2 E[relu(z)^4]", weights=NORMAL)
def relu_squared(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "1/sqrt(3)": 3**-0.5}
    return kept(case, lambda z: relu(z) ** 2, "(relu(x)^2)", others)
