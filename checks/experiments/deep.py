"""Experiments on the layers of deep ReLU nets: the growth from layer to layer, all layers pooled.

It has mean c/2 in every layer if the law is right, while q_l itself is nearly log-normal. So many
layers are easier to measure than one, and not harder.
"""

from dataclasses import replace
from fractions import Fraction
from math import exp, log, log10

import numpy as np
from numpy.random import Generator
from sympy import Integer, sqrt

from varlaw.checks.experiments.activations import exact_of
from varlaw.checks.experiments.depth import from_one
from varlaw.checks.experiments.registry import SYMMETRIC, Case, Draws, Trial, experiment
from varlaw.checks.simulate import (
    Conditional,
    Direct,
    constant,
    layer_ratios,
    relu,
    second_moments,
    spread_by_layers,
)


@experiment(
    law="depth-power",
    quantity="q_(t+1)/q_t, mean over l layers",
    weights=SYMMETRIC,
    d=32,
    l=10,
    c=Fraction(3, 2),
    least={"d": 24},
)
def depth_power_by_layers(case: Case) -> Trial:
    """Given h_t, the squares of the units have the excess 2 E[z^4]/E[z^2]^2 - 1.

    That is at most 2 max(E[w^4], 3) - 1 for standardised weights w. Narrower nets may die.
    """
    d, depth, c = case.size("d"), case.size("l"), case["c"]
    net = constant(d, depth, relu, float(c))
    decades = depth * abs(log10(c / 2) - 2.5 / d / log(10))  # that a typical q_l moves
    dtype = np.float32 if decades < 40 else np.float64
    nets = Conditional(net, dtype) if case.weights.gaussian else Direct(net, case.weights, dtype)

    def draw(rng: Generator, replicates: int) -> Draws:
        q = second_moments(nets, rng, np.ones(d), replicates)
        return layer_ratios(q, lambda q: q)

    excess = 2 * max(float(case.weights.moment(4)), 3.0) - 1
    one = from_one(replace(case, values={**case.values, "l": 1}), case.law.statement.rhs)
    spread = spread_by_layers(net.widths, excess) * float(c / 2) ** 2
    drift = exp(-2.5 / d)  # of log q in a layer, near enough to 1 in a wide one
    typical = {"c/2 e^(-5/(2 d)), as for a typical q": exact_of(float(c / 2) * drift)}
    typical = typical if drift < 0.96 else {}
    return Trial(
        draw,
        depth * d * (1 if case.weights.gaussian else d),
        one,
        spread,
        {
            "c, as without ReLU": c,
            "sqrt(c/2), as for the std": sqrt(c / 2),
            "1": Integer(1),
            **typical,
        },
        sampler=nets.name,
    )
