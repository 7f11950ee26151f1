"""Encoder and decoder: a second stream of tokens, whose cross attention reads the first one."""

from dataclasses import dataclass

from sympy import Expr

from varlaw.symbolic.blocks.attention import Attention
from varlaw.symbolic.blocks.block import flag, size
from varlaw.symbolic.blocks.linear import Embedding, check_width
from varlaw.symbolic.blocks.options import less
from varlaw.symbolic.blocks.state import BlockError, Gradient, State
from varlaw.symbolic.language import Text

PLACES = 20  # digits of numbers that are not rational


@dataclass(frozen=True, init=False)
class Targets(Embedding):
    """Rows of variance `var` for so many tokens of a second stream, the decoder's.

    They are those of the embedding where they are `tied`, 1 or 0; no map depends on it. What came
    so far, the encoder's output, is what cross attention reads from here on.
    """

    tokens: Expr
    tied: Expr

    def __init__(
        self, width: Text, tokens: Text, *, var: Text, scale: Text = 1, tied: Text = 0
    ) -> None:
        super().__init__(width, var=var, scale=scale)
        object.__setattr__(self, "tokens", size(tokens, "number of tokens"))
        object.__setattr__(self, "tied", flag(tied, "tied"))

    def forward(self, state: State) -> State:
        return super().forward(state.become(memory=_settled(state)))

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        """The encoder's gradient, a sum over all cross attention, is not followed here."""
        raise BlockError("gradients of an encoder are followed layer by layer only (layers)")


def _settled(state: State) -> State:
    """The state of tokens that are read, its moments as decimals where they are long numbers."""
    values = {"second_moment": state.second_moment, "product": state.product}
    numbers = {
        name: value if value.is_Rational else value.evalf(PLACES)
        for name, value in values.items()
        if value is not None and not value.free_symbols
    }
    return state.become(memory=None, **numbers)


@less("causal", "position", "rotary", "relative", "buckets", "furthest", "dropout")
@dataclass(frozen=True, init=False)
class CrossAttention(Attention):
    """Queries of the stream, keys and values of the T tokens of another one (see `Targets`).

    The maps are those of `Attention` (Vaswani et al. 2017, section 3.2.3): with q, c of the stream
    and q', c' of the tokens that are read, u = E[logit^2], weights p overlap by e^v/(T - 1 + e^v),
    v = u (1 - c'/q') for one query and v c/q for two, and the average has the second moment
    c' + (q' - c') E sum p^2 + (q' - c')^2 u/(q' d). Backward, gradients reach the stream through
    queries alone.
    """

    @property
    def asking(self) -> None:
        return None

    def read(self, state: State) -> State:
        if state.memory is None:
            raise BlockError("cross attention reads another stream: targets(...) begins the second")
        check_width(state.memory, self.width)
        return state.memory

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        passed, product = self.queried(gradient, state)
        used = {*self.approximations, *self._entered(state), *gradient.resting()}
        return gradient.become(*used, second_moment=passed, product=product)
