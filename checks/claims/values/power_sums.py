"""Sums of polynomials in their index up to a name or a number, in closed form by Faulhaber."""

from sympy import Dummy, Expr, Poly, PolynomialError, bernoulli, binomial

from varlaw.checks.claims.values.algebra import Algebra
from varlaw.symbolic.formulas.names import free_names, indexed
from varlaw.symbolic.formulas.tree import Node, plain

MOST_DEGREE = 8
FARTHEST = 10**6  # of an end that is a number


def closed(node: Node, algebra: Algebra) -> Expr | None:
    """sum_{k=a}^b f(k) for a polynomial f; None where f is none, or b may be less than a - 1."""
    body, index, first, last = node.parts
    name = plain(index)
    if indexed(body, name) or name in free_names(first) | free_names(last):
        return None
    k = Dummy("k", integer=True)
    inner = Algebra({**algebra.symbols, name: k}, algebra.log_base, algebra.gammas)
    term = inner.expression(body)
    low, high = algebra.expression(first), algebra.expression(last)
    if any(name in free_names(hidden) for hidden in inner.hidden) or not _in_order(low, high):
        return None
    algebra.hidden.update(inner.hidden)
    try:
        polynomial = Poly(term, k)
    except PolynomialError:
        return None
    if polynomial.degree() > MOST_DEGREE or any(c.has(k) for c in polynomial.all_coeffs()):
        return None
    return sum(
        (c * (_power_sum(power, high) - _power_sum(power, low - 1)))
        for (power,), c in polynomial.terms()
    )


def _in_order(low: Expr, high: Expr) -> bool:
    """Whether high >= low - 1, so that no sum runs backwards, for whole names from 1 on."""
    offset, name = high.as_coeff_Add()
    if not low.is_Integer or not offset.is_Integer or max(abs(low), abs(offset)) > FARTHEST:
        return False
    least = offset if name == 0 else offset + 1
    return bool((name == 0 or (name.is_Symbol and name.is_positive)) and least >= low - 1)


def _power_sum(power: int, n: Expr) -> Expr:
    """1^p + ... + n^p, with 0^0 = 1 in no term."""
    return sum(
        (-1) ** j * binomial(power + 1, j) * bernoulli(j, 0) * n ** (power + 1 - j)
        for j in range(power + 1)
    ) / (power + 1)
