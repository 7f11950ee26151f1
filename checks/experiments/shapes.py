"""Experiments on hidden fans: real convolutions, fused projections, kernels of einsums."""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.random import Generator
from sympy import Expr, Rational, sqrt

from varlaw.checks.experiments.forward import INPUT, SIGNS, multiply
from varlaw.checks.experiments.moments import Number, exact, variance_of_mean
from varlaw.checks.experiments.registry import ANY, Case, Draws, Trial, experiment, instead
from varlaw.checks.experiments.sampling import powers
from varlaw.checks.statistics.sampling import Law


def quadratic(fourth: Expr, inputs: Law, weights: Law, terms: int) -> Expr:
    """E[y^4] for y = Sum_i x_i w_i over `terms` terms, at E[w^2] = 1; `fourth` is E[x^4]."""
    pairs = 3 * terms * (terms - 1) * exact(inputs.moment(2)) ** 2
    return pairs + terms * fourth * exact(weights.moment(4))


def spread_of_squares(terms: int, weights: Law, outputs: int) -> Expr:
    """The variance of the mean of y^2 over outputs of one input, each with weights of its own.

    It bounds that of outputs of fewer terms, of inputs that are the same in part, and of means over
    several groups of outputs.
    """
    fourth = quadratic(exact(INPUT.moment(4)), INPUT, weights, terms)
    mean = terms * exact(INPUT.moment(2))
    both = mean**2 + terms * (exact(INPUT.moment(4)) - exact(INPUT.moment(2)) ** 2)  # E[|x|^4]
    return variance_of_mean(outputs, mean, fourth, both)


def convolve(inputs: Draws, kernel: Draws) -> Draws:
    """The inner outputs of a convolution: (c, size, r), (n, c, k, r) to (n, size - k + 1, r)."""
    size, taps = inputs.shape[1], kernel.shape[2]
    windows = [inputs[:, t : size - taps + 1 + t] for t in range(taps)]
    found: Draws = np.einsum("tcpr,octr->opr", np.stack(windows), kernel)
    return found


def spread_out(inputs: Draws, kernel: Draws, stride: int) -> Draws:
    """All outputs of a transposed convolution: tap t of the kernel adds to position s i + t."""
    size, replicates = inputs.shape[1:]
    outputs, taps = kernel.shape[0], kernel.shape[2]
    found = np.zeros((outputs, stride * (size - 1) + taps, replicates))
    for t in range(taps):
        found[:, t : t + stride * (size - 1) + 1 : stride] += np.einsum(
            "cpr,ocr->opr", inputs, kernel[:, :, t]
        )
    return found


POSITIONS, OUTPUTS = 4, 2


def convolution(case: Case, terms: int, others: Mapping[str, Number], groups: int = 1) -> Trial:
    """E[y^2]/E[x^2] over outputs and inner positions of a convolution in several groups."""
    claim, taps = case.claim(), case.size("k")
    channels = terms // taps
    weights, unit = case.scaled(claim), 1 / float(INPUT.moment(2))

    def draw(rng: Generator, replicates: int) -> Draws:
        found = []
        for _ in range(groups):
            inputs = INPUT.sample(rng, (channels, POSITIONS + taps - 1, replicates))
            kernel = weights.sample(rng, (OUTPUTS, channels, taps, replicates))
            found.append(convolve(inputs, kernel) ** 2)
        return unit * np.asarray(np.mean(found, axis=(0, 1, 2)))

    numbers = groups * channels * (POSITIONS + taps - 1 + OUTPUTS * taps)
    scale = (claim / exact(INPUT.moment(2))) ** 2
    spread = scale * spread_of_squares(terms, case.weights, OUTPUTS) / groups
    return Trial(draw, numbers, 1, spread, instead(claim, others))


@experiment(law="conv-fan-in", quantity="E[y^2]/E[x^2]", weights=ANY, c=2, k=3)
def conv_fan_in(case: Case) -> Trial:
    c, k = case["c"], case["k"]
    others = {"1/c": 1 / c, "1/k": 1 / k, "2/(c k)": 2 / (c * k), "1/(c k^2)": 1 / (c * k**2)}
    return convolution(case, case.size("c") * case.size("k"), others)


@experiment(law="conv-grouped", quantity="E[y^2]/E[x^2]", weights=ANY, C=6, G=3, k=2)
def conv_grouped(case: Case) -> Trial:
    c, k, groups = case["C"], case["k"], case["G"]
    others = {"1/(C k)": 1 / (c * k), "1/k": 1 / k, "G^2/(C k)": groups**2 / (c * k)}
    terms = case.size("C") // case.size("G") * case.size("k")
    return convolution(case, terms, others, case.size("G"))


@experiment(law="conv-depthwise", quantity="E[y^2]/E[x^2]", weights=ANY, k=3)
def conv_depthwise(case: Case) -> Trial:
    k = case["k"]
    others = {"1/k^2": 1 / k**2, "1": 1, "1/(4 k), for 4 channels": 1 / (4 * k), "2/k": 2 / k}
    return convolution(case, case.size("k"), others, groups=4)


def pulled_back(case: Case, outputs: int, stride: int, others: Mapping[str, Number]) -> Trial:
    """What reaches the inputs of a convolution (or leaves a transposed one), over E[g^2].

    The mean over as many inner positions as the stride has, where every tap can meet.
    """
    claim, taps = case.claim(), case.size("k")
    weights, unit = case.scaled(claim), 1 / float(INPUT.moment(2))
    size = -(-taps // stride) + 1  # enough inputs for one stretch of inner positions
    first = stride * (size - 1)  # from here on all taps have had an input before them

    def draw(rng: Generator, replicates: int) -> Draws:
        probe = INPUT.sample(rng, (outputs, size, replicates))
        kernel = weights.sample(rng, (1, outputs, taps, replicates))
        whole = spread_out(np.concatenate([probe, probe[:, -1:] * 0], axis=1), kernel, stride)
        inner = whole[0, first : first + stride]
        return unit * np.asarray(np.mean(inner**2, axis=0))

    most = outputs * -(-taps // stride)
    scale = (claim / exact(INPUT.moment(2))) ** 2
    spread = scale * spread_of_squares(most, case.weights, stride)
    numbers = outputs * (size + taps)
    return Trial(draw, numbers, 1, spread, instead(claim, others))


@experiment(law="conv-fan-out", quantity="E[b^2]/E[g^2]", weights=ANY, n=2, k=3)
def conv_fan_out(case: Case) -> Trial:
    n, k = case["n"], case["k"]
    others = {"1/n": 1 / n, "1/k": 1 / k, "2/(n k)": 2 / (n * k), "1/(n k^2)": 1 / (n * k**2)}
    return pulled_back(case, case.size("n"), 1, others)


def strided(case: Case, outputs: str) -> Trial:
    n, k, s = case[outputs], case["k"], case["s"]
    name = outputs
    others = {
        f"1/({name} k)": 1 / (n * k),
        f"s^2/({name} k)": s**2 / (n * k),
        f"1/({name} k s)": 1 / (n * k * s),
        f"s/{name}": s / n,
    }
    return pulled_back(case, case.size(outputs), case.size("s"), others)


@experiment(law="conv-strided-backward", quantity="E[b^2]/E[g^2]", weights=ANY, n=3, k=3, s=2)
def conv_strided_backward(case: Case) -> Trial:
    return strided(case, "n")


@experiment(law="conv-transposed", quantity="E[y^2]/E[x^2]", weights=ANY, c=2, k=5, s=3)
def conv_transposed(case: Case) -> Trial:
    return strided(case, "c")


def stored_fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """The fans as read off a stored shape: the last two axes, each times all the others."""
    taps = prod(shape[:-2])
    return taps * shape[-2], taps * shape[-1]


@experiment(law="fused-qkv-variance", quantity="E[w^2]", weights=("uniform",), m=5)
def fused_qkv_variance(case: Case) -> Trial:
    """Xavier's uniform law, whose bound is read off the shape of the fused matrix."""
    width = case["m"]
    bound = sqrt(Rational(6, sum(stored_fans((case.size("m"), 3 * case.size("m"))))))
    wrong = {"1/m": 1 / width, "1/(3 m)": 1 / (3 * width), "1/(4 m)": 1 / (4 * width)}
    return powers(bound, 2, case.claim(), wrong)


@experiment(law="fused-qkv-gain", quantity="E[y^2]/E[x^2]", weights=ANY, m=4)
def fused_qkv_gain(case: Case) -> Trial:
    """Fused weights times the gain keep the second moment, as a square matrix does at 1/m."""
    width, rows, gain = case["m"], case.size("m"), case.claim()
    variance = gain**2 * 2 / sum(stored_fans((rows, 3 * rows)))
    others = {"1": 1, "2": 2, "sqrt(3)": sqrt(3)}
    wrong = {f"gain {name}": gain**2 / exact(other) ** 2 for name, other in others.items()}
    return outputs_of(case, width, (3 * rows,), variance, 1, wrong, INPUT.moment(2))


def outputs_of(
    case: Case,
    width: Expr,
    shape: tuple[int, ...],
    variance: Expr,
    claimed: Number,
    wrong: Mapping[str, Number],
    unit: Number,
) -> Trial:
    """The mean of y^2 over `unit`, for y = einsum(x, W) with a kernel of some stored shape."""
    rows, weights = int(width), case.scaled(variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        inputs = INPUT.sample(rng, (rows, replicates))
        kernel = weights.sample(rng, (rows, *shape, replicates))
        found = np.einsum("ir,i...r->...r", inputs, kernel) ** 2
        return np.asarray(found.reshape(-1, replicates).mean(axis=0) / float(unit))

    spread = (variance / exact(unit)) ** 2 * spread_of_squares(rows, case.weights, prod(shape))
    return Trial(draw, rows * (1 + prod(shape)), claimed, spread, wrong)


@experiment(law="fused-qkv-logits", quantity="E[a^2]", weights=("uniform", "skewed"), m=4, d=3)
def fused_qkv_logits(case: Case) -> Trial:
    """Two tokens of signs, projected by weights of Xavier's variance at the fused shape."""
    width, head = case.size("m"), case.size("d")
    variance = Rational(2, sum(stored_fans((width, 3 * width))))
    weights = case.scaled(variance)

    def draw(rng: Generator, replicates: int) -> Draws:
        query, key = (
            multiply(
                SIGNS.sample(rng, (width, replicates)),
                weights.sample(rng, (width, head, replicates)),
            )
            for _ in "qk"
        )
        return np.asarray((query * key).sum(axis=0) ** 2 / head)

    fourth = variance**2 * quadratic(exact(1), SIGNS, case.weights, width)  # given the signs
    square = (width * variance) ** 2
    spread = 3 * (head - 1) * square**2 / exact(head) + fourth**2 / head - square**2
    wrong = {"1": 1, "1/2": Rational(1, 2), "1/16": Rational(1, 16), "d/4": Rational(head, 4)}
    return Trial(draw, 2 * width * (1 + head), case.claim(), spread, wrong)


@experiment(law="einsum-kernel", quantity="E[y^2]/E[x^2]", weights=ANY, m=5, h=2, d=3)
def einsum_kernel(case: Case) -> Trial:
    m, h, d, claim = case["m"], case["h"], case["d"], case.claim()
    others = {"1/(m h)": 1 / (m * h), "1/(h d)": 1 / (h * d), "1/(m d)": 1 / (m * d), "2/m": 2 / m}
    shape, wrong = (case.size("h"), case.size("d")), instead(claim, others)
    return outputs_of(case, m, shape, claim, 1, wrong, INPUT.moment(2))


@experiment(law="einsum-kernel-xavier", quantity="E[y^2]", weights=ANY, m=5, h=2, d=3)
def einsum_kernel_xavier(case: Case) -> Trial:
    m, h, d = case["m"], case["h"], case["d"]
    size = exact(INPUT.moment(2))
    shape = (case.size("h"), case.size("d"))
    variance = Rational(2, sum(stored_fans((case.size("m"), *shape))))
    wrong = {
        "q": size,
        "2 m q/(m + h d), Xavier's at the true fans": 2 * m * size / (m + h * d),
        "q/h": size / h,
        "2 q/(h d)": 2 * size / (h * d),
        "2 m q/(h + d)": 2 * m * size / (h + d),
    }
    return outputs_of(case, m, shape, variance, case.claim(q=size), wrong, 1)
