"""Self-attention of one head at initialisation, with uniform weights or with the softmax."""

from dataclasses import dataclass

from sympy import Expr, exp

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.linear import check_width
from varlaw.symbolic.blocks.state import (
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    tidy,
)
from varlaw.symbolic.language import Text


@dataclass(frozen=True, init=False)
class Attention(Block):
    """W_O sum_s p_ts W_V x_s over T tokens, of which two each have the correlation of the state.

    With p = softmax of q.k/sqrt(d_k), logits have variance u = d^2 var(W_Q) var(W_K) E[x^2]^2, and
    two logits of a query the covariance rho u, rho = E[x x']/E[x^2]. Query or key weights of 0 make
    p uniform, and the averaged tokens have the second moment c + (q - c)/T exactly, q = E[x^2] and
    c = E[x x']. Else, for many tokens in the wide limit: E sum_s p_ts p_t's -> e^(u (1-rho))/T in
    place of 1/T for one query and e^(u rho (1-rho))/T for two; and since p depends on the tokens,
    by Stein's lemma the average is moved by q (1-rho) times the gradient of a logit, which adds
    q u (1-rho)^2/d, and rho times that for two queries.
    """

    width: Expr
    tokens: Expr
    value: Expr
    out: Expr
    query: Expr
    key: Expr

    def __init__(
        self,
        width: Text,
        tokens: Text,
        *,
        value: Text,
        out: Text,
        query: Text = 0,
        key: Text = 0,
    ) -> None:
        set_ = object.__setattr__
        set_(self, "width", size(width, "width"))
        set_(self, "tokens", size(tokens, "number of tokens"))
        for name, given in (("value", value), ("out", out), ("query", query), ("key", key)):
            set_(self, name, quantity(given, f"variance of the {name} weights"))

    @property
    def uniform(self) -> bool:
        return self.query == 0 or self.key == 0

    def forward(self, state: State) -> State:
        check_width(state, self.width)
        q, c, n = state.second_moment, state.followed, self.tokens
        spread, shared = tidy((q - c) / n), tidy((q - c) / n)
        if not self.uniform:
            u, rho = tidy(self.width**2 * self.query * self.key * q**2), tidy(c / q)
            moved = tidy(q * u * (1 - rho) ** 2 / self.width)
            spread = spread * exp(tidy(u * (1 - rho))) + moved
            shared = shared * exp(tidy(u * rho * (1 - rho))) + rho * moved
        gain = self.width**2 * self.value * self.out
        return state.become(
            *([] if self.uniform else [Approximation.WIDE, Approximation.TOKENS]),
            *state.resting("second_moment", "product"),
            mean=ZERO,
            mean_regime=Regime(),
            second_moment=tidy(gain * (c + spread)),
            product=tidy(gain * (c + shared)),
            width=self.width,
            gaussian=True,
            mixed=True,
            symmetric=True,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        """Of uniform attention: every token gets the average of the tokens' gradients."""
        if not self.uniform:
            raise BlockError("gradients are not covered through the softmax: give query or key 0")
        g, c, n = gradient.second_moment, gradient.product, self.tokens
        average = tidy(self.width**2 * self.value * self.out * (c + (g - c) / n))
        return gradient.become(*gradient.product_regime, second_moment=average, product=average)
