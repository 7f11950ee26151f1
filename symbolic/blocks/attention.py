"""Self-attention at initialisation: heads, causal masks, QK-norm; forward and backward."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sympy import Expr, Integer, exp, sqrt

from varlaw.symbolic.blocks.block import Block, flag, quantity, size
from varlaw.symbolic.blocks.linear import Dropout, check_width
from varlaw.symbolic.blocks.overlaps import Logits, Means, Overlap, at_position, causal, of_all
from varlaw.symbolic.blocks.state import (
    ONE,
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    joint,
    tidy,
)
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed

if TYPE_CHECKING:
    from varlaw.symbolic.blocks.positions import Positions


@dataclass(frozen=True, init=False)
class Attention(Block):
    """W_O sum_s p_ts W_V x_s per head, p = softmax of scale q.k, over tokens that correlate alike.

    Heads have `head_width` features, d/heads unless given; keys and values of `kv_heads` heads are
    shared by groups of queries (Ainslie et al. 2023), which no map here depends on. The scale is
    1/sqrt(head_width) unless given (Vaswani et al. 2017, section 3.2.1); `qk_norm` normalises
    queries and keys (Henry et al. 2020). `causal`: token t sees the tokens up to t, and moments are
    means over the positions, or those at `position` and of it and an earlier one. `rotary`, a base,
    and biases by distance of variance `relative` are those of `Positions`. `dropout` is that of
    the weights p, which are 0 with this probability, and divided by the rest of it else.

    Query or key weights of 0 make p uniform, and all maps are exact. Else, in the wide limit, with
    q = E[x^2], c = E[x x'], rho = c/q and u = E[logit^2], E sum_s p_ts^2 is taken as
    N = e^v/(T - 1 + e^v), v = u (1-rho), which is right for small u at any T, and for many tokens
    at any u (`overlap.py` is exact); for two queries with rho v in place of v. Since p
    depends on the tokens, by Stein's lemma the average is moved by q - c times the gradient of a
    logit, which adds (q - c)^2 u/(q d), and rho times that for two queries. Backward, gradients
    pass through the values, times N, and through the logits: through queries times u (1-rho)^2
    ((1-N)^2/d + N (1-N)), where the first is the covariance of the tokens, the second its noise;
    through keys times u (1-rho) N (1-N). Dropout of rate r makes q r/(1-r) more of q where a token
    meets itself through one weight: in q N forward, in the values, and in the noise of logits.
    """

    width: Expr
    tokens: Expr
    value: Expr
    out: Expr
    query: Expr
    key: Expr
    heads: Expr
    kv_heads: Expr
    head_width: Expr
    scale: Expr
    qk_norm: Expr
    causal: Expr
    position: Expr | None
    rotary: Expr
    relative: Expr
    buckets: Expr
    furthest: Expr
    query_bias: Expr
    key_bias: Expr
    value_bias: Expr
    out_bias: Expr
    dropout: Expr

    def __init__(
        self,
        width: Text,
        tokens: Text,
        *,
        value: Text,
        out: Text,
        query: Text = 0,
        key: Text = 0,
        heads: Text = 1,
        kv_heads: Text | None = None,
        head_width: Text | None = None,
        scale: Text | None = None,
        qk_norm: Text = 0,
        causal: Text = 0,
        position: Text | None = None,
        rotary: Text = 0,
        relative: Text = 0,
        buckets: Text = 0,
        furthest: Text = 128,
        query_bias: Text = 0,
        key_bias: Text = 0,
        value_bias: Text = 0,
        out_bias: Text = 0,
        dropout: Text = 0,
    ) -> None:
        d, h = size(width, "width"), size(heads, "number of heads")
        own = size(tidy(d / h) if head_width is None else head_width, "width of a head")
        shared = h if kv_heads is None else size(kv_heads, "number of heads of keys")
        if (h / shared).is_number and not isinstance(h / shared, Integer):
            raise BlockError(f"{typed(h)} heads are no multiple of {typed(shared)} heads of keys")
        given = {
            "width": d,
            "tokens": size(tokens, "number of tokens"),
            "heads": h,
            "kv_heads": shared,
            "head_width": own,
            "scale": 1 / sqrt(own) if scale is None else quantity(scale, "scale of the logits"),
            "qk_norm": flag(qk_norm, "qk_norm"),
            "causal": flag(causal, "causal"),
            "position": None if position is None else size(position, "position"),
            "rotary": quantity(rotary, "base of rotary positions"),
            "relative": quantity(relative, "variance of the biases by distance"),
            "buckets": quantity(buckets, "number of buckets"),
            "furthest": size(furthest, "furthest distance of a bucket"),
            "dropout": Dropout(dropout).p,
        }
        weights = {"value": value, "out": out, "query": query, "key": key}
        for name, text in weights.items():
            given[name] = quantity(text, f"variance of the {name} weights")
        biases = {"query": query_bias, "key": key_bias, "value": value_bias, "out": out_bias}
        for name, text in biases.items():
            given[f"{name}_bias"] = quantity(text, f"variance of the {name} biases")
        for name, found in given.items():
            object.__setattr__(self, name, found)
        if self.position is not None and self.causal == 0:
            raise BlockError("without a causal mask all positions are alike: leave out position")
        if self.placed and self.position is not None:
            raise BlockError("positions by distance have means over positions: leave out position")
        if self.rotary != 0 and (own / 2).is_integer is False:
            raise BlockError(f"rotary positions turn pairs of features: {typed(own)} is odd")
        if self.qk_norm == 1 and 0 in (self.query, self.key):
            raise BlockError("qk_norm normalises queries and keys, which are 0 here")

    @property
    def silent(self) -> bool:
        """Whether q.k is 0."""
        return 0 in (self.query, self.key, self.scale)

    @property
    def uniform(self) -> bool:
        return self.silent and self.relative == 0

    @property
    def placed(self) -> bool:
        """Whether logits depend on the distance of their tokens."""
        return self.rotary != 0 or self.relative != 0

    @property
    def places(self) -> "Positions | None":
        """Where the tokens stand; None where logits do not depend on it.

        Raises BlockError where a size or a base has no value.
        """
        if not self.placed:
            return None
        from varlaw.symbolic.blocks.positions import located  # NumPy loads with it

        return located(
            self.tokens,
            causal=self.causal == 1,
            base=self.rotary,
            head_width=self.head_width,
            variance=self.relative,
            buckets=self.buckets,
            furthest=self.furthest,
        )

    @property
    def asking(self) -> Expr | None:
        """The number of queries; None where any number of tokens asks."""
        return self.tokens

    def read(self, state: State) -> State:
        """The tokens that keys and values are made of: those that enter."""
        return state

    def logits(self, state: State) -> Logits:
        """The logits where the state enters."""
        own, d = self.read(state), self.width
        if self.silent:
            return Logits(ZERO, ZERO, ZERO, ZERO, ZERO)
        seen = self.qk_norm == 1 or self.rotary != 0  # else it shifts all logits of a query alike
        bias = self.key_bias if seen else ZERO
        queries = d * self.query * state.second_moment + self.query_bias
        keys = d * self.key * own.second_moment + bias
        norms = ONE if self.qk_norm == 1 else queries * keys
        u = tidy(self.scale**2 * self.head_width * norms)
        return Logits(
            u,
            tidy((d * self.key * own.followed + bias) / keys),
            tidy((d * self.query * state.followed + self.query_bias) / queries),
            tidy(u * self.key / keys),
            tidy(u * self.query / queries),
        )

    def overlap(self, state: State) -> Overlap:
        """The sums over softmax weights where the state enters."""
        return self._overlap(self.logits(state))

    def averages(self, state: State) -> State:
        """The averaged tokens sum_s p_ts x_s."""
        own, logits = self.read(state), self.logits(state)
        spread = own.second_moment - own.followed
        overlap, moved, place = self._overlap(logits), logits.key_slope * spread**2, self.means
        return state.become(
            *self.approximations,
            *self._entered(state),
            second_moment=own.followed
            + tidy((spread + self._dropped * own.second_moment) * overlap.one)
            + place.one * moved,
            product=own.followed + tidy(spread * overlap.two) + logits.queries * place.two * moved,
        )

    def forward(self, state: State) -> State:
        check_width(state, self.width)
        average = self.averages(state)
        inner = self.heads * self.head_width * self.out
        gain = tidy(inner * self.width * self.value)
        bias = inner * self.value_bias + self.out_bias
        return average.become(
            mean=ZERO,
            mean_regime=Regime(),
            second_moment=bias + gain * average.second_moment,
            product=bias + gain * average.followed,
            width=self.width,
            gaussian=True,
            mixed=True,
            symmetric=True,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        """The mean over tokens; `product` is the mean over pairs of them."""
        if self.position is not None:
            raise BlockError("gradients are means over positions: leave out position")
        g, h, d, rest = gradient.second_moment, gradient.product, self.width, self.tokens - 1
        logits = self.logits(state)
        one, squared, two, centred = self._overlap(logits)
        spread, dropped = state.second_moment - state.followed, self._dropped
        gain = d * self.out * self.heads * self.head_width * self.value
        value = gain * (g * one + rest * h * two)
        noise = (spread + dropped * state.second_moment) * g * (one - squared)
        shared = spread * rest * h * logits.queries * self.means.kept * centred
        key = gain * d * logits.key_slope * (noise + shared)
        query, pairs = self.queried(gradient, state)
        alone = rest == 0
        product = gain * h if alone else (gain * (g + rest * h) - value - key) / rest + pairs
        whole = value + gain * dropped * g * one + key + query
        if self.uniform:
            whole, product = tidy(whole), tidy(product)
        used = {*self.approximations, *gradient.resting()}
        if not self.uniform:
            used |= self._entered(state)
        return gradient.become(*used, second_moment=whole, product=product)

    def queried(self, gradient: Gradient, state: State) -> tuple[Expr, Expr]:
        """The gradient that comes back through queries, and its product for two tokens."""
        logits, own, d = self.logits(state), self.read(state), self.width
        one, squared, two, _ = self._overlap(logits)
        spread, place = own.second_moment - own.followed, self.means
        gain = d**2 * self.out * self.heads * self.head_width * self.value * logits.query_slope
        noise = (spread + self._dropped * own.second_moment) * (one - squared)
        moved = spread * (1 - logits.keys) / d
        whole = moved * place.one * (1 - 2 * one + squared)
        pair = (place.kept - logits.keys * place.two) * spread * two
        return (
            gain * gradient.second_moment * (whole + (1 - logits.keys * place.one) * noise),
            gain * gradient.product * (moved * place.two + pair),
        )

    @property
    def _dropped(self) -> Expr:
        """What dropout adds to the second moment of a weight, relative to it."""
        return tidy(self.dropout / (1 - self.dropout))

    def _entered(self, state: State) -> Regime:
        return joint(one.resting("second_moment", "product") for one in {state, self.read(state)})

    @property
    def means(self) -> Means:
        if (places := self.places) is None:
            return Means()
        from varlaw.symbolic.blocks.positions import means

        return means(places)

    @property
    def approximations(self) -> list[Approximation]:
        soft = [] if self.uniform else [Approximation.WIDE, Approximation.TOKENS]
        averaged = (self.causal == 1 and self.position is None) or self.placed
        soft += [Approximation.POSITIONS] if averaged else []
        return [*soft, Approximation.LOGITS] if self.placed else soft

    def _overlap(self, logits: Logits) -> Overlap:
        place, u = self.means, logits.variance
        own = u * (1 - logits.keys * place.one) + place.bias_one
        pair = u * logits.queries * (place.kept - logits.keys * place.two) + place.bias_two
        one, two = exp(tidy(own)), exp(tidy(pair))
        if self.causal == 0:
            return of_all(one, two, self.tokens)
        if self.position is not None:
            return at_position(one, two, self.position)
        return causal(one, two, self.tokens)
