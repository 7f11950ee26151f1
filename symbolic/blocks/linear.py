"""Linear layers and embeddings: fresh weights of mean 0."""

from dataclasses import dataclass

from sympy import Expr, Integer

from varlaw.symbolic.blocks.block import Block, flag, quantity, size
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
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.names import suggestion

LAWS = ("normal", "uniform", "truncated")  # truncated: normal within two of its deviations


@dataclass(frozen=True, init=False)
class Linear(Block):
    """y = s W x + b with iid weights of mean 0 and variance `var`, biases of variance `bias`.

    E[y^2] = fan_in s^2 var E[x^2] + bias, exactly at any width and mean of x; backward
    E[g_x^2] = fan_out s^2 var E[g_y^2] (He et al. 2015, sections 2.2 and 2.3). The multiplier s is
    `scale`, as in the parametrisation of Jacot et al. 2018 with var=1 and s = 1/sqrt(fan_in).
    `law` is one of LAWS, for simulations: no map depends on more than the variance. `tied`, 1 or 0,
    says that the weights are the rows of the embedding, for code that draws them (`unembedding`).
    """

    fan_in: Expr
    fan_out: Expr
    var: Expr
    bias: Expr
    scale: Expr
    law: str
    tied: Expr

    def __init__(
        self,
        fan_in: Text,
        fan_out: Text,
        *,
        var: Text,
        bias: Text = 0,
        scale: Text = 1,
        law: str = "",
        tied: Text = 0,
    ) -> None:
        set_ = object.__setattr__
        set_(self, "fan_in", size(fan_in, "fan-in"))
        set_(self, "fan_out", size(fan_out, "fan-out"))
        set_(self, "var", quantity(var, "variance of the weights"))
        set_(self, "bias", quantity(bias, "variance of the biases"))
        set_(self, "scale", quantity(scale, "multiplier"))
        set_(self, "law", known_law(law))
        set_(self, "tied", flag(tied, "tied"))

    def forward(self, state: State) -> State:
        check_width(state, self.fan_in)
        gain = self.fan_in * self.var * self.scale**2
        return state.become(
            mean=ZERO,
            mean_regime=Regime(),
            second_moment=tidy(gain * state.second_moment + self.bias),
            product=None if state.product is None else tidy(gain * state.product + self.bias),
            width=self.fan_out,
            gaussian=True,
            mixed=True,
            symmetric=True,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        gain = self.fan_out * self.var * self.scale**2
        return gradient.become(
            second_moment=tidy(gain * gradient.second_moment),
            product=tidy(gain * gradient.product),
        )


@dataclass(frozen=True, init=False)
class Embedding(Block):
    """s times a row of variance `var` for each token; different words have independent rows.

    What enters is a token's number and has no moments; the gradient that leaves is the rows' own.
    The multiplier s is `scale`, sqrt(width) in Vaswani et al. 2017, section 3.4. Two tokens are the
    same word with the probability `repeats`, sum_i p_i^2 for words that occur with probability p_i:
    about pi^2/(6 log(V)^2) of V words by Zipf's law (Kedia et al. 2024, appendix A). `positions`
    is the variance of the vectors of learned positions, which are added to the rows.
    """

    width: Expr
    var: Expr
    scale: Expr
    repeats: Expr
    positions: Expr

    def __init__(
        self, width: Text, *, var: Text, scale: Text = 1, repeats: Text = 0, positions: Text = 0
    ) -> None:
        object.__setattr__(self, "width", size(width, "width"))
        object.__setattr__(self, "var", quantity(var, "variance of the rows", positive=True))
        object.__setattr__(self, "scale", quantity(scale, "multiplier", positive=True))
        chance = quantity(repeats, "probability of the same word")
        if (1 - chance).is_negative:
            raise BlockError(f"the probability of the same word {typed(chance)} is above 1")
        object.__setattr__(self, "repeats", chance)
        object.__setattr__(self, "positions", quantity(positions, "variance of the positions"))

    @property
    def moment(self) -> Expr:
        """The second moment of what comes out."""
        return tidy(self.scale**2 * self.var + self.positions)

    def forward(self, state: State) -> State:
        out = State(second_moment=self.moment, product=ZERO, width=self.width, memory=state.memory)
        if self.repeats == 0:
            return out
        return out.become(
            Approximation.REPEATS, product=tidy(self.scale**2 * self.var * self.repeats)
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return gradient.become(
            second_moment=tidy(self.scale**2 * gradient.second_moment),
            product=tidy(self.scale**2 * gradient.product),
        )


def unembedding(
    width: Text, vocabulary: Text, *, var: Text, scale: Text = 1, tied: Text = 0
) -> Linear:
    """The head that gives logits, without biases.

    Where it is `tied`, 1 or 0, its weights are the rows of the embedding, `var` is theirs, and the
    map is that of all tokens but the one that came in (Press and Wolf 2017, section 3).
    """
    return Linear(width, vocabulary, var=var, scale=scale, tied=tied)


@dataclass(frozen=True, init=False)
class Dropout(Block):
    """Entries are 0 with probability p, and divided by 1 - p else (Srivastava et al. 2014)."""

    p: Expr

    def __init__(self, p: Text) -> None:
        found = quantity(p, "probability of dropout")
        if (Integer(1) - found).is_nonpositive:
            raise BlockError(f"the probability of dropout {typed(found)} is not below 1")
        object.__setattr__(self, "p", found)

    def forward(self, state: State) -> State:
        kept = tidy(state.second_moment / (1 - self.p))
        return state.become(second_moment=kept, gaussian=state.gaussian and self.p == 0)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return gradient.become(second_moment=tidy(gradient.second_moment / (1 - self.p)))


def known_law(law: str) -> str:
    """The name of a law of weights, or none. Raises BlockError for an unknown one."""
    if law and law not in LAWS:
        raise BlockError(f"unknown law {law!r}{suggestion(law, LAWS)}")
    return law


def check_width(state: State, width: Expr) -> None:
    """Raise BlockError where features of another number come in."""
    if state.width is not None and (state.width - width).expand() != 0:
        raise BlockError(f"{typed(state.width)} features go into a layer for {typed(width)}")
