"""Experiments on saturating activations: tanh's map and its decay, slopes of sigmoid and tanh."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import factorial

import numpy as np
from numpy.random import Generator
from scipy.special import expit
from sympy import Symbol

from varlaw.checks.experiments.activations import (
    INPUT,
    LENGTH,
    NORMAL,
    WIDTH,
    Function,
    over_units,
    value,
)
from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import Case, Draws, LimitTrial, Trial, experiment


@experiment(
    law="tanh-small", quantity="2 v(q/2) - v(q)", weights=NORMAL, q=Fraction(1, 64), most={"q": 1}
)
def tanh_small(case: Case) -> Trial:
    """v(q) = (E[tanh(z)^2] - q)/q^2 at q and q/2, on the same weights; an error of order q cancels.

    z^2 has the mean q at any width, and is taken off before squares are compared.
    """
    q = float(case["q"])

    def at(z: Draws, variance: float) -> Draws:
        return np.asarray((np.tanh(z) ** 2 - z**2) / variance**2)

    def statistic(z: Draws) -> Draws:
        return 2 * at(z / np.sqrt(2), q / 2) - at(z, q)

    # x^2 - 2 x^4/3 <= tanh(x)^2 <= x^2 - 2 x^4/3 + 17 x^6/45, so that for z of variance 1 the
    # statistic is at most 2 z^4/3 + 17 q z^6/45; E[z^8], E[z^10], E[z^12] = 105, 945, 10395
    first, second = 2 / 3, 17 / 45 * q
    square = first**2 * 105 + 2 * first * second * 945 + second**2 * 10395
    wrong = {"-2/3, as if z^4 had mean q^2": Fraction(-2, 3), "-1": -1, "-6": -6, "0": 0}
    return over_units(case, statistic, square, case.claim(), wrong, variance=case["q"])


@experiment(
    law="tanh-small",
    quantity="(E[tanh(z)^2] - q)/q^2 at q = 1/n, 1/2 n, 1/4 n",
    weights=NORMAL,
    n=24,
)
def tanh_small_order(case: Case) -> LimitTrial:
    """-2 + 17 q/3 + ..: less powers of z of known means, at most 62 z^8/315 is left."""

    def at(n: int) -> Trial:
        q = 1 / n

        def rest(z: Draws) -> Draws:
            return (np.tanh(z) ** 2 - z**2 + 2 / 3 * z**4 - 17 / 45 * z**6) / q**2

        square = (62 / 315) ** 2 * 2027025 * q**4  # E[z^16] = 2027025 q^8
        return lifted(
            over_units(case, rest, square, 0, {}, variance=Fraction(1, n)), 17 / 3 * q - 2
        )

    wrong = {"-2/3, as if z^4 had mean q^2": Fraction(-2, 3), "-1": -1, "-6": -6}
    return small_sizes(case, at, wrong, (1e-3, 5e-4, 3e-4))


def lifted(trial: Trial, known: float) -> Trial:
    """The trial plus a known number."""
    return replace(trial, draw=lambda rng, replicates: known + trial.draw(rng, replicates))


def small_sizes(
    case: Case,
    at: Callable[[int], Trial],
    wrong: Mapping[str, Number],
    margins: tuple[float, float, float],
) -> LimitTrial:
    """A limit as a variance 1/n tends to 0, at n, 2 n and 4 n."""
    sizes = tuple(case.size("n") * k for k in (1, 2, 4))
    trials = tuple(map(at, sizes))
    return LimitTrial(sizes, trials, case.claim(), wrong, margins=margins)


@cache
def path(layers: int) -> tuple[float, ...]:
    """q_0 = 1 and q_1..q_layers by the recurrence in the wide limit, by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    found = [1.0]
    for _ in range(layers):
        squares = np.tanh(np.sqrt(found[-1]) * nodes) ** 2
        found.append(float(squares @ weights / weights.sum()))
    return tuple(found)


@experiment(law="tanh-decay", quantity="(1/q_2l - 1/q_l)/l at l, 2 l, 4 l", weights=NORMAL, l=25)
def tanh_decay(case: Case) -> LimitTrial:
    """What 1/q gains per layer, on average over the layers from l to 2 l: 2 - (5/6) log(2)/l + ...

    It is 1/(l q_l) less its error of order log(l)/l, which doubling the depth takes away.
    """
    sizes = tuple(case.size("l") * k for k in (1, 2, 4))
    depth = Symbol("l", integer=True, nonnegative=True)
    law = 1 / case.law.statement.rhs
    claim = (law.subs(depth, 2) - law.subs(depth, 1)).expand()
    wrong = {
        "1, as 1/l": 1,
        "4, as 1/(4 l)": 4,
        "2/3, as if z^4 had mean q^2": Fraction(2, 3),
    }
    trials = tuple(gained(case, depth) for depth in sizes)
    return LimitTrial(sizes, trials, claim, wrong, margins=(1.5e-4, 1e-4, 7e-5))


def gained(case: Case, depth: int) -> Trial:
    """The sum of 1/q_(t+1) - 1/q_t over the layers from l to 2 l, by real layers.

    The input of layer t is set to the length that it has in the wide limit; what the layer then
    makes of it is measured as mean(z^2 - tanh(z)^2), whose expectation is q_t - q_(t+1). Of that,
    2 z^4/3 - 17 z^6/45 has the known mean 2 q^2 - 17 q^3/3, and at most 62 z^8/315 is left.
    """
    q = path(2 * depth)
    before, after = np.array(q[depth : 2 * depth]), np.array(q[depth + 1 :])
    scales, weights = np.sqrt(before), 1 / (before * after * depth)
    layer = case.scaled(1 / LENGTH)
    known = float(weights @ (2 * before**2 - 17 / 3 * before**3))

    def draw(rng: Generator, replicates: int) -> Draws:
        drawn = layer.sample(rng, (len(INPUT), depth, WIDTH, replicates))
        z = np.einsum("i,itjr->tjr", INPUT, drawn) * scales[:, None, None]
        rest = z**2 - np.tanh(z) ** 2 - 2 / 3 * z**4 + 17 / 45 * z**6
        return np.asarray(known + weights @ np.mean(rest, axis=1))

    # E[z^16] = 2027025 q^8; the rest has the mean q_t - q_(t+1) less what is known
    left = before - after - 2 * before**2 + 17 / 3 * before**3
    spread = np.sum(weights**2 * ((62 / 315) ** 2 * 2027025 * before**8 - left**2)) / WIDTH
    return Trial(draw, len(INPUT) * depth * WIDTH, 2, spread, {})


def sigmoid_slope(z: Draws) -> Draws:
    return np.asarray(expit(z) * expit(-z))


def tanh_slope(z: Draws) -> Draws:
    return np.asarray(1 - np.tanh(z) ** 2)


def squared_slope(case: Case, slope: Function, text: str, *others: float, **at: Fraction) -> Trial:
    variance, claim = at.get("v", Fraction(1)), float(case.claim())
    spread = value(f"{text}^4", variance) - value(f"{text}^2", variance) ** 2
    wrong = {f"{number}": Fraction(number) for number in others}
    return over_units(
        case,
        lambda z: slope(z) ** 2,
        spread + claim**2,
        claim,
        wrong,
        variance=variance,
    )


@experiment(law="sigmoid-backward", quantity="E[sigmoid'(z)^2]", weights=NORMAL)
def sigmoid_backward(case: Case) -> Trial:
    return squared_slope(case, sigmoid_slope, "sigmoid'(x)", 1 / 16, 1 / 4, 0.04269)


HERMITE = {2: "(x^2 - 1)", 4: "(x^4 - 6*x^2 + 3)", 6: "(x^6 - 15*x^4 + 45*x^2 - 15)"}


@experiment(law="sigmoid-backward", quantity="E[sigmoid'(z)^2] to 0.1 %", weights=NORMAL)
def sigmoid_backward_fine(case: Case) -> Trial:
    """In units of the claim and less it: its tolerance is a tenth.

    The parts along Hermite polynomials, of mean 0 and variance k!, are taken off: another factor in
    the exponent above the line, 21/10 for 2, changes the mean by 0.26 %.
    """
    claim, text = float(case.claim()), "sigmoid'(x)^2"
    parts = {k: value(f"{text}*{he}") / factorial(k) for k, he in HERMITE.items()}

    def rest(z: Draws) -> Draws:
        s = z**2
        along = (s - 1, s**2 - 6 * s + 3, s**3 - 15 * s**2 + 45 * s - 15)
        taken = sum(c * he for c, he in zip(parts.values(), along, strict=True))
        return np.asarray((sigmoid_slope(z) ** 2 - taken) / claim - 1)

    left = value(f"{text}^2") - value(text) ** 2
    left -= sum(c**2 * factorial(k) for k, c in parts.items())
    square = (left + (value(text) - claim) ** 2) / claim**2
    wrong = {"sigmoid'(1)^2, at one point": sigmoid_slope(np.ones(1))[0] ** 2 / claim - 1}
    return over_units(case, rest, square, 0, wrong, scale=0.1)


@experiment(law="tanh-backward", quantity="E[tanh'(z)^2]", weights=NORMAL)
def tanh_backward(case: Case) -> Trial:
    return squared_slope(case, tanh_slope, "(1 - tanh(x)^2)", 1, 0.606, 0.394)


SMALL = Fraction(1, 1000)  # where the bounds are almost reached


@experiment(law="sigmoid-backward-bound", quantity="E[sigmoid'(z)^2] at small v", weights=NORMAL)
def sigmoid_backward_bound(case: Case) -> Trial:
    return squared_slope(case, sigmoid_slope, "sigmoid'(x)", 1 / 4, 1 / 8, 1 / 32, v=SMALL)


@experiment(law="tanh-backward-bound", quantity="E[tanh'(z)^2] at small v", weights=NORMAL)
def tanh_backward_bound(case: Case) -> Trial:
    return squared_slope(case, tanh_slope, "(1 - tanh(x)^2)", 1 / 2, 2, 1 / 4, v=SMALL)


def bound_reached(case: Case, slope: Function, scale: float) -> LimitTrial:
    """A squared slope f'(0)^2 sech(z/a)^4, `scale` a, as the variance of z tends to 0.

    1 - 2 x^2 <= sech(x)^4 <= 1 - 2 x^2 + 7 x^4/3: less the square, of known mean, little is left.
    """
    top = float(slope(np.zeros(1))[0]) ** 2

    def at(n: int) -> Trial:
        v = 1 / n
        square = (7 / 3) ** 2 * 105 * (v / scale**2) ** 4  # E[x^8] = 105 (v/a^2)^4

        def rest(z: Draws) -> Draws:
            return np.asarray(slope(z) ** 2 / top - 1 + 2 * (z / scale) ** 2)

        made = over_units(case, rest, square, 0, {}, variance=Fraction(1, n))
        trial = lifted(made, 1 - 2 * v / scale**2)
        return replace(
            trial,
            draw=lambda rng, replicates: top * trial.draw(rng, replicates),
            variance=top**2 * float(trial.variance),
        )

    wrong = {f"{name} of it": Fraction(name) * Fraction(top) for name in ("1/2", "2", "9/10")}
    return small_sizes(case, at, wrong, (1e-3, 5e-4, 3e-4))


@experiment(
    law="sigmoid-backward-bound",
    quantity="E[sigmoid'(z)^2] at v = 1/n, 1/2 n, 1/4 n",
    weights=NORMAL,
    n=4,
)
def sigmoid_bound_order(case: Case) -> LimitTrial:
    return bound_reached(case, sigmoid_slope, 2)


@experiment(
    law="tanh-backward-bound",
    quantity="E[tanh'(z)^2] at v = 1/n, 1/2 n, 1/4 n",
    weights=NORMAL,
    n=16,
)
def tanh_bound_order(case: Case) -> LimitTrial:
    return bound_reached(case, tanh_slope, 1)
