"""Decimals inside of a formula that are roundings themselves, as in 0.8413 - 0.1587 = 0.6827.

Who computes on with all digits and writes fewer makes no mistake: the link is right for numbers
that round to those written. Decimals such as 0.5, 0.02 and 0.975 are taken as exact.
"""

from collections.abc import Mapping
from dataclasses import replace

from flint import arb, ctx

from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.claims.values.numbers import NoValue, Scope, enclosure
from varlaw.symbolic.formulas.tree import Head, Node

ROUNDED = 3  # digits of a decimal that may be a rounding
BITS = 128
WITHIN = arb("0.499")  # of a unit of the last digit


def meet(left: Node, right: Node, scope: Scope) -> bool:
    """Whether both sides can be equal for numbers that round to the decimals in them."""
    with ctx.workprec(BITS):
        (a, inner_a), (b, inner_b) = (_widened(side) for side in (left, right))
        alone = {side: literal_of(side) is not None for side in (left, right)}
        if all(not inner or alone[side] for side, inner in ((left, inner_a), (right, inner_b))):
            return False
        wide = replace(scope, values={**scope.values, **inner_a, **inner_b})
        try:
            return bool(enclosure(a, wide).overlaps(enclosure(b, wide)))
        except NoValue:
            return False


def _widened(side: Node) -> tuple[Node, Mapping[str, arb]]:
    """The formula with balls for its decimals; one that stands alone has that of its last digit."""
    if (literal := literal_of(side)) is not None:
        if literal.begun or not literal.short or literal.whole or literal.order:
            return side, {}
        name = f"about {literal.value}"
        return Node(Head.NAME, (), name), {name: literal.ball() + _error(literal.place)}
    balls: dict[str, arb] = {}

    def replaced(node: Node) -> Node:
        if node.head is not Head.NUMBER or "." not in node.text:
            return replace(node, parts=tuple(map(replaced, node.parts))) if node.parts else node
        literal = literal_of(node)
        if literal is None or literal.digits < ROUNDED + (literal.figure % 5 == 0):
            return node
        name = f"about {node.text}"
        balls[name] = literal.ball() + _error(literal.place)
        return Node(Head.NAME, (), name)

    return replaced(side), balls


def _error(place: int) -> arb:
    return (arb(10) ** place) * WITHIN * arb(0, 1)
