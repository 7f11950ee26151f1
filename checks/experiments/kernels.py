"""Experiments on kernels: Gaussian weights times two fixed inputs, the activation, the product."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import pi

import numpy as np
from numpy.random import Generator
from scipy.optimize import brentq
from scipy.special import erf
from sympy import Expr, asin, sqrt

from varlaw.checks.experiments.activations import Function, exact_of, value
from varlaw.checks.experiments.attained import computed
from varlaw.checks.experiments.moments import Number, exact, rectified
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment
from varlaw.checks.statistics.methods import BY_VARIANCE, Bounded, Method
from varlaw.checks.steps.algebra import opened
from varlaw.derivations.catalogue import find
from varlaw.symbolic.activations import relu as unit
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import Expectation, IndexSum

NORMAL = ("normal",)
FIRST, SECOND = np.array([1.0, 2.0, 2.0]), np.array([2.0, 2.0, -1.0])  # both of length 3
NEAR, FAR = np.array([2.0, 1.0, 2.0]), np.array([-2.0, -1.0, -2.0])  # of correlation 8/9, -8/9
WIDTH = 16


def relu(z: Draws) -> Draws:
    return np.maximum(z, 0)


def on(z: Draws) -> Draws:
    return np.asarray(z > 0, dtype=float)


def along(second: Draws) -> Fraction:
    """The correlation of pre-activations at the first input and another one."""
    return Fraction(int(FIRST @ second), 9)


ALONG = along(SECOND)
AGAINST = along(-SECOND)


def product(
    case: Case,
    f: Function,
    square: Number | float,
    wrong: Mapping[str, Number | Expr],
    method: Method = BY_VARIANCE,
    second: Draws = SECOND,
) -> Trial:
    """The mean over a layer's units of f(z) f(z_2); `square` bounds E[f(z)^2 f(z_2)^2]."""
    weights = case.scaled(case["q"] / 9)

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (3, WIDTH, replicates))
        one, other = (f(np.einsum("i,ijr->jr", x, drawn)) for x in (FIRST, second))
        return np.asarray((one * other).mean(axis=0))

    claimed = case.claim(rho=along(second))
    spread = (float(square) - float(claimed) ** 2) / WIDTH
    others = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 3 * WIDTH, claimed, spread, others, method=method)


@experiment(law="nngp-relu", quantity="E[relu(z) relu(z_2)]", weights=NORMAL, q=Fraction(2))
def nngp_relu(case: Case) -> Trial:
    q, rho = case["q"], exact(ALONG)
    wrong = {
        "rho q/2, as if linear": rho * q / 2,
        "q/2, the two inputs equal": q / 2,
        "q/(2 pi), independent": q / 2 / Fraction(pi),
    }
    return product(case, relu, rectified(2, 2, ALONG, q), wrong)


@experiment(law="nngp-relu", quantity="E[relu(z) relu(z_2)], near", weights=NORMAL, q=Fraction(2))
def nngp_relu_near(case: Case) -> Trial:
    q, rho = case["q"], along(NEAR)
    wrong = {
        "rho^2 q/2": rho**2 * q / 2,
        "q/2, the two inputs equal": q / 2,
        "q/(2 pi), independent": q / 2 / Fraction(pi),
    }
    return product(case, relu, rectified(2, 2, along(NEAR), q), wrong, second=NEAR)


def both_on(case: Case, second: Draws) -> Trial:
    wrong = {
        "1/4, independent": Fraction(1, 4),
        "1/2, equal": Fraction(1, 2),
        "(1 + rho)/4": (1 + along(second)) / 4,
    }
    chance = rectified(0, 0, along(second))
    return product(case, on, chance, wrong, Bounded(0.0, 1.0), second)


@experiment(law="nngp-relu-slope", quantity="P(z > 0, z_2 > 0)", weights=NORMAL, q=Fraction(2))
def nngp_relu_slope(case: Case) -> Trial:
    return both_on(case, SECOND)


@experiment(
    law="nngp-relu-slope", quantity="P(z > 0, z_2 > 0), opposite", weights=NORMAL, q=Fraction(2)
)
def nngp_relu_slope_far(case: Case) -> Trial:
    return both_on(case, FAR)


def erfs(case: Case, second: Draws) -> Trial:
    q, rho = case["q"], exact(along(second))
    wrong = {
        "(2/pi) arcsin(rho)": 2 / Fraction(pi) * asin(rho),
        "rho": rho,
        "(2/pi) arcsin(q rho/(1 + q))": 2 / Fraction(pi) * asin(q * rho / (1 + q)),
    }
    return product(case, erf, value("erf(x)^4", q), wrong, Bounded(-1.0, 1.0), second)


@experiment(law="nngp-erf", quantity="E[erf(z) erf(z_2)]", weights=NORMAL, q=Fraction(1, 8))
def nngp_erf(case: Case) -> Trial:
    return erfs(case, SECOND)


@experiment(law="nngp-erf", quantity="E[erf(z) erf(z_2)], near", weights=NORMAL, q=Fraction(1, 8))
def nngp_erf_near(case: Case) -> Trial:
    return erfs(case, NEAR)


@experiment(law="nngp-erf", quantity="E[erf(z) erf(z_2)], saturated", weights=NORMAL, q=Fraction(2))
def nngp_erf_saturated(case: Case) -> Trial:
    """Where the variance counts, beside the covariance."""
    return erfs(case, SECOND)


def erf_slopes(case: Case, second: Draws) -> Trial:
    q, rho = case["q"], exact(along(second))

    def slope(z: Draws) -> Draws:
        return np.asarray(2 / np.sqrt(pi) * np.exp(-(z**2)))

    wrong = {
        "independent": 4 / Fraction(pi) / (1 + 2 * q),
        "equal": 4 / Fraction(pi) / sqrt(1 + 4 * q),
        "1/((1 + 2 q)^2 - 4 q^2 rho^2)": 4 / Fraction(pi) / ((1 + 2 * q) ** 2 - 4 * q**2 * rho**2),
    }
    fourth, most = (4 / pi) ** 2 / sqrt(1 + 8 * q), 4 / pi * (1 + 1e-9)
    return product(case, slope, fourth, wrong, Bounded(0.0, most), second)


@experiment(law="nngp-erf-slope", quantity="E[erf'(z) erf'(z_2)]", weights=NORMAL, q=Fraction(2))
def nngp_erf_slope(case: Case) -> Trial:
    return erf_slopes(case, SECOND)


@experiment(
    law="nngp-erf-slope", quantity="E[erf'(z) erf'(z_2)], near", weights=NORMAL, q=Fraction(2)
)
def nngp_erf_slope_near(case: Case) -> Trial:
    return erf_slopes(case, NEAR)


def tangent(rng: Generator, replicates: int, case: Case, inputs: tuple[Draws, Draws]) -> Draws:
    """The NTK of a network with one hidden layer: the scalar product of its gradients."""
    hidden = rng.standard_normal((3, WIDTH, replicates))
    readout = case.weights.sample(rng, (WIDTH, replicates))
    features, backs = [], []
    for x in inputs:
        z = np.einsum("i,ijr->jr", x, hidden) / np.sqrt(3)
        features.append(relu(z) / np.sqrt(WIDTH))
        backs.append(np.einsum("i,jr->ijr", x, readout * on(z)) / np.sqrt(3 * WIDTH))
    return np.asarray((features[0] * features[1]).sum(axis=0) + (backs[0] * backs[1]).sum((0, 1)))


def sums_of(claim: Expr) -> list[IndexSum]:
    """The sums of expectations, not those inside of a name."""
    return [total for total in claim.atoms(IndexSum) if total.summand.has(Expectation)]


def plain(total: IndexSum) -> Expr:
    """What is summed, written out, with numbers in front."""

    def pulled(head: type[Expr]) -> Callable[[Expr], Expr]:
        def out(inside: Expr) -> Expr:
            front, rest = inside.as_coeff_Mul()
            return front * head(rest) if front.is_positive else head(inside)

        return out

    written = opened(total.summand)
    for head in (unit, Expectation):
        written = written.replace(head, pulled(head))
    return written


@experiment(
    law="ntk-two-layer", quantity="E[Theta(x, y)] to 0.5 %", weights=("normal", "uniform", "skewed")
)
def ntk_two_layer(case: Case) -> Trial:
    """The expectations that the law speaks of are those of the kernels of ReLU at q = 3."""
    q, along = Fraction(3), exact(int(FIRST @ SECOND))
    kernels = [
        case.at(find(name).statement.rhs, q=q, rho=ALONG)
        for name in ("nngp-relu", "nngp-relu-slope")
    ]
    claim = case.law.statement.rhs
    right = {len(t.ranges): plain(t) for t in sums_of(find("ntk-two-layer").statement.rhs)}
    means = {}
    for total in sums_of(claim):
        several = len(total.ranges)
        times = plain(total) / right[several]
        if not times.is_number:
            raise LookupError(f"no kernel is known for {total}")
        means[total] = times * WIDTH * (along * kernels[1] if several > 1 else kernels[0])
    scales = {"c": exact(1) / sqrt(WIDTH), "s": 1 / sqrt(3)}
    claimed = case.at(claim.xreplace(means), None, **scales)
    slopes = along / 3

    def draw(rng: Generator, replicates: int) -> Draws:
        return tangent(rng, replicates, case, (FIRST, SECOND))

    # the square of u + a^2 t, for the products u of features and t of slopes
    square = rectified(2, 2, ALONG, q) + 2 * float(slopes) * rectified(1, 1, ALONG, q)
    square += float(case.weights.moment(4)) * float(slopes) ** 2 * rectified(0, 0, ALONG)
    spread = exact_of((square - float(claimed) ** 2) / WIDTH)
    wrong = {
        "the features alone": kernels[0],
        "the slopes alone": slopes * kernels[1],
        "the slopes by the correlation": kernels[0] + exact(ALONG) * kernels[1],
    }
    return Trial(draw, 4 * WIDTH, claimed, spread, wrong).finer(0.5)


@experiment(law="ntk-depth", quantity="E[Theta_1]", weights=("normal", "uniform", "rademacher"))
def ntk_depth(case: Case) -> Trial:
    """One layer of variance 2/n above the first one, whose kernel is q = 3 at this input."""
    q = Fraction(3)
    claim = case.law.statement.rhs
    (start,) = claim.atoms(Term)
    claimed = case.at(claim.xreplace({start: exact(q)}), None, q=q, l=1)

    def draw(rng: Generator, replicates: int) -> Draws:
        return 2 * tangent(rng, replicates, case, (FIRST, FIRST))

    square = 4 * (Fraction(3, 2) + 1 + case.weights.moment(4) / 2) * q**2
    wrong = {"q, no layer below": q, "3 q": 3 * q, "3 q/2": 3 * q / 2}
    return Trial(draw, 4 * WIDTH, claimed, (square - claimed**2) / WIDTH, wrong)


@experiment(law="relu-cosine", quantity="E[relu relu]/E[relu^2]", weights=NORMAL, q=Fraction(2))
def relu_cosine(case: Case) -> Trial:
    """In units of E[relu(z)^2] = q/2, with z of mean square q; for rho < 0, where roots weigh."""
    q, rho = case["q"], exact(AGAINST)
    half = float(q) / 2

    def scaled(z: Draws) -> Draws:
        return np.asarray(relu(z) / np.sqrt(half))

    wrong = {
        "rho": rho,
        "1/pi, orthogonal": 1 / Fraction(pi),
        "1/4 + arcsin(rho)/(2 pi), of the slopes": Fraction(1, 4) + asin(rho) / (2 * Fraction(pi)),
        "1": Fraction(1),
    }
    return product(case, scaled, 4 * rectified(2, 2, AGAINST), wrong, second=-SECOND).finer(0.8)


@experiment(
    law="relu-covariance", quantity="Cov(relu(z), relu(z_2))", weights=NORMAL, q=Fraction(2)
)
def relu_covariance(case: Case) -> Trial:
    """Half the product of differences of independent units."""
    q, rho = case["q"], exact(AGAINST)
    weights = case.scaled(q / 9)

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = weights.sample(rng, (3, 2 * WIDTH, replicates))
        one, other = (relu(np.einsum("i,ijr->jr", x, drawn)) for x in (FIRST, -SECOND))
        return np.asarray(((one[::2] - one[1::2]) * (other[::2] - other[1::2])).mean(axis=0) / 2)

    claimed = case.claim(rho=AGAINST)
    mean = q / (2 * Fraction(pi))
    wrong = {
        "rho times the variance": rho * (q / 2 - mean),
        "the kernel, not centred": float(claimed) + float(mean),
        "rho q/2": rho * q / 2,
        "0": Fraction(0),
    }
    # E[((h - k) (h_2 - k_2))^2]/4 for k of another unit
    whole = rectified(2, 2, AGAINST, q) + float(q) ** 2 / 4 + 2 * rectified(1, 1, AGAINST, q) ** 2
    square = (whole - 4 * rectified(2, 1, AGAINST, q) * float(q / (2 * Fraction(pi))) ** 0.5) / 2
    spread = (square - float(claimed) ** 2) / WIDTH
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, 6 * WIDTH, claimed, spread, told)


@experiment(law="edge-of-chaos-relu", quantity="|D W^T|^2/n", weights=NORMAL, v=Fraction(5, 2))
def edge_of_chaos_relu(case: Case) -> Trial:
    """The Jacobian D W^T of one square layer of width 8 at the derived variance c/8."""
    width, c = 8, case.claim()
    weights, unit = case.scaled(c / width), float(case["v"]) ** 0.5

    def draw(rng: Generator, replicates: int) -> Draws:
        x = unit * (2.0 * rng.integers(0, 2, (width, replicates)) - 1)
        w = weights.sample(rng, (width, width, replicates))
        on = np.einsum("ir,ijr->jr", x, w) > 0
        return np.asarray(np.einsum("jr,ijr->r", on, w**2) / width)

    # given how many units are on; E[on] = n/2, E[on^2] = n/4 + n^2/4
    square = float(c) ** 2 / width**2 * (1 + 2 / width) * (width + width**2) / 4
    wrong = {f"c = {number}": c / number for number in (1, Fraction(3, 2), 3, 4)}
    told = {name: exact_of(number) for name, number in wrong.items()}
    return Trial(draw, width * (width + 1), 1, square - 1, told)


@experiment(law="edge-of-chaos-tanh-point", quantity="v of both conditions", weights=NORMAL)
def edge_of_chaos_tanh_point(case: Case) -> Trial:
    """Both conditions by Gauss's nodes, and their gap by bisection."""
    nodes, masses = np.polynomial.hermite_e.hermegauss(100)

    def gap(v: float) -> float:
        squares = np.tanh(v**0.5 * nodes) ** 2
        return float(masses @ squares / (masses @ (1 - squares) ** 2)) + 1 / 25 - v

    wrong = {"0, as without biases": 0, "1/25": Fraction(1, 25), "1": 1, "1.178": Fraction("1.178")}
    return computed(case.claim(), brentq(gap, 0.1, 2, xtol=1e-12), wrong)


@experiment(law="edge-of-chaos-tanh", quantity="|D W^T|^2/n", weights=NORMAL)
def edge_of_chaos_tanh(case: Case) -> Trial:
    """The Jacobian of one square layer of width 8 at the derived variance c/8."""
    width, c = 8, float(case.claim())
    weights, v = case.scaled(exact_of(c) / width), find("edge-of-chaos-tanh-point").statement.rhs

    def draw(rng: Generator, replicates: int) -> Draws:
        slopes = 1 - np.tanh(float(v) ** 0.5 * rng.standard_normal((width, replicates))) ** 2
        w = weights.sample(rng, (width, width, replicates))
        return np.asarray(np.einsum("jr,ijr->r", slopes**2, w**2) / width)

    mean, square = (value(f"(1 - tanh(x)^2)^{k}", v.value) for k in (2, 4))
    spread = c**2 * (square * (1 + 2 / width) - mean**2) / width
    wrong = {f"c = {number}": Fraction(c) / number for number in (1, Fraction(3, 2), 2)}
    return Trial(draw, width * (width + 1), 1, spread, wrong)
