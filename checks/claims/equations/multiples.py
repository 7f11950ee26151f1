"""Links that say which multiple of the other side one side is, by a decimal."""

from collections.abc import Mapping

from flint import arb, fmpz

from varlaw.checks.claims.equations.compare import Finding, against_literal, number
from varlaw.checks.claims.equations.one_sided import constant
from varlaw.checks.claims.values.functions import CONSTANTS
from varlaw.checks.claims.values.literals import Literal, literal_of
from varlaw.checks.claims.values.numbers import Scope
from varlaw.symbolic.formulas.names import free_names
from varlaw.symbolic.formulas.tree import Head, Node


def names_of(*sides: Node) -> set[str]:
    """The names without a value of their own."""
    return set().union(*map(free_names, sides)) - set(CONSTANTS)


def of_a_decimal(
    left: Node, right: Node, sign: str, positive: Mapping[str, bool], scope: Scope
) -> Finding | None:
    r"""A link such as \sigma/\sqrt2 = 0.7071\dots\sigma: the quotient is a number, with digits."""
    for one, other in ((left, right), (right, left)):
        found = decimal_times(other)
        if found is None:
            continue
        literal, rest = found
        quotient = Node(Head.DIVIDE, (one, rest))
        if not constant(quotient, positive, scope, positive):
            return None
        point = {name: arb(fmpz(k + 2)) for k, name in enumerate(sorted(positive))}
        inner = Scope({**scope.values, **point}, scope.log_base)
        return against_literal(number(quotient, inner), literal, sign)
    return None


def decimal_times(node: Node) -> tuple[Literal, Node] | None:
    """The only decimal among the factors of a product over names, and the other factors."""
    if node.head is not Head.MULTIPLY or not names_of(node):
        return None
    decimals = [part for part in node.parts if _is_decimal(part)]
    if len(decimals) != 1:
        return None
    literal = literal_of(decimals[0])
    others = tuple(part for part in node.parts if part is not decimals[0])
    rest = others[0] if len(others) == 1 else Node(Head.MULTIPLY, others)
    return None if literal is None else (literal, rest)


def _is_decimal(node: Node) -> bool:
    return node.head is Head.DIGITS or (node.head is Head.NUMBER and "." in node.text)
