"""The softmax over the features of one token."""

from dataclasses import dataclass

from sympy import Expr, exp

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.linear import check_width
from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.language import Text


@dataclass(frozen=True, init=False)
class Softmax(Block):
    """p_i = e^(x_i)/sum_j e^(x_j) over d Gaussian features, of which two correlate by r.

    For large d, v = Var(x): E[p] = 1/d, E[p^2] = e^((1-r) v)/d^2, E[p p'] = e^((1-r) c)/d^2 for two
    inputs of covariance c, and gradients are multiplied by E[p^2] (Kedia et al. 2024, appendix A,
    "Softmax").
    """

    width: Expr
    correlation: Expr

    def __init__(self, width: Text, *, correlation: Text = 0) -> None:
        object.__setattr__(self, "width", size(width, "number of features"))
        object.__setattr__(self, "correlation", quantity(correlation, "correlation"))
        if (ONE - self.correlation).is_negative:
            raise BlockError("a correlation is at most 1")

    def forward(self, state: State) -> State:
        check_width(state, self.width)
        if not state.gaussian:
            raise BlockError("the softmax needs Gaussian features: put a linear layer before it")
        followed = state.product is not None
        return state.become(
            Approximation.WIDE,
            *state.resting(),
            mean=1 / self.width,
            second_moment=self._square(state.variance),
            product=self._square(state.followed - state.mean**2) if followed else None,
            gaussian=False,
            symmetric=False,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        shared = gradient.product
        if shared != 0:
            shared = tidy(shared * self._square(state.followed - state.mean**2))
        return gradient.become(
            Approximation.WIDE,
            *state.resting(),
            second_moment=tidy(gradient.second_moment * self._square(state.variance)),
            product=shared,
        )

    def _square(self, covariance: Expr) -> Expr:
        return exp(tidy((1 - self.correlation) * covariance)) / self.width**2
