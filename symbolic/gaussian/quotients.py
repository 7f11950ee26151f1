"""Expressions as quotients of polynomials over the rationals: exact algebra, by python-flint.

The generators are the variable, exponentials exp(c m) of products m, roots, and every other
function that an expression holds. Between them nothing is known but that the powers of a root are
those of what it is a root of: what is found equal is equal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import gcd, lcm

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
from sympy import (
    Abs,
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    asinh,
    atan,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    log,
    sign,
    sin,
    sinh,
    tanh,
)
from sympy.core.numbers import Exp1

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.occurrences import depends

MOST_POWER = 60
MOST_DEGREE = 2_000
MOST_TERMS = 20_000
ODD = (asinh, atan, erf, sign, sin, sinh, tanh)
EVEN = (Abs, cos, cosh)
ONE = Integer(1)


class NoQuotient(ValueError):
    """The polynomials would be too large."""


@dataclass(frozen=True)
class Quotient:
    """above/below."""

    above: fmpq_mpoly
    below: fmpq_mpoly

    def __add__(self, other: "Quotient") -> "Quotient":
        if self.below == other.below:
            return Quotient(self.above + other.above, self.below)
        above = self.above * other.below + other.above * self.below
        return Quotient(above, self.below * other.below)

    def __mul__(self, other: "Quotient") -> "Quotient":
        for one, two in ((self.above, other.above), (self.below, other.below)):
            if len(one) * len(two) > MOST_TERMS:
                raise NoQuotient("too many terms")
        return Quotient(self.above * other.above, self.below * other.below)

    def __pow__(self, n: int) -> "Quotient":
        if abs(n) > MOST_POWER:
            raise NoQuotient(f"the power {n}")
        base = self if n >= 0 else self.inverse
        return reduce(Quotient.__mul__, [base] * abs(n), base.one)

    @property
    def one(self) -> "Quotient":
        return Quotient(self.below * 0 + 1, self.below * 0 + 1)

    @property
    def inverse(self) -> "Quotient":
        if self.above.is_zero():
            raise NoQuotient("a division by zero")
        return Quotient(self.below, self.above)

    @property
    def lowest(self) -> "Quotient":
        """In lowest terms, with a denominator that leads with 1."""
        common = self.above.gcd(self.below)
        above, below = self.above / common, self.below / common
        lead = below.leading_coefficient()
        return Quotient(above / lead, below / lead)


class Quotients:
    """The generators of an expression, and of its mirror image if there is a variable x."""

    def __init__(self, f: Expr, x: Symbol | None = None) -> None:
        self.x = Dummy("x") if x is None else x
        self.opaque: dict[Expr, None] = {}
        self.rates: dict[Expr, list[Rational]] = {}  # of exp(rate m), by m
        self.roots: dict[Expr, int] = {}  # the order of the root, by its base
        self._collect(f)
        steps = {m: _common(found) for m, found in self.rates.items()}
        self.powers = [
            *self.opaque,
            *(exp(step * m, evaluate=False) for m, step in steps.items()),
            *(Pow(base, Rational(1, n)) for base, n in self.roots.items()),
        ]
        self.context = fmpq_mpoly_ctx.get([f"g{k}" for k in range(len(self.powers))], Ordering.lex)
        self.one = self.context.constant(1)
        gens = iter(Quotient(g, self.one) for g in self.context.gens())
        self.of_opaque = {e: next(gens) for e in self.opaque}
        self.of_rate = {m: (step, next(gens)) for m, step in steps.items()}
        self.of_root = {base: next(gens) for base in self.roots}
        self.known: dict[tuple[Expr, bool], Quotient] = {}

    def _collect(self, e: Expr) -> None:
        match e:
            case Rational():
                pass
            case Add() | Mul():
                for part in e.args:
                    self._collect(part)
            case Pow() if e.exp.is_Integer:
                self._collect(e.base)
            case Pow() if self._is_root(e):
                for base in _bases(e.base):
                    if not base.is_Rational:
                        self._collect(base)
                    self.roots[base] = lcm(self.roots.get(base, 1), int(e.exp.q))
            case Exp1() | exp() | tanh():
                for rate, m in _rates(e):
                    self.rates.setdefault(m, []).append(rate)
                    if not parity(m, self.x):
                        for other, image in _rates(exp(self._mirrored(m))):
                            self.rates.setdefault(image, []).append(rate * other)
            case Activation() if len(e.written_out) == 1:
                self._collect(e.written_out[0][1])
            case erfc():
                self._collect(erf(e.args[0]))
            case _:
                self.opaque[e] = None
                if not parity(e, self.x):
                    u = _softplus(e)
                    if u is not None and parity(u, self.x) == -1:
                        self._collect(u)
                    elif e != self.x:
                        self.opaque[self._mirrored(e)] = None

    def _mirrored(self, e: Expr) -> Expr:
        return e.xreplace({self.x: -self.x})

    def _is_root(self, e: Pow) -> bool:
        return bool(e.exp.is_Rational) and not depends(e.base, self.x)

    def of(self, e: Expr, mirrored: bool = False) -> Quotient:
        """The quotient that an expression is, or its mirror image."""
        key = (e, mirrored)
        if key not in self.known:
            self.known[key] = self._found(e, mirrored)
        return self.known[key]

    def _found(self, e: Expr, mirrored: bool) -> Quotient:
        match e:
            case Rational():
                return Quotient(self.context.constant(fmpq(int(e.p), int(e.q))), self.one)
            case Add() | Mul():
                parts = (self.of(part, mirrored) for part in e.args)
                join: Callable[[Quotient, Quotient], Quotient]
                join = Quotient.__add__ if isinstance(e, Add) else Quotient.__mul__
                return reduce(join, parts)
            case Pow() if e.exp.is_Integer:
                return self.of(e.base, mirrored) ** int(e.exp)
            case Pow() if self._is_root(e):
                bases = ((b, self.of_root[b] ** int(e.exp * self.roots[b])) for b in _bases(e.base))
                return reduce(Quotient.__mul__, (root for _, root in bases))
            case tanh():
                wave = self._exponential(e, mirrored)
                minus, one = self.of(-ONE), self.of(ONE)
                return (wave + minus) * (wave + one).inverse
            case Exp1() | exp():
                return self._exponential(e, mirrored)
            case Activation() if len(e.written_out) == 1:
                return self.of(e.written_out[0][1], mirrored)
            case erfc():
                return self.of(ONE) + self.of(-erf(e.args[0]), mirrored)
        return self._opaque(e, mirrored)

    def _exponential(self, e: Expr, mirrored: bool) -> Quotient:
        """exp(u); for tanh(u) it is exp(2 u)."""
        found = self.of(ONE)
        for rate, m in _rates(e):
            turned = parity(m, self.x) if mirrored else 1
            if turned:
                step, wave = self.of_rate[m]
                found *= wave ** int(turned * rate / step)
            else:
                for other, image in _rates(exp(self._mirrored(m))):
                    step, wave = self.of_rate[image]
                    found *= wave ** int(rate * other / step)
        return found

    def _opaque(self, e: Expr, mirrored: bool) -> Quotient:
        if not mirrored:
            return self.of_opaque[e]
        sign = parity(e, self.x)
        if sign:
            return self.of(Integer(sign)) * self.of_opaque[e]
        u = _softplus(e)
        if u is not None and parity(u, self.x) == -1:  # log(1 + e^-u) = log(1 + e^u) - u
            return self.of_opaque[e] + self.of(-u)
        return self.of_opaque[self._mirrored(e)]

    def left(self, polynomial: fmpq_mpoly) -> list[Expr]:
        """The generators that are in a polynomial."""
        used = polynomial.degrees()
        return [generator for generator, n in zip(self.powers, used, strict=True) if n > 0]

    def is_nil(self, quotient: Quotient) -> bool:
        """Whether it is known to be 0."""
        above = quotient.above
        offset = len(self.powers) - len(self.roots)
        for place, (base, order) in reversed([*enumerate(self.roots.items(), offset)]):
            if above.is_zero():
                return True
            if base.is_Atom and not base.is_Rational:  # pi is a root of nothing
                continue
            power = self.of(base)
            whole = Quotient(above * 0, self.one)
            for monomial, coefficient in above.to_dict().items():
                turns, rest = divmod(int(monomial[place]), order)
                shape = (*monomial[:place], rest, *monomial[place + 1 :])
                term = Quotient(self.context.from_dict({shape: coefficient}), self.one)
                whole += term * power**turns
            above = whole.above
        return above.is_zero()

    def expression(self, quotient: Quotient) -> Expr:
        """A quotient as an expression again; a sum if its denominator is a product."""
        ((divisor, c), *others) = quotient.below.to_dict().items()
        if others:
            return self._sum(quotient.above) / self._sum(quotient.below)
        return self._sum(quotient.above / c, divisor)

    def _sum(self, polynomial: fmpq_mpoly, divisor: tuple[int, ...] = ()) -> Expr:
        terms = []
        for monomial, c in polynomial.to_dict().items():
            powers, waves = [Rational(int(c.p), int(c.q))], []
            less = divisor or (0,) * len(monomial)
            for generator, over, under in zip(self.powers, monomial, less, strict=True):
                n = int(over) - int(under)
                if isinstance(generator, exp):
                    waves.append(n * generator.args[0])
                elif n:
                    powers.append(generator**n)
            terms.append(Mul(*powers, exp(Add(*waves))))
        return Add(*terms)


def _bases(base: Expr) -> Iterator[Expr]:
    """What a root is taken of: the primes of a whole number, else the thing itself."""
    if base.is_Rational and base > 0:
        yield from (Integer(p) for p in base.factors())
    else:
        yield base


def _rates(e: Expr) -> Iterator[tuple[Rational, Expr]]:
    """(c, m) for each factor exp(c m) of an exponential; tanh(u) counts as exp(2 u)."""
    if isinstance(e, Exp1):
        yield ONE, ONE
        return
    double = 2 if isinstance(e, tanh) else 1
    for term in Add.make_args(e.args[0]):
        rate, m = term.as_coeff_Mul(rational=True)
        yield double * rate, m


def _common(rates: list[Rational]) -> Rational:
    """The largest number of which all are multiples."""
    below = lcm(*(int(rate.q) for rate in rates))
    step = Rational(gcd(*(int(rate * below) for rate in rates)), below)
    if any(abs(rate / step) > MOST_DEGREE for rate in rates):
        raise NoQuotient("powers of an exponential that are too high")
    return step


def _softplus(e: Expr) -> Expr | None:
    """u for log(1 + e^u)."""
    inside = e.args[0] if isinstance(e, log) else None
    if isinstance(inside, Add) and len(inside.args) == 2 and inside.args[0] == 1:
        wave = inside.args[1]
        return wave.args[0] if isinstance(wave, exp) else None
    return None


@lru_cache(maxsize=4096)
def parity(e: Expr, x: Symbol) -> int:
    """1 for an even function of x, -1 for an odd one, 0 for others or where it is not seen."""
    if e == x:
        return -1
    found = [parity(part, x) for part in e.args]
    if all(sign == 1 for sign in found):
        return 1
    match e:
        case Mul():
            return reduce(int.__mul__, found)
        case Add():
            return found[0] if len({*found}) == 1 else 0
        case Pow() if e.exp.is_Integer:
            return found[0] if e.exp % 2 else abs(found[0])
        case Activation() if e.parity is not None and found[1:].count(1) == len(found) - 1:
            return abs(found[0]) if e.parity == "even" else found[0]
    return abs(found[0]) if isinstance(e, EVEN) else found[0] if isinstance(e, ODD) else 0
