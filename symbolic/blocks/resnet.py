"""Residual networks of convolutions at their real sizes, as blocks."""

from sympy import Expr, Integer

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.block import Block, size
from varlaw.symbolic.blocks.convolution import Conv
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.norm import BatchNorm
from varlaw.symbolic.blocks.pooling import GlobalAveragePool
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Parallel, Residual
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.language import Text

STAGES = 3


def resnet(
    depth: Text = 20, *, width: Text = 16, image: Text = 32, classes: Text = 10, widen: Text = 1
) -> Block:
    """A pre-activation ResNet of CIFAR (He et al. 2016, "Identity mappings", section 3).

    `depth` is 6n + 2 layers: 3 stages of n blocks of two 3 x 3 convolutions, with `width`, twice
    and four times as many channels (`widen` times those: Zagoruyko and Komodakis 2016), on images
    of side `image`, which halves from stage to stage by a stride and a projection. Weights have the
    variance 2/fan-out (fb.resnet.torch; He et al. 2015, section 2.2), those of the last layer
    1/fan-in. Norms are those of large batches; moments
    are means over positions, which at the border are lower. Raises BlockError for another depth.
    """
    blocks = (size(depth, "depth") - 2) / 6
    if not (blocks.is_Integer and blocks > 0):
        raise BlockError("the depth of a ResNet is 6n + 2, such as 20 or 110")
    side, channels = size(image, "side of the image"), size(width, "width")
    wide = channels * size(widen, "factor of the width")
    whole: Block = _conv(Integer(3), channels, side)
    for stage in range(STAGES):
        whole = whole >> _stage(channels, wide, side, 2 if stage else 1, blocks)
        side = side / 2 if stage else side
        channels, wide = wide, 2 * wide
    head = GlobalAveragePool(side**2) >> Linear(channels, classes, var=1 / channels)
    return whole >> _active() >> head


def _stage(inward: Expr, outward: Expr, side: Expr, stride: int, blocks: Expr) -> Block:
    """Blocks of one width; the first of them may change the width, and the side."""
    plain = Residual(_active() >> _branch(outward, outward, side / stride, 1))
    if stride == 1 and inward == outward:
        return Repeat(plain, blocks)
    projection = Conv(inward, outward, 1, var=2 / outward, stride=stride, size=side)
    first = _active() >> Parallel(projection, _branch(inward, outward, side, stride))
    return first if blocks == 1 else first >> Repeat(plain, blocks - 1)


def _branch(inward: Expr, outward: Expr, side: Expr, stride: int) -> Block:
    first = _conv(inward, outward, side, stride)
    return first >> _active() >> _conv(outward, outward, side / stride)


def _active() -> Block:
    return BatchNorm() >> Activation("relu")


def _conv(inward: Expr, outward: Expr, side: Expr, stride: int = 1) -> Block:
    fan_out = 9 * outward
    return Conv(inward, outward, 3, var=2 / fan_out, stride=stride, padding=1, size=side)
