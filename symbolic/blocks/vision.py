"""What vision transformers begin and end with: patches, a class token, positions."""

from dataclasses import dataclass

from sympy import Expr, Integer

from varlaw.symbolic.blocks.block import Block, quantity, size
from varlaw.symbolic.blocks.linear import Linear
from varlaw.symbolic.blocks.state import ZERO, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True, init=False)
class Patches(Linear):
    """A convolution whose stride is its kernel: square patches of an image become tokens.

    The pixels of a patch, kernel^2 for each channel, are features that go through one linear layer
    (Dosovitskiy et al. 2021, section 3.1); the state that enters is that of a pixel, its
    correlation that of pixels at one place of two patches.
    """

    channels: Expr
    width: Expr
    kernel: Expr
    image: Expr

    def __init__(
        self, channels: Text, width: Text, kernel: Text, image: Text, *, var: Text, bias: Text = 0
    ) -> None:
        set_ = object.__setattr__
        set_(self, "channels", size(channels, "number of channels"))
        set_(self, "width", size(width, "width"))
        set_(self, "kernel", size(kernel, "size of a patch"))
        set_(self, "image", size(image, "size of the image"))
        across = self.image / self.kernel
        if across.is_number and not isinstance(across, Integer):
            raise BlockError(f"{typed(self.image)} pixels are no multiple of {typed(self.kernel)}")
        super().__init__(self.channels * self.kernel**2, self.width, var=var, bias=bias)

    @property
    def tokens(self) -> Expr:
        """The number of patches."""
        return (self.image / self.kernel) ** 2


@dataclass(frozen=True, init=False)
class ClassToken(Block):
    """One more token before the others, of variance `var`, independent of them.

    Moments are means over all tokens.
    """

    tokens: Expr
    var: Expr

    def __init__(self, tokens: Text, *, var: Text = 0) -> None:
        object.__setattr__(self, "tokens", size(tokens, "number of tokens before"))
        object.__setattr__(self, "var", quantity(var, "variance of the class token"))

    def forward(self, state: State) -> State:
        n, q, c = self.tokens, state.second_moment, state.product
        return state.become(
            Approximation.POSITIONS,
            second_moment=tidy((n * q + self.var) / (n + 1)),
            mean=tidy(n * state.mean / (n + 1)),
            product=None if c is None else tidy((n - 1) * c / (n + 1)),
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        """What a head reads of the class token does not reach other tokens in the same way."""
        raise BlockError("gradients of a class token and of others differ: see them in layers")


@dataclass(frozen=True, init=False)
class Places(Block):
    """x + b_t with a vector of variance `var` for each token t, the learned positions."""

    var: Expr

    def __init__(self, var: Text) -> None:
        object.__setattr__(self, "var", quantity(var, "variance of the positions"))

    def forward(self, state: State) -> State:
        return state.become(second_moment=tidy(state.second_moment + self.var))

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        return gradient


@dataclass(frozen=True, init=False)
class FirstToken(Block):
    """The first of T tokens alone, such as the class token; moments are means over all of them."""

    tokens: Expr

    def __init__(self, tokens: Text) -> None:
        object.__setattr__(self, "tokens", size(tokens, "number of tokens"))

    def forward(self, state: State) -> State:
        return state.become(Approximation.POSITIONS, product=None)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        shared = tidy(gradient.second_moment / self.tokens)
        return gradient.become(Approximation.POSITIONS, second_moment=shared, product=ZERO)
