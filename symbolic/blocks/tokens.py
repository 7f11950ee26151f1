"""Every token of a sequence, in numbers: second moments by position, and of each pair of tokens.

Where tokens are not alike, as behind a causal mask, means over positions do not follow from means.
The maps are those of the wide limit; each has its symbolic twin in the block it is of.
"""

from dataclasses import dataclass, replace
from functools import singledispatch
from math import factorial, sqrt

import numpy as np
from sympy import Expr, Symbol

from varlaw.symbolic.blocks.activation import Activation
from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.linear import Dropout, Embedding, Linear
from varlaw.symbolic.blocks.norm import LayerNorm, RMSNorm
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.residual import Gate, Parallel, Residual
from varlaw.symbolic.blocks.shift import Shift
from varlaw.symbolic.blocks.state import BlockError, State
from varlaw.symbolic.gains.slopes import slope_of
from varlaw.symbolic.gaussian.arrays import Array, on_arrays

GRID = np.linspace(-10, 10, 4000)  # of a normal variable, without 0
DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
DEGREE = 40  # of Hermite polynomials, for pairs of tokens
LEAST = 1e-9  # part of a second moment that is not left out
ALIKE = 6  # decimals of a feature's scale up to which two tokens are alike


@dataclass(frozen=True)
class Tokens:
    """`products[t, s]` is E[x_t x_s] of a feature, `means[t]` is E[x_t].

    `memory` are the tokens that cross attention reads; `gaussian` is as in `State`.
    """

    products: Array
    means: Array
    memory: "Tokens | None" = None
    gaussian: bool = True

    @property
    def second_moment(self) -> float:
        """The mean over positions."""
        return float(np.diag(self.products).mean())

    @property
    def product(self) -> float:
        """The mean over pairs of different tokens."""
        n = len(self.means)
        return float(np.triu(self.products, 1).sum()) / max(n * (n - 1) / 2, 1)


def alike(state: State, count: int) -> Tokens:
    """Tokens of one state. Raises BlockError where names have no values."""
    q, m = value(state.second_moment), value(state.mean)
    products = np.full((count, count), m**2 if state.product is None else value(state.product))
    np.fill_diagonal(products, q)
    return Tokens(products, np.full(count, m), gaussian=state.gaussian)


def value(expression: Expr) -> float:
    """The number that an expression is. Raises BlockError where names have no values."""
    if missing := expression.free_symbols:
        names = sorted(map(str, missing))
        listed = ", ".join("q0 (--second-moment)" if name == "q0" else name for name in names)
        raise BlockError(f"layers one by one need numbers for {listed}")
    return float(expression)


@singledispatch
def follow(block: Block, tokens: Tokens) -> Tokens:
    """The tokens at the output of a block. Raises BlockError for a block that is not covered."""
    raise BlockError(f"{type(block).__name__.lower()} is not followed token by token")


@singledispatch
def back(block: Block, gradient: Array, tokens: Tokens) -> Array:
    """E[g_t g_s] of an entry at the input, from that at the output; `tokens` enter the block.

    Raises BlockError for a block that is not covered.
    """
    raise BlockError(f"gradients through {type(block).__name__.lower()} are not followed by token")


@follow.register
def _(block: Sequential, tokens: Tokens) -> Tokens:
    for part in block.parts:
        tokens = follow(part, tokens)
    return tokens


@back.register
def _(block: Sequential, gradient: Array, tokens: Tokens) -> Array:
    entering = [tokens]
    for part in block.parts[:-1]:
        entering.append(follow(part, entering[-1]))
    for part, state in zip(reversed(block.parts), reversed(entering), strict=True):
        gradient = back(part, gradient, state)
    return gradient


@follow.register
def _(block: Repeat, tokens: Tokens) -> Tokens:
    return follow(_unrolled(block), tokens)


@back.register
def _(block: Repeat, gradient: Array, tokens: Tokens) -> Array:
    return back(_unrolled(block), gradient, tokens)


def _unrolled(block: Repeat) -> Sequential:
    return Sequential((block.block,) * round(value(block.depth)))


@follow.register
def _(block: Embedding, tokens: Tokens) -> Tokens:
    count = len(tokens.means)
    out = block.forward(State(second_moment=block.var))
    shared = value(out.followed)
    products = shared + (value(out.second_moment) - shared) * np.eye(count)
    return replace(tokens, products=products, means=np.zeros(count), gaussian=True)


@back.register(Embedding)
@back.register(Shift)
def _(block: Block, gradient: Array, tokens: Tokens) -> Array:
    return gradient


@follow.register
def _(block: Shift, tokens: Tokens) -> Tokens:
    return replace(tokens, products=tokens.products + value(block.var))


@follow.register
def _(block: Linear, tokens: Tokens) -> Tokens:
    gain = value(block.fan_in * block.var * block.scale**2)
    products = gain * tokens.products + value(block.bias)
    return replace(tokens, products=products, means=np.zeros(len(products)), gaussian=True)


@back.register
def _(block: Linear, gradient: Array, tokens: Tokens) -> Array:
    return value(block.fan_out * block.var * block.scale**2) * gradient


@follow.register
def _(block: Dropout, tokens: Tokens) -> Tokens:
    gaussian = tokens.gaussian and block.p == 0
    return replace(tokens, products=_dropped(block, tokens.products), gaussian=gaussian)


@back.register
def _(block: Dropout, gradient: Array, tokens: Tokens) -> Array:
    return _dropped(block, gradient)


def _dropped(block: Dropout, products: Array) -> Array:
    """Only squares of entries see what is dropped."""
    return products + np.diag(np.diag(products)) * (1 / (1 - value(block.p)) - 1)


@follow.register(LayerNorm)
@follow.register(RMSNorm)
def _(block: LayerNorm | RMSNorm, tokens: Tokens) -> Tokens:
    x = _normed(block, tokens)
    scale = _scale(block, tokens)
    return replace(x, products=x.products / np.outer(scale, scale), means=x.means / scale)


@back.register(LayerNorm)
@back.register(RMSNorm)
def _(block: LayerNorm | RMSNorm, gradient: Array, tokens: Tokens) -> Array:
    scale = _scale(block, tokens)
    return np.asarray(gradient / np.outer(scale, scale))


def _normed(block: LayerNorm | RMSNorm, tokens: Tokens) -> Tokens:
    """What a norm divides: LayerNorm takes the mean first."""
    if isinstance(block, RMSNorm):
        return tokens
    m = tokens.means
    return replace(tokens, products=tokens.products - np.outer(m, m), means=np.zeros(len(m)))


def _scale(block: LayerNorm | RMSNorm, tokens: Tokens) -> Array:
    return np.sqrt(np.diag(_normed(block, tokens).products) + value(block.eps))


@follow.register
def _(block: Activation, tokens: Tokens) -> Tokens:
    return _mapped(block.function, block.variable, tokens)


@back.register
def _(block: Activation, gradient: Array, tokens: Tokens) -> Array:
    slope = slope_of(block.function, block.variable)
    return np.asarray(gradient * _mapped(slope, block.variable, tokens).products)


def _mapped(f: Expr, x: Symbol, tokens: Tokens) -> Tokens:
    """Means of f and of its products, by Mehler's formula. Raises BlockError: see `Activation`."""
    if not tokens.gaussian:
        raise BlockError("an activation needs Gaussian features: put a linear layer before it")
    m = tokens.means
    covariances = tokens.products - np.outer(m, m)
    spread = np.sqrt(np.diag(covariances))
    rho = np.clip(covariances / np.outer(spread, spread), -1, 1)
    size = np.abs([m, spread]).max()
    kinds, which = np.unique(np.round([m, spread] / size, ALIKE), axis=1, return_inverse=True)
    kinds = size * kinds
    at = on_arrays(f, x)(kinds[0][:, None] + kinds[1][:, None] * GRID)
    hermite = np.polynomial.hermite_e.hermevander(GRID, DEGREE - 1)
    hermite /= [sqrt(factorial(k)) for k in range(DEGREE)]
    squares, c = (at**2 @ DENSITY)[which], ((at * DENSITY) @ hermite)[which]
    rest = np.sqrt(np.maximum(squares - (c**2).sum(1), 0))
    power, products = np.ones_like(rho), np.zeros_like(rho)
    reach = np.abs(rho - np.eye(len(rho))).max()
    for degree, column in enumerate((*c.T, rest)):
        if reach**degree * (column**2).max() > LEAST * squares.max():
            products += column[:, None] * (column * power)
        power *= rho
    np.fill_diagonal(products, squares)
    return replace(tokens, products=products, means=c[:, 0], gaussian=False)


@follow.register
def _(block: Residual, tokens: Tokens) -> Tokens:
    return added(block, tokens, follow(block.branch, tokens))


def added(block: Residual, tokens: Tokens, out: Tokens) -> Tokens:
    """The tokens behind a residual block, from those that enter it and those its branch gives."""
    a, b = value(block.a), value(block.b)
    cross = a * b * np.outer(tokens.means, out.means)
    return replace(
        tokens,
        products=a**2 * tokens.products + b**2 * out.products + cross + cross.T,
        means=a * tokens.means + b * out.means,
        gaussian=tokens.gaussian and out.gaussian,
    )


@back.register
def _(block: Residual, gradient: Array, tokens: Tokens) -> Array:
    through = back(block.branch, gradient, tokens)
    return np.asarray(value(block.a) ** 2 * gradient + value(block.b) ** 2 * through)


@follow.register
def _(block: Parallel, tokens: Tokens) -> Tokens:
    outs = [follow(branch, tokens) for branch in block.branches]
    means = np.sum([out.means for out in outs], 0)
    own = [out.products - np.outer(out.means, out.means) for out in outs]
    gaussian = all(out.gaussian for out in outs)
    products = np.sum(own, 0) + np.outer(means, means)
    return replace(tokens, products=products, means=means, gaussian=gaussian)


@back.register
def _(block: Parallel, gradient: Array, tokens: Tokens) -> Array:
    return np.sum([back(branch, gradient, tokens) for branch in block.branches], 0)


@follow.register
def _(block: Gate, tokens: Tokens) -> Tokens:
    left, right = follow(block.left, tokens), follow(block.right, tokens)
    products, means = left.products * right.products, left.means * right.means
    return replace(tokens, products=products, means=means, gaussian=False)


@back.register
def _(block: Gate, gradient: Array, tokens: Tokens) -> Array:
    left, right = follow(block.left, tokens), follow(block.right, tokens)
    return np.asarray(
        back(block.left, gradient * right.products, tokens)
        + back(block.right, gradient * left.products, tokens)
    )
