"""Balls for the numbers of blocks, given balls for their symbols: what a simulation would tend to.

An expression is compiled once, to a straight line of steps in which each part stands once, and run
at any balls; what has no symbols is found once at each precision. Expressions are real wherever
they are asked for, so that the argument of a root is not negative, and that of an arc cosine is in
[-1, 1]: a ball that reaches beyond is cut there.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from operator import add, mul, truediv
from typing import Any

from flint import arb, ctx, fmpz
from sympy import (
    Add,
    Basic,
    Expr,
    Function,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    acos,
    asin,
    erfc,
    harmonic,
    polygamma,
)

from varlaw.symbolic.blocks.block import names
from varlaw.symbolic.gaussian.balls import FUNCTIONS, NoEnclosure, NotFinite, ball, raised

Balls = Mapping[Symbol, arb]
Step = tuple[int, Callable[..., arb], int, int]  # where to, what, and of which registers; -1: none
POINT = 0  # the register that holds the balls of all symbols


class Enclosable(Function):
    """A function that knows a ball of itself, given balls for its symbols."""

    @property
    def free_symbols(self) -> set[Symbol]:
        """All symbols but those that are bound, found once: formulas inside are long."""
        return set(self._names)

    @cached_property
    def _names(self) -> set[Symbol]:
        return names(*self.args)

    def enclosure(self, at: Balls) -> arb:
        """A ball at the current precision. Raises NoEnclosure where none is found."""
        raise NotImplementedError


def depends(expression: Basic, variable: Symbol) -> bool:
    """Whether an `Enclosable` in an expression depends on a variable."""
    if isinstance(expression, Enclosable):
        return variable in expression.free_symbols
    return any(depends(part, variable) for part in expression.args)


def enclosure(expression: Expr, at: Balls) -> arb:
    """A ball for an expression at the current precision.

    Raises NoEnclosure for a symbol without a ball, and where no finite one is found.
    """
    (value,) = enclosures((expression,), at)
    return value


def enclosures(expressions: Iterable[Expr], at: Balls) -> tuple[arb, ...]:
    """Balls for several expressions, as `enclosure` finds one."""
    values = _line(tuple(expressions)).run(at)
    if not all(value.is_finite() for value in values):
        raise NotFinite("no finite enclosure was found")
    return values


@dataclass(frozen=True)
class Point:
    """Balls for symbols; two are the same where middles, radii and the precision are."""

    balls: Balls = field(compare=False)
    key: frozenset[tuple[Symbol, tuple[fmpz, fmpz], tuple[fmpz, fmpz]]]
    precision: int

    @classmethod
    def of(cls, at: Balls) -> "Point":
        """The point at the current precision. Raises NoEnclosure for balls that are not finite."""
        if not all(ball.is_finite() for ball in at.values()):
            raise NotFinite("a ball is not finite")
        key = ((s, ball.mid().man_exp(), ball.rad().man_exp()) for s, ball in at.items())
        return cls(at, frozenset(key), ctx.prec)


@lru_cache(maxsize=4096)
def _remembered(e: Enclosable, at: Point) -> arb:
    return e.enclosure(at.balls)


@dataclass(frozen=True)
class _Line:
    """The steps that need no symbols, and those that do."""

    size: int
    symbols: tuple[tuple[Symbol, int], ...]
    fixed: tuple[Step, ...]
    moving: tuple[Step, ...]
    results: tuple[int, ...]
    begun: dict[int, list[Any]] = field(default_factory=dict)  # by the precision

    @cached_property
    def pointed(self) -> bool:
        """Whether a step takes the balls of all symbols."""
        return any(left == POINT for _, _, left, _ in self.moving)

    def run(self, at: Balls) -> tuple[arb, ...]:
        if ctx.prec not in self.begun:
            self.begun[ctx.prec] = _through(self.fixed, [Point.of({})] + [None] * self.size)
        registers = self.begun[ctx.prec].copy()
        for symbol, register in self.symbols:
            if symbol not in at:
                raise NoEnclosure(f"{symbol} has no value")
            registers[register] = at[symbol]
        if self.pointed:
            registers[POINT] = Point.of(at)
        _through(self.moving, registers)
        return tuple(registers[result] for result in self.results)


def _through(steps: Iterable[Step], registers: list[Any]) -> list[Any]:
    for target, function, left, right in steps:
        if right < 0:
            registers[target] = function(registers[left])
        else:
            registers[target] = function(registers[left], registers[right])
    return registers


@lru_cache(maxsize=512)
def _line(expressions: tuple[Expr, ...]) -> _Line:
    """The line of some expressions. Raises NoEnclosure for a function that balls do not have."""
    compiler = _Compiler()
    results = tuple(map(compiler.register, expressions))
    return _Line(
        compiler.size,
        tuple(compiler.symbols.items()),
        tuple(compiler.fixed),
        tuple(compiler.moving),
        results,
    )


class _Compiler:
    def __init__(self) -> None:
        self.size = 0
        self.known: dict[Expr, int] = {}
        self.symbols: dict[Symbol, int] = {}
        self.fixed: list[Step] = []
        self.moving: list[Step] = []
        self.varied: set[int] = set()

    def register(self, e: Expr) -> int:
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self._found(e)
        return found

    def step(self, function: Callable[..., arb], left: int, right: int = -1) -> int:
        """A new register with a function of one register or two."""
        return self._add(function, left, right, bool({left, right} & self.varied))

    def _add(self, function: Callable[..., arb], left: int, right: int, varied: bool) -> int:
        self.size += 1
        (self.moving if varied else self.fixed).append((self.size, function, left, right))
        if varied:
            self.varied.add(self.size)
        return self.size

    def _found(self, e: Expr) -> int:
        if isinstance(e, Enclosable):
            return self._add(partial(_remembered, e), POINT, -1, bool(e.free_symbols))
        match e:
            case Symbol():
                self.size += 1
                self.symbols[e] = self.size
                self.varied.add(self.size)
                return self.size
            case Add():
                return self._chain(add, e)
            case Mul():
                return self._chain(mul, e)
            case Pow():
                return self._power(self.register(e.base), e.exp)
        if type(e) in FUNCTIONS:
            inner = self.register(e.args[0])
            if isinstance(e, acos | asin):
                inner = self.step(_cut, inner)
            found = _erfc if isinstance(e, erfc) else getattr(arb, FUNCTIONS[type(e)])
            return self.step(found, inner)
        if isinstance(e, polygamma) and e.args[0].is_Integer and e.args[0] > 0:
            return self.step(partial(_polygamma, int(e.args[0])), self.register(e.args[1]))
        if isinstance(e, harmonic) and len(e.args) == 1:
            return self.step(_harmonic, self.register(e.args[0]))
        if isinstance(e, harmonic) and e.args[1].is_Integer and e.args[1] > 1:
            return self.step(partial(_harmonics, int(e.args[1])), self.register(e.args[0]))
        if e.free_symbols:
            raise NoEnclosure(f"no ball arithmetic is known for {e.func.__name__}")
        return self._add(lambda _: ball(e), POINT, -1, False)

    def _chain(self, operation: Callable[..., arb], e: Expr) -> int:
        total, *others = map(self.register, e.args)
        for other in others:
            total = self.step(operation, total, other)
        return total

    def _power(self, base: int, exponent: Expr) -> int:
        if isinstance(exponent, Rational) and exponent.q == 2:
            base, exponent = self.step(_root, base), Integer(exponent.p)
        if not isinstance(exponent, Integer):
            return self.step(pow, base, self.register(exponent))
        match int(exponent):
            case 1:
                return base
            case -1:
                return self.step(partial(truediv, 1), base)
            case power:
                return self.step(lambda value: raised(value, power), base)


def _cut(value: arb) -> arb:
    return _within(value, arb(0, 1))


def _root(value: arb) -> arb:
    return _within(value, (value.abs_upper() + 1) * arb(0.5, 0.5)).sqrt()


def _within(value: arb, domain: arb) -> arb:
    """The part of a ball in the domain of a function, where the number is known to be."""
    if domain.contains(value) or not value.is_finite() or not value.overlaps(domain):
        return value
    return value.intersection(domain)


def _erfc(at: arb) -> arb:
    """Far out relative to what it is: -d log erfc(x)/dx < x + sqrt(x^2 + 2) (DLMF 7.8.2)."""
    if not at > 1 or at.is_exact():
        return at.erfc()
    middle, radius, upper = arb(at.mid()), arb(at.rad()), arb(at.abs_upper())
    apart = radius * (upper + (upper**2 + 2).sqrt())
    return middle.erfc() * (apart * arb(0, 1)).exp()


def _polygamma(n: int, at: arb) -> arb:
    """As a Hurwitz zeta function, DLMF 25.11.12."""
    return (-1) ** (n + 1) * arb(n).fac() * arb(n + 1).zeta(at)


def _harmonic(n: arb) -> arb:
    return (n + 1).digamma() + arb.const_euler()


def _harmonics(order: int, n: arb) -> arb:
    return arb(order).zeta() - arb(order).zeta(n + 1)
