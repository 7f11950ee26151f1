"""Experiments on typical values: medians, which a law about the mean says nothing of."""

from math import pi

import numpy as np
from numpy.random import Generator

from varlaw.checks.experiments.activations import exact_of
from varlaw.checks.experiments.registry import Case, Draws, Trial, experiment
from varlaw.checks.simulate import Conditional, constant, relu
from varlaw.checks.statistics.methods import Quantile

LEAST = 1e-60  # in place of a network that died; the median is above it


@experiment(
    law="depth-he-drift",
    quantity="(n/l) log of the median of q_l/q_0",
    weights=("normal",),
    n=40,
    l=11,
    least={"n": 24, "l": 4},
)
def typical(case: Case) -> Trial:
    """The sum of l drifts is about normal, of variance 5 l/n: its median is l times the claim/n.

    The error is of order 1/l + 1/n, about 0.01 at n = 40 and l = 11; the tolerance is 0.06. The
    mean of q_l/q_0 is 1 at any depth.
    """
    n, depth, claim = case.size("n"), case.size("l"), float(case.claim())
    nets = Conditional(constant(n, depth, relu, 2.0))

    def draw(rng: Generator, replicates: int) -> Draws:
        *_, (_, q) = nets.layers(rng, np.ones(n), replicates)
        return np.asarray(n / depth * np.log(np.maximum(q[:, 0], LEAST)) - claim)

    quantile = Quantile()
    spread = quantile.probability * (1 - quantile.probability) * 2 * pi * 5 * n / depth
    wrong = {"0, as for the mean": 0.0, "-1, as without ReLU": -1.0, "-5": -5.0, "-3": -3.0}
    others = {name: exact_of(other - claim) for name, other in wrong.items()}
    return Trial(
        draw,
        depth * n,
        0,
        spread,
        others,
        scale=6.0,
        work=4 * n,
        method=quantile,
        sampler=nets.name,
    )
