r"""Names that a document defines: \gamma = ... = 0.7737\dots, used later in \sigma/\sqrt\gamma.

A name with two values is used only where the verdict is the same with each of them, or where the
nearest definition before a link makes it true.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain

DEEPEST = 6
MOST_NODES = 3000
MOST_COMBINATIONS = 8
DEFINES = ("=", ":=", "eqq")
NEVER = frozenset(
    (Head.EXPECTATION, Head.GIVEN, Head.WORD, Head.TUPLE, Head.LIMIT, Head.RELATION, Head.NORM)
)
BINDERS = (Head.SUM, Head.PRODUCT, Head.INTEGRAL, Head.LIMIT)


@dataclass(frozen=True)
class Definition:
    """A name and what stands for it; `order` is where in the document."""

    name: str
    value: Node
    order: int = 0


@dataclass(frozen=True)
class Definitions:
    """All definitions of a document, seen from one place in it."""

    items: tuple[Definition, ...] = ()
    order: int = 0

    def at(self, order: int) -> "Definitions":
        return replace(self, order=order)

    def of(self, name: str) -> list[Node]:
        """The values of a name, different ones only; the nearest before this place comes first."""
        found = [item for item in self.items if item.name == name]
        found.sort(key=lambda item: (item.order > self.order, abs(item.order - self.order)))
        return list({bare(item.value): bare(item.value) for item in found})

    def environments(self, names: Iterable[str]) -> Iterator[dict[str, Node]]:
        """Ways to give values to these names and to those that their values need; best first."""
        needed = self._needed(names)
        choices = [[(name, value) for value in self.of(name)] for name in needed]
        for chosen in islice(product(*choices), MOST_COMBINATIONS):
            yield dict(chosen)

    def _needed(self, names: Iterable[str]) -> list[str]:
        needed: dict[str, None] = {}
        waiting = list(names)
        while waiting and len(needed) < 20:
            name = waiting.pop()
            values = self.of(name) if name not in needed else []
            if values:
                needed[name] = None
                waiting += [inner for value in values for inner in free_names(value)]
        return list(needed)


def gathered(chains: Iterable[Chain]) -> Definitions:
    """The definitions in the chains of a document, in order."""
    found = []
    for order, chain in enumerate(chains):
        definition = defined(chain)
        if definition is not None:
            found.append(replace(definition, order=order))
    return Definitions(tuple(found))


def defined(chain: Chain) -> Definition | None:
    """The definition that a chain begins with, if it does."""
    if chain.dangling or not chain.signs or chain.signs[0] not in DEFINES:
        return None
    name, value = chain.sides[0], chain.sides[1]
    if name.head is not Head.NAME or any(node.head in NEVER for node in value.walk()):
        return None
    word = plain(name)
    if word in free_names(value) or word == "pi":
        return None
    return Definition(word, value)


def free_names(node: Node) -> set[str]:
    """The names in a formula that are not bound by a sum or an integral; constants too."""
    if node.head is Head.NAME:
        return {plain(node)}
    if node.head in BINDERS and len(node.parts) >= 2:
        body, index, *ends = node.parts
        outer = set().union(*(free_names(end) for end in ends)) if ends else set()
        return (free_names(body) - {plain(index)}) | outer
    return set().union(*(free_names(part) for part in node.parts)) if node.parts else set()


def substituted(node: Node, values: Mapping[str, Node], depth: int = 0) -> Node:
    """The formula with names replaced by their values, and those by theirs, where it stays short.

    Raises ValueError where it does not, or where a name goes around in a circle.
    """
    if depth > DEEPEST:
        raise ValueError("definitions that go around in a circle or too deep")
    found = _replaced(node, values)
    if sum(1 for _ in found.walk()) > MOST_NODES:
        raise ValueError("a formula that gets too long with its definitions")
    if values and free_names(found) & set(values):
        return substituted(found, values, depth + 1)
    return found


def _replaced(node: Node, values: Mapping[str, Node]) -> Node:
    if node.head is Head.NAME:
        return values.get(plain(node), node)
    if not node.parts:
        return node
    if node.head in BINDERS and len(node.parts) >= 2:
        body, index, *ends = node.parts
        inner = {name: value for name, value in values.items() if name != plain(index)}
        parts = (_replaced(body, inner), index, *(_replaced(end, values) for end in ends))
        return replace(node, parts=parts)
    return replace(node, parts=tuple(_replaced(part, values) for part in node.parts))


def bare(node: Node) -> Node:
    """The same tree without places, so that equal formulas are equal."""
    return Node(node.head, tuple(bare(part) for part in node.parts), node.text)
