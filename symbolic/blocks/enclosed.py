"""Balls for the numbers of blocks, given balls for their symbols: what a simulation would tend to.

Expressions are real wherever they are asked for, so that the argument of a root is not negative,
and that of an arc cosine is in [-1, 1]: a ball that reaches beyond is cut there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from flint import arb, ctx, fmpz
from sympy import (
    Add,
    Basic,
    Expr,
    Float,
    Function,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    acos,
    asin,
    harmonic,
    polygamma,
)

from varlaw.symbolic.blocks.block import names
from varlaw.symbolic.blocks.state import ZERO, tidy
from varlaw.symbolic.gaussian.balls import FUNCTIONS, NoEnclosure, ball, raised
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.enclosure import enclose, joined
from varlaw.symbolic.gaussian.fixed_points import LOW, dyadic
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of

Balls = Mapping[Symbol, arb]
MOST_BITS = 4096


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
    value = _Walk(at).value(expression)
    if not value.is_finite():
        raise NoEnclosure("no finite enclosure was found")
    return value


def accurate(found: Callable[[], arb], bits: int) -> arb | None:
    """A ball with so many accurate bits, the precision being raised; None where none is found."""
    precision = bits + 16
    while precision <= max(MOST_BITS, 4 * bits):
        with ctx.workprec(precision):
            try:
                value = found()
            except (NoEnclosure, NotClosed, Divergent):
                return None
            if value.rel_accuracy_bits() >= bits or value.is_zero():
                return value
        precision *= 2
    return None


def evaluated(number: Enclosable, bits: int) -> Float | None:
    """The number with so many bits; None where it has symbols, or no enclosure is found."""
    if number.free_symbols:
        return None
    value = accurate(lambda: number.enclosure({}), bits)
    return None if value is None else Float(dyadic(value), precision=bits)


def is_nil(expression: Expr) -> bool:
    """Whether an expression is shown to be 0; a look at numbers tells soon where it is not."""
    return not differs(expression, ZERO, set()) and bool(tidy(expression) == 0)


def without(expression: Expr, symbols: set[Symbol]) -> Expr | None:
    """An equal expression without some symbols; None where it depends on them, or may."""
    if differs(expression, expression, symbols):
        return None
    short = tidy(expression)
    return None if short.free_symbols & symbols else short


def differs(one: Expr, other: Expr, moved: set[Symbol], shift: bool = False) -> bool:
    """Whether two expressions surely differ at some numbers, those of `moved` being others.

    These are all multiplied by one number, or with `shift` all increased by one.
    """
    names = sorted(one.free_symbols | other.free_symbols, key=str)
    if any(name in moved for name in names) is False and one == other:
        return False
    try:
        with ctx.workprec(LOW):
            at = {name: _sample(name, k) for k, name in enumerate(names)}
            then = at | {
                name: at[name] + arb(0.25) if shift else at[name] * arb(1.25)
                for name in moved & set(names)
            }
            return not enclosure(one, at).overlaps(enclosure(other, then))
    except (NoEnclosure, NotClosed, Divergent):
        return False


def _sample(name: Symbol, place: int) -> arb:
    """A value for a name: products of two inputs and means are smaller than second moments."""
    return (arb(2) if name.is_positive else arb(1) / 8) + arb(place) / 64


def gaussian_mean(f: Expr, x: Symbol, mean: arb, variance: arb) -> arb:
    """E[f(x)] for Gaussian x with a mean and a variance in balls.

    At the midpoints (m, v) it is enclosed; beyond, by Stein's lemma and the inequality of Cauchy
    and Schwarz, 2 v |d/dv E[f]| <= sqrt(2 E[f^2]) and sqrt(v) |d/dm E[f]| <= sqrt(E[f^2]), and for
    smooth f also 2 |d/dv E[f]| <= sqrt(E[f''^2]). Of all laws in the balls E[f^2] is at most a
    multiple of that at (m, w), for w twice the largest variance or more.
    """
    if not variance > 0:
        raise NoEnclosure("a variance is not known to be positive")
    m, v = dyadic(mean), dyadic(variance)
    value: arb = enclose(pieces_of(f, x), x, m, v, _digits(ctx.prec)).value
    if mean.is_exact() and variance.is_exact():
        return value
    with ctx.workprec(LOW):
        left, wide = arb(variance.lower()), wider(variance)
        shift, spread = arb(mean.rad()), arb(variance.rad())
        factor = (ball(wide) / left).sqrt() * (shift**2 / ball(wide)).exp()

        def root(g: Expr) -> arb:
            return (second_moment(g, x, m, wide) * factor).sqrt()

        size = root(f)
        steep = size * arb(2).sqrt() / (2 * left)
        bend = curvature(f, x)
        if bend is not None:
            steep = steep.min(root(bend) / 2)
        moved = shift * size / left.sqrt() + spread * steep
    return value + arb(moved.abs_upper()) * arb(0, 1)


def wider(variance: arb) -> Rational:
    """A power of 2 from 2 r to 4 r, r the largest variance in a ball.

    The densities of N(0, v) for v in the ball are at most sqrt(w/v) times that of N(0, w) there.
    """
    mantissa, exponent = (int(part) for part in arb(variance.upper()).man_exp())
    return Rational(2) ** (1 + mantissa.bit_length() + exponent)


@lru_cache(maxsize=256)
def curvature(f: Expr, x: Symbol) -> Expr | None:
    """f''; None where f has kinks."""
    pieces = joined(pieces_of(f, x))
    return None if len(pieces) > 1 else pieces[0].expression.diff(x).diff(x)


@lru_cache(maxsize=1024)
def second_moment(g: Expr, x: Symbol, mean: Rational, variance: Rational) -> arb:
    """A rough ball for E[g(x)^2]."""
    value: arb = enclose(pieces_of(g**2, x), x, mean, variance, 3).value
    return value


def _digits(bits: int) -> int:
    return max(int(bits * 0.301), 2)


@dataclass(frozen=True)
class _Point:
    """Balls for symbols; two are the same where middles, radii and the precision are."""

    balls: Balls = field(compare=False)
    key: frozenset[tuple[Symbol, tuple[fmpz, fmpz], tuple[fmpz, fmpz]]]
    precision: int

    @classmethod
    def of(cls, at: Balls) -> "_Point":
        if not all(ball.is_finite() for ball in at.values()):
            raise NoEnclosure("a ball is not finite")
        key = ((s, ball.mid().man_exp(), ball.rad().man_exp()) for s, ball in at.items())
        return cls(at, frozenset(key), ctx.prec)


@lru_cache(maxsize=4096)
def _remembered(e: Enclosable, at: _Point) -> arb:
    return e.enclosure(at.balls)


class _Walk:
    """One walk over an expression: what occurs twice is computed once."""

    def __init__(self, at: Balls) -> None:
        self.at = at
        self.known: dict[Expr, arb] = dict(at)

    @cached_property
    def point(self) -> _Point:
        return _Point.of(self.at)

    def value(self, e: Expr) -> arb:
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self.found(e)
        return found

    def found(self, e: Expr) -> arb:
        if isinstance(e, Enclosable):
            return _remembered(e, self.point)
        if not e.args:
            return ball(e)
        match e:
            case Add():
                total = arb(0)
                for part in e.args:
                    total += self.value(part)
                return total
            case Mul():
                product = arb(1)
                for part in e.args:
                    product *= self.value(part)
                return product
            case Pow():
                return self.power(self.value(e.base), e.exp)
        if type(e) in FUNCTIONS:
            inner = self.value(e.args[0])
            if isinstance(e, acos | asin):
                inner = _within(inner, arb(0, 1))
            found: arb = getattr(inner, FUNCTIONS[type(e)])()
            return found
        if isinstance(e, polygamma) and e.args[0].is_Integer and e.args[0] > 0:
            n = int(e.args[0])  # as a Hurwitz zeta function, DLMF 25.11.12
            return (-1) ** (n + 1) * arb(n).fac() * arb(n + 1).zeta(self.value(e.args[1]))
        if isinstance(e, harmonic) and len(e.args) == 1:
            return (self.value(e.args[0]) + 1).digamma() + arb.const_euler()
        if isinstance(e, harmonic) and e.args[1].is_Integer and e.args[1] > 1:
            order = arb(int(e.args[1]))
            return order.zeta() - order.zeta(self.value(e.args[0]) + 1)
        if e.free_symbols:
            raise NoEnclosure(f"no ball arithmetic is known for {e.func.__name__}")
        return ball(e)

    def power(self, base: arb, exponent: Expr) -> arb:
        if isinstance(exponent, Integer):
            return raised(base, int(exponent))
        if isinstance(exponent, Rational) and exponent.q == 2:
            return raised(_within(base, (base.abs_upper() + 1) * arb(0.5, 0.5)).sqrt(), exponent.p)
        return base ** self.value(exponent)


def _within(value: arb, domain: arb) -> arb:
    """The part of a ball in the domain of a function, where the number is known to be."""
    if domain.contains(value) or not value.is_finite() or not value.overlaps(domain):
        return value
    return value.intersection(domain)
