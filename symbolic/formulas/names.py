"""The names in a formula: which are free, which have an index, and formulas put in for them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from varlaw.symbolic.formulas.tree import Head, Node, plain

DEEPEST = 6
MOST_NODES = 3000
BINDERS = (Head.SUM, Head.PRODUCT, Head.INTEGRAL, Head.LIMIT)


def outside(node: Node, closed: tuple[Head, ...] = (Head.NAME,)) -> Iterator[Node]:
    """The nodes of a formula that are not inside of others of some kinds, such as subscripts."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        if found.head not in closed:
            waiting += found.parts


def free_names(node: Node) -> set[str]:
    """The names in a formula that are not bound by a sum or an integral; constants too."""
    if node.head is Head.NAME:
        return {plain(node)}
    if node.head in BINDERS and len(node.parts) >= 2:
        body, index, *ends = node.parts
        outer = set().union(*(free_names(end) for end in ends)) if ends else set()
        return (free_names(body) - {plain(index)}) | outer
    return set().union(*(free_names(part) for part in node.parts)) if node.parts else set()


def indexed(node: Node, index: str) -> str:
    """A name in the formula that carries an index among its subscripts, such as x_i; or empty."""
    for inner in node.walk():
        if inner.head is Head.NAME and any(index in free_names(part) for part in inner.parts):
            return plain(inner)
    return ""


def substituted(node: Node, values: Mapping[str, Node]) -> Node:
    """The formula with names replaced by their values, and those by theirs, where it stays short.

    Raises ValueError where it does not, or where a name goes around in a circle.
    """
    for _ in range(DEEPEST):
        if not values or not free_names(node) & set(values):
            return node
        node = _replaced(node, values)
        if sum(1 for _ in node.walk()) > MOST_NODES:
            raise ValueError("a formula that gets too long with its definitions")
    raise ValueError("definitions that go around in a circle or too deep")


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


def signed(node: Node, name: str, above: bool) -> Node:
    """A formula with |x| as x or as -x, for a variable that is positive or negative."""
    if node.head is Head.ABSOLUTE and node.parts[0].head is Head.NAME:
        (inner,) = node.parts
        if plain(inner) == name:
            return inner if above else Node(Head.NEGATIVE, (inner,))
    return replace(node, parts=tuple(signed(part, name, above) for part in node.parts))


def inserted(formula: Node, other: Node) -> bool:
    r"""Whether the other is the formula with numbers for names: 0.2\sqrt{2/3} of s\sqrt{2/n}."""
    waiting, values = [(formula, other)], dict[str, Node]()
    while waiting:
        a, b = waiting.pop()
        if a.head is Head.NAME and not free_names(b):
            if values.setdefault(plain(a), bare(b)) != bare(b):
                return False
        elif a.head is not b.head or a.text != b.text or len(a.parts) != len(b.parts):
            return False
        else:
            waiting += zip(a.parts, b.parts, strict=True)
    return bool(values)


def bare(node: Node) -> Node:
    """The same tree without places, so that equal formulas are equal."""
    return Node(node.head, tuple(bare(part) for part in node.parts), node.text)
