"""Roots of a function of one positive number, each proved, and whether there are others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from flint import arb, ctx
from sympy import Basic, Expr, Integer, Rational, Symbol

from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.lines import Balls, enclosure
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.correlation_map import between
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, shown
from varlaw.symbolic.gaussian.pieces import NotClosed

OCTAVES = (-18, 12)  # powers of 2 between which roots are looked for
PER_OCTAVE = 2
APART = 2  # octaves between points of a function whose slope is not known
DIGITS = 12
SIGN_BITS = (53, 200)
ROUGH = 40
NONE: Mapping[Symbol, Integer] = MappingProxyType({})
MOST_WORK = 600  # intervals looked at, to prove that there are no other roots
FAILURES = (NoEnclosure, NotClosed, Divergent)


@dataclass(frozen=True)
class Root:
    """A root between two points where the function has different proved signs."""

    low: Rational
    high: Rational
    value: Enclosed

    @property
    def ball(self) -> arb:
        """A ball from one point to the other, at the current precision."""
        return ball(self.low).union(ball(self.high))


@dataclass(frozen=True)
class Roots:
    """The roots found, in order; `complete` says that it is proved that there are no others.

    `signs` are those that were proved at points from the least to the greatest.
    """

    found: tuple[Root, ...]
    complete: bool
    signs: tuple[int, ...] = ()


def roots(
    gap: Expr, variable: Symbol, digits: int = DIGITS, given: Mapping[Symbol, Integer] = NONE
) -> Roots:
    """The roots between 2^-18 and 2^12 where a function changes its sign, other names being given.

    A sign is that of a ball at a point, which proves a root between two of them. There is no other
    where balls of the function, or of its slope, over intervals in between do not hold 0. Raises
    BlockError for other names in the function.
    """
    if others := gap.free_symbols - {variable, *given}:
        raise BlockError(f"a root needs numbers for {', '.join(sorted(map(str, others)))}")
    return _Search(gap, variable, {name: ball(value) for name, value in given.items()}).roots(
        digits
    )


def turns(
    gap: Expr, variable: Symbol, low: Expr, high: Expr, given: Mapping[Symbol, Integer]
) -> bool:
    """Whether a function has different proved signs at two points."""
    known = {name: ball(value) for name, value in given.items()}
    search = _Search(gap, variable, known)
    return search.sign(Rational(low)) * search.sign(Rational(high)) < 0


def free_below(gap: Expr, variable: Symbol, given: Mapping[Symbol, Integer]) -> bool:
    """Whether it is proved that there is no root between 0 and where roots are looked for."""
    known = {name: ball(value) for name, value in given.items()}
    least = Rational(2) ** OCTAVES[0]
    return _Search(gap, variable, known).free_of_zero(gap, Rational(0), least)


def _through_layers(e: Basic, variable: Symbol) -> bool:
    """Whether a value that goes through many layers depends on a variable."""
    if isinstance(e, Iterated | IteratedProduct | Coupled | CoupledBack):
        return variable in e.free_symbols
    return any(_through_layers(part, variable) for part in e.args)


@dataclass
class _Search:
    gap: Expr
    variable: Symbol
    given: Balls
    work: int = MOST_WORK

    @cached_property
    def slope(self) -> Expr:
        return self.gap.diff(self.variable)

    def at(self, point: Rational, bits: int) -> arb:
        with ctx.workprec(bits):
            return enclosure(self.gap, {**self.given, self.variable: ball(point)})

    def sign(self, point: Rational) -> int:
        """The proved sign; 0 where there is none."""
        for bits in SIGN_BITS:
            try:
                value = self.at(point, bits)
            except FAILURES:
                return 0
            if not value.contains(0):
                return 1 if value > 0 else -1
        return 0

    def roots(self, digits: int) -> Roots:
        low, high = OCTAVES
        points = [
            Rational(2) ** octave * (1 + Rational(part, PER_OCTAVE))
            for octave in range(low, high)
            for part in range(PER_OCTAVE)
        ] + [Rational(2) ** high]
        if not self.sloped:
            points = points[:: PER_OCTAVE * APART]
        known = [(point, sign) for point in points if (sign := self.sign(point))]
        complete = bool(known) and (known[0][0], known[-1][0]) == (points[0], points[-1])
        found: list[tuple[Rational, Rational]] = []
        for left, right in pairwise(known):
            brackets, proved = self.apart(left, right)
            found += brackets
            complete = complete and proved
        signs = tuple(sign for _, sign in known)
        return Roots(tuple(self.root(*ends, digits) for ends in found), complete, signs)

    @cached_property
    def sloped(self) -> bool:
        """Whether the slope has balls; what goes through many layers is long to follow."""
        return not _through_layers(self.gap, self.variable)

    def apart(
        self, left: tuple[Rational, int], right: tuple[Rational, int]
    ) -> tuple[list[tuple[Rational, Rational]], bool]:
        """Intervals with a change of sign, and whether they hold one root each and all of them."""
        (low, below), (high, above) = left, right
        changed = [(low, high)] if below != above else []
        if not self.sloped:
            return changed, False
        if not changed and self.free_of_zero(self.gap, low, high):
            return [], True
        if self.free_of_zero(self.slope, low, high):
            return changed, True
        middle = (low + high) / 2
        for point in (middle, (2 * low + high) / 3):
            if self.work > 0 and (sign := self.sign(point)):
                one, first = self.apart(left, (point, sign))
                two, second = self.apart((point, sign), right)
                return one + two, first and second
        return changed, False

    def free_of_zero(self, what: Expr, low: Rational, high: Rational) -> bool:
        self.work -= 1
        if self.work < 0:
            return False
        try:
            with ctx.workprec(ROUGH):
                whole = ball(low).union(ball(high))
                return not enclosure(what, {**self.given, self.variable: whole}).contains(0)
        except FAILURES:
            return False

    def root(self, low: Rational, high: Rational, digits: int) -> Root:
        """The root in an interval, to so many digits."""
        octave = max(0, -int(float(low).hex().partition("p")[2]))
        gap: Callable[[Rational, int], arb] = self.at
        ends = between(gap, low, high, bits_for(digits) + octave)
        with ctx.workprec(bits_for(digits) + 32):
            value = shown(ball(ends[0]).union(ball(ends[1])), digits)
        return Root(*ends, value)


@dataclass(frozen=True)
class FixedPoint:
    """A fixed point of a step, proved, and the slope there; None where it is not known."""

    value: Enclosed
    slope: Enclosed | None

    @property
    def stable(self) -> bool | None:
        """Whether the slope is below 1 in size; None where that is not known."""
        if self.slope is None:
            return None
        size = abs(self.slope.value)
        return True if size < 1 else False if size > 1 else None


@dataclass(frozen=True)
class FixedPoints:
    """The fixed points found, in order; `complete` says that it is proved that they are all."""

    found: tuple[FixedPoint, ...]
    complete: bool


def fixed_points(step: Expr, variable: Symbol, digits: int = DIGITS) -> FixedPoints:
    """The fixed points between 2^-18 and 2^12 where step - q changes its sign.

    Raises BlockError where the step depends on other names.
    """
    solved = roots(step - variable, variable, digits)
    slope = step.diff(variable)
    return FixedPoints(
        tuple(FixedPoint(root.value, _at(slope, variable, root, digits)) for root in solved.found),
        solved.complete,
    )


def _at(expression: Expr, variable: Symbol, root: Root, digits: int) -> Enclosed | None:
    try:
        with ctx.workprec(bits_for(digits) + 32):
            return shown(enclosure(expression, {variable: root.ball}), digits)
    except FAILURES:
        return None
