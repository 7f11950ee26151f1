r"""Formulas at a place: \left. x^2 \right|_{x=3} is 3^2, and with two ends a difference."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

from varlaw.symbolic.formulas.builder import Content, operand
from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.sums import free_names
from varlaw.symbolic.formulas.tree import Head, Node, plain

BINDERS = (Head.SUM, Head.PRODUCT, Head.INTEGRAL, Head.LIMIT)
MOST_NODES = 3000
CONSTANTS = {"pi", "e"}


class Scripted(Protocol):
    """A sub- or superscript."""

    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> Content | None: ...
    @property
    def end(self) -> int: ...


def evaluated(node: Node, scripts: Sequence[Scripted]) -> Node:
    """The formula with what stands at its bar put in. Raises NotRead."""
    start, end = node.start, max((script.end for script in scripts), default=node.end)
    found = {script.kind: script.content for script in scripts}
    below, above = found.pop("SUB", None), found.pop("SUP", None)
    if below is None or found or len(scripts) > 2:
        raise NotRead("a bar behind a formula that does not say where", start, end)
    if any(inner.head in BINDERS for inner in node.walk()):
        raise NotRead("a sum or an integral at a place", start, end)
    if above is None:
        value = _replaced(node, _places(below))
    else:
        names = free_names(node) - CONSTANTS
        if len(names) != 1:
            raise NotRead("a formula between two ends of which name?", start, end)
        (name,) = names
        last, first = (_replaced(node, {name: operand(x.one())}) for x in (above, below))
        value = Node(Head.ADD, (last, Node(Head.NEGATIVE, (first,), "", start, end)))
    if sum(1 for _ in islice(value.walk(), MOST_NODES + 1)) > MOST_NODES:
        raise NotRead("a formula that gets too long at its place", start, end)
    return replace(value, start=start, end=end)


def _places(content: Content) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for line in content.lines:
        if line.signs != ("=",) or line.dangling or line.sides[0].head is not Head.NAME:
            raise NotRead("a place that is not given as x = a", content.start, content.end)
        found[plain(line.sides[0])] = operand(line.sides[1])
    return found


def _replaced(node: Node, values: Mapping[str, Node]) -> Node:
    if node.head is Head.NAME and plain(node) in values:
        return values[plain(node)]
    return replace(node, parts=tuple(_replaced(part, values) for part in node.parts))
