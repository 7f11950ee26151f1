"""Expectations of functions with kinks without end, such as relu(sin(x)).

On a finite range the kinks are found one by one. Beyond it f is bounded without knowing where they
are: of a function with parts, one of them holds, at an argument kept within its own interval.
"""

from dataclasses import replace
from functools import reduce
from math import ceil, floor

from flint import arb, ctx
from sympy import Dummy, Expr, Integer, Max, Min, Symbol, oo, sqrt

from varlaw.symbolic.activation import KINKED
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.decimals import Enclosed, digits_of
from varlaw.symbolic.gaussian.enclosure import GaussianMean, enclose
from varlaw.symbolic.gaussian.logarithms import mean_of_waves, parted
from varlaw.symbolic.gaussian.parts import Part
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, parts_of, pieces_of
from varlaw.symbolic.gaussian.programs import Choice, Program, program
from varlaw.symbolic.gaussian.quadrature import LOW
from varlaw.symbolic.gaussian.quotients import parity


def enclose_function(f: Expr, x: Symbol, mean: Expr, variance: Expr, digits: int) -> Enclosed:
    """E[f(Z)] for Z ~ N(mean, variance), to so many proved digits.

    Raises what `enclose` raises, and NotClosed where the kinks of f are not known.
    """
    waves, rest = parted(f, x)
    if waves and variance != 0:

        def total() -> arb:
            known = mean_of_waves(waves, x, mean, variance)
            wanted = int(ctx.prec * 0.301) + 1
            return known + enclose_function(rest, x, mean, variance, wanted).value

        return digits_of(total, digits)
    try:
        pieces = pieces_of(f, x)
    except NotClosed:
        return EndlessMean(f, x, mean, sqrt(variance)).enclosed(digits)
    odd = mean == 0 and variance != 0 and parity(f, x) == -1
    return enclose(pieces, x, mean, variance, digits, odd)


class EndlessMean(GaussianMean):
    """E[f(Z)], the range in which f is split at its kinks growing with the accuracy."""

    def __init__(
        self, f: Expr, x: Symbol, mean: Expr, deviation: Expr, power: arb | None = None
    ) -> None:
        super().__init__((), x, mean, deviation, power)
        self.f, self.x = f, x
        self.bound = self._program(f)
        nodes = (node for node in f.atoms(*KINKED) if node.has_free(x))
        self.arguments = {part for node in nodes for part in node.args if part.has_free(x)}

    def parts(self, goal: int) -> list[Part]:
        """The pieces in the range; what is beyond is below 2^-goal.

        Raises NotClosed where the kinks in the range are not known.
        """
        if goal not in self.known:
            with ctx.workprec(LOW):
                for argument in self.arguments:  # what is bounded is real
                    self.scale.part(Piece(-oo, oo, argument), self._program(argument), goal)
                whole = self.scale.part(Piece(-oo, oo, self.f), self.bound, goal)
                assert whole.left is not None and whole.right is not None
                lower, upper = self._rounded(whole.left, -1), self._rounded(whole.right, 1)
                parts = [
                    self._part(piece, whole, piece.lower == lower, piece.upper == upper)
                    for piece in pieces_of(self.f, self.x, lower, upper)
                    if piece.expression != 0
                ]
                nothing = Part(whole.piece, self.bound, arb(0), arb(0), tail=whole.tail)
                self.known[goal] = [nothing, *parts]
        return self.known[goal]

    def _program(self, f: Expr) -> Program:
        """f for bounds; messages speak of f itself."""
        return replace(program(unsplit(f, self.x), self.x), expression=f)

    def _rounded(self, end: float, side: int) -> Integer:
        """A whole number, a standard deviation and more beyond an end in standard units."""
        far = ball(self.scale.mean) + ball(self.scale.deviation) * (arb(end) + side)
        return Integer(ceil(float(far.upper())) if side > 0 else floor(float(far.lower())))

    def _part(self, piece: Piece, whole: Part, first: bool, last: bool) -> Part:
        low, high = (self.scale.standard(end) for end in (piece.lower, piece.upper))
        code, left, right = program(piece.expression, self.x), whole.left, whole.right
        cut = (left if first else None, right if last else None)
        return Part(piece, code, low, high, *cut, growth=whole.growth)


def unsplit(f: Expr, x: Symbol) -> Expr:
    """f with a choice in place of each function that has kinks."""
    return f.replace(lambda node: isinstance(node, KINKED) and node.has_free(x), _choice)


def _choice(node: Expr) -> Expr:
    if isinstance(node, (Max, Min)):
        name = type(node).__name__.lower()
        return reduce(lambda one, other: Choice.of(name, one, other), node.args)
    z, t = node.args[0], Dummy("t", real=True)
    parts = parts_of(node.func(t, *node.args[1:]))
    ends = [start for start, _ in parts[1:]] + [oo]
    values = []
    for (start, value), end in zip(parts, ends, strict=True):
        inside = z if end == oo else Choice.of("min", z, end)
        inside = inside if start == -oo else Choice.of("max", inside, start)
        values.append(value.xreplace({t: inside}))
    return reduce(lambda one, other: Choice.of("either", one, other), values)
