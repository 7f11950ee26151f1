"""Experiments on gradients through norms: real layers, derivatives by complex steps.

For a function that is real on real numbers, Im f(x + i h)/h is its derivative up to O(h^2), without
a difference of nearby numbers: at h = 1e-30 it is exact to rounding.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import pi

import numpy as np
from numpy.random import Generator
from sympy import Add, Expr, Mul, Pow

from varlaw.checks.experiments.moments import Number, exact
from varlaw.checks.experiments.normalisation import same
from varlaw.checks.experiments.registry import ANY, NON_GAUSSIAN, Case, Draws, Trial, experiment
from varlaw.checks.statistics.methods import Bounded
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.terms import IndexSum

STEP = 1e-30
INPUTS = 5
TWO = ("normal", "uniform")
MOST = 3.0  # factors are cut off there; their std is about 4/sqrt(m B)


def rms_norm(z: Draws) -> Draws:
    """RMSNorm over the first axis, without epsilon; z may be complex."""
    return np.asarray(z / np.sqrt(np.mean(z**2, axis=0)))


def layer_norm(z: Draws) -> Draws:
    return rms_norm(z - z.mean(axis=0))


def through(probe: Draws, z: Draws) -> Draws:
    """A loss that is linear in the outputs of RMSNorm."""
    return np.asarray(np.sum(probe * rms_norm(z), axis=0))


def slope(f: Callable[[Draws], Draws], z: Draws, direction: Draws) -> Draws:
    """The derivative of f at z in a direction."""
    return np.asarray(f(z + 1j * STEP * direction).imag / STEP)


def on(e: Expr, vectors: Mapping[str, Draws], numbers: Mapping[str, float]) -> Draws:
    """An expression in sums over entries, with vectors (on the first axis) in their place."""
    match e:
        case Entry():
            return vectors[e.array.name]
        case IndexSum():
            return np.asarray(np.sum(on(e.summand, vectors, numbers), axis=0))
        case Add():
            return np.asarray(sum(on(part, vectors, numbers) for part in e.args))
        case Mul():
            parts = [on(part, vectors, numbers) for part in e.args]
            return np.asarray(np.prod(np.broadcast_arrays(*parts), axis=0))
        case Pow():
            return np.asarray(on(e.base, vectors, numbers) ** float(e.exp))
        case _:
            return np.asarray(float(e) if e.is_number else numbers[e.name])


def layers(case: Case, rng: Generator, count: int, replicates: int) -> tuple[Draws, Draws]:
    """The inputs x of a layer, and `count` matrices for it."""
    d = case.size("d")
    x = case.weights.sample(rng, (INPUTS, replicates)) + 1
    return x, case.weights.sample(rng, (count, d, INPUTS, replicates)) + 0.25


def times(w: Draws, x: Draws) -> Draws:
    return np.asarray(np.einsum("jir,ir->jr", w, x))


def ratio(measured: Draws, derived: Draws) -> Draws:
    """The factor between two vectors that should be equal, and what it leaves of them.

    By least squares alone nothing would be seen of a difference at right angles to them.
    """
    size = np.sum(derived**2, axis=0)
    factor = np.sum(measured * derived, axis=0) / size
    left = np.sum((measured - factor * derived) ** 2, axis=0) / size
    return np.asarray(factor + np.sqrt(left))


def numbers(case: Case, count: int) -> int:
    return INPUTS + count * INPUTS * case.size("d")


@experiment(
    law="norm-scale-invariance",
    quantity="Norm(c W x) over Norm(W x)",
    weights=TWO,
    d=4,
    c=Fraction(5, 2),
)
def norm_scale_invariance(case: Case) -> Trial:
    rhs, c, d = case.law.statement.rhs, case["c"], case.size("d")

    def draw(rng: Generator, replicates: int) -> Draws:
        x, (w,) = layers(case, rng, 1, replicates)
        derived = on(rhs, {"z": times(w, x)}, {"d": d})
        return ratio(rms_norm(times(float(c) * w, x)), derived)

    wrong = {"c": c, "1/c": 1 / c, "sqrt(c)": c ** Fraction(1, 2)}
    return same(draw, numbers(case, 1), 1, wrong)


@experiment(law="norm-radial-gradient", quantity="dL/dc", weights=TWO, d=4, c=Fraction(5, 2))
def norm_radial_gradient(case: Case) -> Trial:
    """With the outputs themselves as the probe, so that the loss is d."""
    c, d = case["c"], case["d"]

    def draw(rng: Generator, replicates: int) -> Draws:
        x, (w,) = layers(case, rng, 1, replicates)
        z = times(w, x)
        probe = rms_norm(z)
        return slope(lambda y: np.sum(probe * rms_norm(y), axis=0), float(c) * z, z)

    wrong = {"L/c, as without a norm": d / c, "-L/c": -d / c, "L": d}
    return Trial(draw, numbers(case, 1), case.claim(), 0, wrong)


def gradient(case: Case, by_input: bool, wrong: Mapping[str, Number]) -> Trial:
    """The slope at weights c W, along weights or inputs, over what is derived for it.

    For four probes at once, so that the slope that it is divided by is hardly ever near 0.
    """
    rhs, c, d = case.law.statement.rhs, float(case["c"]), case.size("d")

    def draw(rng: Generator, replicates: int) -> Draws:
        x, (w, v) = layers(case, rng, 2, replicates)
        e = case.weights.sample(rng, (INPUTS, replicates))
        z, y = times(w, x), times(w, e) if by_input else times(v, x)
        moved = c * y if by_input else y
        measured, derived = [], []
        for k in range(d):
            p = np.zeros((d, 1))
            p[k] = 1
            measured.append(slope(partial(through, p), c * z, moved))
            derived.append(on(rhs, {"p": p, "y": y, "z": z}, {"c": c, "d": d}))
        return ratio(np.array(measured), np.array(derived))

    return same(draw, numbers(case, 2) + INPUTS, 1, wrong)


@experiment(
    law="norm-weight-gradient",
    quantity="measured over derived slope",
    weights=TWO,
    d=4,
    c=Fraction(5, 2),
)
def norm_weight_gradient(case: Case) -> Trial:
    c = case["c"]
    return gradient(case, False, {"the same": c, "1/c^2": 1 / c, "c times": c**2})


@experiment(
    law="norm-input-gradient",
    quantity="measured over derived slope",
    weights=TWO,
    d=4,
    c=Fraction(5, 2),
)
def norm_input_gradient(case: Case) -> Trial:
    c = case["c"]
    return gradient(case, True, {"c times": c, "1/c": 1 / c, "c^2 times": c**2})


def passed(case: Case, norm: Callable[[Draws], Draws], std: Callable[[Draws], Draws]) -> Trial:
    """r^2 times the mean square of a probe of variance v pulled back through the norm."""
    d, v, width = case.size("d"), case["v"], case["d"]
    probes = case.scaled(v)

    def draw(rng: Generator, replicates: int) -> Draws:
        z = 1 + rng.standard_normal((d, replicates))
        p = probes.sample(rng, (d, replicates))
        total = np.zeros(replicates)
        for k in range(d):
            direction = np.zeros((d, 1))
            direction[k] = 1
            total += slope(lambda u: np.sum(p * norm(u), axis=0), z, direction) ** 2
        return np.asarray(std(z) ** 2 * total / d)

    # the mean square is at most that of the probe
    claim = case.claim(r=1)
    fourth = exact(case.weights.moment(4))
    square = v**2 * (fourth + width - 1) / width
    wrong = {f"v (d - {lost})/d": v * (width - lost) / width for lost in range(4)}
    wrong = {name: other for name, other in wrong.items() if other != claim}
    return Trial(draw, 2 * d, claim, square - claim**2, wrong, work=4 * d)


@experiment(law="rms-norm-backward", quantity="r^2 E[b]", weights=ANY, d=3, v=Fraction(3, 2))
def rms_norm_backward(case: Case) -> Trial:
    return passed(case, rms_norm, lambda z: np.sqrt(np.mean(z**2, axis=0)))


@experiment(law="layer-norm-backward", quantity="r^2 E[b]", weights=ANY, d=5, v=Fraction(3, 2))
def layer_norm_backward(case: Case) -> Trial:
    return passed(case, layer_norm, lambda z: z.std(axis=0))


def batch_norm(y: Draws) -> tuple[Draws, Draws]:
    """BatchNorm over the last axis, without epsilon, and the std that it divides by."""
    centred = y - y.mean(axis=-1, keepdims=True)
    std = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True))
    return centred / std, std


def batch_norm_backward(g: Draws, normalised: Draws, std: Draws) -> Draws:
    """The gradient at the input of BatchNorm, of a loss with the gradient g at its output."""
    along = np.mean(g * normalised, axis=-1, keepdims=True)
    return np.asarray((g - g.mean(axis=-1, keepdims=True) - normalised * along) / std)


@experiment(
    law="batch-norm-relu-gradient",
    quantity="factor of the squared gradient",
    weights=NON_GAUSSIAN,
    m=6,
    B=128,
    least={"m": 2, "B": 64},
)
def batch_norm_relu_gradient(case: Case) -> Trial:
    """Back from one BatchNorm through ReLU to the one before it, on batches of B samples.

    A random gradient at the outputs of the second. As B grows the factor tends to the claim in
    probability, at any width; its mean is infinite at any B, for want of an epsilon where a unit
    is nearly constant. What is cut off has a mean with the same limit, within 1/B or so.
    """
    m, B = case.size("m"), case.size("B")

    def draw(rng: Generator, replicates: int) -> Draws:
        z, _ = batch_norm(rng.standard_normal((replicates, m, B)))
        w = case.weights.sample(rng, (replicates, m, m))
        y, std = batch_norm(w @ np.maximum(z, 0))
        g = rng.standard_normal((replicates, m, B))
        back = (w.swapaxes(1, 2) @ batch_norm_backward(g, y, std)) * (z > 0)
        return np.minimum(np.sum(back**2, axis=(1, 2)) / np.sum(g**2, axis=(1, 2)), MOST)

    others = {"1": 1.0, "2": 2.0, "pi/2": pi / 2, "1.2112, the root": (pi / (pi - 1)) ** 0.5}
    wrong = {name: exact(Fraction(number)) for name, number in others.items()}
    within = Bounded(0.0, MOST)
    return Trial(draw, 2 * m * B + m * m, case.claim(), 20 / (m * B), wrong, method=within)
