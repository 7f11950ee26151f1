"""Patches, class tokens and positions: moments written out, and ViT as published."""

import numpy as np
import pytest

from varlaw.checks.blocks.layerwise import measure_layers
from varlaw.checks.blocks.measuring import SOFTMAX
from varlaw.checks.blocks.measuring import weights_drawn as weights_of
from varlaw.symbolic.blocks.block import start
from varlaw.symbolic.blocks.layerwise import layers, tokens_of
from varlaw.symbolic.blocks.reader import read_block
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient
from varlaw.symbolic.blocks.tokens import alike, back, follow
from varlaw.symbolic.blocks.vit import vit
from varlaw.symbolic.blocks.written import written

ROW = "classtoken(4, var=3) >> places(1/2) >> firsttoken(5)"


def test_moments_are_means_over_tokens():
    state = start(2, "1/4")
    block = read_block("classtoken(4, var=3) >> places(1/2)")
    out, found = block.forward(state), follow(block, alike(state, 4))
    assert out.second_moment == (4 * 2 + 3) * ONE / 5 + ONE / 2
    assert out.product == (4 * 3) * ONE / 2 / (5 * 4)  # of 20 pairs 12 are of patches
    assert found.second_moment == pytest.approx(float(out.second_moment))
    assert found.product == pytest.approx(float(out.product))
    assert np.diag(found.products) == pytest.approx([3.5, 2.5, 2.5, 2.5, 2.5])


def test_the_first_token_alone():
    block, state = read_block(ROW), start(2, "1/4")
    found = follow(block, alike(state, 4))
    assert found.products == pytest.approx(np.array([[3.5]]))
    assert np.all(back(block, np.eye(1), alike(state, 4)) == 0)  # none reaches the patches
    last = block.parts[-1].backward(Gradient(second_moment=ONE), state)
    assert last.second_moment == ONE / 5
    with pytest.raises(BlockError, match="differ"):
        block.backward(Gradient(second_moment=ONE), state)
    assert read_block(written(block)) == block


def test_patches():
    block = read_block("patches(3, 8, 4, 32, var=v)")
    assert block.tokens == 64
    assert tokens_of(block) == 64
    assert (
        block.forward(start("q")).second_moment
        == read_block("conv(3, 8, 4, var=v, stride=4)").forward(start("q")).second_moment
    )
    assert read_block(written(block)) == block


@pytest.mark.parametrize(
    ("model", "millions"),
    [  # less biases, norms, positions and the class token
        (vit("base"), 86.57 - 0.27),
        (vit("large"), 304.33 - 0.49),
        (vit("huge", patch=14), 632.05 - 0.87),
        (vit("tiny"), 5.72 - 0.07),
    ],
)
def test_parameters_are_as_many_as_published(model, millions):
    attention = model.parts[3].block.parts[0].branch.parts[1]
    squares = attention.heads * attention.tokens**2 * model.parts[3].depth
    assert float(weights_of(model, None) - SOFTMAX * squares) / 1e6 == pytest.approx(
        millions, rel=3e-3
    )


def test_measured():
    text = "vit(base, depth=2, width=96, heads=4, image=40, patch=8, channels=2, classes=96, std=s)"
    block = read_block(text, {"s": ONE / 16})
    for layer in measure_layers(block, start(1, "1/2"), networks=8):
        for found in (layer.second_moment, layer.branch):
            if found is not None:
                bound = 6 * found.error + 0.03 * found.claimed
                assert abs(found.estimate - found.claimed) < bound, layer
    assert [layer.name for layer in layers(block, start(1, "1/2"))][:4] == [
        "patches",
        "classtoken",
        "places",
        "1.attention",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [("patches(3, 8, 5, 32, var=1)", "no multiple of 5"), ("vit(bas)", "did you mean 'base'")],
)
def test_refused(text, message):
    with pytest.raises(BlockError, match=message):
        read_block(text)
