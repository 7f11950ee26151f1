"""Implications f(x) < c => x > d for a function f that rises or falls everywhere."""

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.equations.compare import Finding, number
from varlaw.checks.claims.equations.multiples import names_of
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope, settle
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import substituted
from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain

STRICT = {"<": -1, ">": 1}
UNSURE = Finding(Verdict.UNDECIDED, reason="an implication of a kind that is not decided")


def implied(chain: Chain, place: int, context: Context) -> Finding:
    """The verdict on `f(x) < c => x > d`, with x the only name; anything else is undecided."""
    if not 0 < place < len(chain.between) - 1:
        return UNSURE
    (f, first, c), (x, second, d) = chain.links[place - 1], chain.links[place + 1]
    if first not in STRICT or second not in STRICT or x.head is not Head.NAME:
        return UNSURE
    if names_of(f) != {plain(x)} or names_of(c, d):
        return UNSURE
    scope = Scope(log_base=context.log_base)
    slope = _slope(f, plain(x), scope)
    # f(x) < c bounds x from below for falling f; the bound meant is that of x with f(x) = c
    if not slope or STRICT[first] * slope != STRICT[second]:
        return UNSURE
    there = substituted(f, {plain(x): d})

    def gap() -> int | None:
        difference = number(there, scope).ball() - number(c, scope).ball()
        return 1 if difference > 0 else -1 if difference < 0 else None

    side = settle(gap)
    if side is None:
        if chain.between[place] in ("=>", "<=>") and _equal(there, c, scope):
            return Finding(Verdict.VERIFIED, "", "the bound is where both sides agree", "monotone")
        return UNSURE
    stronger = side == -STRICT[first]
    if stronger and chain.between[place] == "=>":
        return Finding(Verdict.LOOSE, "", "implied, but not the best bound", "monotone")
    return Finding(Verdict.REFUTED, "", "the bound is another number", "monotone")


def _slope(f: Node, name: str, scope: Scope) -> int:
    """1 or -1 if f rises or falls at all real numbers, else 0."""
    x = symbol(name, positive=False)
    try:
        found = Algebra({name: x}, scope.log_base).expression(f).diff(x)
    except NoValue:
        return 0
    return 1 if found.is_positive else -1 if found.is_negative else 0


def _equal(left: Node, right: Node, scope: Scope) -> bool:
    """Whether two positive numbers are equal, by their logarithms."""
    from sympy import expand_log, log

    from varlaw.checks.claims.equations.identities import equal

    algebra = Algebra({}, scope.log_base)
    try:
        a, b = algebra.expression(left), algebra.expression(right)
    except NoValue:
        return False
    if not (a.is_positive and b.is_positive):
        return False
    return equal(*(expand_log(log(side), force=True) for side in (a, b)))
