"""Adam's epsilon and weight decay with width and depth, as published and in networks that train."""

import numpy as np
import pytest

from varlaw.checks.training.networks import Network, trained
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.parametrisation.adam import epsilon, weight_decay
from varlaw.symbolic.parametrisation.layers import Kind
from varlaw.symbolic.parametrisation.named import parametrisation

PUBLISHED = {  # Dey et al. 2025, table 1, alpha = 1: epsilon, weight decay
    Kind.EMBEDDING: ("1/n", "1"),
    Kind.HIDDEN: ("1/(L*n)", "n"),
    Kind.OUTPUT: ("1/n", "1"),
    Kind.GAIN: ("1/(L*n)", "1"),
}


def test_completep_as_published():
    p = parametrisation("completep", "adam")
    for kind, expected in PUBLISHED.items():
        assert (typed(epsilon(p, kind)), typed(weight_decay(p, kind))) == expected


def test_depth_mup_has_the_root_of_the_depth():
    """Branches of 1/sqrt(L): gradients go like it, and rates too, so that the decay grows."""
    p = parametrisation("depth-mup", "adam")
    assert typed(epsilon(p, Kind.HIDDEN)) == "1/(sqrt(L)*n)"
    assert typed(weight_decay(p, Kind.HIDDEN)) == "sqrt(L)*n"


def change(scaled, width, depth):
    """The root mean square of what the last stream moved by in two steps."""
    p = parametrisation("completep", "adam")
    small = 0.3 if scaled else 0.3 / 32 / 4  # the same at width 32 and depth 4
    net = Network(p, width, depth, frozen=True, epsilon=small, scaled=scaled)
    found = []
    for seed in range(6):
        before, after = trained(net, net.weights(np.random.default_rng(seed)), 2)
        found.append(np.mean((after[-3] - before[-3]) ** 2))
    return float(np.sqrt(np.mean(found)))


@pytest.mark.parametrize("sizes", [(128, 4), (32, 16)])
def test_networks_move_alike_with_it_only(sizes):
    """Four times as wide, or as deep: with a constant epsilon steps are far smaller."""
    base = change(True, 32, 4)
    assert base == pytest.approx(change(False, 32, 4), rel=1e-9)
    assert change(True, *sizes) == pytest.approx(base, rel=0.3)
    assert change(False, *sizes) < 0.7 * base
