"""Normalisation over the features of one token, with scale 1 and shift 0."""

from dataclasses import dataclass

from sympy import Expr, sqrt

from varlaw.symbolic.blocks.block import Block, quantity
from varlaw.symbolic.blocks.state import ZERO, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.language import Text


@dataclass(frozen=True, init=False)
class _Norm(Block):
    """Features over the root of their spread s plus `eps`: s/(s + eps), in the wide limit, of 1."""

    eps: Expr

    def __init__(self, eps: Text = 0) -> None:
        object.__setattr__(self, "eps", quantity(eps, "eps of a norm"))


class LayerNorm(_Norm):
    """(x - mean)/std over features: mean 0 and second moment 1, exactly.

    Two inputs' correlation is kept, and gradients are divided by the standard deviation, in the
    wide limit with error O(1/d) (Xiong et al. 2020, lemma 1 and section 3).
    """

    def forward(self, state: State) -> State:
        kept = _kept(state.variance, self.eps)
        product = None if state.product is None else tidy(kept * state.correlation)
        return _normalised(state, kept).become(mean=ZERO, product=product)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return _divided(gradient, state.variance + self.eps)


class RMSNorm(_Norm):
    """x over the root mean square of the features: second moment 1, exactly.

    Mean, product and gradients are divided by root second moments, in the wide limit with error
    O(1/d) (Zhang and Sennrich 2019, sections 3 and 4).
    """

    def forward(self, state: State) -> State:
        scale = state.second_moment + self.eps
        kept = _kept(state.second_moment, self.eps)
        product = None if state.product is None else tidy(state.product / scale)
        return _normalised(state, kept).become(mean=tidy(state.mean / sqrt(scale)), product=product)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return _divided(gradient, state.second_moment + self.eps)


def _kept(spread: Expr, eps: Expr) -> Expr:
    """The second moment of normalised features."""
    if spread == 0:
        raise BlockError("a norm divides by the spread of features that are all 0")
    return tidy(spread / (spread + eps))


def _normalised(state: State, kept: Expr) -> State:
    return state.become(*([] if kept == 1 else [Approximation.WIDE]), second_moment=kept)


def _divided(gradient: Gradient, scale: Expr) -> Gradient:
    return gradient.become(
        Approximation.WIDE,
        second_moment=tidy(gradient.second_moment / scale),
        product=tidy(gradient.product / scale),
    )
