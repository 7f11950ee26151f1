"""Windows that slide over positions: how many positions each one takes in."""

from dataclasses import dataclass

from sympy import Expr, Integer, Rational, floor

from varlaw.symbolic.blocks.block import quantity, size
from varlaw.symbolic.blocks.state import BlockError, tidy
from varlaw.symbolic.language import Text
from varlaw.symbolic.language_text import typed


@dataclass(frozen=True)
class Window:
    """A window of `kernel` positions in one direction, moved by `stride`, over `length` positions.

    `padding` positions of zeros are on either side. Without a length all is as it is away from the
    border. Raises BlockError where a window may lie in the padding alone, or beyond the end.
    """

    kernel: Expr
    stride: Expr
    padding: Expr
    length: Expr | None

    def __post_init__(self) -> None:
        k, p, n = self.kernel, self.padding, self.length
        if not (k - p).is_positive and (k - p).is_number:
            raise BlockError(f"a padding of {typed(p)} is as wide as the kernel {typed(k)}")
        if n is not None and (n + 2 * p - k).is_negative:
            raise BlockError(f"a kernel of {typed(k)} does not fit into {typed(n)} positions")

    @property
    def outputs(self) -> Expr:
        """The number of places of the window. Raises BlockError where it is not known."""
        if self.length is None:
            raise BlockError("the number of positions is needed: give a size")
        room = self.length + 2 * self.padding - self.kernel
        if self.stride == 1:
            return tidy(room + 1)
        places = floor(room / self.stride) + 1
        if not isinstance(places, Integer):
            raise BlockError("windows with a stride need numbers for size, kernel and padding")
        return places

    @property
    def taken(self) -> Expr:
        """The mean number of positions, other than padding, in a window."""
        if self.length is None or self.padding == 0:
            return self.kernel
        if self.stride == 1:  # on either side 1, ..., padding positions are missing
            return tidy(self.kernel - self.padding * (self.padding + 1) / self.outputs)
        places = int(self.outputs)
        k, s, p, n = (int(v) for v in (self.kernel, self.stride, self.padding, self.length))
        inside = sum(0 <= place * s + tap - p < n for place in range(places) for tap in range(k))
        return Rational(inside, places)

    @property
    def used(self) -> Expr:
        """The mean number of windows that a position is in."""
        if self.length is None:
            return self.kernel / self.stride
        return tidy(self.outputs * self.taken / self.length)


def window(kernel: Text, stride: Text, padding: Text, length: Text | None) -> Window:
    """A window from texts."""
    return Window(
        size(kernel, "size of the kernel"),
        size(stride, "stride"),
        quantity(padding, "padding"),
        None if length is None else size(length, "size of the input"),
    )
