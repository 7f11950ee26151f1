"""Enclosures of Gaussian expectations E[f(Z)], Z ~ N(mean, variance): proved digits of any moment.

Z = mean + deviation T with T standard normal, so that peaks far off, narrow or wide are at home.
The line is cut off where a bound on the growth of f, derived from its expression, leaves a tail
below the accuracy aimed at; the bound is added to the ball. In between a smooth f is summed by the
trapezoid rule with a proved error; any other is integrated piece by piece by adaptive quadrature.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log

from flint import arb, ctx
from sympy import Add, Expr, Integer, Mul, Pow, Symbol, erf, erfc, exp, oo, sqrt, tanh, together
from sympy import log as logarithm

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.crossings import NotClosed, crossings
from varlaw.symbolic.gaussian.decimals import Enclosed, bits_for, digits_of, settled, shown
from varlaw.symbolic.gaussian.endpoints import singular_nodes
from varlaw.symbolic.gaussian.half_lines import mean_on_half_line
from varlaw.symbolic.gaussian.parts import Part, Scale
from varlaw.symbolic.gaussian.pieces import Piece, in_order, less
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.quadrature import LOW, mean_on_part
from varlaw.symbolic.gaussian.quotients import NoQuotient, Quotients, parity
from varlaw.symbolic.gaussian.sides import on_sides
from varlaw.symbolic.gaussian.symmetry import halved, tame
from varlaw.symbolic.gaussian.trapezoid import NotSuited, mean_on_line
from varlaw.symbolic.occurrences import contains
from varlaw.symbolic.slopes import raised

ROUNDS = 5
SAMPLES = 13
MANY_DIGITS = 300  # from where on a function is made even by algebra
MORE_STEPS = 8
MOST_ADAPTIVE = 2000  # digits by adaptive quadrature, whose time grows like their cube
WIDE = 300  # deviations from where on both sides of 0 are long
GUARD = 30  # bits of working precision beyond the accuracy aimed at


def enclose(
    pieces: Sequence[Piece],
    x: Symbol,
    mean: Expr,
    variance: Expr,
    digits: int,
    odd: bool = False,
) -> Enclosed:
    """E[f(Z)] for Z ~ N(mean, variance), to so many proved digits.

    `pieces` give f from -oo to oo; `mean` and `variance` are numbers, the variance not negative.
    `odd` says that f is, about the mean: then the expectation is 0 if there is one.
    Raises NoEnclosure where f is undefined or unbounded somewhere, where the expectation does not
    converge, or where neither is known; ValueError for a variance that is negative.

    >>> from sympy import Integer, exp, oo
    >>> z = Symbol("z")
    >>> sigmoid = Piece(-oo, oo, 1 / (1 + exp(-z)))
    >>> enclose([sigmoid], z, Integer(1), Integer(2), 20).digits
    '0.67505670233756540716'
    """
    if digits < 1:
        raise ValueError(f"digits must be at least 1, not {digits}")
    spread = ball(variance)
    if variance == 0:
        return _at_a_point(pieces, x, mean, digits)
    if not spread > 0:
        raise ValueError(f"the variance {variance} is not positive")
    given = joined(pieces)
    pieces = [Piece(p.lower, p.upper, _with_tails(p.expression)) for p in given]
    even = _even(pieces[0].expression, x, digits) if mean == 0 and len(pieces) == 1 else None
    if even is not None:
        pieces = [Piece(-oo, oo, even)]
    problems: list[NoEnclosure] = []
    scale = Scale(mean, sqrt(variance), arb(1))
    for written in _written(pieces, given, x, scale):
        first = even is not None and not problems
        try:
            expectation = GaussianMean(written, x, mean, sqrt(variance), even=first)
            return expectation.nothing() if odd else expectation.enclosed(digits)
        except NoEnclosure as problem:
            problems.append(problem)
    raise problems[: 2 + (given != pieces)][-1]


def _written(
    pieces: list[Piece], given: list[Piece], x: Symbol, scale: Scale
) -> Iterator[list[Piece]]:
    """A function in several ways, the later ones for where no enclosure is found by the others."""
    if ball(scale.deviation) > WIDE:
        sides = [part for piece in pieces for part in on_sides(piece, x)]
        if sides != pieces:
            yield sides
    yield pieces
    if given != pieces:
        yield given
    bounded = [_bounded(piece, x, scale) for piece in given]
    if bounded not in (given, pieces):
        yield bounded
    finer = [part for piece in pieces for part in _at_singularities(piece, x)]
    if len(finer) > len(pieces):
        yield finer
        whole = [Piece(p.lower, p.upper, together(p.expression)) for p in finer]
        if whole != finer:  # poles of terms may cancel, as in 1/x - 1/sinh(x)
            yield whole


def _bounded(piece: Piece, x: Symbol, scale: Scale) -> Piece:
    """The piece, or as it is with tanh(u) as 1 - 2/(1 + e^(2 u)) if it has no bound else.

    That is for tanh(p) + 1 where p falls like a cubic; where p rises, e^(2 p) has no bound itself.
    """
    try:
        with ctx.workprec(LOW):
            scale.part(piece, program(piece.expression, x), LOW)
    except NoEnclosure:
        waves = piece.expression.replace(tanh, lambda u: 1 - 2 / (1 + exp(2 * u)))
        return Piece(piece.lower, piece.upper, _with_tails(waves))
    return piece


def _with_tails(f: Expr) -> Expr:
    """Sums in logarithms, written so that nothing cancels where they are small."""

    def complemented(g: Expr) -> Expr:
        return _log(g.replace(lambda node: isinstance(node, Add), _without_cancelling))

    return f.replace(logarithm, complemented) if contains(f, logarithm) else f


def _log(g: Expr) -> Expr:
    """log(g), with powers of e^u and 1 + e^u in g taken out."""
    terms, rest = [], []
    for factor in Mul.make_args(g):
        base, power = factor.as_base_exp()
        if isinstance(factor, exp):
            terms.append(factor.args[0])
        elif not isinstance(base, Add) or not power.is_Integer:
            rest.append(factor)
        else:
            common = _common_wave(base)
            terms.append(power * common)
            inner = Add(*(term * exp(-common) for term in base.args)) if common != 0 else base
            if _is_shifted_wave(inner):
                terms.append(power * logarithm(inner))
            else:
                rest.append(raised(inner, power))
    return Add(*terms, logarithm(Mul(*rest)))


def _is_shifted_wave(base: Expr) -> bool:
    """Whether it is 1 + e^u."""
    return len(base.args) == 2 and base.args[0] == 1 and isinstance(base.args[1], exp)


def _common_wave(base: Add) -> Expr:
    """The least u of the terms a e^u of a sum, where they are multiples of one another; else 0."""
    waves = []
    for term in base.args:
        powers = [factor.args[0] for factor in Mul.make_args(term) if isinstance(factor, exp)]
        waves.append(Add(*powers).as_coeff_Mul())
    if len({wave for _, wave in waves}) > 1:
        return Integer(0)
    return min(scale for scale, _ in waves) * waves[0][1]


def _without_cancelling(node: Add) -> Expr:
    """1 + erf(u) as erfc(-u), and 1 - 1/(1 + e^u) as e^u/(1 + e^u)."""
    constant, _ = node.as_coeff_Add()
    for term in node.args:
        scale, error = term.as_coeff_Mul()
        if isinstance(error, erf) and constant in (scale, -scale):
            side = 1 if constant == scale else -1
            tail = constant * erfc(-side * error.args[0], evaluate=False)
            return Add(*(part for part in node.args if part not in (term, constant)), tail)
    if not any(power.exp.is_negative for power in node.atoms(Pow)):
        return node
    try:
        quotients = Quotients(node)
        whole = quotients.of(node).lowest
    except NoQuotient:
        return node
    signs = {bool(c > 0) for c in whole.above.coeffs()}
    return quotients.expression(whole) if len(signs) == 1 else node


def _at_singularities(piece: Piece, x: Symbol) -> list[Piece]:
    """The piece, split where logarithms, roots and denominators have a zero in it."""
    inside: set[Expr] = set()
    for node in singular_nodes(piece.expression, x):
        try:
            points = crossings(node.args[0], Integer(0), x)
        except NotClosed:
            continue
        inside |= {p for p in points if less(piece.lower, p) and less(p, piece.upper)}
    ends = [piece.lower, *in_order(inside), piece.upper]
    return [Piece(lower, upper, piece.expression) for lower, upper in pairwise(ends)]


def _even(f: Expr, x: Symbol, digits: int) -> Expr | None:
    """An even function with the same mean at mean 0, for half the work; None if there is none."""
    if parity(f, x) == 1:
        return f
    if digits < MANY_DIGITS or not tame(f, x):
        return None
    half = halved(f, x)
    before, after = (program(g, x).steps for g in (f, half))
    return half if len(after) <= len(before) + MORE_STEPS else None


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours with the same expression become one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and joined[-1].expression == piece.expression:
            piece = Piece(joined.pop().lower, piece.upper, piece.expression)
        joined.append(piece)
    return joined


def _at_a_point(pieces: Sequence[Piece], x: Symbol, point: Expr, digits: int) -> Enclosed:
    for piece in pieces:
        if not (point - piece.upper).is_positive:
            if (point - piece.upper).is_zero and len(pieces) > 1:
                _same_at(pieces, x, point)
            return digits_of(piece.expression.subs(x, point), digits)
    raise NoEnclosure(f"the function is not given at {point}")


def _same_at(pieces: Sequence[Piece], x: Symbol, point: Expr) -> None:
    """Raise NoEnclosure where the function jumps at the point."""
    values = [p.expression.subs(x, point) for p in pieces if point in (p.lower, p.upper)]
    if len(values) == 2 and not (ball(values[0]) - ball(values[1])).contains(0):
        raise NoEnclosure(f"the function jumps at {point}, where all of the probability is")


class GaussianMean:
    """The expectation of pieces on the line, at any accuracy; `power` as in Scale.

    `even` says that the pieces are one even function, and that the mean is 0.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        x: Symbol,
        mean: Expr,
        deviation: Expr,
        power: arb | None = None,
        even: bool = False,
    ) -> None:
        self.law = mean, deviation
        self.scale = Scale(mean, deviation, arb(1) if power is None else power)
        self.sources = [
            (piece, program(piece.expression, x)) for piece in pieces if piece.expression != 0
        ]
        self.even = even
        self.method = "exact"
        self.known: dict[int, list[Part]] = {}

    def enclosed(self, digits: int) -> Enclosed:
        """So many digits, the accuracy being raised until they are proved."""
        bits = bits_for(digits)
        size = self._size(bits)
        goal, value = bits - size, arb(0)
        for attempt in range(ROUNDS):
            value = self.value(goal, size)
            if not value.is_finite() or settled(value, digits):
                break
            if not value.contains(0):
                goal += max(bits + 8 - value.rel_accuracy_bits(), 0) + 32
            elif attempt >= 2 and 2 * value.abs_upper() < arb(10) ** -digits:
                break
            else:
                goal = 2 * max(goal, 1) if attempt else goal + 64
        return shown(value, digits, self.method)

    def nothing(self) -> Enclosed:
        """Exactly 0, of a function that is odd about the mean, once E|f| is known to be finite."""
        if not self.value(LOW, 0).is_finite():
            raise NoEnclosure("no finite enclosure was found")
        return Enclosed(arb(0), "0", "0", "symmetry")

    def _size(self, bits: int) -> int:
        """About the base two logarithm of E|f|, from samples: it only sets the accuracy."""
        best = arb(0)
        with ctx.workprec(LOW):
            mean, deviation = ball(self.scale.mean), ball(self.scale.deviation)
            for part in self.parts(bits + 2):
                low, high = part.ends
                function = part.program.on_reals()
                for k in range(SAMPLES):
                    t = (low + (high - low) * k / (SAMPLES - 1)).mid()
                    value = abs(function(mean + deviation * t)) * (-t * t / 2).exp()
                    if value.is_finite():
                        best = best.max(arb(value.upper()))
            size = round(float(best.log().mid()) / log(2)) if best > 0 else 0
            return size if abs(size) > GUARD // 4 else 0

    def parts(self, goal: int) -> list[Part]:
        """The pieces with their tails cut off, each below 2^-goal."""
        if goal not in self.known:
            with ctx.workprec(LOW):
                self.known[goal] = [
                    self.scale.part(piece, code, goal) for piece, code in self.sources
                ]
        return self.known[goal]

    def value(self, goal: int, size: int) -> arb:
        """A ball that holds the expectation, with a radius near 2^-goal, for |f| near 2^size."""
        total = arb(0)
        with ctx.workprec(max(goal + size, 0) + GUARD):
            parts = self.parts(goal + 2)
            for part in parts:
                total += arb(part.tail.upper()) * arb(0, 1)
                if not part.empty:
                    total += self._integral(part, goal + 2 + len(parts).bit_length(), size)
        return total

    def _integral(self, part: Part, goal: int, size: int) -> arb:
        try:
            found = mean_on_half_line(part.piece, part.program.variable, *self.law)
            self.method = "series of integrals over a half line"
            return found
        except NotClosed:
            pass
        if part.left is not None and part.right is not None:
            try:
                self.method = "trapezoid rule with a proved error"
                return mean_on_line(part, self.scale, goal, size, GUARD, self.even)
            except NotSuited:
                pass
        self.method = "adaptive Gauss-Legendre quadrature in ball arithmetic"
        if goal > bits_for(MOST_ADAPTIVE) + 2 * GUARD:
            raise NoEnclosure(f"so many digits would take hours; ask for {MOST_ADAPTIVE}")
        return mean_on_part(part, self.scale, goal)
