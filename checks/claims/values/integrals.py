"""Integrals over infinite ranges: as expectations of Gaussian variables, with proved tails.

A factor exp(a x^2 + b x + c) with a < 0 makes the integral an expectation over a normal variable; a
factor exp(b x) that falls does so on a half-line with x = end + u^2.
"""

from typing import Any

from flint import arb, ctx

from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.antiderivatives import (
    by_parts,
    integral_over,
    integral_to_infinity,
    of_reciprocal,
)
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope
from varlaw.symbolic.activation import KINKED
from varlaw.symbolic.formulas.names import indexed, signed
from varlaw.symbolic.formulas.tree import Head, Node, plain

MOST_PARTS = 40
MOST_OPERATIONS = 60  # in products of sines and cosines


def over_infinite_range(node: Node, scope: Scope) -> arb:
    """A ball for an integral with an infinite end. Raises NoValue where no tail can be bounded."""
    from sympy import Add, expand_mul, oo

    body, variable, first, last = node.parts
    name = plain(variable)
    if scope.values:
        raise NoValue("an integral over an infinite range inside of something with an index")
    x = symbol(name, positive=False)
    algebra = Algebra({name: x}, scope.log_base)
    low, high = (_end(end, algebra) for end in (first, last))
    if low == oo or high == -oo:
        raise NoValue("an integral whose ends run the wrong way")
    f = algebra.expression(body)
    if algebra.hidden:
        raise NoValue("an integrand with parts that are no algebra")
    total = arb(0)
    parts = Add.make_args(f)
    if len(parts) == 1:
        parts = Add.make_args(expand_mul(f))
        whole = _gaussian(f, x) is not None
        parts = (f,) if whole or len(parts) > MOST_PARTS else parts
    for part in parts:
        total += _mean(part, x, low, high)
    return total


def _end(node: Node, algebra: Algebra) -> Any:
    from sympy import oo

    if node.head is Head.INFINITY:
        return oo
    if node.head is Head.NEGATIVE and node.parts[0].head is Head.INFINITY:
        return -oo
    return algebra.expression(node)


def closed(node: Node, outer: Algebra) -> Any:
    """The integral in closed form, or None.

    Of powers, exponentials, sines and cosines, or of a Gaussian times something.
    """
    from sympy import Abs, oo

    body, variable, first, last = node.parts
    name = plain(variable)
    if name in outer.symbols or indexed(body, name):
        return None
    x = symbol(name, positive=False)
    inner = Algebra({**outer.symbols, name: x}, outer.log_base)
    try:
        low, high = _end(first, inner), _end(last, inner)
        if low.is_finite and high.is_finite:
            parts = [
                _smooth_or_not(inner.expression(part), x, start, end)
                for part, start, end in _halves(body, name, low, high)
            ]
            return None if inner.hidden or None in parts else sum(parts)
        f = inner.expression(body)
    except NoValue:
        return None
    if inner.hidden or low == oo or high == -oo:
        return None
    if f.has(Abs) or not f.has(x):
        return None
    if high == oo and low.is_positive and (found := integral_to_infinity(f, x, low)) is not None:
        return found
    return _closed_gaussian(f, x, low, high)


def _halves(body: Node, name: str, low: Any, high: Any) -> list[tuple[Node, Any, Any]]:
    """The body over the range; where it holds |x|, below and above 0, where 0 is known to be."""
    below, above = (signed(body, name, positive) for positive in (False, True))
    if above == body or low.is_nonnegative:
        return [(above, low, high)]
    if high.is_nonpositive:
        return [(below, low, high)]
    if low.is_nonpositive and high.is_nonnegative:
        return [(below, low, 0 * low), (above, 0 * high, high)]
    return [(body, low, high)]


def _smooth_or_not(f: Any, x: Any, low: Any, high: Any) -> Any:
    """The integral over a finite range; with other kinks, as in |sin(x)|, between numbers only."""
    from varlaw.symbolic.gaussian.balls import Located
    from varlaw.symbolic.gaussian.crossings import NotClosed
    from varlaw.symbolic.gaussian.pieces import pieces_of

    if not f.has(*KINKED):
        return _over_range(f, x, low, high)
    if f.free_symbols != {x} or not (high - low).is_positive or (high - low).free_symbols:
        return None
    try:
        pieces = pieces_of(f, x, low, high)
    except (NotClosed, ValueError):
        return None
    if any(end.has(Located) for piece in pieces for end in (piece.lower, piece.upper)):
        return None
    parts = [_over_range(piece.expression, x, piece.lower, piece.upper) for piece in pieces]
    return None if None in parts else sum(parts)


def _over_range(f: Any, x: Any, low: Any, high: Any) -> Any:
    """The integral over a finite range of a smooth function, term by term; None for others."""
    from sympy import cos, sin
    from sympy.simplify.fu import TR8

    if f.is_polynomial(x):
        whole = f.as_poly(x).integrate(x).as_expr()
        return whole.subs(x, high) - whole.subs(x, low)
    f = f.expand(power_exp=False)
    if f.has(sin, cos) and f.count_ops() <= MOST_OPERATIONS:
        f = TR8(f).expand(power_exp=False)  # products of sines as sums
    parts = [_between(term, x, low, high) for term in f.as_ordered_terms()]
    return None if None in parts else sum(parts)


def _between(f: Any, x: Any, low: Any, high: Any) -> Any:
    """The integral of c x^r over a positive range, or of c g(a x + b); None for others."""
    from sympy import cos, exp, sin

    factor, g = f.as_independent(x)
    if isinstance(g, (exp, sin, cos)):
        (inside,) = g.args
        slope = inside.diff(x)
        if slope.has(x) or not slope.is_nonzero:
            return None
        whole = {exp: g, sin: -cos(inside), cos: sin(inside)}[g.func] / slope
        return factor * (whole.subs(x, high) - whole.subs(x, low))
    found = integral_over(g, x, low, high) if high.is_positive else None
    if found is None:
        found = by_parts(g, x, low, high) or of_reciprocal(g, x, low, high)
    return None if found is None else factor * found


def _closed_gaussian(f: Any, x: Any, low: Any, high: Any) -> Any:
    from sympy import exp, pi, sqrt

    from varlaw.symbolic.gaussian.balls import NoEnclosure
    from varlaw.symbolic.gaussian.closed import closed_form
    from varlaw.symbolic.gaussian.pieces import NotClosed
    from varlaw.symbolic.terms import indicator

    found = _gaussian(f, x)
    if found is None:
        return None
    a, b, c, rest = found
    try:
        if a == 0:
            return _closed_gaussian(*_half_line(f, x, low, high, b))
        if not a.is_negative:
            return None
        if low.is_finite:
            rest *= indicator(x - low, ">")
        if high.is_finite:
            rest *= indicator(high - x, ">")
        mean, variance = -b / (2 * a), -1 / (2 * a)
        size = exp(c - b**2 / (4 * a)) * sqrt(2 * pi * variance)
        return closed_form(rest, x, mean, variance) * size
    except (NoValue, NotClosed, NoEnclosure, ValueError):
        return None


def _gaussian(f: Any, x: Any) -> tuple[Any, Any, Any, Any] | None:
    """(a, b, c, rest) with f = exp(a x^2 + b x + c) rest, where there is such a factor."""
    from sympy import Integer, Mul, Poly, PolynomialError, exp

    exponent, rest = Integer(0), Integer(1)
    for factor in Mul.make_args(f):
        base, power = factor.as_base_exp()
        if isinstance(factor, exp):
            exponent += factor.args[0]
        elif isinstance(base, exp):
            exponent += base.args[0] * power
        elif base.is_positive and base.is_number and power.free_symbols:
            from sympy import log

            exponent += log(base) * power
        else:
            rest *= factor
    try:
        polynomial = Poly(exponent.expand(), x)
    except PolynomialError:
        return None
    if polynomial.degree() not in (1, 2):
        return None
    return (*(polynomial.coeff_monomial(x**k) for k in (2, 1, 0)), rest)


def _mean(f: Any, x: Any, low: Any, high: Any) -> arb:
    """The integral of one term."""
    from sympy import exp, oo, pi, sqrt

    from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
    from varlaw.symbolic.gaussian.enclosure import enclose
    from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of

    found = _gaussian(f, x)
    if found is None:
        raise NoValue("an integral over an infinite range without a bound on its tail")
    a, b, c, rest = found
    if a == 0:
        return _mean(*_half_line(f, x, low, high, b))
    if not a.is_negative:
        raise NoValue("an integral over an infinite range that does not converge")
    mean, variance = -b / (2 * a), -1 / (2 * a)
    size = exp(c - b**2 / (4 * a)) * sqrt(2 * pi * variance)
    digits = int(ctx.prec * 0.301) + 1
    try:
        pieces = [
            Piece(max(p.lower, low), min(p.upper, high), p.expression)
            for p in pieces_of(rest, x)
            if p.lower < high and p.upper > low
        ]
        if low != -oo:
            pieces.insert(0, Piece(-oo, low, rest * 0))
        if high != oo:
            pieces.append(Piece(high, oo, rest * 0))
        value: arb = enclose(pieces, x, mean, variance, digits).value * ball(size)
    except (NoEnclosure, NotClosed, TypeError, ValueError) as error:
        raise NoValue(f"the integral could not be enclosed: {error}") from None
    return value


def _half_line(f: Any, x: Any, low: Any, high: Any, slope: Any) -> tuple[Any, Any, Any, Any]:
    """The integral of a falling exponential times something, over u with x = end +- u^2."""
    from sympy import Integer, oo

    if high == oo and low != -oo and slope.is_negative:
        return 2 * x * f.subs(x, low + x**2), x, Integer(0), oo
    if low == -oo and high != oo and slope.is_positive:
        return 2 * x * f.subs(x, high - x**2), x, Integer(0), oo
    raise NoValue("an integral over an infinite range that does not converge")
