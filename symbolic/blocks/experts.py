"""Mixtures of experts: a router picks a few branches of one shape for each token."""

from dataclasses import dataclass

from sympy import Expr

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.walk import Site, inside, place, scaled
from varlaw.symbolic.language import Text


@dataclass(frozen=True, init=False)
class Experts(Block):
    """sum_i g_i F_i(x) over the k of E experts with the largest logits, g their softmax.

    Logits are W x with weights of variance `router`. Experts have weights of their own, so that
    E[y^2] = E[sum_i g_i^2] E[F(x)^2], exactly where F has mean 0 (Shazeer et al. 2017, section 2.1;
    the softmax over the chosen ones as in Jiang et al. 2024, "Mixtral", section 2.1). Covered are
    k = 1, where the gate is 1, and a router of variance 0, whose gates tend to 1/k.
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
    def kept(self) -> Expr:
        """E[sum_i g_i^2]. Raises BlockError where it is not covered."""
        if self.top != 1 and self.router != 0:
            raise BlockError("gates are covered for top=1 and for router=0")
        return ONE / self.top

    def forward(self, state: State) -> State:
        out = self.branch.forward(state.become(mixed=False, symmetric=False))
        if not out.mixed or out.mean != 0:
            raise BlockError("an expert needs a linear layer at its end")
        every = self.top == self.experts and self.router == 0
        followed = every and out.product is not None
        return out.become(
            second_moment=tidy(self.kept * out.second_moment),
            product=tidy(self.kept * out.followed) if followed else None,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if gradient.product != 0:
            raise BlockError("the correlation of gradients is not followed through experts")
        inner = state.become(mixed=False, symmetric=False)
        return self.branch.backward(scaled(gradient, self.kept), inner)


@inside.register
def _(block: Experts, site: Site) -> list[Site]:
    """One expert, which gets a token with probability k/E: gradients are means over all tokens."""
    if site.gradient is not None and site.gradient.product != 0:
        raise BlockError("the correlation of gradients is not followed through experts")
    state = site.state.become(mixed=False, symmetric=False)
    gradient = site.gradient and scaled(site.gradient, block.kept / block.experts)
    return [Site(place("", block.branch), block.branch, state, gradient)]
