"""Residual blocks with the scales of published initialisations."""

from copy import copy
from functools import singledispatch

from sympy import Expr

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import Block, Sequential, quantity, size
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.norm import LayerNorm
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.state import ONE, BlockError, tidy
from varlaw.symbolic.language import Text, read


def deep_norm(branch: Block, depth: Text, norm: Block | None = None) -> Block:
    """norm(a x + F(x)) with a = (2N)^(1/4), N layers of an encoder or a decoder alone.

    The weights of F (of attention those of values and output) are multiplied by (8N)^(-1/4)
    (Wang et al. 2022, "DeepNet", table 1).
    """
    layers = size(depth, "number of layers")
    smaller = rescaled(branch, tidy((8 * layers) ** (-ONE / 2)))
    return Sequential((Residual(smaller, (2 * layers) ** (ONE / 4)), norm or LayerNorm()))


def re_zero(branch: Block, b: Text = 0) -> Block:
    """x + b F(x), b = 0 at the start (Bachlechner et al. 2021, section 3)."""
    return Residual(branch, 1, b)


def skip_init(branch: Block, b: Text = 0) -> Block:
    """x + b F(x) without norms, b = 0 at the start (De and Smith 2020, section 5)."""
    return Residual(branch, 1, b)


def fixup(branch: Block, depth: Text, last: Text = 0) -> Block:
    """x + F(x) in a network of L such branches, without norms.

    The weights of the m linear layers of F but the last are multiplied by L^(-1/(2m-2)), and those
    of the last one by `last`, 0 at the start (Zhang et al. 2019, section 3.2).
    """
    if not isinstance(branch, Sequential):
        raise BlockError("fixup takes a branch of two linear layers at least")
    places = [place for place, part in enumerate(branch.parts) if isinstance(part, Linear)]
    if len(places) < 2:
        raise BlockError("fixup takes a branch of two linear layers at least")
    layers, parts = size(depth, "number of branches"), list(branch.parts)
    smaller = tidy(layers ** (-ONE / (len(places) - 1)))
    for place in places:
        end = place == places[-1]
        parts[place] = rescaled(parts[place], read(last) ** 2 if end else smaller)
    return Residual(Sequential(tuple(parts)))


@singledispatch
def rescaled(block: Block, factor: Expr) -> Block:
    """The block with the variances of its weights multiplied by a factor."""
    return block


@rescaled.register
def _(block: Linear, factor: Expr) -> Block:
    return _changed(block, var=tidy(quantity(block.var * factor, "variance of the weights")))


@rescaled.register
def _(block: Attention, factor: Expr) -> Block:
    """Of values and output; queries and keys stay as they are."""
    return _changed(block, value=tidy(block.value * factor), out=tidy(block.out * factor))


@rescaled.register
def _(block: Sequential, factor: Expr) -> Block:
    return Sequential(tuple(rescaled(part, factor) for part in block.parts))


@rescaled.register
def _(block: Parallel, factor: Expr) -> Block:
    return Parallel(*(rescaled(branch, factor) for branch in block.branches))


@rescaled.register
def _(block: Gate, factor: Expr) -> Block:
    return Gate(rescaled(block.left, factor), rescaled(block.right, factor))


def _changed(block: Block, **values: Expr) -> Block:
    """A copy of a block with other values."""
    made = copy(block)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made
