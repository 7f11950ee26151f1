"""Attention with biases that fall with distance (Press et al. 2022, "ALiBi").

Head h adds -m_h (t - s) to the logit of query t and key s <= t, so that without other logits the
weights w are those of this softmax, and not exchangeable. To the first order in the covariance of
the other logits, c of two queries with one key beyond that with two, v and v' of each query,

    E sum p p' = A + c (A - B - B' + A^2) + v (A_tt A - B) + v' (A_t't' A - B'),

A = sum w w', B = sum w^2 w', B' = sum w w'^2, for p = w (1 + l - m + (l - m)^2/2 - ...) with
m = sum w l; what goes beyond is taken as in `Attention`, A e^y/(1 - A + A e^y).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sympy import Expr, exp

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.options import less
from varlaw.symbolic.blocks.overlaps import Logits, Overlap
from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.weights import in_layer

if TYPE_CHECKING:
    from varlaw.symbolic.blocks.token_alibi import Near


@less("position", "rotary", "relative", "buckets", "furthest", "dropout", causal=1)
@dataclass(frozen=True, init=False)
class Alibi(Attention):
    """Causal attention whose logits have the bias -m_h (t - s), m_h = 2^(-8h/H) for head h of H.

    With other numbers of heads than powers of 2 the rest of the slopes are every other one of twice
    as many heads (Press et al. 2022, section 3 and its code). Moments are means over positions and
    heads. Gradients are not covered.
    """

    @property
    def near(self) -> "Near":
        """The weights without other logits. Raises BlockError where sizes have no value."""
        if self.tokens.free_symbols or self.heads.free_symbols:
            raise BlockError("biases that fall with distance need numbers for tokens and heads")
        from varlaw.symbolic.blocks.token_alibi import near  # NumPy loads with it

        return near(int(self.tokens), int(self.heads))

    def averages(self, state: State) -> State:
        found, (logits, near) = super().averages(state), (self.logits(state), self.near)
        moved = logits.key_slope * (state.second_moment - state.followed) ** 2
        return found.become(
            second_moment=found.second_moment - (1 - near.rest_one) * moved,
            product=found.product - (1 - near.rest_two) * logits.queries * moved,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        raise BlockError("gradients through biases that fall with distance are not covered")

    @property
    def approximations(self) -> list[Approximation]:
        used = super().approximations
        return used if self.uniform else [*used, Approximation.LOGITS]

    def _overlap(self, logits: Logits) -> Overlap:
        near, one = self.near, logits.variance * (1 - logits.keys)
        alone = ONE if self.tokens == 1 else _raised(near.one, near.moved_one * one)
        two = near.moved_two * logits.queries * one + near.own_two * one
        pair = _raised(near.two, two) if self.tokens != 1 else ONE
        return Overlap(alone, alone**2, pair, pair * (1 - near.two))


def _raised(overlap: Expr, added: Expr) -> Expr:
    """An overlap to which logits add so much, to the first order."""
    grown = exp(tidy(added / overlap / (1 - overlap)))
    return overlap * grown / (1 - overlap + overlap * grown)


@in_layer.register
def _(block: Alibi, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    raise BlockError("gradients through biases that fall with distance are not covered")
