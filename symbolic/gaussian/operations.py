"""The operations that programs are made of, on real and on complex balls."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import add, mul, truediv
from typing import Any

from flint import acb, arb

from varlaw.symbolic.gaussian.balls import raised
from varlaw.symbolic.gaussian.divided import Divided

KINKED = {"max", "min", "either"}  # `either` is one of two values
# not analytic everywhere
CUT = {"log", "sqrt", "power", "asin", "acos", "asinh", "atan", "atanh", "ei"}
POLES = {"inverse", "tanh", "tan", "gamma"}
Special = dict[str, Callable[..., Any]]  # operations done in another way than by the balls' method
FUSED = {"inverse": "logistic", "log": "softplus"}


@dataclass(frozen=True)
class Step:
    """One operation on registers: `add`, `mul`, `raise` to a whole `exponent`, or a function."""

    operation: str
    left: int
    right: int = -1
    exponent: int = 0
    of: Divided | None = None


def operation(kind: Any, step: Step, special: Special) -> Callable[..., Any]:
    """The operation of a step on balls of one kind."""
    if step.operation in special:
        return special[step.operation]
    match step.operation:
        case "add":
            return add
        case "mul":
            return mul
        case "raise":
            exponent = step.exponent
            if exponent == 2:
                return lambda value: value * value
            return lambda value: raised(value, exponent)
        case "inverse":
            return partial(truediv, kind(1))
        case "divided":
            assert step.of is not None
            return step.of.on(kind)
        case "power":
            return lambda base, exponent: base**exponent
        case "either":
            return lambda one, other: one.union(other)
        case "logistic":
            return _logistic
        case "softplus":
            return _softplus(kind, special)
        case name:
            return getattr(kind, name)


def _logistic(u: Any, c: Any) -> Any:
    """1/(c + e^u)."""
    if u.real > 0:
        small = (-u).exp()
        return small / (1 + c * small)
    return 1 / (c + u.exp())


def _softplus(kind: Any, special: Special) -> Callable[[Any, Any], Any]:
    """log(c + e^u): on the right in the form u + log(1 + c e^-u), equal on the real axis."""
    logarithm = special.get("log", kind.log)

    def plus_one(value: Any) -> Any:
        return logarithm(1 + value) if "log" in special else value.log1p()

    def run(u: Any, c: Any) -> Any:
        if u.real > 0:
            return u + plus_one(c * (-u).exp())
        return plus_one(u.exp()) if c == 1 else logarithm(c + u.exp())

    return run


def analytic_one(name: str) -> Callable[..., acb]:
    """A function with a branch cut, not finite on balls that touch it."""
    if name in ("log", "sqrt"):
        function = getattr(acb, name)
        return lambda value: function(value, analytic=True)
    if name == "power":
        return lambda base, exponent: base.pow(exponent, analytic=True)

    if name == "ei":
        return lambda value: value.ei() if value.real > 0 else acb(arb.nan())

    def safe(value: acb) -> acb:
        # the cuts of asin, acos and atanh are real, beyond 1; those of atan and asinh imaginary
        across, along = (value.imag, value.real)
        if name in ("atan", "asinh"):
            across, along = along, across
        inside = abs(along) < 1 or not across.contains(0)
        return getattr(value, name)() if inside else acb(arb.nan())

    return safe


def complex_power(base: acb, exponent: acb) -> acb:
    """A positive power of a real ball that touches zero is bounded by that of its largest size."""
    if base.imag.is_zero() and base.real.contains(0) and exponent.real > 0:
        size = base.abs_upper() ** exponent.real
        return acb(size * arb(0, 1))
    return base.pow(exponent)


def rough_erf(z: acb) -> acb:
    """erf(x + i y) is within 2/sqrt(pi) exp(-x^2) Int_0^y exp(s^2) ds of erf(x)."""
    x, y = z.real, arb(z.imag.abs_upper())
    near = arb(x.abs_lower())
    dawson = y.min(arb("0.5411"))  # a bound on exp(-y^2) times the integral
    slack = 2 / arb.pi().sqrt() * (y * y - near * near).exp() * dawson * arb(0, 1)
    return acb(x.erf() + slack, slack)


def rough_erfc(z: acb) -> acb:
    return 1 - rough_erf(z)


def _no_complex_value(*_: acb) -> acb:
    return acb(arb.nan())


SPLIT: Special = {name: _no_complex_value for name in KINKED}
PLAIN: Special = {**SPLIT, "power": complex_power}
CAREFUL: Special = {**SPLIT, **{name: analytic_one(name) for name in CUT}}
ROUGH: Special = {**PLAIN, "erf": rough_erf, "erfc": rough_erfc}
