"""The ResNet of blocks against one written out in NumPy, and against a count of its parameters."""

from itertools import product

import numpy as np
import pytest
from sympy import Integer

from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.convolution import Conv
from varlaw.symbolic.blocks.resnet import resnet
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.blocks.walk import walk

BATCH, SIDE, WIDTH, NETWORKS = 8, 8, 32, 30


@pytest.mark.parametrize(("depth", "millions"), [(20, 0.27), (56, 0.85), (110, 1.7)])
def test_parameters_are_as_many_as_published(depth, millions):
    """He et al. 2016, "Deep residual learning", table 6; projections add a little."""
    count = 0
    for site in walk(resnet(depth), start(Integer(1), 0)):
        if isinstance(site.block, Conv):
            count += site.block.channels_in * site.block.channels_out * site.block.window.kernel**2
    assert float(count) / 1e6 == pytest.approx(millions, rel=0.03)


@pytest.mark.parametrize("depth", [3, 2, 21, "d"])
def test_other_depths_are_refused(depth):
    with pytest.raises(BlockError, match="6n"):
        resnet(depth)


def test_moments_against_networks_in_numpy():
    """The stream behind each stage within 10 %, on white noise.

    On images as small as these it is 5 % more than by means over positions: a convolution counts
    the border, where moments are lower, less often. Half a block too many or too few would be seen.
    """
    block = resnet(14, width=WIDTH, image=SIDE)
    claimed, state = [], start(Integer(1), 0)
    for part in block.parts:
        state = part.forward(state)
        claimed.append(float(state.second_moment))
    rng = np.random.default_rng(3)
    measured = np.mean([network(rng, 2) for _ in range(NETWORKS)], axis=0)
    # stem, stage 1, then each stage's first block (norm, relu, sum) and its others, and logits
    found = [claimed[k] for k in (0, 1, 5, 9, -1)]
    assert measured[:4] == pytest.approx(found[:4], rel=0.1)
    assert measured[4] == pytest.approx(found[4], rel=0.25)  # ten logits of a few networks
    assert measured[1] != pytest.approx(claimed[0] + 0.5, rel=0.1)


def network(rng, blocks):
    """Mean squares of the stream in a pre-activation ResNet; arrays are (batch, side, side, c)."""
    x = conv(rng, rng.standard_normal((BATCH, SIDE, SIDE, 3)), WIDTH)
    found = [(x**2).mean()]
    for stage, block in product(range(3), range(blocks)):
        wide = WIDTH * 2**stage
        stride = 2 if stage and not block else 1
        h = active(x)
        if stride == 2:
            x = conv(rng, h, wide, stride=2, kernel=1)
        x = x + conv(rng, active(conv(rng, h, wide, stride=stride)), wide)
        if block == blocks - 1:
            found.append((x**2).mean())
    features = active(x).mean((1, 2))
    head = rng.standard_normal((features.shape[1], 10)) / np.sqrt(features.shape[1])
    return [*found, ((features @ head) ** 2).mean()]


def active(x):
    """Norm over the batch and positions, and ReLU."""
    return np.maximum((x - x.mean((0, 1, 2))) / x.std((0, 1, 2)), 0)


def conv(rng, x, channels, stride=1, kernel=3):
    edge, side = kernel // 2, x.shape[1]
    padded = np.pad(x, [(0, 0), (edge, edge), (edge, edge), (0, 0)])
    std = np.sqrt(2 / (kernel**2 * channels))
    out = 0
    for i, j in product(range(kernel), repeat=2):
        w = std * rng.standard_normal((x.shape[-1], channels))
        out = out + padded[:, i : i + side : stride, j : j + side : stride] @ w
    return out
