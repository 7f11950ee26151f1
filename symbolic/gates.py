"""Blocks that take more than one pre-activation, or a mask: gated units, maxout, dropout.

What they need of the engine are moments of one Gaussian variable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sympy import Expr, Integer, Symbol, erf, sqrt

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.activations import gelu, identity, relu, sigmoid, silu
from varlaw.symbolic.gaussian.moment import Moment, moment
from varlaw.symbolic.language import Text, free_names, read
from varlaw.symbolic.names import suggestion

x = Symbol("x", real=True)
MAX_POWER = 60
MAX_UNITS = 1000


class UnknownGate(LookupError):
    """No gated unit has the name."""


@dataclass(frozen=True)
class Gate:
    """A gated unit f(a) b, with independent pre-activations a and b.

    Source: Dauphin et al. (2017), section 2 for the GLU; Shazeer (2020), GLU Variants Improve
    Transformer, section 2 for the others.
    """

    name: str
    activation: type[Activation]
    known: Mapping[str, str] = field(default_factory=dict)

    def expression(self, a: Expr, b: Expr) -> Expr:
        """f(a) b."""
        return self.activation(a, *self.activation.defaults) * b

    def moment(
        self,
        power: int = 2,
        gate: tuple[Text, Text] = (0, 1),
        value: tuple[Text, Text] = (0, 1),
    ) -> Moment:
        """E[(f(a) b)^power] = E[f(a)^power] E[b^power], as a moment of the Gaussian a.

        `gate` and `value` are the mean and the variance of a and of b. Raises what `moment` raises.

            >>> print(GATES["reglu"].moment())
            1/2
        """
        _whole(power, "power", 1, MAX_POWER)
        factor = moment(x**power, *value).exact
        return moment(factor * self.expression(x, Integer(1)) ** power, *gate)


GATES = {
    gate.name: gate
    for gate in (
        Gate("bilinear", identity),
        Gate("glu", sigmoid, {"torch": "GLU", "jax": "glu"}),
        Gate("reglu", relu),
        Gate("geglu", gelu),
        Gate("swiglu", silu, {"timm": "SwiGLU"}),
    )
}
_BY_NAME = {name: gate for gate in GATES.values() for name in gate.known.values()} | GATES


def named_gate(name: str) -> Gate:
    """The gated unit called `name`. Raises UnknownGate, with the nearest name."""
    if name not in _BY_NAME:
        raise UnknownGate(f"unknown gated unit {name!r}{suggestion(name, _BY_NAME)}")
    return _BY_NAME[name]


def maxout(units: int, power: int = 1, mean: Text = 0, variance: Text = 1) -> Moment:
    """E[max(a1, ..., ak)^power] for k independent pre-activations, as a moment of one of them.

    The largest of k standard variables has the density k phi Phi^(k - 1). Closed forms are known up
    to k = 4, beyond that for low powers. Source: Goodfellow et al. (2013), section 2.

        >>> print(maxout(2))
        1/sqrt(pi)

    Raises what `moment` raises, and ValueError for a number of units or a power out of range.
    """
    _whole(units, "number of units", 1, MAX_UNITS)
    _whole(power, "power", 1, MAX_POWER)
    names = {name: Symbol(name, positive=True) for name in free_names(variance)}
    m, v = (read(text, names=names, real=True) for text in (mean, variance))
    if (m + v).has_free(x):
        raise ValueError("the mean and the variance may not depend on x")
    others = ((1 + erf(x / sqrt(2))) / 2) ** (units - 1)
    return moment(units * (m + sqrt(v) * x) ** power * others, variable=x.name)


def dropout(rate: Expr, power: int = 1) -> Expr:
    """E[M^power] for the mask M of inverted dropout: 1/(1 - rate) or 0, with probability `rate`.

    The mean is 1 and the second moment 1/(1 - rate). Raises ValueError for a rate outside [0, 1).
    Source: Srivastava et al. (2014), section 10.

        >>> dropout(Integer(1) / 10, 2)
        10/9
    """
    _whole(power, "power", 1, MAX_POWER)
    if rate.is_negative or (1 - rate).is_nonpositive:
        raise ValueError(f"a rate of dropout is at least 0 and below 1, not {rate}")
    return (1 - rate) ** (1 - power)


def _whole(number: int, what: str, least: int, most: int) -> None:
    if not least <= number <= most:
        raise ValueError(f"the {what} is {number}, not between {least} and {most}")
