"""How a nonlinear recurrence behaves near 0, near a fixed point and far out: classes of growth.

Near a point where the step is q + b q^(1 + s) the values go like (s |b| l)^(-1/s) for b < 0; far
out, where it is q + b q^p with p < 1 and b > 0, like ((1 - p) b l)^(1/(1 - p)): both by comparison
with dq/dl = step - q (de Bruijn 1981, Asymptotic Methods in Analysis, section 8.6).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from flint import arb, ctx
from sympy import (
    Dummy,
    Ei,
    Expr,
    Float,
    Integer,
    PoleError,
    Poly,
    Rational,
    Symbol,
    apart,
    cancel,
    erf,
    erfc,
    erfi,
    exp,
    factorial,
    factorial2,
    gamma,
    integrate,
    limit,
    oo,
    pi,
    series,
    sign,
    sqrt,
)
from sympy.polys.polyerrors import PolynomialError

from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.enclosed import gaussian_mean
from varlaw.symbolic.blocks.lines import enclosure
from varlaw.symbolic.blocks.state import ONE, ZERO, tidy
from varlaw.symbolic.clock import OutOfTime, clock
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of

ORDER = 6  # of expansions at 0
SMALL = Rational(1, 2**40)  # where expansions are confirmed by balls
LARGE = Integer(2) ** 20  # the same far out, of functions that vary too fast for more
WIDE, TINY = Integer(2) ** 48, 2.0**-60  # where integrals are found, and what is taken for 0
BITS, FEW, CLOSE, DIGITS = 400, 120, 0.01, 12
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
    PolynomialError,
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
            known = term is not None and self._far(term)
        except FAILURES:
            return None
        return term if known else None

    def _expanded(self) -> list[Term]:
        root = Dummy("s", positive=True)
        plain = self.expression.replace(
            lambda e: isinstance(e, GaussianMean), lambda e: self._at_small(e, root)
        )
        small = _algebraic(plain.subs(self.variable, root**2), root)
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
        turned = _algebraic(plain.subs(self.variable, 1 / root**2), root)
        for power in (2, 1, 0, -1, -2):
            found = limit(turned * root**power, root, 0, "+")
            if found.is_finite and found != 0:
                return Term(tidy(found), Rational(power, 2))
        return None

    def _far(self, term: Term) -> bool:
        """Whether a term is confirmed far out, or less far where functions vary too fast there."""
        try:
            return self._confirmed([term], 1 / SMALL)
        except NoEnclosure:
            return self._confirmed([term], LARGE)

    def _confirmed(self, terms: list[Term], at: Rational) -> bool:
        """Whether each term is what the function less the terms before is near, at a number."""
        with ctx.workprec(FEW if self.expression.has(GaussianMean) else BITS):
            q = ball(at)
            rest = enclosure(steady(self.expression), {self.variable: q})
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
        ends = zip(*(_asymptote(side, x) for side in sides), strict=True)
        halves = [(one + two) / 2 * absolute_moment(k) for k, (one, two) in enumerate(ends)]
        far, wide = (sum(c * sqrt(w) ** k for k, c in enumerate(halves)) for w in (v, WIDE))
        return far + _rest(f, x, wide) / sqrt(v)


def _asymptote(side: Expr, x: Symbol) -> list[Expr]:
    """The coefficients of the parabola that a function comes near to, faster than 1/x^2 does."""
    found = [ZERO, ZERO, ZERO]
    for power in (2, 1, 0):
        found[power] = limit(side / x**power, x, oo)
        if not found[power].is_finite:
            raise NotClosed("the function grows faster than a parabola")
        side = (side - found[power] * x**power).expand()
    if limit(side * x**2, x, oo) != 0:
        raise NotClosed("the function comes near to no parabola")
    return found


@lru_cache(maxsize=256)
def _rest(f: Expr, x: Symbol, parabolas: Expr) -> Expr:
    """The integral of f less its asymptotes, over sqrt(2 pi): the limit of sqrt(v) times the mean.

    The density of N(0, v) is 1 - O(x^2/v) times 1/sqrt(2 pi v), and v is 2^48.
    """
    with ctx.workprec(FEW):
        apart = gaussian_mean(f, x, arb(0), ball(WIDE)) - ball(parabolas)
        value = apart * ball(WIDE).sqrt()
    return ZERO if abs(value) < TINY else Float(float(value.mid()), DIGITS)


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
    """The first terms of E[f(e^x)] for large v: by ends of f, and the integral of the rest."""
    turned = cancel(f.subs(u, 1 / u))
    ends = f.subs(u, 0), turned.subs(u, 0)
    if not all(end.is_number and end.is_finite for end in ends):
        raise NotClosed("the function grows like exponentials")
    rest = cancel((f + turned - sum(ends)) / u)
    return sum(ends) / 2 + integrate(apart(rest), (u, 0, 1)) / sqrt(2 * pi * v)


def _algebraic(expression: Expr, root: Symbol) -> Expr:
    """What is left of an expression at a small root, but for what vanishes faster than its powers.

    Integrals with a large argument x become exp(+-x^2) or exp(x), times the first terms of their
    expansions in 1/x (DLMF 6.12, 7.12), in which exponentials cancel.
    """

    def far(argument: Expr) -> Expr:
        """The sign of an argument that grows; 0 for one that does not."""
        end = limit(argument, root, 0, "+") if argument.has(root) else ZERO
        return sign(end) if abs(end) == oo else ZERO

    def expanded(e: Expr) -> Expr:
        side, x = far(e.args[0]), e.args[0]
        if side == 0:
            return e
        if isinstance(e, Ei):
            return exp(x) / x * sum(factorial(k) / x**k for k in range(ORDER))
        size, turn = side * x, ONE if isinstance(e, erfi) else -ONE
        terms = sum(factorial2(2 * k - 1) * (turn / (2 * x**2)) ** k for k in range(ORDER))
        tail = exp(turn * x**2) / (sqrt(pi) * size) * terms
        if isinstance(e, erfi):
            return side * tail
        rest = ONE - side * ONE if isinstance(e, erfc) else side * ONE
        return rest + side * tail if isinstance(e, erfc) else rest - side * tail

    found = expression.replace(lambda e: isinstance(e, erf | erfc | erfi | Ei), expanded)
    if found == expression and not found.has(exp):
        return found
    found = found.expand() if found != expression else found
    if any(far(e.args[0]) == 1 for e in found.atoms(exp)):
        raise NotClosed("exponentials do not cancel")
    return found.replace(lambda e: isinstance(e, exp) and far(e.args[0]) == -1, lambda e: ZERO)


def steady(expression: Expr) -> Expr:
    """An equal expression without differences of large numbers, where erf is next to exponentials.

    With erf(x) = 1 - erfc(x) for positive x.
    """
    if not expression.has(erf) or not expression.has(exp):
        return expression
    turned = expression.replace(
        lambda e: isinstance(e, erf) and e.args[0].is_positive, lambda e: ONE - erfc(e.args[0])
    )
    return turned.expand() if turned != expression else expression


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
