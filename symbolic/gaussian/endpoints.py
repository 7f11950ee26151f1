"""Integrals up to a point where a function is not analytic: a logarithm, a root or a pole there.

With u the distance from the point, u = w exp(-s) makes of it a smooth integrand for s > 0. It is
cut off where a bound on its growth leaves nothing to speak of. For the bound, an argument g that
vanishes at the point with its first m - 1 derivatives is u^m g^(m)(xi)/m!, xi between them.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import factorial, log

from flint import acb, arb, ctx
from sympy import (
    Dummy,
    Expr,
    Integer,
    Mul,
    Pow,
    Rational,
    S,
    Symbol,
    cos,
    exp,
    expand,
    expand_log,
    sin,
)
from sympy import log as logarithm

from varlaw.symbolic.gaussian.balls import Located, NoEnclosure, ball
from varlaw.symbolic.gaussian.divided import Divided
from varlaw.symbolic.gaussian.domains import prove_finite
from varlaw.symbolic.gaussian.growth import Growth
from varlaw.symbolic.gaussian.parts import Scale
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.waves import Line, integral_of_waves
from varlaw.symbolic.gaussian.zeros import Zero, near_zero

MOST_ORDER = 4
DOUBLINGS = 6
MOST_PER_BIT = 200  # evaluations
LOW = 64  # bits, for bounds


class Between(Located):
    """A derivative of a function somewhere on a ball: (derivative, x, low, high)."""

    @property
    def free_symbols(self) -> set[Symbol]:
        return set()

    def enclosure(self) -> arb:
        slope, x, low, high = self.args
        return program(slope, x).on_reals()(ball(low).union(ball(high)))


@dataclass(frozen=True)
class Endpoint:
    """An end of a piece of f, which lies on the given side of it (1: above, -1: below)."""

    f: Expr
    x: Symbol
    point: Expr
    side: int
    width: Rational  # in standard deviations

    def mean(self, scale: Scale, goal: int) -> arb:
        """E[f(Z); Z within `width` of the point], with a radius near 2^-goal."""
        s = Dummy("s", real=True)
        span = scale.deviation * self.width
        last, tail = self._cut(s, span, goal)
        t = (self.point - scale.mean) / scale.deviation + self.side * self.width * exp(-s)
        # multiplied out, so that nothing cancels near the point where f is made of polynomials
        function = self._moved(span * exp(-s))
        whole = function * exp(-(t**2) / 2 - s)
        code, tolerance, most = program(whole, s), arb(2) ** -(goal + 2), MOST_PER_BIT * ctx.prec
        with ctx.extraprec(round(MOST_ORDER * last / log(2))):
            prove_finite(code, Piece(S.Zero, Integer(last), function), arb(0), arb(last), ctx.prec)
            if self._turns_without_end():
                line = Line(arb(0), arb(0), last, arb(0), arb(1))
                value = acb(integral_of_waves(whole, s, line, tolerance, most))
            else:
                value = acb.integral(
                    code.on_complexes(),
                    acb(0),
                    acb(last),
                    abs_tol=tolerance,
                    rel_tol=0,
                    eval_limit=most,
                )
        if not value.is_finite() or not value.imag.contains(0):
            raise NoEnclosure(f"{self.f} is not known to be finite and real near {self.point}")
        unit = ball(self.width) / (2 * arb.pi()).sqrt()
        return (value.real + tail * arb(0, 1)) * unit

    def _turns_without_end(self) -> bool:
        """Whether there is a wave whose phase is not known to be finite at the point."""
        phases = (node.args[0] for node in self.f.atoms(sin, cos))
        return any(not phase.subs(self.x, self.point).is_finite for phase in phases)

    def _moved(self, u: Expr) -> Expr:
        """f at the distance u from the point, with polynomials multiplied out."""

        def moved(node: Expr) -> Expr:
            g, t = node.args[0], Dummy("t", real=True)
            argument = g.subs(self.x, self.point + self.side * u)
            if g.is_polynomial(self.x):
                return node.func(expand(argument), *node.args[1:])
            order, _ = self._order(g)
            if order < 2 or order > MOST_ORDER:
                return node.func(argument, *node.args[1:])
            rest = Divided(g.subs(self.x, self.point + self.side * t), t, order, u)
            if isinstance(node, logarithm):
                return order * expand_log(logarithm(u), force=True) + logarithm(rest)
            return u ** (order * node.exp) * rest**node.exp

        singular = {node: moved(node) for node in singular_nodes(self.f, self.x)}
        for g, order, _ in self._vanishing():
            t = Dummy("t", real=True)
            near = Divided(g.subs(self.x, self.point + self.side * t), t, order, u)
            singular[g] = u**order * near
        return self.f.xreplace(singular).subs(self.x, self.point + self.side * u)

    def _vanishing(self) -> list[tuple[Expr, int, Expr]]:
        """Factors beside a pole that are zero at the point, as exp(x) - 1 is in (exp(x) - 1)/x.

        With the order of the zero, and the first derivative that is not zero.
        """
        poles = {node for node in singular_nodes(self.f, self.x) if isinstance(node, Pow)}
        found = {}
        for product in self.f.atoms(Mul):
            if poles.isdisjoint(product.args):
                continue
            for g in {*product.args} - poles:
                base = g.base if isinstance(g, Pow) else g
                if not base.is_polynomial(self.x):
                    found[base] = self._order(base)
        return [(g, order, slope) for g, (order, slope) in found.items() if 0 < order <= MOST_ORDER]

    def _order(self, g: Expr) -> tuple[int, Expr]:
        """The order of the zero of g at the point, and the first derivative that is not zero."""
        return _order(g, self.x, self.point)

    def _cut(self, s: Symbol, span: Expr, goal: int) -> tuple[int, arb]:
        """(where to end, bound on the integral of |f(..)| exp(-s) beyond)."""
        last = round(max(goal, 0) * log(2)) + 8
        for _ in range(DOUBLINGS):
            with ctx.workprec(2 * LOW + round(MOST_ORDER * last / log(2))):
                bounded = self._bounded(span * exp(-s), span * exp(-Rational(last)))
                growth = Growth(program(bounded * exp(-s), s), arb(0), arb(1), arb(last))
                rate = growth.result.most
                if rate is not None:
                    slope = rate.k.max(arb(0)) / last + rate.b + 2 * rate.a * last
                    if rate.a <= 0 and slope < 0:
                        tail = arb((rate.log_at(arb(last)).exp() / -slope).upper())
                        if tail < arb(2) ** -goal:
                            return last, tail
            last *= 2
        raise NoEnclosure(
            f"{self.f} is not known to be integrable near {self.point}: its expectation may be "
            "infinite or undefined"
        )

    def _bounded(self, u: Expr, farthest: Expr) -> Expr:
        """f for a bound, with the arguments that vanish at the point as powers of u."""
        far, y = self.point + self.side * farthest, Dummy("y", real=True)

        def leading(order: int, slope: Expr) -> Expr:
            value = Between(slope.xreplace({self.x: y}), y, self.point, far) / factorial(order)
            return value * (self.side * u) ** order

        known = {}
        for node in singular_nodes(self.f, self.x):
            order, slope = self._order(node.args[0])
            if order:
                known[node] = node.func(leading(order, slope), *node.args[1:])
        known |= {g: leading(order, slope) for g, order, slope in self._vanishing()}
        return self.f.xreplace(known).subs(self.x, self.point + self.side * u)


@lru_cache(maxsize=256)
def _order(g: Expr, x: Symbol, point: Expr) -> tuple[int, Expr]:
    order, slope = 0, g
    while order <= MOST_ORDER and _vanishes(slope, x, point):
        slope, order = slope.diff(x), order + 1
    return order, slope


def _vanishes(g: Expr, x: Symbol, point: Expr) -> bool:
    """Whether g is zero at the point; what is not seen to be is not taken for it."""
    if isinstance(point, Zero) and point.is_zero_of(g, x):
        return True
    if not near_zero(g, x, point):
        return False
    value = g.subs(x, point)
    return bool(value.is_zero or value.expand().is_zero)


def singular_nodes(f: Expr, x: Symbol) -> list[Expr]:
    """Logarithms, and powers other than whole positive ones."""
    return [
        node
        for node in f.atoms(Pow, logarithm)
        if node.args[0].has_free(x)
        and not (isinstance(node, Pow) and node.exp.is_Integer and node.exp > 0)
    ]
