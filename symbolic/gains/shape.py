"""What a shaped activation is: the parameters that were found, and the conditions they meet."""

from dataclasses import dataclass, field

from flint import arb
from sympy import Expr, Rational

from varlaw.symbolic.gains.gain import NoGain, Value
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.language_text import typed

DKS = ("Q(1) = 1", "Q'(1) = 1", "C(0) = 0")
TAT = ("Q(1) = 1", "Q'(1) = 1", "C'(1) = 1")


class NoShape(NoGain):
    """The activation cannot be shaped so; the message says why."""


@dataclass(frozen=True)
class Shape:
    """Parameters by their names, the conditions that they meet, and what else to know."""

    conditions: tuple[str, ...]
    parameters: dict[str, Value]
    others: dict[str, Value] = field(default_factory=dict)
    note: str = ""


def known(exact: Expr) -> Value:
    """A number in closed form."""
    return Value(exact, lambda: ball(exact))


def fixed(value: arb) -> Value:
    """A number in a ball."""
    return Value(None, lambda: value)


def told(what: str, target: Expr, depth: int | Rational, sign: str) -> str:
    """The condition that says what a layer has to give, and the network."""
    if depth == 1:
        return f"{what} = {typed(target)}"
    whole = typed(target) if target.is_Integer else f"({typed(target)})"
    layers = f"({depth})" if Rational(depth).q > 1 else f"{depth}"
    return f"{what} = {whole}^(1/{layers})" if sign == "^" else f"{what} = {whole}/{layers}"
