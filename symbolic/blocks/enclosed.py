"""Numbers of blocks by balls: to so many digits, equal or not, and means over Gaussian features."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from flint import arb, ctx
from sympy import Expr, Float, Rational, Symbol

from varlaw.symbolic.blocks.lines import Enclosable, enclosure
from varlaw.symbolic.blocks.state import ZERO, tidy
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.enclosure import enclose, joined
from varlaw.symbolic.gaussian.fixed_points import LOW, dyadic
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.occurrences import free_symbols

MOST_BITS = 4096
GUARD = 24
STEP = 96  # bits
WIDE = 2**-6  # of a ball of variances, relative to them


def accurate(found: Callable[[], arb], bits: int) -> arb | None:
    """A ball with so many accurate bits, the precision being raised; None where none is found."""
    precision = _whole_steps(bits + GUARD)
    while precision <= max(MOST_BITS, 4 * bits):
        with ctx.workprec(precision):
            try:
                value = found()
            except (NoEnclosure, NotClosed, Divergent):
                return None
            accuracy = value.rel_accuracy_bits()
            if accuracy >= bits or value.is_zero():
                return value
        precision = min(2 * precision, _whole_steps(precision + bits - accuracy + GUARD))
    return None


def _whole_steps(bits: int) -> int:
    """A precision of whole steps: numbers that are remembered at one serve again."""
    return -(-bits // STEP) * STEP


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
    names = sorted(free_symbols(one) | free_symbols(other), key=str)
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


def moves(steps: Mapping[Symbol, Expr], kept: Mapping[Symbol, Expr], u: Symbol) -> bool:
    """Whether a step surely changes the value of u among those kept, at some numbers for names."""
    names = set().union(*map(free_symbols, kept.values()), free_symbols(steps[u])) - set(kept)
    try:
        with ctx.workprec(LOW):
            at = {name: _sample(name, k) for k, name in enumerate(sorted(names, key=str))}
            at |= {v: enclosure(value, at) for v, value in kept.items()}
            return not enclosure(steps[u], at).overlaps(at[u])
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
    multiple of that at (m, w), for w twice the largest variance or more. Of a wide ball of
    variances the slope at the midpoint is taken too, and 4 v^2 |d^2/dv^2 E[f]| <= sqrt(24 E[f^2]),
    by the fourth Hermite polynomial. A constant that is added to f changes no slope.
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

        large = mean.is_exact() and bool(spread > WIDE * left)
        size = root(f - _about(value) if large else f)
        steep = size * arb(2).sqrt() / (2 * left)
        bend = curvature(f, x)
        if bend is not None:
            steep = steep.min(root(bend) / 2)
        moved = shift * size / left.sqrt() + spread * steep
        if large:
            turn = f * ((x - m) ** 2 / v - 1) / (2 * v)
            slope: arb = enclose(pieces_of(turn, x), x, m, v, _digits(LOW)).value
            rest = spread**2 / 2 * arb(24).sqrt() * size / (4 * left**2)
            moved = moved.min(spread * abs(slope) + rest)
    return value + arb(moved.abs_upper()) * arb(0, 1)


def _about(value: arb) -> Rational:
    """A number of a few bits close to the middle of a ball."""
    with ctx.workprec(3):
        return dyadic(value.mid() + 0)


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
