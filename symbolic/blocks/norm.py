"""Normalisation over the features of one token, with scale 1 and shift 0."""

from dataclasses import dataclass
from typing import Any

from sympy import Expr, sqrt

from varlaw.symbolic.blocks.block import Block
from varlaw.symbolic.blocks.state import (
    ONE,
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    tidy,
)


@dataclass(frozen=True)
class LayerNorm(Block):
    """(x - mean)/std over features: mean 0 and second moment 1, exactly.

    Two inputs' correlation is kept, and gradients are divided by the standard deviation, in the
    wide limit with error O(1/d) (Xiong et al. 2020, lemma 1 and section 3).
    """

    def forward(self, state: State) -> State:
        product = None if state.product is None else state.correlation
        return _normalised(state, state.variance, mean=ZERO, product=product)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return _divided(gradient, state, state.variance)


@dataclass(frozen=True)
class RMSNorm(Block):
    """x over the root mean square of the features: second moment 1, exactly.

    Mean, product and gradients are divided by root second moments, in the wide limit with error
    O(1/d) (Zhang and Sennrich 2019, sections 3 and 4).
    """

    def forward(self, state: State) -> State:
        q = state.second_moment
        product = None if state.product is None else tidy(state.product / q)
        return _normalised(state, q, mean=tidy(state.mean / sqrt(q)), product=product)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return _divided(gradient, state, state.second_moment)


def _normalised(state: State, scale: Expr, **changed: Any) -> State:
    """Second moment 1, whatever came in; other numbers rest on all that did."""
    if scale == 0:
        raise BlockError("a norm divides by the spread of features that are all 0")
    whole = Regime(state.resting() | {Approximation.WIDE})
    mean = Regime() if changed["mean"] == 0 else whole
    return state.become(
        second_moment=ONE, regime=Regime(), mean_regime=mean, product_regime=whole, **changed
    )


def _divided(gradient: Gradient, state: State, scale: Expr) -> Gradient:
    return gradient.become(
        Approximation.WIDE,
        *state.resting("second_moment", "mean"),
        second_moment=tidy(gradient.second_moment / scale),
        product=tidy(gradient.product / scale),
    )
