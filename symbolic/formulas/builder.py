"""What the grammar's rules hand to each other while a tree is built: lines, contents, factors."""

from dataclasses import dataclass, field

from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.tree import Chain, Head, Node
from varlaw.symbolic.formulas.vocabulary import function


@dataclass(frozen=True, slots=True)
class Line:
    """Sides and the signs between them."""

    sides: tuple[Node, ...]
    signs: tuple[str, ...]
    dangling: bool
    start: int
    end: int

    @property
    def relations(self) -> tuple[Node, ...]:
        """Each relation of the line as a node."""
        if self.dangling:
            raise NotRead("a relation without its left side", self.start, self.end)
        pairs = zip(self.sides, self.signs, self.sides[1:], strict=False)
        return tuple(
            Node(Head.RELATION, (left, right), sign, left.start, right.end)
            for left, sign, right in pairs
        )


@dataclass(frozen=True, slots=True)
class Content:
    """What stands between brackets: lines, and behind a bar the lines that are given."""

    lines: tuple[Line, ...]
    start: int
    end: int
    given: tuple[Line, ...] = ()
    sign: str = ""

    @property
    def related(self) -> bool:
        """Whether there is a relation."""
        return any(line.signs for line in self.lines)

    def one(self) -> Node:
        """The only value. Raises NotRead for a list, a relation or a condition."""
        if self.given:
            raise NotRead("a bar inside brackets", self.start, self.end)
        if len(self.lines) != 1:
            raise NotRead("a list where a number is expected", self.start, self.end)
        if self.related:
            raise NotRead("a relation in brackets", self.start, self.end)
        return self.lines[0].sides[0]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor with its scripts; what it means depends on the factor behind it."""

    kind: str
    node: Node
    content: Content | None = None  # of a bracket
    below: Content | None = None  # the subscript of an operator
    after: tuple[tuple[Head, Node | None, int], ...] = field(default=())  # powers, factorials

    @property
    def start(self) -> int:
        return self.node.start

    @property
    def end(self) -> int:
        return self.after[-1][2] if self.after else self.node.end


def operand(node: Node) -> Node:
    """A node that can be calculated with. Raises NotRead for lists and conditions."""
    if node.head is Head.TUPLE and node.text == "+-":
        raise NotRead(r"plus or minus, \pm", node.start, node.end)
    if node.head in (Head.TUPLE, Head.RELATION, Head.GIVEN):
        raise NotRead("a list or a relation inside arithmetic", node.start, node.end)
    if node.head is Head.NAME and not node.parts and function(node.text):
        raise NotRead("a function without its argument", node.start, node.end)
    return node


def finished(node: Node, after: tuple[tuple[Head, Node | None, int], ...]) -> Node:
    """The node with its powers, factorials and percent sign."""
    for head, exponent, end in after:
        parts = (operand(node),) if exponent is None else (operand(node), operand(exponent))
        if head is Head.PERCENT and node.head is not Head.NUMBER:
            raise NotRead("percent of something that is not a number", node.start, end)
        node = Node(head, parts, "", node.start, end)
    return node


def chain(line: Line) -> Chain:
    """A line as a chain of the reading."""
    return Chain(line.sides, line.signs, line.dangling)


def condition(lines: tuple[Line, ...]) -> Node:
    """Lines that all hold: a relation, or an indicator of several."""
    found: list[Node] = []
    for line in lines:
        side = line.sides[0]
        if not line.signs and side.head is Head.TUPLE and side.parts:
            inside = list(side.parts)
        else:
            inside = list(line.relations)
        if not inside or any(part.head is not Head.RELATION for part in inside):
            raise NotRead("a condition without a relation", line.start, line.end)
        found += inside
    if len(found) == 1:
        return found[0]
    return Node(Head.INDICATOR, tuple(found), "", found[0].start, found[-1].end)


def differential(node: Node) -> bool:
    """Whether a node is d, or d times something: part of a derivative."""
    first = node.parts[0] if node.head is Head.MULTIPLY else node
    return first.head is Head.NAME and first.text == "d" and not first.parts


def binomial(n: Node, k: Node, start: int, end: int) -> Node:
    """n over k, as n!/(k! (n - k)!). Raises NotRead where factorials stand in it."""
    if any(node.head is Head.FACTORIAL for part in (n, k) for node in part.walk()):
        raise NotRead("a factorial inside a binomial coefficient", start, end)
    rest = Node(Head.ADD, (n, Node(Head.NEGATIVE, (k,), "", start, end)), "", start, end)
    whole, *parts = (Node(Head.FACTORIAL, (x,), "", start, end) for x in (n, k, rest))
    product = Node(Head.MULTIPLY, tuple(parts), "", start, end)
    return Node(Head.DIVIDE, (whole, product), "", start, end)
