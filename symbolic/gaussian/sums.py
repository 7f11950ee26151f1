"""Smooth functions as sums of terms c x^n |x|^p log|x|^l exp(a x^2 + b x) erf(..)...erf(..)."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from sympy import (
    Add,
    Expr,
    I,
    Integer,
    Mul,
    Poly,
    PolynomialError,
    Pow,
    S,
    Symbol,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    log,
    sin,
    sinh,
)

from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.occurrences import depends

Affine = tuple[Expr, Expr]  # (slope, offset)
MAX_TERMS = 2000
MAX_POWER = 60


@dataclass(frozen=True)
class Shape:
    """What a term is besides its coefficient: x^power exp(quadratic x^2 + linear x) Prod erf.

    With a side (1 where x > 0, -1 where x < 0) there are also |x|^size and log|x|^logs, real on
    that side only.
    """

    power: int = 0
    quadratic: Expr = S.Zero
    linear: Expr = S.Zero
    erfs: tuple[Affine, ...] = ()
    side: int = 0
    size: Expr = S.Zero
    logs: int = 0

    def times(self, other: "Shape") -> "Shape":
        erfs = (*self.erfs, *other.erfs)
        return Shape(
            self.power + other.power,
            self.quadratic + other.quadratic,
            self.linear + other.linear,
            tuple(sorted(erfs, key=str)) if len(erfs) > 1 else erfs,
            self._side(other),
            self.size + other.size,
            self.logs + other.logs,
        )

    def _side(self, other: "Shape") -> int:
        if self.side * other.side < 0:
            raise NotClosed("a function that is not real anywhere")
        return self.side or other.side


Terms = dict[Shape, Expr]
ONE = Shape()


def terms_of(f: Expr, x: Symbol) -> Terms:
    """`f` as a sum of terms: shape -> coefficient. Raises NotClosed for any other function."""
    if not depends(f, x):
        return {ONE: f} if f != 0 else {}
    if f == x:
        return {Shape(1): Integer(1)}
    match f:
        case Add():
            return _added(terms_of(part, x) for part in f.args)
        case Mul():
            result: Terms = {ONE: Integer(1)}
            for part in f.args:
                result = _multiplied(result, terms_of(part, x))
            return result
        case exp():
            return _exponential(f.args[0], x)
        case Pow():
            return _power(f, x)
        case log():
            side, scale = _through_zero(f, f.args[0], x)
            return {Shape(side=side, logs=1): Integer(1), Shape(side=side): log(scale)}
        case erf():
            return {Shape(erfs=(_affine(f.args[0], x),)): Integer(1)}
        case erfc():
            return {ONE: Integer(1), Shape(erfs=(_affine(f.args[0], x),)): Integer(-1)}
        case sin() | cos() | sinh() | cosh():
            return _added(_waves(f, x))
        case _:
            raise NotClosed("no closed form is known with {}", f)


def _added(parts: Iterable[Terms]) -> Terms:
    total: Terms = {}
    for part in parts:
        for shape, coefficient in part.items():
            total[shape] = total.get(shape, Integer(0)) + coefficient
    return {shape: c for shape, c in total.items() if c != 0}


def _multiplied(left: Terms, right: Terms) -> Terms:
    if len(left) * len(right) > MAX_TERMS:
        raise NotClosed(f"more than {MAX_TERMS} terms when multiplied out")
    return _added({a.times(b): c * d} for (a, c), (b, d) in product(left.items(), right.items()))


def _power(f: Pow, x: Symbol) -> Terms:
    base, exponent = f.args
    if not depends(base, x):
        return _exponential(exponent * log(base), x)
    if depends(exponent, x):
        raise NotClosed("no closed form is known with {}", f)
    if not exponent.is_Integer:
        side, scale = _through_zero(f, base, x)
        return {Shape(side=side, size=exponent): scale**exponent}
    if exponent < 0:
        raise NotClosed("no closed form is known with {}", f)
    if exponent > MAX_POWER:
        raise NotClosed(f"the power {exponent} is larger than {MAX_POWER}")
    if base == x:
        return {Shape(int(exponent)): Integer(1)}
    inner = terms_of(base, x)
    result: Terms = {ONE: Integer(1)}
    for _ in range(int(exponent)):
        result = _multiplied(result, inner)
    return result


def _through_zero(f: Expr, base: Expr, x: Symbol) -> tuple[int, Expr]:
    """The side of zero where a base c x is positive, and |c|."""
    scale, rest = base.as_independent(x, as_Add=False)
    if rest != x:
        raise NotClosed("no closed form is known with {}", f)
    if scale.is_positive or scale.is_negative:
        return (1, scale) if scale.is_positive else (-1, -scale)
    raise NotClosed(f"the sign of {scale} is not known")


def _exponential(argument: Expr, x: Symbol) -> Terms:
    terms = [term.as_independent(x, as_Add=False)[::-1] for term in Add.make_args(argument)]
    found = {x**2: S.Zero, x: S.Zero, S.One: S.Zero} | dict(terms)
    if len(found) == 3 and len({power for power, _ in terms}) == len(terms):
        a, b, c = found.values()
        return {Shape(0, a, b): exp(c)}
    try:
        polynomial = Poly(argument, x)
    except PolynomialError:
        raise NotClosed("no closed form is known with exp({})", argument) from None
    if polynomial.degree() > 2:
        raise NotClosed("no closed form is known with exp({})", argument)
    a, b, c = (polynomial.coeff_monomial(x**k) for k in (2, 1, 0))
    return {Shape(0, a, b): exp(c)}


def _affine(argument: Expr, x: Symbol) -> Affine:
    slope = argument.diff(x)
    if depends(slope, x):
        raise NotClosed("no closed form is known with erf({})", argument)
    return slope, argument.subs(x, 0)


def _waves(f: Expr, x: Symbol) -> list[Terms]:
    """Circular and hyperbolic functions as exponentials."""
    unit = I if isinstance(f, (sin, cos)) else Integer(1)
    up = _exponential((unit * f.args[0]).expand(), x)
    down = _exponential((-unit * f.args[0]).expand(), x)
    scale = 1 / (2 * unit) if isinstance(f, (sin, sinh)) else Integer(1) / 2
    turn = -scale if isinstance(f, (sin, sinh)) else scale
    return [{s: c * scale for s, c in up.items()}, {s: c * turn for s, c in down.items()}]
