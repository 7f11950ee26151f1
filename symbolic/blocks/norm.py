"""Normalisation over the features of one token, with scale 1 and shift 0."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import Expr, sqrt

from varlaw.symbolic.blocks.block import Block, quantity, size
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
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed

PLACES = Regime({Approximation.POSITIONS, Approximation.GATES})


@dataclass(frozen=True, init=False)
class _Norm(Block):
    """Features over the root of their spread s plus `eps`: s/(s + eps), in the wide limit, of 1."""

    eps: Expr
    over: ClassVar[Regime] = Regime()  # what it takes means over, besides features

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
        return _normalised(state, kept, self.over, mean=ZERO, product=product)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return _divided(gradient, state, state.variance + self.eps)


class RMSNorm(_Norm):
    """x over the root mean square of the features: second moment 1, exactly.

    Mean, product and gradients are divided by root second moments, in the wide limit with error
    O(1/d) (Zhang and Sennrich 2019, sections 3 and 4).
    """

    def forward(self, state: State) -> State:
        scale = state.second_moment + self.eps
        kept = _kept(state.second_moment, self.eps)
        product = None if state.product is None else tidy(state.product / scale)
        mean = tidy(state.mean / sqrt(scale))
        return _normalised(state, kept, self.over, mean=mean, product=product)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return _divided(gradient, state, state.second_moment + self.eps)


@dataclass(frozen=True, init=False)
class BatchNorm(Block):
    """(x - mean)/std of each feature over N samples, in training: mean 0, second moment 1, exactly.

    Any two of the N samples then have the product -1/(N - 1), since they sum to 0 (Yang et al.
    2019). The variance over samples is E[x^2] - E[x x'], two samples' product. Gradients, less
    their mean over samples and their part along the normalised y, are divided by the deviation, and
    sum to 0 as well: of Gaussian features, whose direction is uniform and independent of it, they
    get ((N - 1) (E[g^2] - E[g g'] - E[g g' y y']) - E[g^2 y^2])/((N - 3) s), which is
    (N - 2)/(N - 3) (E[g^2] - E[g g'])/s where g is independent of y. Without `samples` N is large.
    Of images the samples are the positions of all of them: what the positions of one share, behind
    a pool, is not in the mean of many images.
    """

    samples: Expr | None
    apart: ClassVar[bool] = True  # samples are independent of one another, given the weights before

    def __init__(self, samples: Text | None = None) -> None:
        found = None if samples is None else size(samples, "number of samples")
        if found is not None and found.is_number and found < 4:
            raise BlockError(f"a norm over samples takes 4 of them at least, not {typed(found)}")
        object.__setattr__(self, "samples", found)

    def forward(self, state: State) -> State:
        left = ZERO if self.samples is None else -1 / (self.samples - 1)
        product = None if state.product is None else left
        scale = ONE if state.product is None else tidy(state.second_moment - state.product)
        normalised = _normalised(state, _kept(scale, ZERO), PLACES, mean=ZERO, product=product)
        return normalised.become(
            Approximation.SAMPLES, samples=self.samples if self.apart else None
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        scale, n = tidy(state.second_moment - state.followed), self.samples
        g, alike = gradient.second_moment, self._alike(gradient)
        counted, passed = n is not None and state.gaussian, g - alike
        if n is not None and state.gaussian:
            own, pair = gradient.turned or (g, -alike / (n - 1))
            passed = ((n - 1) * (g - alike - pair) - own) / (n - 3)
        passed = tidy(passed / scale)
        rest = ZERO if n is None else tidy(-passed / (n - 1))
        return gradient.become(
            Approximation.WIDE if counted else Approximation.SAMPLES,
            *state.resting("second_moment", "product"),
            *gradient.resting(),
            second_moment=passed,
            product=rest if alike == gradient.product else tidy(gradient.product / scale),
        )

    def _alike(self, gradient: Gradient) -> Expr:
        """What the gradients of two samples share."""
        if gradient.pooled and self.samples is not None:
            raise BlockError("behind a pool gradients go through a norm of many samples: without N")
        return ZERO if gradient.pooled else gradient.product


class InstanceNorm(BatchNorm):
    """(x - mean)/std of each channel of an image over its N positions (Ulyanov et al. 2016).

    The map is that of BatchNorm, positions being the samples.
    """

    apart: ClassVar[bool] = False

    def _alike(self, gradient: Gradient) -> Expr:
        if gradient.pooled:
            raise BlockError("behind a pool gradients correlate with features: not followed")
        return gradient.product


@dataclass(frozen=True, init=False)
class GroupNorm(LayerNorm):
    """LayerNorm over many channels of a group and all positions (Wu and He 2018)."""

    groups: Expr
    over: ClassVar[Regime] = Regime({Approximation.POSITIONS})

    def __init__(self, groups: Text) -> None:
        super().__init__()
        object.__setattr__(self, "groups", size(groups, "number of groups"))


def _kept(spread: Expr, eps: Expr) -> Expr:
    """The second moment of normalised features."""
    if spread == 0:
        raise BlockError("a norm divides by the spread of features that are all 0")
    return ONE if eps == 0 else tidy(spread / (spread + eps))


def _normalised(state: State, kept: Expr, over: Regime, **changed: Any) -> State:
    """Second moment 1, whatever came in, without eps; other numbers rest on all that did.

    Where it is a mean `over` what differs, that it is 1 in the mean is all that is known.
    """
    whole = Regime(state.resting() | {Approximation.WIDE})
    return state.become(
        second_moment=kept,
        regime=Regime(state.regime & over) if kept == 1 else whole,
        mean_regime=Regime() if changed["mean"] == 0 else whole,
        product_regime=whole,
        **changed,
    )


def _divided(gradient: Gradient, state: State, scale: Expr) -> Gradient:
    return gradient.become(
        Approximation.WIDE,
        *state.resting("second_moment", "mean"),
        second_moment=tidy(gradient.second_moment / scale),
        product=tidy(gradient.product / scale),
    )
