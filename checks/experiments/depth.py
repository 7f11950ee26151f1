"""Experiments on depth: ReLU networks of a few layers, their moments and their logarithm."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import comb, log, pi, prod, sqrt

import numpy as np
from numpy.random import Generator
from scipy.special import polygamma, psi
from sympy import Expr, Rational, Symbol

from varlaw.checks.experiments.activations import exact_of, over_units, relu, value
from varlaw.checks.experiments.forward import SIGNS, multiply
from varlaw.checks.experiments.moments import Number, Orders, exact, sum_moment
from varlaw.checks.experiments.registry import (
    SYMMETRIC,
    Case,
    Draw,
    Draws,
    LimitTrial,
    Trial,
    experiment,
)
from varlaw.checks.experiments.streams import FOURTH, SECOND, SQUARE, Stream
from varlaw.symbolic.sequences import Term

NORMAL = ("normal",)
LAYERS = Symbol("l", integer=True, nonnegative=True)


def rectified(stream: Stream) -> Stream:
    """The moments behind ReLU, for independent symmetric columns of weights: halves of each."""
    both = (stream[SQUARE] - stream[FOURTH]) / 4 + stream[FOURTH] / 2
    state = {SECOND: stream[SECOND] / 2, FOURTH: stream[FOURTH] / 2, SQUARE: both}
    return Stream(stream.width, state)


Made = tuple[Callable[[Generator, int], Draws], int, Expr]


def network(case: Case, widths: tuple[int, ...], variances: tuple[Number, ...]) -> Made:
    """How to draw q_l of a ReLU network from q_0 = 1, how many numbers it takes, and Var(q_l)."""
    layers = [case.scaled(s) for s in variances]
    shapes = list(pairwise(widths))

    def draw(rng: Generator, replicates: int) -> Draws:
        h = SIGNS.sample(rng, (widths[0], replicates))
        for weights, (rows, cols) in zip(layers, shapes, strict=True):
            h = np.maximum(multiply(h, weights.sample(rng, (rows, cols, replicates))), 0)
        return np.asarray(np.mean(h**2, axis=0))

    stream = Stream.begin(SIGNS, widths[0])
    for variance, (_, cols) in zip(variances, shapes, strict=True):
        stream = rectified(stream.through(case.weights, variance, cols))
    numbers = widths[0] + sum(rows * cols for rows, cols in shapes)
    return draw, numbers, stream.variance / widths[-1] ** 2


def from_one(case: Case, expression: Expr) -> Expr:
    """An expression for a network that starts from q_0 = 1, where r_0 = 1 as well."""
    starts = {Term(name, 0): Rational(1) for name in "qr"}
    return case.at(expression.xreplace(starts))


@experiment(
    law="depth-product",
    quantity="E[q_2]/q_0",
    weights=SYMMETRIC,
    l=2,
    most={"l": 2},
    least={"l": 2},
)
def depth_product(case: Case) -> Trial:
    """Widths 5, 3, 4 and weights whose variances are neither LeCun's nor He's."""
    widths, scales = (5, 3, 4), (Rational(7, 2), Rational(3, 2))
    variances = tuple(scale / width for scale, width in zip(scales, widths, strict=False))
    draw, numbers, variance = network(case, widths, variances)
    values = {Term("n", t): Rational(widths[t]) for t in range(2)}
    values |= {Term("s", t): variances[t] for t in range(2)}
    claim = from_one(case, case.law.statement.rhs).xreplace(values)
    full = scales[0] * scales[1]
    backwards = full / 4 * Rational(widths[1] * widths[2], widths[0] * widths[1])
    return Trial(
        draw,
        numbers,
        claim,
        variance,
        {
            "without the halves": full,
            "its root": exact(full / 4) ** Rational(1, 2),
            "with fan-out for fan-in": backwards,
            "one half for all layers": full / 2,
        },
    )


def powers(case: Case, c: Number) -> Trial:
    d, depth = case.size("d"), case.size("l")
    draw, numbers, variance = network(case, (d,) * (depth + 1), (exact(c) / d,) * depth)
    half = exact(c) / 2
    return Trial(
        draw,
        numbers,
        from_one(case, case.law.statement.rhs),
        variance,
        {
            "c^l": exact(c) ** depth,
            "(c/2)^(l/2), the root": half ** Rational(depth, 2),
            "(c/2)^(l-1)": half ** (depth - 1),
            "(c/2)^(l+1)": half ** (depth + 1),
        },
    )


@experiment(law="depth-power", quantity="E[q_l]/q_0", weights=SYMMETRIC, d=4, l=2, c=Fraction(3, 2))
def depth_power(case: Case) -> Trial:
    return powers(case, case["c"])


@experiment(law="depth-lecun-relu", quantity="E[q_l]/q_0", weights=SYMMETRIC, d=4, l=2)
def depth_lecun_relu(case: Case) -> Trial:
    return powers(case, 1)


@experiment(law="depth-collapse", quantity="E[q_1]/q_0", weights=SYMMETRIC, d=8)
def depth_collapse(case: Case) -> Trial:
    """The factor per layer by which q falls to 2^(-252) in L - 1 layers."""
    d = case.size("d")
    draw, numbers, variance = network(case, (d, d), (Rational(1, d),))

    def factor(depth: Number) -> Expr:
        return exact(2) ** (-Rational(252) / (exact(depth) - 1))

    others = {"L = 127, without the root": 127, "L = 506": 506, "L = 20": 20}
    wrong = {name: factor(depth) for name, depth in others.items()}
    return Trial(draw, numbers, factor(case.claim()), variance, wrong)


@experiment(law="relu-std", quantity="Var[h]/E[h^2]", weights=NORMAL, v=Fraction(5, 2))
def relu_std(case: Case) -> Trial:
    """Half the squared difference of independent units, over E[h^2] = v/2."""
    half, ratio = float(case["v"]) / 2, case.claim()

    def statistic(z: Draws) -> Draws:
        h = relu(z)
        return np.asarray((h[::2] - h[1::2]) ** 2 / (2 * half))

    first, third, fourth = (value(f"relu(x)^{k}", case["v"]) for k in (1, 3, 4))
    square = (2 * fourth - 8 * third * first + 6 * half**2) / 4 / half**2
    wrong = {"1": 1, "1 - 1/pi, the variance": (1 - 1 / pi) ** 2, "1/2": Fraction(1, 4)}
    trial = over_units(case, statistic, square, ratio**2, wrong, variance=case["v"])
    return Trial(trial.draw, trial.numbers, trial.claimed, 2 * trial.variance, trial.neighbours)


@experiment(law="relu-square", quantity="E[relu(g)^2]", weights=NORMAL)
def relu_square(case: Case) -> Trial:
    wrong = {"1": 1, "1/sqrt(2 pi), the mean": 1 / sqrt(2 * pi), "1/2 - 1/(2 pi)": (1 - 1 / pi) / 2}
    return over_units(case, lambda z: relu(z) ** 2, 1.5, case.claim(), wrong)


@experiment(law="relu-fourth", quantity="E[relu(g)^4]", weights=NORMAL)
def relu_fourth(case: Case) -> Trial:
    wrong = {"3": 3, "1/4, the squared second moment": Fraction(1, 4), "1": 1}
    return over_units(case, lambda z: (relu(z) ** 2) ** 2, 52.5, case.claim(), wrong)


def factor_moment(width: int, order: int) -> Fraction:
    """E[S^order] for S = (2/n) Sum_j relu(g_j)^2, from the sampler's moments."""

    def unit(powers: Orders) -> Fraction:
        (k,) = powers
        return Fraction(2**k * prod(range(1, 2 * k, 2)), 2) if k else Fraction(1)

    return sum_moment(width, (order,), unit) / width**order


def opposite_moment(n: int, a: int, b: int) -> Fraction:
    """E[S^a S'^b] for the factors S and S' of W and -W: chi-squared with k and n - k degrees."""

    def chi(k: int, order: int) -> int:
        return prod(range(k, k + 2 * order, 2))

    ways = sum(comb(n, k) * chi(k, a) * chi(n - k, b) for k in range(n + 1))
    return Fraction(2 ** (a + b) * ways, n ** (a + b) * 2**n)


def square_of(case: Case, start: Draws, widths: tuple[int, ...]) -> tuple[Draw, int, Fraction]:
    """How to draw q_l^2 behind normal layers of He's variance from q_0 = 1, numbers, its variance.

    Weights of the last layer are taken with both signs, which are equally likely, and b (q_l - 1)
    is taken off q_l^2: of mean 0 by the sampler's moments. b makes the variance least. Entries of
    `start` that are 0 need no weights.
    """
    x = start[start != 0]
    shapes = list(pairwise((len(x), *widths)))
    stds = [sqrt(2 / fan_in) for fan_in in (len(start), *widths)]

    def draw(rng: Generator, replicates: int) -> Draws:
        z = np.zeros((len(x), replicates)) + x[:, None]
        for (rows, cols), std in zip(shapes, stds, strict=False):
            drawn = case.weights.sample(rng, (rows, cols, replicates))
            z = std * multiply(np.maximum(z, 0), drawn)  # what enters is not negative
        parts = (np.mean(np.maximum(part, 0) ** 2, axis=0) for part in (z, -z))
        return np.asarray(sum(q**2 - float(b) * (q - 1) for q in parts) / 2)

    def covariance(i: int, j: int) -> Fraction:
        """Of the means over both signs of q_l^i and q_l^j."""
        last = (factor_moment(widths[-1], i + j) + opposite_moment(widths[-1], i, j)) / 2
        before = prod(factor_moment(width, i + j) for width in widths[:-1])
        means = prod(factor_moment(width, k) for width in widths for k in (i, j))
        return before * last - means

    b = covariance(2, 1) / covariance(1, 1)
    spread = covariance(2, 2) - b * covariance(2, 1)
    return draw, sum(rows * cols for rows, cols in shapes), spread


def squares(case: Case, depth: int) -> Trial:
    """E[q_l^2] from a one-hot input with q_0 = 1, at Gaussian weights of variance 2/n."""
    n, width = case.size("n"), case["n"]
    draw, numbers, spread = square_of(case, sqrt(n) * np.eye(n)[0], (n,) * depth)
    wrong = {
        "1, kept": 1,
        "(1 + 2/n)^l, as without ReLU": (1 + 2 / width) ** depth,
        "(1 + 6/n)^l, the variance of the raw moment": (1 + 6 / width) ** depth,
        "(1 + 5/n)^(l+1)": (1 + 5 / width) ** (depth + 1),
    }
    if depth > 1:
        wrong["1 + 5 l/n, not compounded"] = 1 + 5 * depth / width
    claim = from_one(case, case.law.statement.rhs.subs(LAYERS, depth))
    return Trial(draw, numbers, claim, spread, wrong)


@experiment(law="depth-he-fourth", quantity="E[q_1^2]", weights=NORMAL, n=4)
def depth_he_fourth(case: Case) -> Trial:
    return squares(case, depth=1)


@experiment(law="depth-linear-fourth", quantity="E[q_l^2]", weights=NORMAL, n=6, l=2)
def depth_linear_fourth(case: Case) -> Trial:
    """E[q_l^2] from a one-hot input with q_0 = 1, through Gaussian weights of variance 1/n.

    Less b (q_l - 1), of mean 0; q_l is a product of chi-squares with n degrees of freedom over n.
    """
    n, depth = case.size("n"), case.size("l")
    layer = case.scaled(Fraction(1, n))

    def draw(rng: Generator, replicates: int) -> Draws:
        h = sqrt(n) * layer.sample(rng, (n, replicates))
        for _ in range(depth - 1):
            h = multiply(h, layer.sample(rng, (n, n, replicates)))
        q = np.mean(h**2, axis=0)
        return np.asarray(q**2 - float(b) * (q - 1))

    def moment(k: int) -> Fraction:
        return Fraction(prod(range(n, n + 2 * k, 2)), n**k) ** depth

    b = (moment(3) - moment(2)) / (moment(2) - 1)
    spread = moment(4) - moment(2) ** 2 - b * (moment(3) - moment(2))
    width = case["n"]
    claim = from_one(case, case.law.statement.rhs)
    wrong = {
        "1, kept, as by orthogonal matrices": 1,
        "(1 + 5/n)^l, as with ReLU": (1 + 5 / width) ** depth,
        "1 + 2/n, of one layer": 1 + 2 / width,
        "(1 + 3/n)^l": (1 + 3 / width) ** depth,
    }
    return Trial(draw, n + (depth - 1) * n**2, claim, spread, wrong)


@experiment(law="depth-he-spread", quantity="E[q_l^2]/E[q_l]^2", weights=NORMAL, n=6, l=2)
def depth_he_spread(case: Case) -> Trial:
    return squares(case, depth=case.size("l"))


def pair_variance(n: int) -> float:
    """The variance of (n/2)(log S 1[S > 0] + log S' 1[S' > 0]) - n (T - 1), T = (S + S')/2.

    S and S' belong to W and -W: given that k of the n pre-activations are positive they are
    independent, 2/n times chi-squared with k and n - k degrees of freedom. With the digamma psi and
    c = 4/n: E[log S] = log c + psi(k/2), Var[log S] = psi'(k/2), and
    E[S log S] = (2 k/n) (log c + psi(k/2 + 1)).
    """
    mean = square = 0.0
    for k in range(n + 1):
        odds, a, b = comb(n, k) / 2**n, k, n - k
        logs = [log(4 / n) + psi(f / 2) if f else 0.0 for f in (a, b)]
        spreads = [polygamma(1, f / 2) if f else 0.0 for f in (a, b)]
        sizes = [2 * f / n for f in (a, b)]
        tilted = [2 * f / n * (log(4 / n) + psi(f / 2 + 1)) if f else 0.0 for f in (a, b)]
        both = sum(s + m**2 for s, m in zip(spreads, logs, strict=True)) + 2 * logs[0] * logs[1]
        cross = sum(tilted) + logs[0] * sizes[1] + logs[1] * sizes[0]
        total = sum(logs)
        mean += odds * total
        # E[(total - 2 (T - 1))^2] with E[T] = 1, E[(T - 1)^2] = 2/n, E[total (2 T - 2)]
        square += odds * (both - 2 * (cross - 2 * total) + 4 * 2 / n)
    return (square - mean**2) * n**2 / 4


@experiment(law="depth-he-drift", quantity="n E[log(q_1/q_0)] at n and 2 n", weights=NORMAL, n=24)
def depth_he_drift(case: Case) -> Trial:
    """2 v(2 n) - v(n) for v(n) = n E[log S 1[S > 0]], so that an error of order 1/n cancels.

    The input is one-hot. W and -W are equally likely, and both are taken; the mean of S, which is
    1, is taken off. What is left of the error is 0.015 at n = 24; the tolerance is 0.06.
    """
    n, claim = case.size("n"), float(case.claim())

    def logarithm(rng: Generator, width: int, replicates: int) -> Draws:
        z = case.weights.sample(rng, (width, replicates))
        positive, negative = (np.sum(np.maximum(part, 0) ** 2, axis=0) for part in (z, -z))
        total = (positive + negative) / width
        logs = sum(np.log(np.where(s > 0, 2 * s / width, 1)) for s in (positive, negative))
        return np.asarray(width * (logs / 2 - (total - 1)))

    def draw(rng: Generator, replicates: int) -> Draws:
        wide, narrow = (logarithm(rng, width, replicates) for width in (2 * n, n))
        return 2 * wide - narrow - claim

    spread = 4 * pair_variance(2 * n) + pair_variance(n)
    wrong = {"-1, as without ReLU": -1.0, "-5": -5.0, "-3": -3.0, "0, kept": 0.0}
    others = {name: exact_of(other - claim) for name, other in wrong.items()}
    return Trial(draw, 3 * n, 0, spread, others, scale=6.0)


@experiment(
    law="depth-he-drift", quantity="n E[log(q_1/q_0)] at n, 4 n and 16 n", weights=NORMAL, n=8
)
def depth_he_drift_order(case: Case) -> LimitTrial:
    """The order of the error; the input is one-hot, W and -W are both taken, as above.

    k of n normal pre-activations are positive, k binomial; their squares add up to chi-square
    numbers with k and n - k degrees of freedom.
    """
    sizes, claim = tuple(case.size("n") * factor for factor in (1, 4, 16)), case.claim()

    def at(size: int) -> Trial:
        def draw(rng: Generator, replicates: int) -> Draws:
            k = rng.binomial(size, 0.5, replicates)
            sums = [2 * rng.standard_gamma(part / 2) for part in (k, size - k)]
            logs = sum(np.log(np.where(s > 0, 2 * s / size, 1)) for s in sums)
            return np.asarray(size * (logs / 2 - (sum(sums) / size - 1)))

        return Trial(draw, 3, claim, exact_of(pair_variance(size)), {})

    wrong = {"-1, as without ReLU": -1, "-5": -5, "-3": -3, "-2": -2}
    return LimitTrial(sizes, tuple(map(at, sizes)), claim, wrong, margins=(0.008, 0.004, 0.005))
