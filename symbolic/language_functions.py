"""What the functions of the language are: elementary ones, and the table of activations."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sympy import (
    Abs,
    Add,
    Dummy,
    Ei,
    Expr,
    Integer,
    Max,
    Min,
    Mul,
    acos,
    asin,
    asinh,
    atan,
    cos,
    cosh,
    erf,
    erfc,
    erfi,
    exp,
    gamma,
    log,
    pi,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

from varlaw.symbolic.activation import KINKED, Activation
from varlaw.symbolic.activations import ACTIVATIONS
from varlaw.symbolic.language_limits import (
    MAX_ARGUMENTS,
    MAX_DIGITS,
    MAX_PRIMES,
    ReadingError,
    real,
)
from varlaw.symbolic.names import suggestion
from varlaw.symbolic.occurrences import contains
from varlaw.symbolic.slopes import slope
from varlaw.symbolic.terms import indicator


@dataclass(frozen=True)
class Called:
    """A function that can be called: how it is made, and how many arguments it takes."""

    name: str
    make: Callable[..., Expr]
    least: int = 1
    most: int = 1
    inputs: int = MAX_ARGUMENTS  # how many arguments are inputs; parameters follow

    def __call__(self, primes: int, *arguments: Expr) -> Expr:
        """The value, or a derivative. Raises ReadingError for what it cannot be called with."""
        if not self.least <= len(arguments) <= self.most:
            raise ReadingError(f"{self.name} takes {self._arity()}, not {len(arguments)}")
        if primes > MAX_PRIMES:
            raise ReadingError(f"{primes} primes; at most {MAX_PRIMES}")
        try:
            return real(self._derivative(primes, *arguments) if primes else self.make(*arguments))
        except (TypeError, ValueError) as error:
            if isinstance(error, ReadingError):
                raise
            raise ReadingError(f"{self.name} of a value that is not real") from error

    def jumps(self, primes: int, *_: Expr) -> bool:
        """Whether the derivative is one almost everywhere only, with point masses left out."""
        return bool(primes) and (self.make is sign or (self.make is Abs and primes > 1))

    def _arity(self) -> str:
        if self.most == self.least:
            return f"{self.least} argument{'s' * (self.least > 1)}"
        return f"{self.least} to {self.most} arguments"

    def _derivative(self, primes: int, *arguments: Expr) -> Expr:
        if self.most > 1:
            raise ReadingError(f"{self.name} has {self.most} arguments and so no primes")
        if self.make is sign:
            return Integer(0)  # almost everywhere
        t = Dummy("t", real=True)
        first = sign(t) if self.make is Abs else slope(self.make(t), t)
        last = Integer(0) if self.make is Abs and primes > 1 else slope(first, t, primes - 1)
        return last.xreplace({t: arguments[0]})


@dataclass(frozen=True)
class CalledActivation(Called):
    """A row of the table of activations, with its parameters and their defaults."""

    kind: type[Activation] = Activation

    def jumps(self, primes: int, *arguments: Expr) -> bool:
        made = self.kind(arguments[0], *_completed(self.kind, arguments[1:]))
        return any(made.jumps(order) for order in range(primes))

    def _arity(self) -> str:
        whole = f"{self.name}({', '.join(('x', *self.kind.parameters))})"
        return super()._arity() + (f" ({whole})" if self.kind.parameters else "")

    def _derivative(self, primes: int, *arguments: Expr) -> Expr:
        """The derivative of each part, where the part holds."""
        z, *parameters = arguments
        t = z if z.is_Symbol else Dummy("t", real=True)
        whole = _completed(self.kind, parameters)
        made = self.kind(t, *whole)
        written = made.slopes_written
        parts = () if len(written) == 1 else made.written_out
        rests = contains(z, KINKED)  # the argument may rest at a start, which belongs to one part
        if written:
            slopes = [slope(first, t, primes - 1) for first in written]
        else:
            slopes = [slope(value, t, primes) for _, value in parts]
        if t != z:
            slopes = [value.xreplace({t: z}) for value in slopes]
        starts, last, terms = [start for start, _ in parts[1:]], len(slopes) - 1, []
        for k, value in enumerate(slopes):
            if value == 0:
                continue
            sides = [value]
            if k > 0:
                above = ">=" if k - 1 in self.kind.from_above else ">"
                sides.append(holds(z - starts[k - 1], above if rests else ">"))
            if k < last:
                below = "<" if k in self.kind.from_above else "<="
                sides.append(holds(z - starts[k], below if rests else "<"))
            terms.append(Mul(*sides))
        return Add(*terms)


def function_named(name: str) -> Called:
    """The function that a name stands for. Raises ReadingError, with the nearest name."""
    if name in ELEMENTARY:
        return ELEMENTARY[name]
    kind = _activations().get(name) or _activations(lower=True).get(name.lower())
    if kind is None and name in _SEVERAL_INPUTS:
        raise ReadingError(f"{name} is no function of one variable: {_SEVERAL_INPUTS[name]}")
    if kind is None:
        near = suggestion(name, [*ELEMENTARY, *_activations()])
        raise ReadingError(f"unknown function {name!r}{near}")
    if kind.__name__ in ELEMENTARY:
        return ELEMENTARY[kind.__name__]
    most = 1 + len(kind.parameters)
    return CalledActivation(name, _maker(kind), most - len(kind.defaults), most, 1, kind)


def is_function(name: str) -> bool:
    return name in ELEMENTARY or name in _activations()


@cache
def _activations(lower: bool = False) -> dict[str, type[Activation]]:
    """The activations by all their names: ours first, then those of the libraries and of LaTeX."""
    found = dict(ACTIVATIONS)
    for kind in ACTIVATIONS.values():
        for known in (*kind.known.values(), kind.label):
            found.setdefault(known, kind)
    return {name.lower(): kind for name, kind in reversed(found.items())} if lower else found


def holds(difference: Expr, sign: str) -> Expr:
    """1 where the difference of the sides has the sign, else 0."""
    if sign == ">=":
        return 1 - indicator(difference, "<")
    if sign == "<=":
        return 1 - indicator(difference, ">")
    return indicator(difference, sign)


def _maker(kind: type[Activation]) -> Callable[..., Expr]:
    def make(z: Expr, *given: Expr) -> Expr:
        made = kind(z, *_completed(kind, given))
        _ordered(made)
        return at_number(made)

    return make


def at_number(activation: Activation) -> Expr:
    """An activation of a number as the part that holds there; of anything else, itself.

    Raises ReadingError at a jump, where there is no value.
    """
    z, starts = activation.args[0], activation.kinks
    if not z.is_number or not all((z - start).is_real and start.is_number for start in starts):
        return activation
    place = sum(1 for start in starts if (z - start).is_nonnegative)
    values = [value for _, value in activation.written_out]
    if place and z == starts[place - 1] and values[place] != values[place - 1]:
        raise ReadingError(f"{activation} is the value at a jump, which is not defined")
    return values[place]


def _completed(kind: type[Activation], given: "tuple[Expr, ...] | list[Expr]") -> tuple[Expr, ...]:
    """All parameters, those that were not given by their defaults."""
    missing = len(kind.parameters) - len(given)
    return (*given, *(kind.defaults[-missing:] if missing else ()))


def _ordered(activation: Activation) -> None:
    """Raise ReadingError if a parameter has put the parts of an activation out of order."""
    for left, right in zip(activation.kinks, activation.kinks[1:], strict=False):
        if (right - left).is_negative:
            raise ReadingError(f"{activation} has parameters that put its parts out of order")


def _exponential(value: Expr) -> Expr:
    """exp, which turns exp(n log b) into b^n."""
    for term in Add.make_args(value):
        if term.is_number and term.has(log) and abs(term.as_coeff_Mul()[0]) > MAX_DIGITS:
            raise ReadingError(f"a power of a number with more than {MAX_DIGITS} digits")
    return exp(value)


_GATED = "it is a product of independent inputs, and its moments are products of theirs, of "
_SEVERAL_INPUTS = {
    "maxout": "the largest of k standard normal inputs has the means of f(x)*k*Phi(x)^(k - 1)",
    "dropout": "its mask is independent of x, with E[M^p] = (1 - rate)^(1 - p)",
    "bilinear": f"{_GATED}a and b",
    "glu": f"{_GATED}sigmoid(a) and b",
    "reglu": f"{_GATED}relu(a) and b",
    "geglu": f"{_GATED}gelu(a) and b",
    "swiglu": f"{_GATED}silu(a) and b",
}


def _bivariate(h: Expr, k: Expr, rho: Expr) -> Expr:
    """P(X < h, Y < k) of standard normal variables with correlation rho."""
    from varlaw.symbolic.gaussian.probabilities import phi2

    return phi2(h, k, rho)


def _clipped(u: Expr, low: Expr, high: Expr) -> Expr:
    """u kept between two values. Raises ReadingError where they are out of order."""
    if (high - low).is_negative:
        raise ReadingError(f"the values {low} and {high} to clip at are out of order")
    return Min(Max(u, low), high)


_ONE_ARGUMENT: dict[str, Callable[..., Expr]] = {
    "Phi": lambda u: (1 + erf(u / sqrt(2))) / 2,
    "phi": lambda u: exp(-(u**2) / 2) / sqrt(2 * pi),
    "exp": _exponential,
    "ln": log,
    "arcsin": asin,
    "arccos": acos,
    "arctan": atan,
    "arcsinh": asinh,
    "sech": lambda u: 1 / cosh(u),
    "log1p": lambda u: log(1 + u),
    "expm1": lambda u: exp(u) - 1,
    "log2": lambda u: log(u) / log(2),
    "log10": lambda u: log(u) / log(10),
    "square": lambda u: u**2,
    "logsigmoid": lambda u: -log(1 + exp(-u)),
    "log_sigmoid": lambda u: -log(1 + exp(-u)),
    "tanhshrink": lambda u: u - tanh(u),
    "tanh_shrink": lambda u: u - tanh(u),
    "squareplus": lambda u: (u + sqrt(u**2 + 4)) / 2,
    "sgn": sign,
    "abs": Abs,
    **{
        f.__name__: f
        for f in (acos, asin, asinh, atan, cos, cosh, erf, erfc, log, sin, sinh, tan, tanh)
    },
    "Gamma": gamma,
    "Ei": Ei,
    "erfi": erfi,
    "sign": sign,
    "sqrt": sqrt,
}
ELEMENTARY = {
    **{name: Called(name, make) for name, make in _ONE_ARGUMENT.items()},
    "clip": Called("clip", _clipped, 3, 3),
    "clamp": Called("clamp", _clipped, 3, 3),
    "max": Called("max", Max, 1, MAX_ARGUMENTS),
    "min": Called("min", Min, 1, MAX_ARGUMENTS),
    "Phi2": Called("Phi2", _bivariate, 3, 3),
}
