"""Convolutions with fresh weights of mean 0, and transposed ones."""

from dataclasses import dataclass

from sympy import Expr, Integer

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.linear import check_width, known_law
from varlaw.symbolic.blocks.state import (
    ZERO,
    Approximation,
    BlockError,
    Gradient,
    Regime,
    State,
    tidy,
)
from varlaw.symbolic.blocks.weights import in_layer, summed
from varlaw.symbolic.blocks.window import Window, window
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True, init=False)
class Conv(Block):
    """A convolution in `dims` directions, of `size` input positions in each of them if it is given.

    E[y^2] = (channels_in/groups) t^dims var E[x^2] + bias, where t positions of a window lie in the
    input on average, and backward E[g_x^2] = (channels_out/groups) u^dims var E[g_y^2], where a
    position is in u windows on average: t = kernel and u = kernel/stride away from the border (He
    et al. 2015, section 2.2). Two inputs, or two positions that any two correlate like, keep their
    correlation. With padding moments differ from position to position: what is given is their mean,
    and the next layer takes it for that of every position.
    """

    channels_in: Expr
    channels_out: Expr
    window: Window
    var: Expr
    bias: Expr
    groups: Expr
    dims: Expr
    law: str

    def __init__(
        self,
        channels_in: Text,
        channels_out: Text,
        kernel: Text,
        *,
        var: Text,
        bias: Text = 0,
        stride: Text = 1,
        padding: Text = 0,
        groups: Text = 1,
        size: Text | None = None,
        dims: Text = 2,
        law: str = "",
    ) -> None:
        set_ = object.__setattr__
        set_(self, "channels_in", whole(channels_in, "number of channels"))
        set_(self, "channels_out", whole(channels_out, "number of channels"))
        set_(self, "window", self._window(kernel, stride, padding, size))
        set_(self, "var", quantity(var, "variance of the weights"))
        set_(self, "bias", quantity(bias, "variance of the biases"))
        set_(self, "groups", whole(groups, "number of groups"))
        set_(self, "dims", whole(dims, "number of directions"))
        set_(self, "law", known_law(law))
        for channels in (self.channels_in, self.channels_out):
            shared = channels / self.groups
            if shared.is_number and not isinstance(shared, Integer):
                raise BlockError(f"{typed(channels)} channels do not go into {groups} groups")

    @staticmethod
    def _window(kernel: Text, stride: Text, padding: Text, length: Text | None) -> Window:
        return window(kernel, stride, padding, length)

    @property
    def size(self) -> Expr | None:
        """The number of input positions in each direction, None where it was not given."""
        return self.window.length

    @property
    def gathered(self) -> Expr:
        """The mean number of input positions that an output position is summed over."""
        return self.window.taken**self.dims

    @property
    def spread(self) -> Expr:
        """The mean number of output positions that an input position goes to."""
        return self.window.used**self.dims

    def forward(self, state: State) -> State:
        check_width(state, self.channels_in)
        gain = self.channels_in / self.groups * self.gathered * self.var
        return state.become(
            *self._used,
            mean=ZERO,
            mean_regime=Regime(),
            second_moment=tidy(gain * state.second_moment + self.bias),
            product=None if state.product is None else tidy(gain * state.product + self.bias),
            width=self.channels_out,
            gaussian=True,
            mixed=True,
            symmetric=True,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        gain = self.channels_out / self.groups * self.spread * self.var
        return gradient.become(
            *self._used,
            second_moment=tidy(gain * gradient.second_moment),
            product=tidy(gain * gradient.product),
        )

    @property
    def _used(self) -> list[Approximation]:
        alike = self.window.padding == 0 and self.gathered == self.window.kernel**self.dims
        return [] if alike else [Approximation.POSITIONS]


@dataclass(frozen=True, init=False)
class ConvTransposed(Conv):
    """The adjoint of a convolution, with weights of its own: stride s makes s positions of one.

    Its output has (size - 1) stride - 2 padding + kernel positions (Dumoulin and Visin 2016,
    section 4). Forward each position is in kernel/stride windows on average, backward a window has
    kernel positions, away from the border.
    """

    @staticmethod
    def _window(kernel: Text, stride: Text, padding: Text, length: Text | None) -> Window:
        inner = window(kernel, stride, padding, None)
        if length is None:
            return inner
        places = whole(length, "size of the input")
        made = tidy((places - 1) * inner.stride - 2 * inner.padding + inner.kernel)
        return Window(inner.kernel, inner.stride, inner.padding, made)

    @property
    def size(self) -> Expr | None:
        return None if self.window.length is None else self.window.outputs

    @property
    def gathered(self) -> Expr:
        return self.window.used**self.dims

    @property
    def spread(self) -> Expr:
        return self.window.taken**self.dims


whole = size  # the name `size` is that of an argument above


@in_layer.register
def _(block: Conv, state: State, gradient: Gradient, tokens: Expr) -> dict[str, Expr]:
    """A weight meets one input position for each window that does not have it in the padding."""
    if gradient.product != 0 and block.window.padding != 0:
        raise BlockError("correlated gradients of weights are not covered with padding")
    places = (block.window.outputs * block.window.taken / block.window.kernel) ** block.dims
    out = block.window.length if isinstance(block, ConvTransposed) else block.window.outputs
    assert out is not None
    return {
        "weight": summed(gradient, state, tokens * places),
        "bias": summed(gradient, None, tokens * out**block.dims),
    }
