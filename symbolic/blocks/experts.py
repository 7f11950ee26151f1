"""Mixtures of experts: a router picks a few branches of one shape for each token."""

from dataclasses import dataclass

from sympy import Expr, Float, Integer

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.state import ONE, ZERO, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.walk import Site, inside, place, scaled
from varlaw.symbolic.blocks.weights import in_layer
from varlaw.symbolic.language import Text

DIGITS = 8  # of a sum of squared gates
LARGEST = 36  # variance of the logits of gates


@dataclass(frozen=True, init=False)
class Experts(Block):
    """sum_i g_i F_i(x) over the k of E experts with the largest logits, g their softmax.

    Logits are W x with weights of variance `router`. Experts have weights of their own, so that
    E[y^2] = E[sum_i g_i^2] E[F(x)^2], exactly where F has mean 0 (Shazeer et al. 2017, section 2.1;
    the softmax over the chosen ones as in Jiang et al. 2024, "Mixtral", section 2.1). The gate is
    1 for k = 1, and gates tend to 1/k for a router of variance 0; else, where E, k and the variance
    of logits are numbers, the value is that of iid Gaussian logits (`squared_gates`), which they
    are in the wide limit. Then gradients go through the gates, too: with g the gradient of y,
    sum_i (g.F_i) dg_i/dx adds width R E[F^2] E[g^2] E[sum_ij (g_i (delta_ij - g_j))^2]. The squared
    gates of one token differ from their mean at any width, which a norm or an activation sees
    (`Approximation.GATES`).
    """

    branch: Block
    experts: Expr
    top: Expr
    router: Expr

    def __init__(self, branch: Block, experts: Text, top: Text = 1, *, router: Text = 0) -> None:
        set_ = object.__setattr__
        set_(self, "branch", branch)
        set_(self, "experts", size(experts, "number of experts"))
        set_(self, "top", size(top, "number of experts for a token"))
        set_(self, "router", quantity(router, "variance of the router's weights"))
        if (self.experts - self.top).is_negative:
            raise BlockError("more experts for a token than there are")

    @property
    def even(self) -> Expr | None:
        """sum_i g_i^2 where it does not depend on the logits."""
        return ONE / self.top if self.top == 1 or self.router == 0 else None

    @property
    def approximations(self) -> list[Approximation]:
        return [] if self.even is not None else [Approximation.WIDE, Approximation.GATES]

    def kept(self, state: State) -> Expr:
        """E[sum_i g_i^2]. Raises BlockError where it is not covered."""
        if self.even is not None:
            return self.even
        from varlaw.symbolic.blocks.gates import squared_gates  # NumPy loads with it

        return Float(squared_gates(*self._numbers(state)), DIGITS)

    def _numbers(self, state: State) -> tuple[float, int, int]:
        """The variance of logits, E and k. Raises BlockError where they are not known."""
        width = self.width(state.width)
        variance = None if width is None else tidy(width * self.router * state.second_moment)
        counts = all(isinstance(n, Integer) for n in (self.experts, self.top))
        if variance is None or not variance.is_number or not counts:
            raise BlockError(
                "the gates of several experts need numbers for the experts and the variance of"
                " logits, or top=1, or router=0"
            )
        if float(variance) > LARGEST:
            raise BlockError(f"gates are covered for logits of a variance up to {LARGEST}")
        return float(variance), int(self.experts), int(self.top)

    def forward(self, state: State) -> State:
        out = self.branch.forward(state.become(mixed=False, symmetric=False))
        if not out.mixed or out.mean != 0:
            raise BlockError("an expert needs a linear layer at its end")
        kept = self.kept(state)
        every = self.top == self.experts and self.router == 0
        followed = every and out.product is not None
        used = [
            *self.approximations,
            *(state.resting("second_moment") if self.even is None else []),
        ]
        return out.become(
            *used,
            second_moment=tidy(kept * out.second_moment),
            product=tidy(kept * out.followed) if followed else None,
            gaussian=out.gaussian and self.even is not None,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if gradient.product != 0:
            raise BlockError("the correlation of gradients is not followed through experts")
        inner = state.become(mixed=False, symmetric=False)
        passed = self.branch.backward(scaled(gradient, self.kept(state)), inner)
        if self.even is not None:
            return passed
        out = self.branch.forward(inner)
        gates = self.experts * self.router * self.logits(gradient, state)
        return passed.become(
            *self.approximations,
            *out.resting("second_moment"),
            *state.resting("second_moment"),
            second_moment=tidy(passed.second_moment + gates),
        )

    def logits(self, gradient: Gradient, state: State) -> Expr:
        """The second moment of the gradient of a logit, which is 0 for one of one expert alone.

        With g that at the output, dL/dl_i = sum_j (g.F_j) dg_j/dl_i.
        """
        if self.top == 1:
            return ZERO
        from varlaw.symbolic.blocks.gates import gate_slopes  # NumPy loads with it

        out = self.branch.forward(state.become(mixed=False, symmetric=False))
        if out.width is None:
            raise BlockError("gradients through gates need the width of an expert's output")
        slopes = Float(gate_slopes(*self._numbers(state)), DIGITS)
        whole = out.width * out.second_moment * gradient.second_moment
        return tidy(whole * slopes / self.experts)

    def width(self, known: Expr | None) -> Expr | None:
        """How many features come in, if it is not known from what stands before."""
        return known or _features(self.branch)


def _features(block: Block) -> Expr | None:
    """How many features the first layer that says so takes in."""
    for name in ("fan_in", "width"):
        if isinstance(size := getattr(block, name, None), Expr):
            return size
    values = [v if isinstance(v, tuple) else (v,) for v in vars(block).values()]
    inner = (part for several in values for part in several if isinstance(part, Block))
    return next((size for part in inner if (size := _features(part)) is not None), None)


@inside.register
def _(block: Experts, site: Site) -> list[Site]:
    """One expert, which gets a token with probability k/E: gradients are means over all tokens."""
    if site.gradient is not None and site.gradient.product != 0:
        raise BlockError("the correlation of gradients is not followed through experts")
    state = site.state.become(mixed=False, symmetric=False)
    gradient = site.gradient and scaled(site.gradient, block.kept(state) / block.experts)
    return [Site(place("", block.branch), block.branch, state, gradient)]


@in_layer.register
def _(block: Experts, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    """sum_t dL/dl_ti x_t for each expert i, where the router has weights."""
    if block.router == 0:
        return {}
    return {"router": tokens * state.second_moment * block.logits(gradient, state)}
