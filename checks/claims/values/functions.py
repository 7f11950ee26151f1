"""Functions that formulas call, on real and on complex balls: elementary ones and activations."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from flint import acb, arb

from varlaw.symbolic.gaussian.balls import complementary, normal_cdf, raised
from varlaw.symbolic.gaussian.operations import analytic_one, complex_power

if TYPE_CHECKING:
    from varlaw.checks.claims.values.numbers import Scope

MOST_EXPONENT = 100_000  # of a power that is multiplied out


class NoValue(ValueError):
    """A formula has no value that can be enclosed; the message says why, in one line."""


CONSTANTS: dict[str, Callable[[], arb]] = {"pi": arb.pi, "e": arb.const_e}
SAME = {
    **{name: name for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "erfc")},
    **{name: name for name in ("asin", "acos", "atan", "asinh", "cot", "sec", "csc", "coth")},
    **{
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arsinh": "asinh",
        "arcosh": "acosh",
        "artanh": "atanh",
        "Gamma": "gamma",
    },
    "zeta": "zeta",
}  # functions, and the methods of balls that are the same functions
CUT = ("asin", "acos", "atan", "asinh", "atanh")
INVERSES = ("erfinv", "Phi^{-1}")
SEVERAL = ("max", "min")
ROUNDED = ("floor", "ceil")


def whole(value: Any) -> int | None:
    """The whole number that a ball is, if it is exactly one of moderate size."""
    if isinstance(value, acb) or not value.is_finite() or not abs(value) < 2**62:
        return None
    found = value.unique_fmpz()
    return None if found is None or not value.is_exact() else int(found)


def power(base: Any, exponent: Any, scope: "Scope") -> Any:
    """base ** exponent; whole powers by multiplication. Raises NoValue outside of the reals."""
    plain_exponent = exponent.real if scope.complex and exponent.imag.is_zero() else exponent
    k = whole(plain_exponent)
    if k is not None and abs(k) <= MOST_EXPONENT:
        if k <= 0 and not scope.complex and base.is_zero():
            raise NoValue("zero to a power that is not positive")
        return raised(base, k)
    if scope.complex:
        if scope.analytic:
            return base.pow(exponent, analytic=True)
        return complex_power(base, exponent)
    if base < 0 and k is not None:
        return base**exponent
    if base.is_zero() and exponent > 0:
        return arb(0)
    if not base >= 0:
        raise NoValue("a power of a number that is not known to be positive")
    return base**exponent


def function(name: str, arguments: list[Any], scope: "Scope") -> Any:
    """The function called `name` at balls. Raises NoValue for one that is not known."""
    if not scope.complex and not all(value.is_finite() for value in arguments):
        raise NoValue(f"{name} of something too large or not defined")
    if name in SEVERAL and arguments:
        first, *rest = arguments
        for value in rest:
            first = _larger(first, value, scope) if name == "max" else _smaller(first, value, scope)
        return first
    if len(arguments) == 1:
        x = arguments[0]
        if name in ("sqrt", "log"):
            return _with_cut(name, x, scope)
        if name in ("abs", "lvert"):
            return x.real_abs(analytic=scope.analytic) if scope.complex else abs(x)
        if name in ROUNDED:
            if scope.complex:
                raise NoValue(f"{name} inside of an integral")
            return getattr(x, name)()
        if name in SAME:
            return _plain(SAME[name], x, scope)
        if name == "sign":
            return x.real_sgn(analytic=scope.analytic) if scope.complex else x.sgn()
        if name in INVERSES:
            if scope.complex:
                raise NoValue(f"{name} inside of an integral")
            return x.erfinv() if name == "erfinv" else (2 * x - 1).erfinv() * arb(2).sqrt()
        if name == "Phi":
            return normal_cdf(x) if not scope.complex else (-x / arb(2).sqrt()).erfc() / 2
    return _activation(name, arguments, scope)


def _plain(method: str, x: Any, scope: "Scope") -> Any:
    if scope.complex and scope.analytic and method in CUT:
        return analytic_one(method)(x)
    if scope.complex and scope.analytic and method == "acosh" and not x.real > 1:
        return acb(arb.nan())
    if method == "erfc" and not scope.complex:
        return complementary(x)
    return getattr(x, method)()


def _with_cut(name: str, x: Any, scope: "Scope") -> Any:
    if scope.complex:
        return getattr(x, name)(analytic=scope.analytic)
    if name == "sqrt":
        if x < 0:
            raise NoValue("the root of a negative number")
        return x.sqrt()
    if not x > 0:
        raise NoValue("the logarithm of a number that is not known to be positive")
    return x.log()


def _larger(a: Any, b: Any, scope: "Scope") -> Any:
    return a.real_max(b, analytic=scope.analytic) if scope.complex else a.max(b)


def _smaller(a: Any, b: Any, scope: "Scope") -> Any:
    return a.real_min(b, analytic=scope.analytic) if scope.complex else a.min(b)


@cache
def _kinds() -> Any:
    """The table of activations, by the names that a document may use."""
    from varlaw.symbolic.activations import ACTIVATIONS, UnknownActivation, named_activation

    def find(name: str) -> Any:
        try:
            return named_activation(name)
        except UnknownActivation:
            low = name.lower()
            labels = {kind.label.lower(): kind for kind in ACTIVATIONS.values()}
            return labels.get(low)

    return find


@lru_cache(maxsize=256)
def _parts(name: str) -> tuple[Any, ...]:
    """The activation's ends as numbers, and the programs between them."""
    from sympy import Dummy

    from varlaw.symbolic.gaussian.programs import program

    kind = _kinds()(name)
    if kind is None:
        raise NoValue(f"{name} is not a function that is known")
    z = Dummy("z", real=True)
    return tuple((start, program(value, z)) for start, value in kind.parts(z, *kind.defaults))


def _activation(name: str, arguments: list[Any], scope: "Scope") -> Any:
    """An activation at a ball; over a kink the hull of both sides, which no integral takes."""
    from varlaw.symbolic.gaussian.balls import ball

    parts = _parts(name)
    if len(arguments) != 1:
        raise NoValue(f"{name} of {len(arguments)} arguments")
    x = arguments[0]
    place = x.real if scope.complex else x
    starts = [ball(start) for start, _ in parts[1:]]
    held = [
        code
        for k, (_, code) in enumerate(parts)
        if not (k > 0 and place < starts[k - 1]) and not (k < len(starts) and place > starts[k])
    ]
    if len(held) > 1 and scope.analytic:
        return acb(arb.nan())
    values = [
        code.on_complexes()(x, scope.analytic) if scope.complex else code.on_reals()(x)
        for code in held
    ]
    first, *rest = values
    for value in rest:
        first = first.union(value)
    return first
