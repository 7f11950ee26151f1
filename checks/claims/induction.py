"""Sums up to a name, proved by induction: the first term, and the step from n - 1 to n."""

from varlaw.checks.claims.algebra import Algebra
from varlaw.checks.claims.definitions import free_names, indexed, substituted
from varlaw.checks.claims.functions import NoValue
from varlaw.checks.claims.identities import equal
from varlaw.symbolic.formulas.tree import Head, Node, plain


def _without_step(last: Node) -> tuple[Node, Node | None]:
    """n, and what is added to it, for a sum up to n + 1 or n - 1."""
    if last.head is Head.ADD and len(last.parts) == 2:
        name, step = last.parts
        number = step.parts[0] if step.head is Head.NEGATIVE else step
        if name.head is Head.NAME and number.head is Head.NUMBER:
            return name, step
    return last, None


def by_induction(left: Node, right: Node, algebra: Algebra) -> bool:
    """Whether sum_{k=a}^n f(k) = F(n) for all n >= a, where one side is such a sum alone.

    F(a) = f(a) and F(n) - F(n - 1) = f(n), each by exact normal form.
    """
    if left.head is not Head.SUM:
        left, right = right, left
    if left.head is not Head.SUM or len(left.parts) != 4:
        return False
    body, index, first, last = left.parts
    last, step = _without_step(last)
    if indexed(body, plain(index)) or indexed(right, plain(last)) or indexed(body, plain(last)):
        return False
    if last.head is not Head.NAME or plain(last) in free_names(body) | free_names(first):
        return False
    if any(node.head in (Head.SUM, Head.PRODUCT) for node in (*right.walk(), *body.walk())):
        return False
    one = Node(Head.NEGATIVE, (Node(Head.NUMBER, (), "1"),))
    before = Node(Head.ADD, (last, one))
    try:
        start = algebra.expression(substituted(body, {plain(index): first}))
        total = algebra.expression(right)
        term = algebra.expression(substituted(body, {plain(index): last}))
        n = algebra.symbols[plain(last)]
        if step is not None:  # the sum up to n itself
            total = total.subs(n, n - algebra.expression(step))
        previous = total.subs(n, algebra.expression(before))
        begun = total.subs(n, algebra.expression(first))
    except (NoValue, ValueError, KeyError):
        return False
    return equal(begun, start) and equal(total - previous, term)
