"""The experiment on real LayerNorm: centre, divide by the std over the features, no epsilon."""

from fractions import Fraction

import numpy as np
from numpy.random import Generator
from scipy.special import hyp2f1

from varlaw.checks.experiments.registry import Case, Draws, LimitTrial, Trial, experiment
from varlaw.checks.statistics.sampling import LAWS, Law

SPLIT = 4  # so many layers take their branch with both signs


def standardise(x: Draws) -> tuple[Draws, Draws]:
    """LayerNorm over the features (the second last axis), and the std that it divided by."""
    centred = x - x.mean(axis=-2, keepdims=True)
    std = np.sqrt(np.mean(centred**2, axis=-2, keepdims=True))
    return centred / std, std


def stream(
    rng: Generator, replicates: int, width: int, depth: int, std: float, law: Law = LAWS["normal"]
) -> tuple[Draws, Draws, Draws]:
    """x_0, x_l and the weight of x_0 in x_l, for x' = LayerNorm(x + std F), F a normalised vector.

    Axes: paths, features, replicates. The first layers add their branch with both signs, which
    are equally likely, and so double the paths.
    """
    first, _ = standardise(law.sample(rng, (1, width, replicates)))
    x, weight = first, np.ones((1, 1, replicates))
    for t in range(depth):
        branch, _ = standardise(law.sample(rng, (width, replicates)))
        branch *= std
        total = np.concatenate([x + branch, x - branch]) if t < SPLIT else x + branch
        x, divisor = standardise(total)
        weight = np.tile(weight, (len(total) // len(weight), 1, 1)) / divisor
    return first, x, weight


def bound(width: int, depth: int, s2: float) -> float:
    """A bound on the variance of the weight of x_0, averaged over the paths.

    With f = x.F/d, a coordinate of a uniform point of the sphere in r = d - 1 dimensions,
    E[f^(2k)] = (1/2)_k/(r/2)_k (Pochhammer symbols), the squared divisor is
    S = (1 + s2)(1 + rho f) with rho = 2 sqrt(s2)/(1 + s2), and f is independent of layer to layer.
    Series in f give Gauss's functions F (DLMF 15.2.1) with argument rho^2:

        E[S^(-1/2)] = (1 + s2)^(-1/2) F(1/4, 3/4; r/2),  E[1/S] = F(1/2, 1; r/2)/(1 + s2),
        E[(S S')^(-1/2)] = F(1/2, 1/2; r/2)/(1 + s2)     for the two signs S, S' of one branch.

    Where both signs are taken, the two paths that follow have one law, so that by Cauchy-Schwarz
    the second moment of the average is at most E[((S^(-1/2) + S'^(-1/2))/2)^2] times theirs.
    """
    half, square = (width - 1) / 2, 4 * s2 / (1 + s2) ** 2
    alone, both = hyp2f1(0.5, 1, half, square), hyp2f1(0.5, 0.5, half, square)
    split = min(depth, SPLIT)
    second = ((alone + both) / 2) ** split * alone ** (depth - split)
    return float((second - hyp2f1(0.25, 0.75, half, square) ** (2 * depth)) / (1 + s2) ** depth)


@experiment(
    law="post-norm-layernorm",
    quantity="weight of x_0 as d grows",
    weights=("normal",),
    least={"d": 8},
    d=16,
    l=3,
    s2=Fraction(1, 2),
)
def layer_norm(case: Case) -> LimitTrial:
    """The weight of x_0 at widths d, 2d and 4d: its limit, and the order 1/d of its error."""
    depth, s2, claim, l = case.size("l"), float(case["s2"]), case.claim(), case["l"]  # noqa: E741
    sizes = tuple(case.size("d") * factor for factor in (1, 2, 4))

    def trial(width: int) -> Trial:
        def draw(rng: Generator, replicates: int) -> Draws:
            _, _, weight = stream(rng, replicates, width, depth, s2**0.5, case.weights)
            return np.asarray(weight.mean(axis=(0, 1)))

        work = width * 2 ** min(depth, SPLIT)
        return Trial(draw, width * (depth + 1), claim, bound(width, depth, s2), {}, work=work)

    grown = 1 + case["s2"]
    return LimitTrial(
        sizes,
        tuple(map(trial, sizes)),
        claim,
        {
            "(1 + s2)^-l, the square": grown**-l,
            "1, as in Pre-Norm": 1,
            "(1 + s2)^(-(l-1)/2), one layer short": grown ** (-(l - 1) / 2),
            "(1 + s2)^(-(l+1)/2), one layer too many": grown ** (-(l + 1) / 2),
        },
        margins=(0.016 / sizes[0], 0.0128 / sizes[0], 0.0128 / sizes[0]),
    )
