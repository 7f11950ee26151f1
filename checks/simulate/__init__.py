"""Deep fully connected nets, drawn fast: the nets, two samplers, and what an estimate takes."""

from varlaw.checks.simulate.estimators import (
    excess,
    layer_ratios,
    networks,
    spread_by_layers,
    spread_end_to_end,
)
from varlaw.checks.simulate.nets import Net, constant, linear, relu, tanh
from varlaw.checks.simulate.samplers import Conditional, Direct, Sampler, second_moments

__all__ = [
    "Conditional",
    "Direct",
    "Net",
    "Sampler",
    "constant",
    "excess",
    "layer_ratios",
    "linear",
    "networks",
    "relu",
    "second_moments",
    "spread_by_layers",
    "spread_end_to_end",
    "tanh",
]
