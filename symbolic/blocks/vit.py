"""The vision transformer at its real sizes and initialisation."""

from sympy import Integer

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, quantity
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.norm import LayerNorm
from varlaw.symbolic.blocks.options import sizes_of
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import pre_norm
from varlaw.symbolic.blocks.sizes import VIT, Sizes
from varlaw.symbolic.blocks.vision import ClassToken, FirstToken, Patches, Places
from varlaw.symbolic.language import Text, read


@sizes_of(VIT, "ViT", "base")
def vit(
    s: Sizes,
    *,
    image: Text = 224,
    patch: Text = 16,
    channels: Text = 3,
    classes: Text = 1000,
    std: Text = "1/50",
    eps: Text = 0,
) -> Block:
    """ViT (Dosovitskiy et al. 2021, section 3.1, table 1; tiny and small: Touvron et al. 2021).

    Pre-Norm over patches, a class token and learned positions; the head reads the class token. All
    weights, the class token and the positions are normal of deviation 0.02 (Hugging Face's
    modeling_vit.py, whose cut at 2 is at a hundred deviations). What enters is a pixel.
    """
    v = quantity(std, "deviation of the weights") ** 2
    d, n, norm = read(s.width), read(s.inner), LayerNorm(eps)
    patches = Patches(channels, d, patch, image, var=v)
    many = patches.tokens + Integer(1)
    attention = Attention(
        d, many, heads=s.heads, head_width=s.head_width, query=v, key=v, value=v, out=v
    )
    feed = Linear(d, n, var=v) >> Activation("gelu") >> Linear(n, d, var=v)
    layer = pre_norm(attention, norm) >> pre_norm(feed, norm)
    tokens = patches >> ClassToken(patches.tokens, var=v) >> Places(v)
    return tokens >> Repeat(layer, s.depth) >> norm >> FirstToken(many) >> Linear(d, classes, var=v)
