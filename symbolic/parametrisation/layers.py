"""Kinds of layers, optimisers, and the exponents a, b, c of one layer (Yang and Hu 2021)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from sympy import Expr, Integer, Rational, oo

from varlaw.symbolic.language import ReadingError, Text, read
from varlaw.symbolic.language_text import typed

ZERO = Integer(0)


class ParametrisationError(ValueError):
    """A parametrisation cannot be built, converted or measured; the message says why."""


class Optimizer(StrEnum):
    """What a step does with a gradient: follow it, or (Adam, signs) forget its size."""

    SGD = "sgd"
    ADAM = "adam"
    SIGN = "sign"

    @property
    def power(self) -> int:
        """The power of its gradient that a step is proportional to."""
        return 1 if self is Optimizer.SGD else 0


class Kind(StrEnum):
    """What a layer is to the width n: how many terms it sums, how many features it gives."""

    INPUT = "input"
    EMBEDDING = "embedding"
    HIDDEN = "hidden"
    OUTPUT = "output"
    BIAS = "bias"
    GAIN = "gain"

    @property
    def sums(self) -> bool:
        """Whether an output of the layer is a sum of n terms; else their number is fixed."""
        return self in (Kind.HIDDEN, Kind.OUTPUT)

    @property
    def repeated(self) -> bool:
        """Whether residual blocks hold such a layer, one a block."""
        return self in (Kind.HIDDEN, Kind.BIAS, Kind.GAIN)


FEATURES = tuple(kind for kind in Kind if kind is not Kind.OUTPUT)  # what moves features


@dataclass(frozen=True)
class Exponents:
    """Effective weights n^-a w, w of standard deviation n^-b at the start, learning rate n^-c.

    b is infinite for weights that start at zero.
    """

    a: Expr = ZERO
    b: Expr = ZERO
    c: Expr = ZERO

    def __post_init__(self) -> None:
        for name in "abc":
            value = getattr(self, name)
            if not (isinstance(value, Rational) or (name == "b" and value is oo)):
                raise ParametrisationError(
                    f"the exponent {name} = {value} is not a rational number"
                )

    def shifted(self, theta: Expr, optimizer: Optimizer) -> Self:
        """The same layer with the multiplier smaller by n^-theta and larger weights."""
        change = (1 + optimizer.power) * theta
        return type(self)(self.a + theta, self.b - theta, self.c - change)


@dataclass(frozen=True)
class Layer:
    """The exponents of the width, and for layers of residual blocks those of the depth."""

    width: Exponents = Exponents()
    depth: Exponents = Exponents()


def exponent(text: Text) -> Expr:
    """A rational exponent; `zero` stands for weights that start at zero.

    Raises ParametrisationError.
    """
    if text == "zero" or text is oo:
        return oo
    try:
        found = read(text)
    except ReadingError as error:
        raise ParametrisationError(f"an exponent is a rational number: {error}") from error
    if not isinstance(found, Rational):
        raise ParametrisationError(f"an exponent is a rational number, not {typed(found)}")
    return found
