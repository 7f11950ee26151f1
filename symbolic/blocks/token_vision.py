"""Class tokens and positions token by token."""

from dataclasses import replace

import numpy as np

from varlaw.symbolic.blocks.tokens import Tokens, back, follow, value
from varlaw.symbolic.blocks.vision import ClassToken, FirstToken, Places
from varlaw.symbolic.gaussian.arrays import Array


@follow.register
def _(block: ClassToken, tokens: Tokens) -> Tokens:
    products = np.pad(tokens.products, (1, 0))
    products[0, 0] = value(block.var)
    return replace(tokens, products=products, means=np.pad(tokens.means, (1, 0)))


@back.register
def _(block: ClassToken, gradient: Array, tokens: Tokens) -> Array:
    return gradient[1:, 1:]


@follow.register
def _(block: Places, tokens: Tokens) -> Tokens:
    return replace(tokens, products=tokens.products + value(block.var) * np.eye(len(tokens.means)))


@back.register
def _(block: Places, gradient: Array, tokens: Tokens) -> Array:
    return gradient


@follow.register
def _(block: FirstToken, tokens: Tokens) -> Tokens:
    return replace(tokens, products=tokens.products[:1, :1], means=tokens.means[:1])


@back.register
def _(block: FirstToken, gradient: Array, tokens: Tokens) -> Array:
    found = np.zeros_like(tokens.products)
    found[:1, :1] = gradient
    return found
