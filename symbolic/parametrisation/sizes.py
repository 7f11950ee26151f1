"""Sizes in a network as powers of its width or depth, by the calculus of `symbolic/orders.py`.

Features, the loss's derivative by the outputs, and inputs are of order 1. In the formulas a, b and
c are those of the layer, g is the exponent of the gradient at its outputs, s that of the branch.
"""

from functools import lru_cache

from sympy import Expr, Integer, Symbol

from varlaw.symbolic.declarations import dimensions
from varlaw.symbolic.derivation import derive
from varlaw.symbolic.orders import coherent, incoherent, order
from varlaw.symbolic.parametrisation.layers import Kind, Optimizer

WIDTH, DEPTH = dimensions("n L")
a, b, c, g, r, s = (Symbol(name, real=True) for name in "abcgrs")
FIXED = "a fixed number of terms"
INCOHERENT = "independent signs: the root of their number, by the central limit theorem"
COHERENT = "aligned: their number, by the law of large numbers"


def exponent_of(size: Expr, base: Symbol) -> Expr:
    """The exponent of the width (or depth) in a size."""
    return derive(order(size, base)).by("exponent").end


def reason(kind: Kind, words: str) -> str:
    """How the terms of a layer's output add up."""
    return f"n terms, {words}" if kind.sums else FIXED


@lru_cache
def forward(kind: Kind) -> Expr:
    """The exponent of a layer's output at initialisation."""
    weight = WIDTH**-a * WIDTH**-b
    return exponent_of(incoherent(weight, WIDTH) if kind.sums else weight, WIDTH)


@lru_cache
def weight_gradient() -> Expr:
    """The exponent of the gradient by a raw weight."""
    return exponent_of(WIDTH**-a * WIDTH**g, WIDTH)


@lru_cache
def weight_gradient_in_depth() -> Expr:
    """The exponent of the depth in the gradient by a raw weight of a residual block."""
    return exponent_of(DEPTH**-a * DEPTH**-s, DEPTH)


@lru_cache
def entry_step(optimizer: Optimizer) -> Expr:
    """The exponent of the change of an effective weight in one step."""
    return exponent_of(WIDTH**-a * WIDTH**-c * _raw(WIDTH, WIDTH**g, optimizer), WIDTH)


@lru_cache
def own_step(kind: Kind, optimizer: Optimizer) -> Expr:
    """The exponent of the change of a layer's output by its own step."""
    moved = WIDTH ** entry_step(optimizer)
    return exponent_of(coherent(moved, WIDTH) if kind.sums else moved, WIDTH)


@lru_cache
def backward() -> Expr:
    """The exponent of the gradient behind a hidden layer, by its initial weights."""
    return exponent_of(incoherent(WIDTH**-a * WIDTH**-b * WIDTH**g, WIDTH), WIDTH)


@lru_cache
def through_features() -> Expr:
    """The exponent of the change of the outputs by features that move like n^-r."""
    return exponent_of(coherent(WIDTH**-a * WIDTH**-b * WIDTH**-r, WIDTH), WIDTH)


@lru_cache
def stream() -> Expr:
    """The exponent of the depth in what the branches add up to at initialisation."""
    return exponent_of(incoherent(DEPTH**-s * DEPTH**-a * DEPTH**-b, DEPTH), DEPTH)


@lru_cache
def block_step(optimizer: Optimizer) -> Expr:
    """The exponent of the depth in the change within a block by its own step."""
    return exponent_of(DEPTH**-a * DEPTH**-c * _raw(DEPTH, DEPTH**-s, optimizer), DEPTH)


@lru_cache
def stream_step(optimizer: Optimizer) -> Expr:
    """The exponent of the depth in the change of the stream by the steps of all blocks."""
    return exponent_of(coherent(DEPTH**-s * DEPTH ** block_step(optimizer), DEPTH), DEPTH)


def _raw(base: Symbol, gradient: Expr, optimizer: Optimizer) -> Expr:
    """The size of a step on a raw weight at rate 1: its gradient, or its sign."""
    return (base**-a * gradient) ** optimizer.power * Integer(1)
