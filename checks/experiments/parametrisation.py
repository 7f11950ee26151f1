"""Experiments on parametrisations: one layer in two of them, its gradients, its steps.

Gradients of layers are taken by a complex step, so that no formula of the laws has a part in them.
"""

from collections.abc import Callable
from fractions import Fraction
from math import pi

import numpy as np
from numpy.random import Generator
from sympy import sqrt

from varlaw.checks.experiments.forward import INPUT, layer, units
from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.optimiser import adam
from varlaw.checks.experiments.registry import ANY, SYMMETRIC, Case, Draws, Trial, experiment

STEP = 1e-30  # of the complex step: what it neglects is of its square
Loss = Callable[[Draws], Draws]


def gradient(loss: Loss, weights: Draws) -> Draws:
    """The derivatives of a loss per replicate by the weights, of shape (m, replicates)."""
    found = np.empty_like(weights)
    for k in range(len(weights)):
        moved = weights.astype(complex)
        moved[k] += 1j * STEP
        found[k] = loss(moved).imag / STEP
    return found


@experiment(law="ntk-forward", quantity="E[y^2]", weights=ANY, m=5, n=4)
def ntk_forward(case: Case) -> Trial:
    """Weights of variance 1 behind 1/sqrt(m), which is how the layer multiplies."""
    fan_in, q = case["m"], exact(INPUT.moment(2))
    factor = 1 / float(fan_in)
    draw, numbers, spread = layer(
        case, INPUT, exact(1), lambda y: factor * y**2, [y**2 / fan_in for y in units()]
    )
    wrong = {"m q": fan_in * q, "sqrt(m) q": sqrt(fan_in) * q, "q/m": q / fan_in}
    return Trial(draw, numbers, case.claim(q=q), spread, wrong)


def same_step(case: Case, rule: Callable[[Draws], Draws], wrong: dict[str, Number]) -> Trial:
    """The step of the effective weights in NTK form over the standard one at rate 1."""
    size, eta = case.size("m"), float(case["eta"])
    root = np.sqrt(size)

    def draw(rng: Generator, replicates: int) -> Draws:
        x = INPUT.sample(rng, (size, replicates))
        effective = case.weights.sample(rng, (size, replicates))
        standard = rule(
            gradient(lambda w: (w * x).sum(axis=0) ** 2 + (w * x).sum(axis=0), effective)
        )
        raw = gradient(
            lambda w: (w * x).sum(axis=0) ** 2 / size + (w * x).sum(axis=0) / root,
            root * effective,
        )
        moved = eta * rule(raw) / root
        return np.asarray((moved * standard).sum(axis=0) / (standard**2).sum(axis=0))

    return Trial(draw, 2 * size, case.claim(), 0, wrong)


@experiment(
    law="ntk-sgd-rate",
    quantity="NTK step over standard step",
    weights=("normal", "uniform"),
    m=6,
    eta=Fraction(3, 2),
)
def ntk_sgd_rate(case: Case) -> Trial:
    eta, m = case["eta"], case["m"]
    return same_step(
        case, lambda g: g, {"eta": eta, "eta/sqrt(m)": eta / sqrt(m), "m eta": m * eta}
    )


@experiment(
    law="ntk-adam-rate",
    quantity="NTK step over standard step",
    weights=("normal", "uniform"),
    m=6,
    eta=Fraction(3, 2),
)
def ntk_adam_rate(case: Case) -> Trial:
    eta, m = case["eta"], case["m"]
    return same_step(case, np.sign, {"eta": eta, "eta/m": eta / m, "sqrt(m) eta": sqrt(m) * eta})


def squared_gradient(
    case: Case, scale: Fraction, claimed: Number, wrong: dict[str, Number]
) -> Trial:
    """(dL/dw)^2 of a layer with a factor whose square is `scale`, for a probe g at the output."""
    size, v = 4, Fraction(case.values["v"])
    probes, factor = case.scaled(v), float(scale) ** 0.5

    def draw(rng: Generator, replicates: int) -> Draws:
        x, g = INPUT.sample(rng, (size, replicates)), probes.sample(rng, (replicates,))
        w = rng.standard_normal((size, replicates))
        found = gradient(lambda w: g * factor * (w * x).sum(axis=0), w)
        return np.asarray((found[0]) ** 2)

    square = INPUT.moment(4) * case.weights.moment(4) * v**2
    spread = scale**2 * (square - (INPUT.moment(2) * v) ** 2)
    return Trial(draw, 2 * size + 1, claimed, spread, wrong)


@experiment(law="weight-gradient", quantity="E[(dL/dw)^2]", weights=ANY, v=Fraction(2))
def weight_gradient(case: Case) -> Trial:
    q, v = exact(INPUT.moment(2)), case["v"]
    wrong = {"q": q, "v": v, "4 q v, all inputs counted": 4 * q * v, "q sqrt(v)": q * sqrt(v)}
    return squared_gradient(case, Fraction(1), case.claim(q=q), wrong)


@experiment(law="ntk-weight-gradient", quantity="E[(dL/dw)^2]", weights=ANY, m=6, v=Fraction(2))
def ntk_weight_gradient(case: Case) -> Trial:
    q, v, m = exact(INPUT.moment(2)), case["v"], case["m"]
    wrong = {"q v": q * v, "q v/sqrt(m)": q * v / sqrt(m), "q v/m^2": q * v / m**2}
    return squared_gradient(case, Fraction(1, case.size("m")), case.claim(q=q), wrong)


@experiment(
    law="relative-update-sgd",
    quantity="E[step^2] - (claim)^2 E[w^2]",
    weights=ANY,
    eta=Fraction(1, 2),
    v=Fraction(2),
    s2=Fraction(1, 3),
)
def relative_update_sgd(case: Case) -> Trial:
    """0 if the root mean square of the step is the claimed multiple of that of the weight."""
    q = exact(INPUT.moment(2))
    v, s2, eta = (Fraction(case.values[name]) for name in ("v", "s2", "eta"))
    claim = case.claim(q=q)
    ratio = float(claim) ** 2
    probes, weights = case.scaled(v), case.scaled(s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        x, g = INPUT.sample(rng, (replicates,)), probes.sample(rng, (replicates,))
        w = weights.sample(rng, (replicates,))
        step = float(eta) * gradient(lambda w: g * (w * x).sum(axis=0), w[None])[0]
        return np.asarray(step**2 - ratio * w**2)

    fourth = case.weights.moment(4)
    square = eta**4 * (INPUT.moment(4) * fourth * v**2 - INPUT.moment(2) ** 2 * v**2)
    spread = exact(square) + claim**4 * exact(s2) ** 2 * (fourth - 1)
    size = claim**2 * s2
    wrong = {
        "eta sqrt(q v)": size - exact(eta) ** 2 * q * v * s2,
        "eta q v/s2": size - (exact(eta) * q * v / s2) ** 2 * s2,
        "half of it": size * Fraction(3, 4),
    }
    return Trial(draw, 3, 0, spread, {k: -x for k, x in wrong.items()}, scale=float(size))


@experiment(
    law="relative-update-adam",
    quantity="E[step^2] - claim E[w^2]",
    weights=ANY,
    eta=Fraction(1, 2),
    s2=Fraction(1, 3),
)
def relative_update_adam(case: Case) -> Trial:
    s2, eta = (Fraction(case.values[name]) for name in ("s2", "eta"))
    claim = case.claim()
    ratio, weights = float(claim), case.scaled(s2)

    def draw(rng: Generator, replicates: int) -> Draws:
        w = weights.sample(rng, (replicates,))
        step = float(eta) * adam(rng.standard_normal((1, replicates)), 0.9, 0.999)
        return np.asarray(step**2 - ratio * w**2)

    spread, size = claim**2 * exact(s2) ** 2 * (case.weights.moment(4) - 1), claim * s2
    wrong = {
        "eta": exact(eta) ** 2 * s2 - size,
        "eta/s2": (exact(eta) / s2) ** 2 * s2 - size,
        "half of it": -size * Fraction(3, 4),
    }
    return Trial(draw, 2, 0, spread, wrong, scale=float(size))


@experiment(
    law="adam-coherent",
    quantity="change of a pre-activation",
    weights=("normal",),
    n=16,
    eta=Fraction(1, 2),
    q=Fraction(3),
)
def adam_coherent(case: Case) -> Trial:
    """The layer's own step on the sample that it was taken on, up to the sign of its gradient."""
    size, eta, q = case.size("n"), float(case["eta"]), case["q"]
    inputs = case.scaled(q)

    def draw(rng: Generator, replicates: int) -> Draws:
        h = inputs.sample(rng, (size, replicates))
        w = rng.standard_normal((size, replicates))
        step = eta * np.sign(gradient(lambda w: (w * h).sum(axis=0), w))
        return np.asarray((h * step).sum(axis=0))

    n, rate = case["n"], case["eta"]
    spread = float(rate**2 * n * q) * (1 - 2 / pi)
    wrong = {
        "eta sqrt(n q), as if incoherent": rate * sqrt(n * q),
        "eta n sqrt(q)": rate * n * sqrt(q),
        "eta n q": rate * n * q,
    }
    return Trial(draw, 2 * size, case.claim(), spread, wrong)


@experiment(
    law="adam-incoherent",
    quantity="E[change^2] on another sample",
    weights=SYMMETRIC,
    n=16,
    eta=Fraction(1, 2),
)
def adam_incoherent(case: Case) -> Trial:
    """Steps along the signs of one sample, met by another, whose mean is not 0."""
    size, eta, q = case.size("n"), case["eta"], exact(INPUT.moment(2))

    def draw(rng: Generator, replicates: int) -> Draws:
        step = float(eta) * np.sign(case.weights.sample(rng, (size, replicates)))
        other = INPUT.sample(rng, (size, replicates))
        return np.asarray((other * step).sum(axis=0) ** 2)

    n = case["n"]
    fourth = n * exact(INPUT.moment(4)) + 3 * n * (n - 1) * q**2
    spread = eta**4 * (fourth - (n * q) ** 2)
    wrong = {"eta^2 n^2 q, as if coherent": eta**2 * n**2 * q, "eta^2 q": eta**2 * q}
    return Trial(draw, 2 * size, case.claim(q=q), spread, wrong)
