"""Experiments on activations: fixed inputs times Gaussian weights, the activation, a statistic.

Given an input, the pre-activations of a layer with Gaussian weights are normal and independent of
one another, whatever its width. So are those of inputs at right angles through the same weights:
they are jointly normal and uncorrelated.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import exp, pi, sqrt

import numpy as np
from numpy.random import Generator
from scipy.special import expit, ndtr

from varlaw.checks.experiments.forward import layer, units
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.registry import ANY, Case, Draw, Draws, Trial, experiment
from varlaw.checks.statistics.sampling import LAWS, shifted
from varlaw.derivations.catalogue import find
from varlaw.symbolic.gaussian.moment import moment

INPUT = np.array([1.0, -2.0, 0.5, 1.5])
LENGTH = Fraction(15, 2)  # its square
# It and three more of its length, all at right angles
INPUTS = np.array([INPUT, [2.0, 1.0, -1.5, 0.5], [-0.5, 1.5, 1.0, 2.0], [-1.5, -0.5, -2.0, 1.0]])
WIDTH = 16
UNITS = len(INPUTS) * WIDTH  # independent pre-activations
NORMAL = ("normal",)
FEATURES = shifted(LAWS["uniform"], Fraction(1, 2))  # outputs of mean 1/2 and variance 1
Function = Callable[[Draws], Draws]


def value(text: str, variance: Number = 1) -> float:
    """E of a function of x ~ N(0, variance), from the sampler's law."""
    return float(moment(text, variance=exact(variance)).digits().digits)


def found(law: str) -> float:
    """What another law derives: a number."""
    return float(find(law).statement.rhs)


def pre_activations(case: Case, variance: Number = 1) -> Draw:
    """How to draw all of N(0, variance), in the form (UNITS, replicates)."""
    weights = case.scaled(exact(variance) / exact(LENGTH))

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (len(INPUT), WIDTH, replicates))
        return np.tensordot(INPUTS, drawn, 1).reshape(UNITS, replicates)

    return draw


def over_units(
    case: Case,
    statistic: Function,
    square: float,
    claimed: Number | float,
    neighbours: Mapping[str, Number | float],
    variance: Number = 1,
    scale: float = 1.0,
) -> Trial:
    """The mean over the inputs and units of a layer of a statistic of z ~ N(0, variance).

    `square` is the second moment of the statistic, or more.
    """
    layer = pre_activations(case, variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        return np.asarray(statistic(layer(rng, replicates)).mean(axis=0))

    spread = (square - float(claimed) ** 2) / UNITS
    numbers = len(INPUT) * WIDTH
    return Trial(draw, numbers, exact_of(claimed), spread, _all_exact(neighbours), scale)


def exact_of(number: Number | float) -> Number:
    return Fraction(number) if isinstance(number, float) else number


def _all_exact(numbers: Mapping[str, Number | float]) -> dict[str, Number]:
    return {name: exact_of(number) for name, number in numbers.items()}


def kept(case: Case, f: Function, name: str, others: Mapping[str, float], **at: Fraction) -> Trial:
    """g^2 E[f(z)^2] at the derived gain g, claimed to be 1; `others` are wrong gains."""
    gain = float(case.claim())
    text = name if not at else name.replace("a", str(at["a"]))
    fourth = gain**4 * value(f"{text}^4")
    wrong = {f"gain {other}": (gain / number) ** 2 for other, number in others.items()}
    return over_units(case, lambda z: gain**2 * f(z) ** 2, fourth, 1, wrong)


def relu(z: Draws) -> Draws:
    return np.maximum(z, 0)


def gelu(z: Draws) -> Draws:
    return np.asarray(z * ndtr(z))


def gelu_slope(z: Draws) -> Draws:
    return np.asarray(ndtr(z) + z * np.exp(-z * z / 2) / sqrt(2 * pi))


def elu(z: Draws, alpha: float) -> Draws:
    return np.where(z > 0, z, alpha * np.expm1(np.minimum(z, 0)))


@experiment(law="gain-second-moment", quantity="E[y^2]", weights=ANY, m=5, n=4)
def gain_second_moment(case: Case) -> Trial:
    q, fan_in = exact(FEATURES.moment(2)), case["m"]
    gain = case.claim(M=q)
    draw, numbers, spread = layer(
        case,
        FEATURES,
        gain**2 / fan_in,
        lambda y: y**2,
        [gain**2 / fan_in * y**2 for y in units()],
    )
    wrong = {
        "gain 1/sqrt(Var h)": q / (q - exact(FEATURES.moment(1)) ** 2),
        "gain sqrt(M), multiplied": 1 / q**2,
        "gain sqrt(2), as for ReLU": 1 / (2 * q),
    }
    return Trial(draw, numbers, 1, spread, wrong)


@experiment(law="gain-relu", quantity="g^2 E[relu(z)^2]", weights=NORMAL)
def gain_relu(case: Case) -> Trial:
    others = {"1": 1.0, "1/sqrt(Var relu)": sqrt(2 / (1 - 1 / pi)), "2": 2.0}
    return kept(case, relu, "relu(x)", others)


@experiment(law="gain-leaky-relu", quantity="g^2 E[f(z)^2]", weights=NORMAL, a=Fraction(1, 2))
def gain_leaky_relu(case: Case) -> Trial:
    a = case.values["a"]
    slope = float(a)
    gain = float(case.claim())
    fourth = gain**4 * value(f"leaky_relu(x, {a})^4")
    wrong = {
        f"gain {name}": gain**2 / square
        for name, square in (
            ("sqrt(2)", 2.0),
            ("sqrt(2/(1 + a))", 2 / (1 + slope)),
            ("1", 1.0),
            ("2/(1 + a^2)", gain**4),
        )
    }
    return over_units(
        case, lambda z: gain**2 * np.where(z > 0, z, slope * z) ** 2, fourth, 1, wrong
    )


@experiment(law="gain-relu-variance", quantity="g^2 Var[relu(z)]", weights=NORMAL)
def gain_relu_variance(case: Case) -> Trial:
    gain = float(case.claim())
    layer = pre_activations(case)

    def draw(rng: Generator, replicates: int) -> Draws:
        """Half the squared difference of units that are independent of one another."""
        h = gain * relu(layer(rng, replicates))
        return np.asarray(((h[::2] - h[1::2]) ** 2).mean(axis=0) / 2)

    first, second, third, fourth = (value(f"relu(x)^{k}") for k in (1, 2, 3, 4))
    square = gain**4 * (2 * fourth - 8 * third * first + 6 * second**2) / 4  # E[(h - k)^4]/4
    wrong = {
        "gain sqrt(2)": gain**2 / 2,
        "gain 1": gain**2,
        "gain sqrt(2/(1 - 2/pi))": gain**2 * (1 - 2 / pi) / 2,
        "gain 2/(1 - 1/pi), its square": 1 / gain**2,
    }
    spread = (square - 1) / (UNITS // 2)
    return Trial(draw, len(INPUT) * WIDTH, 1, spread, _all_exact(wrong))


@experiment(law="gelu-second-moment", quantity="E[gelu(z)^2]", weights=NORMAL, v=Fraction(5, 2))
def gelu_second_moment(case: Case) -> Trial:
    v = case["v"]
    wrong = {
        "v/2, as for ReLU": v / 2,
        "v times that at v = 1": float(v) * value("gelu(x)^2"),
        "the variance": value("gelu(x)^2", v) - value("gelu(x)", v) ** 2,
        "v for the std": value("gelu(x)^2", v**2),
    }
    return over_units(
        case, lambda z: gelu(z) ** 2, value("gelu(x)^4", v), case.claim(), wrong, variance=v
    )


@experiment(law="gain-gelu", quantity="g^2 E[gelu(z)^2]", weights=NORMAL)
def gain_gelu(case: Case) -> Trial:
    others = {"sqrt(2)": sqrt(2), "1": 1.0, "of the backward pass": found("gain-gelu-backward")}
    return kept(case, gelu, "gelu(x)", others)


@experiment(law="gain-gelu-backward", quantity="g^2 (E[gelu'(z)^2] - 1/4) to 0.2 %", weights=NORMAL)
def gain_gelu_backward(case: Case) -> Trial:
    """Less what gelu'(z) + gelu'(-z) = 1 makes of it at any variance of z."""
    wrong_integral = 1 / sqrt(0.363962716)  # what a computer algebra system gives
    others = {
        "sqrt(2)": sqrt(2),
        "of the forward pass": found("gain-gelu"),
        "1.658": wrong_integral,
    }
    gain = float(case.claim())
    return over_units(
        case,
        lambda z: gain**2 * (gelu_slope(z) - 0.5) ** 2,
        gain**4 * value("(gelu'(x) - 1/2)^4"),
        1 - gain**2 / 4,
        {f"gain {name}": gain**2 * (1 / other**2 - 0.25) for name, other in others.items()},
    ).finer(0.2)


@experiment(law="gelu-instability", quantity="g^2 E[z f(z) f'(z) - relu(z)^2]", weights=NORMAL)
def gelu_instability(case: Case) -> Trial:
    """The slope of v -> g^2 E[f(sqrt(v) z)^2] at v = 1, differentiated inside the mean.

    Less that of ReLU, g^2/2, which is the same at every v.
    """
    gain = found("gain-gelu")
    square = gain**4 * value("(x*gelu(x)*gelu'(x) - relu(x)^2)^2")
    alone, flat = value("x*gelu(x)*gelu'(x)"), gain**2 / 2
    others = {
        "1, as for ReLU": 1.0,
        "g^2 E[f'^2]": gain**2 * value("gelu'(x)^2"),
        "without the gain": alone,
        "by the std instead of the variance": 2 * gain**2 * alone,
    }
    return over_units(
        case,
        lambda z: gain**2 * (z * gelu(z) * gelu_slope(z) - relu(z) ** 2),
        square,
        float(case.claim()) - flat,
        {name: other - flat for name, other in others.items()},
    )


@experiment(law="tanh-fixed-point", quantity="(50/9) E[tanh(sqrt(v) z)^2] - v", weights=NORMAL)
def tanh_fixed_point(case: Case) -> Trial:
    """A step of Newton from v, roughly: it is v at the fixed point, and off by more elsewhere."""
    v = Fraction(float(case.claim())).limit_denominator(10**12)
    settled = 25 / 9 * value("tanh(x)^2")
    second, fourth = (value(f"tanh(x)^{k}", v) for k in (2, 4))
    return over_units(
        case,
        lambda z: 50 / 9 * np.tanh(z) ** 2 - float(v),
        (50 / 9) ** 2 * fourth - 100 / 9 * float(v) * second + float(v) ** 2,
        case.claim(),
        {"1": 1, "one layer from v = 1": settled, "25/9": Fraction(25, 9)},
        variance=v,
    )


@experiment(law="sigmoid-second-moment", quantity="E[sigmoid(z)^2] - 1/4", weights=NORMAL)
def sigmoid_second_moment(case: Case) -> Trial:
    """Less 1/4, its value at z = 0 and at most 1 % of which the variance of z moves it by."""
    return over_units(
        case,
        lambda z: (expit(z) - 0.5) ** 2,
        value("(sigmoid(x) - 1/2)^4"),
        case.claim() - Fraction(1, 4),
        {"1/4": 0, "1/3": Fraction(1, 12), "its square root": sqrt(case.claim()) - 0.25},
    )


@experiment(law="sigmoid-tweak", quantity="E[(sigmoid(z)^2 - 1/4)/c^2]", weights=NORMAL)
def sigmoid_tweak(case: Case) -> Trial:
    """E[sigmoid(z)^2] = c^2, less the 1/4 that it has at z = 0; `others` are wrong values of c."""
    c = float(case.claim())
    others = {"divided by 1/2": 0.5, "divided by c^2": c**2, "not divided": 1.0}
    return over_units(
        case,
        lambda z: ((expit(z) - 0.5) / c) ** 2,
        value("(sigmoid(x) - 1/2)^4") / c**4,
        1 - 1 / (4 * c**2),
        {name: (other**2 - 0.25) / c**2 for name, other in others.items()},
    )


@experiment(law="selu-alpha", quantity="E[elu(z, alpha) - z]", weights=NORMAL)
def selu_alpha(case: Case) -> Trial:
    """Less z, of mean 0; in units of a quarter of E[z; z > 0], as the rest grows along with it."""
    alpha = float(case.claim())
    below = exp(0.5) * ndtr(-1.0) - 0.5  # E[e^z - 1; z < 0]
    wrong = {f"alpha = {other}": (other - alpha) * below for other in (1, 1.5, 2)}
    square, above = value(f"(elu(x, {alpha}) - x)^2"), 1 / sqrt(2 * pi)  # E[z; z > 0]
    return over_units(case, lambda z: elu(z, alpha) - z, square, 0, wrong, scale=above / 4)


@experiment(law="selu-lambda", quantity="lambda^2 E[elu(z, alpha)^2]", weights=NORMAL)
def selu_lambda(case: Case) -> Trial:
    scale, alpha = float(case.claim()), found("selu-alpha")
    square = scale**4 * (1.5 + alpha**4 / 2)
    wrong = {f"lambda = {x}": (scale / x) ** 2 for x in (1, 1.1, alpha)}
    return over_units(case, lambda z: (scale * elu(z, alpha)) ** 2, square, 1, wrong)


@experiment(law="selu-stability", quantity="E[z f(z) f'(z); z < 0]", weights=NORMAL)
def selu_stability(case: Case) -> Trial:
    """The slope of v -> E[f(sqrt(v) z)^2] at v = 1, differentiated inside the mean.

    Less lambda^2/2, what it is for z > 0, which no variance changes.
    """
    scale, alpha = found("selu-lambda"), found("selu-alpha")
    above = scale**2 / 2

    def statistic(z: Draws) -> Draws:
        y = np.minimum(z, 0)
        return np.asarray(scale**2 * alpha * y * np.exp(y) * elu(y, alpha))

    square = (scale * alpha) ** 4 * value("x^2*exp(2*x)*(exp(x) - 1)^2*1[x < 0]")
    gradients = scale**2 * (0.5 + alpha**2 * exp(2) * float(ndtr(-2.0)))
    claim = float(case.claim())
    wrong = {
        "1, as for ReLU": 1,
        "lambda^2/2": above,
        "lambda^2 E[f'^2], of the gradients": gradients,
        "without lambda": claim / scale**2,
    }
    less = {name: number - above for name, number in wrong.items()}
    return over_units(case, statistic, square, claim - above, less)
