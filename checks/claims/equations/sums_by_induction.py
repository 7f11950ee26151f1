"""Sums and products up to a name, by induction: the first term, and the step from n - 1 to n."""

from dataclasses import replace

from sympy import Dummy, Expr, cancel, fraction, gamma, gammasimp, powsimp, together

from varlaw.checks.claims.equations.identities import equal
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.functions import NoValue
from varlaw.symbolic.formulas.names import free_names, indexed, substituted
from varlaw.symbolic.formulas.tree import Head, Node, plain

MOST_OPERATIONS = 100
SUM = "the sum"  # its name while an equation is solved for it


def _without_step(last: Node) -> tuple[Node, Node | None]:
    """n, and what is added to it, for a sum up to n + 1 or n - 1."""
    if last.head is Head.ADD and len(last.parts) == 2:
        name, step = last.parts
        number = step.parts[0] if step.head is Head.NEGATIVE else step
        if name.head is Head.NAME and number.head is Head.NUMBER:
            return name, step
    return last, None


def by_induction(left: Node, right: Node, algebra: Algebra) -> bool:
    """Whether left = right for all n >= a, where all that is no algebra is sum_{k=a}^n f(k).

    Solved for the sum, F(n): F(a) = f(a) and F(n) - F(n - 1) = f(n), each by exact normal form;
    of a product F(n) = F(n - 1) f(n).
    """
    endings = (Head.SUM, Head.PRODUCT)
    sums = [node for side in (left, right) for node in side.walk() if node.head in endings]
    if len(sums) != 1 or len(sums[0].parts) != 4:
        return False
    body, index, first, last = sums[0].parts
    last, step = _without_step(last)
    outer = [_with(side, sums[0], Node(Head.NAME, (), SUM)) for side in (left, right)]
    if any(indexed(part, plain(last)) for part in (body, *outer)) or indexed(body, plain(index)):
        return False
    if last.head is not Head.NAME or plain(last) in free_names(body) | free_names(first):
        return False
    ends = symbol(plain(last), positive=True, whole=True)
    algebra = Algebra({**algebra.symbols, plain(last): ends}, algebra.log_base, algebra.gammas)
    one = Node(Head.NEGATIVE, (Node(Head.NUMBER, (), "1"),))
    before = Node(Head.ADD, (last, one))
    try:
        start = algebra.expression(substituted(body, {plain(index): first}))
        total = _solved(outer[0], outer[1], algebra)
        term = algebra.expression(substituted(body, {plain(index): last}))
        if step is not None:  # the sum up to n itself
            total = total.subs(ends, ends - algebra.expression(step))
        previous = total.subs(ends, algebra.expression(before))
        begun = total.subs(ends, algebra.expression(first))
    except (NoValue, ValueError):
        return False
    following = previous + term if sums[0].head is Head.SUM else previous * term
    return _same(begun, start) and _same(total, following)


def _same(left: Expr, right: Expr) -> bool:
    """Whether two expressions are one, powers and factorials with a name in them included."""
    gap = left - right
    if equal(left, right):
        return True
    if gap.count_ops() > MOST_OPERATIONS:
        return False
    if right != 0 and powsimp(left / right) == 1:
        return True
    return bool(gap.has(gamma) and gammasimp(gap) == 0)


def _solved(left: Node, right: Node, algebra: Algebra) -> Expr:
    """The sum by an equation that is linear in it. Raises NoValue where it may drop out."""
    found = Dummy("S")
    inner = Algebra({**algebra.symbols, SUM: found}, algebra.log_base, algebra.gammas)
    inner.hidden = algebra.hidden
    difference = inner.expression(left) - inner.expression(right)
    factor = difference.diff(found)
    if factor.has(found) or factor.is_zero:
        raise NoValue("not linear in the sum")
    total = -difference.subs(found, 0) / factor
    if not factor.is_nonzero:
        total = cancel(together(total))  # a factor that cancels may be zero
        if not fraction(total)[1].is_nonzero:
            raise NoValue("the sum may drop out")
    return total


def _with(side: Node, old: Node, new: Node) -> Node:
    if side is old:
        return new
    return replace(side, parts=tuple(_with(part, old, new) for part in side.parts))
