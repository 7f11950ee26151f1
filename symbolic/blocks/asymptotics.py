"""How a nonlinear recurrence behaves near 0, near a fixed point and far out: classes of growth.

Near a point where the step is q + b q^(1 + s) the values go like (s |b| l)^(-1/s) for b < 0; far
out, where it is q + b q^p with p < 1 and b > 0, like ((1 - p) b l)^(1/(1 - p)): both by comparison
with dq/dl = step - q (de Bruijn 1981, Asymptotic Methods in Analysis, section 8.6).
"""

from dataclasses import dataclass
from functools import cached_property

from flint import ctx
from sympy import (
    Dummy,
    Expr,
    PoleError,
    Poly,
    Rational,
    Symbol,
    apart,
    cancel,
    erf,
    erfc,
    exp,
    gamma,
    integrate,
    limit,
    oo,
    pi,
    series,
    sign,
    sqrt,
)

from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.state import ONE, ZERO, tidy
from varlaw.symbolic.clock import OutOfTime, clock
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of

ORDER = 6  # of expansions at 0
SMALL = Rational(1, 2**40)  # where expansions are confirmed by balls
BITS, CLOSE = 400, 0.01
SECONDS = 20.0  # of the processor's time, for one expansion
FAILURES = (
    OutOfTime,
    SystemError,  # of flint, where the clock rings inside an integral
    NotClosed,
    NoEnclosure,
    Divergent,
    NotImplementedError,
    ValueError,
    TypeError,
    PoleError,
)
LAYERS = Symbol("l", positive=True)


@dataclass(frozen=True)
class Term:
    """coefficient q^power."""

    coefficient: Expr
    power: Expr


@dataclass(frozen=True)
class Ends:
    """The leading terms of a function of q near 0 and far out; None where they are not known."""

    expression: Expr
    variable: Symbol

    @cached_property
    def near_zero(self) -> list[Term] | None:
        """The first two terms of the expansion in root q at 0."""
        try:
            with clock(SECONDS):
                terms = self._expanded()[:2]
            return terms if self._confirmed(terms, SMALL) else None
        except FAILURES:
            return None

    @cached_property
    def far_out(self) -> Term | None:
        """The leading term as q grows."""
        try:
            with clock(SECONDS):
                term = self._leading()
            known = term is not None and self._confirmed([term], 1 / SMALL)
        except FAILURES:
            return None
        return term if known else None

    def _expanded(self) -> list[Term]:
        root = Dummy("s", positive=True)
        plain = self.expression.replace(
            lambda e: isinstance(e, GaussianMean), lambda e: self._at_small(e, root)
        )
        small = _without_tails(plain.subs(self.variable, root**2), root)
        polynomial = Poly(series(small, root, 0, ORDER).removeO().expand(), root)
        return [
            Term(tidy(coefficient), Rational(power, 2))
            for (power,), coefficient in sorted(polynomial.terms())
            if coefficient != 0
        ]

    def _leading(self) -> Term | None:
        plain = self.expression.replace(
            lambda e: isinstance(e, GaussianMean), lambda e: self._at_large(e)
        )
        root = Dummy("s", positive=True)
        turned = _without_tails(plain.subs(self.variable, 1 / root**2), root)
        for power in (2, 1, 0, -1, -2):
            found = limit(turned * root**power, root, 0, "+")
            if found.is_finite and found != 0:
                return Term(tidy(found), Rational(power, 2))
        return None

    def _confirmed(self, terms: list[Term], at: Rational) -> bool:
        """Whether each term is what the function less the terms before is near, at a number."""
        with ctx.workprec(BITS):
            q = ball(at)
            rest = enclosure(self.expression, {self.variable: q})
            for term in terms:
                value = ball(term.coefficient) * q ** ball(term.power)
                if not abs(rest / value - 1) < CLOSE:
                    return False
                rest -= value
        return True

    def _at_small(self, mean: GaussianMean, root: Symbol) -> Expr:
        """The expansion of E[f(x)] at small variances, by that of f on each side of 0."""
        law, m, v = mean.args
        (x,), f = law.variables, law.expr
        if m != 0 or v.subs(self.variable, 0) != 0:
            raise NotClosed("the variance does not vanish")
        pieces = pieces_of(f, x)
        before = next(p.expression for p in pieces if p.upper.is_extended_nonnegative)
        after = next(p.expression for p in pieces if p.upper.is_extended_positive)
        deviation = sqrt(v.subs(self.variable, root**2))
        total = ZERO
        for side, direction in ((before, -1), (after, 1)):
            expansion = Poly(series(side, x, 0, ORDER).removeO(), x)
            for (power,), coefficient in expansion.terms():
                size = absolute_moment(power) * deviation**power
                total += coefficient * direction**power * size / 2
        return total

    def _at_large(self, mean: GaussianMean) -> Expr:
        """The leading term of E[f(x)] at large variances, by that of f at both ends."""
        law, m, v = mean.args
        (x,), f = law.variables, law.expr
        if m != 0:
            raise NotClosed("the mean does not vanish")
        if (turned := _in_exponentials(f, x)) is not None:
            return _mean_far_out(*turned, v)
        pieces = pieces_of(f, x)
        sides = pieces[0].expression.subs(x, -x), pieces[-1].expression
        for power in (2, 1, 0):
            sizes = [limit(side / x**power, x, oo) for side in sides]
            if all(size.is_finite for size in sizes) and sum(sizes) != 0:
                return sum(sizes) / 2 * absolute_moment(power) * sqrt(v) ** power
        raise NotClosed("the function vanishes far out")


def _in_exponentials(f: Expr, x: Symbol) -> tuple[Expr, Symbol] | None:
    """A quotient of polynomials in u = e^x that f is, with u; None where it is none."""
    u = Dummy("u", positive=True)
    turned = f.rewrite(exp).replace(
        lambda e: isinstance(e, exp) and e.args[0].has(x), lambda e: u ** (e.args[0] / x)
    )
    if not turned.has(u) or turned.has(x) or not turned.is_rational_function(u):
        return None
    return cancel(turned), u


def _mean_far_out(f: Expr, u: Symbol, v: Expr) -> Expr:
    """The leading term of E[f(e^x)] for large v: by the ends of f, or by its integral."""
    ends = f.subs(u, 0) + cancel(f.subs(u, 1 / u)).subs(u, 0)
    if not (ends.is_number and ends.is_finite):
        raise NotClosed("the function grows like exponentials")
    if ends != 0:
        return ends / 2
    return integrate(apart(cancel(f / u), u), (u, 0, oo)) / sqrt(2 * pi * v)


def _without_tails(expression: Expr, root: Symbol) -> Expr:
    """The expression without what vanishes faster than any power of the root."""

    def far(argument: Expr) -> bool:
        return argument.has(root) and abs(limit(argument, root, 0, "+")) == oo

    return expression.replace(
        lambda e: isinstance(e, exp | erf | erfc) and far(e.args[0]),
        lambda e: limit(e.func(root), root, sign(limit(e.args[0], root, 0, "+")) * oo),
    )


def absolute_moment(power: int) -> Expr:
    """E|z|^k for standard normal z."""
    return sqrt(2) ** power * gamma(Rational(power + 1, 2)) / sqrt(pi)


def fading(coefficient: Expr, excess: Expr) -> tuple[Expr, Expr]:
    """(power, asymptotic value) of q -> q + b q^(1 + s) near 0, for b < 0."""
    return -1 / excess, tidy(excess * -coefficient) ** (-1 / excess) * LAYERS ** (-1 / excess)


def growing(term: Term) -> tuple[Expr, Expr]:
    """(power, asymptotic value) of q -> q + b q^p far out, for b > 0 and p < 1."""
    power = ONE / (1 - term.power)
    return power, tidy((1 - term.power) * term.coefficient) ** power * LAYERS**power
