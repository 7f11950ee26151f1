"""Customs by which a link of numbers says something else: angles in degrees, 100 - 10 % = 90.

What is false as it stands but right by such a custom is not refuted.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from varlaw.symbolic.formulas.tree import Head, Node

TURNS = ("sin", "cos", "tan", "cot")
ARCS = ("arcsin", "arccos", "arctan")
PI, HALF_TURN = Node(Head.NAME, (), "pi"), Node(Head.NUMBER, (), "180")
ONE = Node(Head.NUMBER, (), "1")


def otherwise(left: Node, right: Node) -> Iterator[tuple[str, Node, Node]]:
    """What could be meant, in words, and the two sides by it; only where it is another link."""
    for told, meant in CUSTOMS:
        a, b = meant(left), meant(right)
        if (a, b) != (left, right):
            yield told, a, b


def _in_degrees(node: Node) -> Node:
    """The same with angles in degrees."""
    parts = tuple(map(_in_degrees, node.parts))
    if node.head is Head.CALL and node.text in TURNS:
        turned = Node(Head.MULTIPLY, (parts[0], PI))
        return replace(node, parts=(Node(Head.DIVIDE, (turned, HALF_TURN)),))
    if node.head is Head.CALL and node.text in ARCS:
        angle = replace(node, parts=parts)
        return Node(Head.DIVIDE, (Node(Head.MULTIPLY, (angle, HALF_TURN)), PI))
    return replace(node, parts=parts)


def _is_rate(node: Node) -> bool:
    return (node.parts[0] if node.head is Head.NEGATIVE else node).head is Head.PERCENT


def _relative(node: Node) -> Node:
    """The same with a percentage behind + or - as a part of what stands before it."""
    parts = tuple(map(_relative, node.parts))
    if node.head is not Head.ADD or not any(map(_is_rate, parts[1:])):
        return replace(node, parts=parts)
    total = parts[0]
    for part in parts[1:]:
        if _is_rate(part) and not _is_rate(total):
            total = Node(Head.MULTIPLY, (total, Node(Head.ADD, (ONE, part))))
        else:
            total = Node(Head.ADD, (total, part))
    return total


CUSTOMS: tuple[tuple[str, Callable[[Node], Node]], ...] = (
    ("angles are in radians here; in degrees it would be right", _in_degrees),
    ("as a percentage of what stands before it, it would be right", _relative),
)
