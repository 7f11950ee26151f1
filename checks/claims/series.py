"""Infinite sums: geometric ones, and powers of the index."""

from typing import Any

from flint import arb
from sympy import Expr, Symbol, cancel, powsimp, zeta

from varlaw.checks.claims.algebra import Algebra
from varlaw.checks.claims.definitions import free_names, indexed, substituted
from varlaw.checks.claims.functions import CONSTANTS, NoValue
from varlaw.checks.claims.numbers import Scope, enclosure
from varlaw.symbolic.formulas.tree import Head, Node, plain

ONE = Node(Head.NUMBER, (), "1")


def infinite(node: Node, scope: Scope) -> arb:
    """A ball for an infinite sum. Raises NoValue where it does not converge, or is not covered."""
    body, index, first, _ = node.parts
    names = set().union(*(free_names(part) for part in (body, first))) - set(CONSTANTS)
    algebra = Algebra({name: Symbol(name, positive=True) for name in names}, scope.log_base)
    term, k = _term(node, algebra)
    begin = substituted(body, {plain(index): first})
    following = substituted(body, {plain(index): Node(Head.ADD, (first, ONE))})
    value = enclosure(begin, scope)
    if _ratio(term, k) is not None:
        ratio = enclosure(following, scope) / value
        if not abs(ratio) < 1:
            raise NoValue("a geometric sum that is not known to converge")
        return value / (1 - ratio)
    power = _power(term, k)
    if power is None or algebra.expression(first) != 1:
        raise NoValue("an infinite sum that is neither geometric nor one of powers")
    return value * (arb(power.p) / power.q).zeta()


def closed(node: Node, algebra: Algebra) -> Expr | None:
    """The value of an infinite sum in closed form, where it converges; None for another sum."""
    _, _, first, _ = node.parts
    term, k = _term(node, algebra)
    if (ratio := _ratio(term, k)) is not None:
        if ratio.is_number and not abs(ratio) < 1:
            return None
        return term.subs(k, algebra.expression(first)) / (1 - ratio)
    power = _power(term, k)
    if power is None or algebra.expression(first) != 1:
        return None
    return term.subs(k, 1) * zeta(power)


def _term(node: Node, algebra: Algebra) -> tuple[Expr, Any]:
    body, index, first, last = node.parts
    if first.head is Head.INFINITY or last.head is not Head.INFINITY:
        raise NoValue("a sum whose ends run the wrong way")
    name = plain(index)
    if indexed(body, name) or name in free_names(first):
        raise NoValue(f"no value for each {name}")
    k = Symbol(name, integer=True, positive=True)
    inner = Algebra({**algebra.symbols, name: k}, algebra.log_base)
    term = inner.expression(body)
    if inner.hidden:
        raise NoValue("a sum of terms that are no algebra")
    return term, k


def _ratio(term: Expr, k: Any) -> Expr | None:
    """What each term of a geometric sum is, of the one before; None for another sum."""
    ratio = cancel(powsimp((term.subs(k, k + 1) / term).expand(power_exp=True)))
    return None if ratio.has(k) or ratio == 1 else ratio


def _power(term: Expr, k: Any) -> Any:
    """s > 1 for the terms c/k^s, else None."""
    _, power = term.as_independent(k)
    base, exponent = power.as_base_exp()
    if base != k or not exponent.is_Rational or not exponent < -1:
        return None
    return -exponent
