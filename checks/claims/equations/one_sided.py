"""Names that only one side of an equation has: a link may tell their value, as m a = 5 a does."""

from collections.abc import Collection, Mapping
from itertools import product
from typing import Any

from varlaw.checks.claims.equations import identities
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope
from varlaw.symbolic.formulas.names import substituted
from varlaw.symbolic.formulas.tree import Head, Node


def told_by(
    left: Node,
    right: Node,
    a: Collection[str],
    b: Collection[str],
    positive: Mapping[str, bool],
    scope: Scope,
) -> bool:
    """Whether a link that does not hold always may hold for some names in `a` or in `b` alone.

    `a` and `b` are the names of the sides. Where only one side has names of its own, these may be
    constants: m a = 5 a. Where both have, as in v^2/r = w^2 r, it is no slip unless one for
    another makes the link right.
    """
    left_only, right_only = set(a) - set(b), set(b) - set(a)
    if left_only and right_only:
        return not any(
            _same(substituted(left, {one: Node(Head.NAME, (), other)}), right, positive, scope)
            for one, other in product(left_only, right_only)
        )
    gap = Node(Head.ADD, (left, Node(Head.NEGATIVE, (right,))))
    quotient = Node(Head.DIVIDE, (left, right))
    shared = set(a) & set(b)
    return bool(left_only or right_only) and any(
        constant(formula, positive, scope, shared) for formula in (gap, quotient)
    )


def _same(left: Node, right: Node, positive: Mapping[str, bool], scope: Scope) -> bool:
    seen = identities.sampled(left, right, positive, scope)
    return seen.clear > 0 and seen.signs == {0}


def constant(
    formula: Node, positive: Mapping[str, bool], scope: Scope, names: Collection[str]
) -> bool:
    """Whether a formula does not depend on some of its names."""
    from sympy import cancel, together

    made: dict[str, Any] = {name: symbol(name, above) for name, above in positive.items()}
    algebra = Algebra(made, scope.log_base)
    try:
        found = algebra.expression(formula)
    except NoValue:
        return False
    symbols = {made[name] for name in names}
    return not (found.free_symbols & symbols) or not (
        cancel(together(found)).free_symbols & symbols
    )
