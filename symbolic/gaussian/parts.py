"""Pieces of the line in standard units, cut off where a proved bound leaves nothing to speak of."""

from dataclasses import dataclass, field
from math import log, sqrt

from flint import arb
from sympy import Expr, oo

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.growth import OUTGROWN, Growth
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.programs import Program

DOUBLINGS = 6
REACH = 0.45  # of the distance at which the density itself is negligible: bounds from there on


@dataclass
class Part:
    """A piece in units of t = (x - mean)/deviation."""

    piece: Piece
    program: Program
    low: arb  # the ends of the piece, infinite ones included
    high: arb
    left: float | None = None  # where it is cut off, if it is
    right: float | None = None
    tail: arb = field(default_factory=lambda: arb(0))  # a bound on what is beyond
    growth: dict[int, Growth] = field(default_factory=dict)  # by side, -1 and 1

    @property
    def ends(self) -> tuple[arb, arb]:
        low = self.low if self.left is None else arb(self.left)
        high = self.high if self.right is None else arb(self.right)
        return low, high

    @property
    def empty(self) -> bool:
        low, high = self.ends
        return bool(high <= low)

    def needed(self, bits: int, t: float) -> int:
        """The precision that the value at t needs for an accuracy of 2^-bits."""
        fading = self.growth[1 if t > 0 else -1].fading(abs(t))
        return round(min(max(bits - fading, 0), 1e9))


@dataclass(frozen=True)
class Scale:
    """Z = mean + deviation T, and the power of |f| whose tails are bounded."""

    mean: Expr
    deviation: Expr
    power: arb

    def standard(self, end: Expr) -> arb:
        if end in (oo, -oo):
            return arb.pos_inf() if end == oo else arb.neg_inf()
        return (ball(end) - ball(self.mean)) / ball(self.deviation)

    def part(self, piece: Piece, code: Program, goal: int) -> Part:
        """The piece with its tails cut off, E[|f|^power; there] being below 2^-goal."""
        part = Part(piece, code, self.standard(piece.lower), self.standard(piece.upper))
        reach = max(1.0, REACH * sqrt(max(2 * goal * log(2), 0.0)))
        for side in (-1, 1):
            near, far = (part.low, part.high) if side > 0 else (-part.high, -part.low)
            if far < 2 * reach:
                continue
            start = max(reach, float(near.upper())) if near.is_finite() else reach
            try:
                edge, tail, part.growth[side] = self._cut(code, side, start, goal)
            except NoEnclosure:
                if far.is_finite():
                    continue
                raise
            if far > edge + 1:  # the trapezoid rule goes on for a step at most
                part.tail += tail
                if side > 0:
                    part.right = edge
                else:
                    part.left = -edge
        return part

    def _cut(self, code: Program, side: int, start: float, goal: int) -> tuple[float, arb, Growth]:
        """(edge, bound on the tail beyond it, growth)."""
        problem: NoEnclosure | None = None
        for doubling in range(DOUBLINGS):
            try:
                begin = arb(start * 2**doubling)
                growth = Growth(code, ball(self.mean), side * ball(self.deviation), begin)
                edge = growth.edge(goal + 4, self.power)
                tail = growth.tail(arb(edge), self.power)
                if tail.is_finite():
                    return edge, tail, growth
            except NoEnclosure as found:
                problem = found
        raise NoEnclosure(
            f"E[{code.expression}] is infinite, undefined or not known: {problem or OUTGROWN}"
        )
