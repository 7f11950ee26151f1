"""What a block is, and blocks one after another."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

from sympy import Expr, Integer, Symbol

from varlaw.symbolic.blocks.state import ONE, Approximation, BlockError, Gradient, State
from varlaw.symbolic.language import Text, read
from varlaw.symbolic.language_text import typed


class Block(ABC):
    """A piece of a network, immutable; `a >> b` feeds b with what a gives."""

    @abstractmethod
    def forward(self, state: State) -> State:
        """The state at the output. Raises BlockError for what is not covered."""

    @abstractmethod
    def backward(self, gradient: Gradient, state: State) -> Gradient:
        """The gradient at the input, from that at the output; `state` is that at the input.

        Raises BlockError for what is not covered.
        """

    @property
    def approximations(self) -> list[Approximation]:
        """What its maps take for granted of the layer itself, whatever comes in, if they say so."""
        return []

    def __rshift__(self, after: "Block | type[Block]") -> "Block":
        """First this block, then another; a kind that needs no arguments stands for its block."""
        if isinstance(after, type) and issubclass(after, Block):
            after = after()
        if not isinstance(after, Block):
            return NotImplemented
        parts = [p for b in (self, after) for p in (b.parts if isinstance(b, Sequential) else [b])]
        return Sequential(tuple(parts))

    def __rrshift__(self, before: "type[Block]") -> "Block":
        if not (isinstance(before, type) and issubclass(before, Block)):
            return NotImplemented
        return before() >> self


@dataclass(frozen=True)
class Sequential(Block):
    """Blocks one after another."""

    parts: tuple[Block, ...]

    def forward(self, state: State) -> State:
        for part in self.parts:
            state = through(part, state)
        return state

    def backward(self, gradient: Gradient, state: State) -> Gradient:
        states = [state]
        for part in self.parts[:-1]:
            states.append(through(part, states[-1]))
        for part, entering in zip(reversed(self.parts), reversed(states), strict=True):
            gradient = part.backward(gradient, entering)
        return gradient


@lru_cache(maxsize=1024)
def through(block: Block, state: State) -> State:
    """`block.forward(state)`, remembered: the backward pass asks for it again."""
    return block.forward(state)


def start(second_moment: Text = "q0", correlation: Text | None = None, mean: Text = 0) -> State:
    """The state of a Gaussian input; its names are positive symbols.

    `correlation` is that of a feature for two inputs, or two tokens; without it no correlation is
    followed.
    """
    q, m = quantity(second_moment, "second moment", positive=True), read(mean, real=True)
    if (q - m**2).is_negative:
        raise BlockError(f"the second moment {typed(q)} is below the squared mean {typed(m**2)}")
    if correlation is None:
        return State(second_moment=q, mean=m)
    return State(second_moment=q, mean=m, product=m**2 + _correlation(correlation) * (q - m**2))


def sent(correlation: Text = 0) -> Gradient:
    """A gradient of second moment 1 in each entry, with a correlation of two inputs, or tokens."""
    return Gradient(second_moment=ONE, product=_correlation(correlation))


def _correlation(value: Text) -> Expr:
    found = read(value)
    if (1 - found).is_negative or (1 + found).is_negative:
        raise BlockError(f"a correlation is between -1 and 1, not {typed(found)}")
    return found


def quantity(value: Text, what: str, *, positive: bool = False) -> Expr:
    """A non-negative parameter of a block, or a positive one."""
    found = read(value)
    if found.is_real is False or found.is_finite is False or found.is_negative:
        raise BlockError(f"the {what} {typed(found)} is not a number from 0 on")
    if positive and found.is_zero:
        raise BlockError(f"the {what} is zero")
    return found


def size(value: Text, what: str) -> Expr:
    """A width, a depth or a number of tokens: a positive whole number or an expression of names."""
    found = quantity(value, what, positive=True)
    if found.is_number and not isinstance(found, Integer):
        raise BlockError(f"the {what} {typed(found)} is not a whole number")
    return found


def flag(value: Text, name: str) -> Expr:
    """0 or 1."""
    found = quantity(value, name)
    if found not in (0, 1):
        raise BlockError(f"{name} is 0 or 1, not {typed(found)}")
    return found


def names(*expressions: Expr) -> set[Symbol]:
    """The free symbols of some expressions."""
    return set().union(*(e.free_symbols for e in expressions))
