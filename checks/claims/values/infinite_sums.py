"""Infinite sums: of polynomials times powers or over factorials, of rational terms, of powers."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from flint import arb
from sympy import (
    Add,
    Expr,
    Integer,
    Mul,
    Symbol,
    apart,
    cancel,
    exp,
    factorial,
    gamma,
    harmonic,
    log,
    powsimp,
    zeta,
)

from varlaw.checks.claims.values.algebra import Algebra
from varlaw.checks.claims.values.functions import CONSTANTS, NoValue
from varlaw.checks.claims.values.numbers import Scope, enclosure
from varlaw.symbolic.formulas.names import free_names, indexed, substituted
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball

ONE = Node(Head.NUMBER, (), "1")
MOST_FIRST = 40  # terms that are left out at the beginning
MOST_DEGREE = 12


def infinite(node: Node, scope: Scope) -> arb:
    """A ball for an infinite sum. Raises NoValue where it does not converge, or is not covered."""
    body, index, first, _ = node.parts
    names = set().union(*(free_names(part) for part in (body, first))) - set(CONSTANTS)
    algebra = Algebra({name: Symbol(name, positive=True) for name in names}, scope.log_base)
    term, k = _term(node, algebra)
    if _ratio(term, k) is not None:
        begin = substituted(body, {plain(index): first})
        following = substituted(body, {plain(index): Node(Head.ADD, (first, ONE))})
        value = enclosure(begin, scope)
        if value.is_zero():
            raise NoValue("a sum whose first term is zero")
        ratio = enclosure(following, scope) / value
        if not abs(ratio) < 1:
            raise NoValue("a geometric sum that is not known to converge")
        return value / (1 - ratio)
    power = _power(term, k)
    if power is not None and algebra.expression(first) == 1:
        begin = substituted(body, {plain(index): first})
        return enclosure(begin, scope) * (arb(power.p) / power.q).zeta()
    found = None if scope.values else closed(node, Algebra({}, scope.log_base))
    if found is None:
        raise NoValue("an infinite sum that is not known to converge, or not in closed form")
    try:
        return ball(found)
    except NoEnclosure as error:
        raise NoValue(str(error)) from None


def closed(node: Node, algebra: Algebra) -> Expr | None:
    """The value of an infinite sum in closed form, where it converges; None for another sum."""
    _, _, first, _ = node.parts
    term, k = _term(node, algebra)
    start = algebra.expression(first)
    if (ratio := _ratio(term, k)) is not None:
        return term.subs(k, start) / (1 - ratio) if _converges(ratio) else None
    power = _power(term, k)
    if power is not None and start == 1:
        return term.subs(k, 1) * zeta(power)
    if not start.is_Integer or not 0 <= start <= MOST_FIRST:
        return None
    for way in (_by_powers, _by_logarithm, _by_fractions):
        found = way(term, k, int(start))
        if found is not None:
            return found
    return None


def _term(node: Node, algebra: Algebra) -> tuple[Expr, Any]:
    body, index, first, last = node.parts
    if first.head is Head.INFINITY or last.head is not Head.INFINITY:
        raise NoValue("a sum whose ends run the wrong way")
    name = plain(index)
    if indexed(body, name) or name in free_names(first):
        raise NoValue(f"no value for each {name}")
    k = Symbol(name, integer=True)
    inner = Algebra({**algebra.symbols, name: k}, algebra.log_base, gammas=True)
    term = inner.expression(body)
    if inner.hidden:
        raise NoValue("a sum of terms that are no algebra")
    return term, k


def _ratio(term: Expr, k: Any) -> Expr | None:
    """What each term of a geometric sum is, of the one before; None for another sum."""
    if term.has(gamma) or term.is_zero:
        return None
    ratio = cancel(powsimp((term.subs(k, k + 1) / term).expand(power_exp=True)))
    return None if ratio.has(k) or ratio == 1 else ratio


def _converges(ratio: Expr) -> bool:
    return not ratio.is_number or bool(abs(ratio) < 1)


def _power(term: Expr, k: Any) -> Any:
    """s > 1 for the terms c/k^s, else None."""
    _, power = term.as_independent(k)
    base, exponent = power.as_base_exp()
    if base != k or not exponent.is_Rational or not exponent < -1:
        return None
    return -exponent


def _by_powers(term: Expr, k: Any, start: int) -> Expr | None:
    """Terms P(k) r^k and P(k) r^k/k!, for polynomials P, by their falling factorials.

    sum k(k-1)..(k-j+1) r^k = j! r^j/(1-r)^(j+1), and over k! it is r^j e^r.
    """
    total: Expr = Integer(0)
    for part in Add.make_args(term if not term.is_Add else term.expand()):
        found = _split(part, k)
        if found is None:
            return None
        polynomial, ratio, over_factorial = found
        if not over_factorial and (ratio == 1 or not _converges(ratio)):
            return None
        for j, factor in enumerate(_falling(polynomial, k)):
            whole = exp(ratio) if over_factorial else factorial(j) / (1 - ratio) ** (j + 1)
            total += factor * ratio**j * whole
        for place in range(start):
            below = factorial(place) if over_factorial else 1
            total -= polynomial.subs(k, place) * ratio**place / below
    return total


def _split(term: Expr, k: Any) -> tuple[Expr, Expr, bool] | None:
    """(P, r, whether over k!) for a term P(k) r^k, perhaps over k!."""
    polynomial, ratio, over_factorial = Integer(1), Integer(1), False
    for factor in Mul.make_args(term):
        base, exponent = factor.as_base_exp()
        if factor.is_polynomial(k):
            polynomial *= factor
        elif not base.has(k) and exponent.is_polynomial(k) and exponent.as_poly(k).degree() == 1:
            slope, rest = exponent.as_poly(k).all_coeffs()
            ratio, polynomial = ratio * base**slope, polynomial * base**rest
        elif exponent == -1 and base == gamma(k + 1) and not over_factorial:
            over_factorial = True
        else:
            return None
    if polynomial.as_poly(k) is not None and polynomial.as_poly(k).degree() > MOST_DEGREE:
        return None
    return polynomial, ratio, over_factorial


def _falling(polynomial: Expr, k: Any) -> Iterator[Expr]:
    """The factors a_j of sum_j a_j k(k-1)...(k-j+1), by differences at 0."""
    degree = polynomial.as_poly(k).degree() if polynomial.has(k) else 0
    values = [polynomial.subs(k, place) for place in range(degree + 1)]
    for j in range(degree + 1):
        yield values[0] / factorial(j)
        values = [after - before for before, after in pairwise(values)]


def _by_logarithm(term: Expr, k: Any, start: int) -> Expr | None:
    """Terms c r^k/k: from 1 on they are -c log(1 - r)."""
    found = _split(term * k, k)
    if found is None or start == 0:
        return None
    factor, ratio, over_factorial = found
    if over_factorial or factor.has(k) or not (ratio == -1 or _converges(ratio)) or ratio == 1:
        return None
    return factor * (-log(1 - ratio) - Add(*(ratio**j / Integer(j) for j in range(1, start))))


def _by_fractions(term: Expr, k: Any, start: int) -> Expr | None:
    """Rational terms whose partial fractions are c/(k + a)^s with whole numbers a."""
    if not term.is_rational_function(k) or term.free_symbols != {k}:
        return None
    total, divergent = Integer(0), Integer(0)
    for part in Add.make_args(apart(term, k)):
        factor, power = part.as_independent(k, as_Add=False)
        base, exponent = power.as_base_exp()
        linear = base.as_poly(k)
        if not exponent.is_Integer or not exponent < 0 or linear is None or linear.degree() != 1:
            return None
        slope, rest = linear.all_coeffs()
        shift, order = rest / slope, -exponent
        first = start + shift
        if not first.is_Integer or not 1 <= first <= MOST_FIRST:
            return None
        size = factor / slope**order
        if order == 1:
            divergent += size
            total -= size * harmonic(first - 1)
        else:
            total += size * (zeta(order) - harmonic(first - 1, order))
    return total if divergent == 0 else None
