r"""\phi(2) beside \Phi: the normal density at a number, written out as a formula."""

from dataclasses import replace

from varlaw.symbolic.formulas.names import free_names
from varlaw.symbolic.formulas.tree import Chain, Head, Node

DENSITIES = ("phi", "varphi")


def is_density_defined(chain: Chain) -> bool:
    r"""Whether a chain says itself what \phi is."""
    first = chain.sides[0]
    return first.text in DENSITIES and first.head in (Head.CALL, Head.NAME)


def with_densities(chain: Chain) -> Chain:
    r"""The chain with \phi at numbers written out, if \Phi stands in it as well."""
    calls = {node.text for side in chain.sides for node in side.walk() if node.head is Head.CALL}
    if "Phi" not in calls or not calls & set(DENSITIES):
        return chain
    return replace(chain, sides=tuple(map(_written_out, chain.sides)))


def _written_out(node: Node) -> Node:
    if not node.parts:
        return node
    parts = tuple(map(_written_out, node.parts))
    if node.head is Head.CALL and node.text in DENSITIES and not free_names(node) - {"pi", "e"}:
        return _density(parts[0], node) if len(parts) == 1 else node
    return replace(node, parts=parts)


def _density(x: Node, place: Node) -> Node:
    two, e, pi = Node(Head.NUMBER, text="2"), Node(Head.NAME, text="e"), Node(Head.NAME, text="pi")
    half = Node(Head.DIVIDE, (Node(Head.POWER, (x, two)), two))
    above = Node(Head.POWER, (e, Node(Head.NEGATIVE, (half,))))
    below = Node(Head.ROOT, (Node(Head.MULTIPLY, (two, pi)),))
    return Node(Head.DIVIDE, (above, below), "", place.start, place.end)
