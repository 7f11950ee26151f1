"""Pooling over positions, of which any two have the correlation of the state."""

from dataclasses import dataclass
from functools import lru_cache

from sympy import Expr, Integer, Lambda, oo, sqrt

from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.block import Block, size
from varlaw.symbolic.blocks.state import ONE, ZERO, Approximation, BlockError, Gradient, State, tidy
from varlaw.symbolic.blocks.window import Window, window
from varlaw.symbolic.gains.slopes import slope_of
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.functions import function_of
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import pieces_of
from varlaw.symbolic.language import Text, read_function
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True, init=False)
class AveragePool(Block):
    """Means over windows of K = kernel^dims positions.

    E[y^2] = c + (q - c)/K for q = E[x^2], c = E[x x'] of two positions, exactly; two outputs are
    those of windows that have no position in common. Backward, without correlation of gradients,
    E[g_x^2] = E[g_y^2] u^dims/K^2 for positions that are in u windows on average, kernel/stride
    unless the `size` of the input says otherwise; what two positions then share is left out.
    """

    window: Window
    dims: Expr

    def __init__(
        self,
        kernel: Text,
        stride: Text | None = None,
        *,
        size: Text | None = None,
        dims: Text = 2,
    ) -> None:
        object.__setattr__(self, "window", window(kernel, stride or kernel, 0, size))
        object.__setattr__(self, "dims", whole(dims, "number of directions"))

    def forward(self, state: State) -> State:
        return _averaged(state, self.window.kernel**self.dims).become(product=state.followed)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if gradient.product != 0:
            raise BlockError("the correlation of gradients is not followed through pooling")
        share = (self.window.used / self.window.kernel**2) ** self.dims
        return gradient.become(
            Approximation.POSITIONS, second_moment=tidy(share * gradient.second_moment)
        )


@dataclass(frozen=True, init=False)
class GlobalAveragePool(Block):
    """The mean over all P positions: E[y^2] = c + (q - c)/P, and E[g_x^2] = E[g_y^2]/P^2.

    One position is left, so that no correlation of two is followed behind it. Backward all
    positions of an image get the same gradient, two images independent ones.
    """

    positions: Expr

    def __init__(self, positions: Text) -> None:
        object.__setattr__(self, "positions", size(positions, "number of positions"))

    def forward(self, state: State) -> State:
        return _averaged(state, self.positions).become(product=None)

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if gradient.product != 0:
            raise BlockError("the correlation of gradients is not followed through pooling")
        shared = tidy(gradient.second_moment / self.positions**2)
        return gradient.become(*gradient.regime, second_moment=shared, product=shared, pooled=True)


@dataclass(frozen=True, init=False)
class MaxPool(Block):
    """Largest values in windows of K = kernel^dims positions.

    With correlation rho of any two Gaussian positions the largest is m + s sqrt(rho) Z +
    s sqrt(1 - rho) M, where M is the largest of K independent standard Gaussians:
    E[h(M)] = E[K h(Z) Phi(Z)^(K-1)]. A `function` such as relu, linear on both sides of zero and
    never decreasing, is applied before or after, which is the same; it needs rho = 0 and mean 0.
    Backward a window's gradient goes to one position: E[g_x^2] = E[f'(M)^2] E[g_y^2] times
    (u/kernel)^dims for positions in u windows on average, as in AveragePool.
    """

    window: Window
    dims: Expr
    function: Expr
    slope: Expr

    def __init__(
        self,
        kernel: Text,
        stride: Text | None = None,
        *,
        function: Text = "x",
        size: Text | None = None,
        dims: Text = 2,
    ) -> None:
        set_ = object.__setattr__
        set_(self, "window", window(kernel, stride or kernel, 0, size))
        set_(self, "dims", whole(dims, "number of directions"))
        if not isinstance(self._count, Integer):
            raise BlockError("max-pooling needs a number for the size of its kernel")
        f, x = function_of(function)
        for piece in joined(pieces_of(f, x)):
            if not {piece.lower, piece.upper} <= {ZERO, oo, -oo} or not (
                (piece.expression / x).expand().is_nonnegative
            ):
                raise BlockError(f"max-pooling takes functions such as relu, not {typed(f)}")
        standard = read_function("x")[1]
        set_(self, "function", f.xreplace({x: standard}))
        set_(self, "slope", slope_of(f, x).xreplace({x: standard}))

    @property
    def _count(self) -> Expr:
        return self.window.kernel**self.dims

    def forward(self, state: State) -> State:
        if not state.gaussian:
            raise BlockError("max-pooling needs Gaussian features: name an activation by function=")
        rho, spread, f = state.correlation, sqrt(state.variance), self.function
        if self._plain:
            free = tidy(1 - rho)
            mean = tidy(state.mean + spread * sqrt(free) * self._largest(f))
            apart = self._largest(f**2) - self._largest(f) ** 2
            square = mean**2 + tidy(state.variance * (rho + free * apart))
            product = mean**2 + state.variance * rho
        elif rho == 0 and state.mean == 0:
            mean = tidy(spread * self._largest(f))
            square, product = state.variance * self._largest(f**2), mean**2
        else:
            raise BlockError(f"max-pooling with {typed(f)} needs correlation 0 and mean 0")
        return state.become(
            Approximation.WIDE,
            *state.resting(),
            mean=mean,
            second_moment=tidy(square),
            product=tidy(product),
            gaussian=False,
            symmetric=False,
        )

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        if gradient.product != 0:
            raise BlockError("the correlation of gradients is not followed through pooling")
        factor = ONE if self._plain else self._largest(self.slope**2)
        share = (self.window.used / self.window.kernel) ** self.dims
        return gradient.become(
            Approximation.WIDE,
            Approximation.POSITIONS,
            second_moment=tidy(factor * share * gradient.second_moment),
        )

    @property
    def _plain(self) -> bool:
        return bool(self.function.is_Symbol)

    def _largest(self, h: Expr) -> Expr:
        """E[h] of the largest of independent standard Gaussians."""
        return _largest_of(h, int(self._count))


whole = size  # the name `size` is that of an argument above


@lru_cache(maxsize=64)
def _largest_of(h: Expr, count: int) -> Expr:
    density, x = read_function(f"{count}*Phi(x)^{count - 1}")
    found = moment(h * density, variable=x.name).exact
    return GaussianMean(Lambda(x, h * density), ZERO, ONE) if found is None else found


def _averaged(state: State, count: Expr) -> State:
    """The mean of so many positions."""
    q, c = state.second_moment, state.followed
    used = state.resting("second_moment", "product")
    return state.become(*used, second_moment=tidy(c + (q - c) / count))
