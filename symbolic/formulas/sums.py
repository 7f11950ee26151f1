"""Sums, products and limits over an index: what they range over, and what they bind."""

from varlaw.symbolic.formulas.builder import (
    Factor,
    Line,
    operand,
)
from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.tree import Head, Node, plain

BIG = {"sum": Head.SUM, "product": Head.PRODUCT, "limit": Head.LIMIT}
INDEXED = (Head.SUM, Head.PRODUCT, Head.LIMIT)


def summed(big: Factor, body: Node, alone: bool) -> Node:
    """A sum, product or limit of what follows it; `alone` where that is a single factor."""
    name = big.node.text
    if big.below is None:
        raise NotRead(f"a {name} without its index", big.start, big.end)
    if name == "limit":
        line = _line(big)
        (sign,) = line.signs or ("",)
        if not sign.startswith("->") or line.sides[0].head is not Head.NAME or big.after:
            raise NotRead("a limit of something that is not a variable", big.start, big.end)
        side = sign.removeprefix("->")
        return Node(Head.LIMIT, (body, *line.sides), side, big.start, body.end)
    indices, bounds = _indices(big)
    names = {index.text for index in indices}
    if any(node.head is Head.WORD and names & set(node.text) for node in body.walk()):
        raise NotRead("an index inside a word", body.start, body.end)
    if name == "product" and not alone:
        _reach(body, names)
    if {plain(index) for index in indices} & _bound_inside(body):
        raise NotRead("an index that a sum inside has as well", big.start, body.end)
    for index in reversed(indices):
        body = Node(BIG[name], (body, index, *bounds), "", big.start, body.end)
    return body


def _bound_inside(body: Node) -> set[str]:
    heads = (*INDEXED, Head.INTEGRAL)
    return {plain(node.parts[1]) for node in body.walk() if node.head in heads}


def _reach(body: Node, names: set[str]) -> None:
    """Refuse prod_i a_i c and prod_i a_i / c: is c inside?"""
    if body.head is Head.DIVIDE or (
        body.head is Head.MULTIPLY
        and (not _holds(body.parts[-1], names) or body.parts[-1].head in INDEXED)
    ):
        raise NotRead("how far does the product go?", body.start, body.end)


def _holds(node: Node, names: set[str]) -> bool:
    return any(inner.head is Head.NAME and inner.text in names for inner in node.walk())


def _line(big: Factor) -> Line:
    assert big.below is not None
    if len(big.below.lines) != 1 or big.below.lines[0].dangling:
        raise NotRead("a list below", big.start, big.end)
    return big.below.lines[0]


def _indices(big: Factor) -> tuple[list[Node], tuple[Node, ...]]:
    """The indices of a sum, and its first and last if they are written."""
    assert big.below is not None
    name = big.node.text
    last = big.after[0][1] if big.after else None
    if not big.below.related:
        indices = [line.sides[0] for line in big.below.lines]
        if last is not None or any(index.head is not Head.NAME for index in indices):
            raise NotRead(f"a {name} over something that is not an index", big.start, big.end)
        return indices, ()
    line = _line(big)
    index, *rest = line.sides
    first = rest[0]
    if first.head is Head.TUPLE and first.text == ".." and last is None:
        first, last = first.parts
    elif line.signs == (">=",) and last is None:
        last = Node(Head.INFINITY, (), "", first.start, first.end)
    elif line.signs != ("=",) or last is None:
        raise NotRead(f"a {name} over a condition", big.start, big.end)
    if index.head is not Head.NAME or len(rest) != 1 or line.signs[0] not in ("=", ">="):
        raise NotRead(f"a {name} over something that is not an index", big.start, big.end)
    return [index], (operand(first), operand(last))


def bound_names(node: Node) -> set[str]:
    """The indices of sums that end where this node ends."""
    names: set[str] = set()
    while True:
        if node.head in INDEXED:
            names.add(node.parts[1].text)
            node = node.parts[0]
        elif node.head in (Head.NEGATIVE, Head.MULTIPLY):
            node = node.parts[-1]
        else:
            return names


def free_names(node: Node) -> set[str]:
    """The names in a formula, without the indices that its own sums and integrals bind."""
    found: set[str] = set()
    waiting: list[tuple[Node, frozenset[str]]] = [(node, frozenset())]
    while waiting:
        inner, bound = waiting.pop()
        parts = inner.parts
        if inner.head in (*INDEXED, Head.INTEGRAL):
            body, variable, *ends = parts
            waiting.append((body, bound | {variable.text}))
            parts = tuple(ends)
        elif inner.head is Head.NAME and inner.text not in bound:
            found.add(inner.text)
        waiting += [(part, bound) for part in parts]
    return found
