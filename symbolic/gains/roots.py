"""Roots of equations in moments of functions of x ~ N(b, a^2), found and proved to be roots.

A_k = E[F(x) He_k((x - b)/a)] has the derivatives A_(k+1)/a by b and (A_(k+2) + k A_k)/a by a. All
that Krawczyk's test (Neumaier, "Interval Methods for Systems of Equations", 1990, section 5.1)
needs are moments at the middle of a box, and bounds on further ones in the box, from |F| under a
slightly wider normal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flint import arb, arb_mat, ctx
from sympy import Add, Expr, Mul, Pow, Rational, Symbol, hermite_prob

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.decimals import bits_for
from varlaw.symbolic.gaussian.enclosure import GaussianMean
from varlaw.symbolic.gaussian.fixed_points import dyadic
from varlaw.symbolic.gaussian.pieces import Piece

SCALE, SHIFT = Symbol("a", positive=True), Symbol("b", real=True)
UNKNOWNS = (SCALE, SHIFT)
POINT = Rational(0)
LOW = 8  # digits of a bound
GUARD = 15  # digits that may cancel in the equations
STEPS = 30  # of Newton's method at most
WIDER = Rational(33, 32)  # times the deviation at which |F| is bounded
NARROW = Rational(1, 100)  # of a: boxes are smaller
DENSITIES = 2  # in narrow boxes they are below 1.05 times the wider one
REACH = Rational(6, 5)  # there |x - b|/a is at most this times max(1, |w|), w that of the wider one
Values = Mapping[Symbol, Any]


def evaluated(e: Expr, values: Values, number: Callable[[Expr], Any] = ball) -> Any:
    """An expression of sums, products and powers at balls, or at other numbers."""
    if isinstance(e, Symbol):
        return values[e]
    parts = [evaluated(part, values, number) for part in e.args]
    if isinstance(e, Add):
        return sum(parts[1:], parts[0])
    if isinstance(e, Mul):
        total = parts[0]
        for part in parts[1:]:
            total = total * part
        return total
    if isinstance(e, Pow):
        return parts[0] ** (int(e.exp) if e.exp.is_Integer else parts[1])
    return number(e)


@dataclass(frozen=True)
class Moments:
    """Moments of functions F of x, given in pieces with a bound on |F| for each: (F, bound)."""

    variable: Symbol
    functions: Mapping[str, Sequence[tuple[Piece, Expr]]]
    orders: dict[Symbol, tuple[str, int]] = field(default_factory=dict)
    known: dict[tuple[Any, ...], arb] = field(default_factory=dict)  # what was found before

    def symbol(self, name: str, order: int = 0) -> Symbol:
        """The symbol of A_order for the function called so."""
        made = Symbol(f"{name}_{order}", real=True)
        self.orders[made] = (name, order)
        return made

    def derivative(self, expression: Expr, by: Symbol) -> Expr:
        """The derivative by the scale or the shift, through all moments."""
        total = expression.diff(by)
        for part in expression.free_symbols & set(self.orders):
            name, k = self.orders[part]
            if by == SHIFT:
                inner: Expr = self.symbol(name, k + 1)
            else:
                inner = self.symbol(name, k + 2) + k * part
            total += expression.diff(part) * inner / SCALE
        return total

    def at(self, part: Symbol, a: Rational, b: Rational, digits: int) -> arb:
        """A moment at a point, as a ball."""
        name, order = self.orders[part]
        weight = hermite_prob(order, (self.variable - b) / a)
        return self._mean(
            [(p, p.expression * weight) for p, _ in self.functions[name]], a, b, digits
        )

    def _mean(
        self, weighted: Sequence[tuple[Piece, Expr]], a: Rational, b: Rational, digits: int
    ) -> arb:
        pieces = tuple(Piece(p.lower, p.upper, function) for p, function in weighted)
        key = (pieces, a, b, digits)
        if key not in self.known:
            mean = GaussianMean(pieces, self.variable, b, a)
            self.known[key] = mean.enclosed(digits).value
        return self.known[key]

    def most(self, part: Symbol, a: Rational, b: Rational) -> arb:
        """A bound on a moment in every narrow box around a point."""
        name, order = self.orders[part]
        w, t = (self.variable - b) / (WIDER * a), Symbol("t")
        weight = 1 + w ** (2 * ((order + 1) // 2))
        weighted = [(p, most * weight) for p, most in self.functions[name]]
        mean = self._mean(weighted, WIDER * a, b, LOW)
        terms = hermite_prob(order, t).as_poly(t).terms()
        size = sum(abs(factor) * REACH**power for (power,), factor in terms)
        return arb((DENSITIES * ball(size) * mean).abs_upper())


@dataclass(frozen=True)
class Box:
    """The values of what equations are made of around a point; `radius` 0 is the point itself."""

    moments: Moments
    constants: Values
    a: Rational
    b: Rational
    digits: int
    radius: Rational = POINT

    def value(self, expression: Expr) -> arb:
        """A ball of all values of an expression in the box, at the current precision."""
        error = ball(self.radius) * arb(0, 1)
        known = {**self.constants, SCALE: ball(self.a) + error, SHIFT: ball(self.b) + error}
        for part in expression.free_symbols - set(known):
            known[part] = self.moments.at(part, self.a, self.b, self.digits)
            if self.radius:
                slopes = (self.moments.derivative(part, by) for by in (SCALE, SHIFT))
                most = sum((self._most(slope, known[SCALE]) for slope in slopes), arb(0))
                known[part] += error * most
        return evaluated(expression, known)

    def _most(self, slope: Expr, scale: arb) -> arb:
        """A bound on a derivative of a moment: sums of moments over the scale."""
        parts = slope.free_symbols - {SCALE}
        bounds = {part: self.moments.most(part, self.a, self.b) for part in parts}
        return arb(evaluated(slope, {**bounds, SCALE: scale}).abs_upper())


def proved(
    equations: Sequence[Expr],
    moments: Moments,
    constants: Mapping[Symbol, Expr],
    start: tuple[float, float],
    digits: int,
) -> Box:
    """The box around a root near the start that holds no other; to so many digits of a and b.

    Raises NoEnclosure where Newton's method leads nowhere, or the test fails.
    """
    work = digits + GUARD
    jacobian = [[moments.derivative(e, by) for by in UNKNOWNS] for e in equations]
    size = len(UNKNOWNS)
    with ctx.workprec(bits_for(work) + 16):
        numbers = {name: ball(value) for name, value in constants.items()}
        middle, other = (Rational(round(end * 2**40), 2**40) for end in start)
        box = Box(moments, numbers, middle, other, work)
        for _ in range(STEPS):
            values = arb_mat(size, 1, [box.value(e).mid() for e in equations])
            slopes = arb_mat(size, size, [box.value(e).mid() for row in jacobian for e in row])
            try:
                inverse = slopes.inv()
            except ZeroDivisionError:
                break
            step = inverse * values
            down, left = (dyadic(step[i, 0]) for i in range(size))
            a, b = box.a - down, box.b - left
            if not 0 < a < 2 * start[0] or abs(b - start[1]) > 1:
                break
            near = max(abs(down), abs(left)) < a * Rational(1, 10 ** (digits + 6))
            box = Box(moments, numbers, a, b, work)
            if near:
                return _tested(box, equations, jacobian, digits)
    raise NoEnclosure(
        f"no root was found near a = {float(start[0]):.3g}, b = {float(start[1]):.3g}"
    )


def _tested(
    box: Box, equations: Sequence[Expr], jacobian: Sequence[Sequence[Expr]], digits: int
) -> Box:
    """Krawczyk's test: |Y G(m)| + r |1 - Y J(box)| < r, row by row."""
    size = len(equations)
    radius = box.a * Rational(1, 10 ** (digits + 4))
    assert radius < NARROW * box.a
    around = replace(box, radius=radius)
    middle = arb_mat(size, size, [box.value(e).mid() for row in jacobian for e in row]).inv()
    inverse = arb_mat(size, size, [entry.mid() for entry in middle.entries()])
    moved = inverse * arb_mat(size, 1, [box.value(e) for e in equations])
    slopes = arb_mat(size, size, [around.value(e) for row in jacobian for e in row])
    rest = inverse * slopes
    for i in range(size):
        spread = sum((abs((1 if i == j else 0) - rest[i, j]) for j in range(size)), arb(0))
        if not abs(moved[i, 0]) + ball(radius) * spread < ball(radius):
            raise NoEnclosure(
                f"a root near a = {float(box.a):.6g}, b = {float(box.b):.6g} could not be proved"
            )
    return around
