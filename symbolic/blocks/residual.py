"""Sums and products of branches: residual blocks and their norms, parallel branches, gates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sympy import Expr

from varlaw.symbolic.blocks.block import Block, Sequential
from varlaw.symbolic.blocks.norm import LayerNorm
from varlaw.symbolic.blocks.state import (
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    joint,
    tidy,
)
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True, init=False)
class Residual(Block):
    """a x + b F(x), for a branch F with fresh weights.

    Second moments add, with 2 a b E[x] E[F] between them, which is 0 exactly where the branch's
    weights are a sign of its output (Var(x + F) = Var(x) + Var(F), law `residual-sum`).
    """

    branch: Block
    a: Expr
    b: Expr

    def __init__(self, branch: Block, a: Text = 1, b: Text = 1) -> None:
        object.__setattr__(self, "branch", branch)
        object.__setattr__(self, "a", read(a))
        object.__setattr__(self, "b", read(b))

    def forward(self, state: State) -> State:
        out = self.branch.forward(state.become(mixed=False, symmetric=False))
        if not out.mixed:
            raise BlockError("a residual branch needs a linear layer: F(x) and x correlate without")
        _same_width([state, out])
        a, b = self.a, self.b
        cross = 2 * a * b * state.mean * out.mean
        followed = state.product is not None and out.product is not None
        return out.become(
            **_together([state, out], _used([out]), means=cross != 0),
            mean=tidy(a * state.mean + b * out.mean),
            second_moment=tidy(a**2 * state.second_moment + b**2 * out.second_moment + cross),
            product=tidy(a**2 * state.followed + b**2 * out.followed + cross) if followed else None,
            gaussian=state.gaussian and out.gaussian,
            mixed=state.mixed,
            symmetric=False,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        inside = state.become(mixed=False, symmetric=False)
        out, through = self.branch.forward(inside), self.branch.backward(gradient, inside)
        a, b = self.a, self.b
        return through.become(
            **_together([gradient, through], _used([out])),
            second_moment=tidy(a**2 * gradient.second_moment + b**2 * through.second_moment),
            product=tidy(a**2 * gradient.product + b**2 * through.product),
        )


@dataclass(frozen=True, init=False)
class Parallel(Block):
    """The sum of branches that read the same input, each with fresh weights of its own."""

    branches: tuple[Block, ...]

    def __init__(self, *branches: Block) -> None:
        if len(branches) < 2:
            raise BlockError("parallel takes two branches at least")
        object.__setattr__(self, "branches", branches)

    def forward(self, state: State) -> State:
        outs = _separate(self.branches, state)
        means = sum((out.mean for out in outs), ZERO)
        cross = means**2 - sum((out.mean**2 for out in outs), ZERO)
        followed = all(out.product is not None for out in outs)
        return outs[0].become(
            **_together(outs, _used(outs), means=cross != 0),
            mean=tidy(means),
            second_moment=tidy(sum((out.second_moment for out in outs), ZERO) + cross),
            product=tidy(sum((o.followed for o in outs), ZERO) + cross) if followed else None,
            gaussian=all(out.gaussian for out in outs),
            symmetric=False,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        outs = _separate(self.branches, state)
        return _summed(gradient, outs, [b.backward(gradient, state) for b in self.branches])


@dataclass(frozen=True)
class Gate(Block):
    """The product, entry by entry, of two branches that read the same input: a gated linear unit.

    Given the input the branches are independent, so that second moments multiply in the wide
    limit (Shazeer 2020, "GLU variants improve Transformer", for the units).
    """

    left: Block
    right: Block

    def forward(self, state: State) -> State:
        outs = _separate((self.left, self.right), state)
        one, two = outs
        followed = one.product is not None and two.product is not None
        return one.become(
            **_together(outs, Regime({Approximation.WIDE})),
            mean=tidy(one.mean * two.mean),
            second_moment=tidy(one.second_moment * two.second_moment),
            product=tidy(one.followed * two.followed) if followed else None,
            gaussian=False,
            symmetric=any(out.symmetric for out in outs),
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        outs = _separate((self.left, self.right), state)
        passed = [
            block.backward(gated(gradient, other), state)
            for block, other in zip((self.left, self.right), reversed(outs), strict=True)
        ]
        return _summed(gradient, outs, passed).become(Approximation.WIDE)


def gated(gradient: Gradient, other: State) -> Gradient:
    """The gradient of a factor of a product, whose other factor has this state."""
    product = ZERO if gradient.product == 0 else tidy(gradient.product * other.followed)
    return gradient.become(
        second_moment=tidy(gradient.second_moment * other.second_moment),
        regime=joint([gradient.regime, other.regime]),
        product=product,
        product_regime=joint([gradient.product_regime, other.product_regime]),
    )


def pre_norm(branch: Block, norm: Block | None = None) -> Block:
    """x + F(norm(x)) (Xiong et al. 2020); LayerNorm unless another norm is given."""
    return Residual(Sequential((norm or LayerNorm(), branch)))


def post_norm(branch: Block, norm: Block | None = None) -> Block:
    """norm(x + F(x)) (Vaswani et al. 2017, section 3.1)."""
    return Sequential((Residual(branch), norm or LayerNorm()))


def sandwich(branch: Block, norm: Block | None = None) -> Block:
    """x + norm(F(norm(x))) (Ding et al. 2021, CogView, section 3.1)."""
    return Residual(Sequential((norm or LayerNorm(), branch, norm or LayerNorm())))


def _separate(branches: Iterable[Block], state: State) -> list[State]:
    """The outputs of branches, each of which has weights of its own."""
    outs = [branch.forward(state.become(mixed=False, symmetric=False)) for branch in branches]
    if not all(out.mixed for out in outs):
        raise BlockError("each branch needs a linear layer: the branches correlate without")
    _same_width(outs)
    return outs


def _used(outs: Iterable[State]) -> Regime:
    """What it takes that branches do not correlate with one another, or with what is added."""
    return Regime() if all(out.symmetric for out in outs) else Regime({Approximation.WIDE})


def _together(
    flows: Sequence[State] | Sequence[Gradient], used: Regime, means: bool = False
) -> dict[str, Regime]:
    """What sums or products of numbers rest on; second moments also on `means`, if they enter."""
    found = {
        regime: joint([*(getattr(flow, regime) for flow in flows), used])
        for regime in flows[0].REGIMES.values()
    }
    if means:
        found["regime"] = joint([found["regime"], found["mean_regime"]])
    return found


def _summed(gradient: Gradient, outs: list[State], passed: list[Gradient]) -> Gradient:
    """The sum of the gradients that come back from branches."""
    return gradient.become(
        **_together(passed, _used(outs)),
        second_moment=tidy(sum((one.second_moment for one in passed), ZERO)),
        product=tidy(sum((one.product for one in passed), ZERO)),
    )


def _same_width(states: list[State]) -> None:
    widths = [state.width for state in states if state.width is not None]
    for width in widths[1:]:
        if (width - widths[0]).expand() != 0:
            raise BlockError(f"{typed(widths[0])} and {typed(width)} features cannot be joined")
