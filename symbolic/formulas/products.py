r"""What factors side by side mean: calls, products, and how far a sum or a bare function reaches.

- A known function before brackets is a call, and so is any name before a list, a name, a number or
  a call: f(z), F_t(x_t), N(0, 1), F(Norm(x)). The usual letters of functions (f, g, h, phi...) and
  words of several letters (\text{Norm}) call whatever the brackets hold.
- A number, a bracket, or a name that is a variable (by the caller, or since it stands elsewhere in
  the text without brackets) multiplies: 2(m + n), n(n + 1)/2. Else m(n + 1) is ambiguous: not read.
- A function without brackets takes one factor, or a call: \log n, \log p(x); \log 1000 + 1 is
  (\log 1000) + 1. A sine or cosine takes a number and the names behind it: \sin 2\pi x. With more
  behind it, it is not read: \log n m, \ln 2 x.
- A sum or product over an index takes all factors behind it, up to the next + or -.
- 1/2 L and a/b c are not read: it is open what stands below.
"""

import itertools
from dataclasses import replace

from lark import Token

from varlaw.symbolic.formulas.builder import (
    Factor,
    differential,
    finished,
    operand,
)
from varlaw.symbolic.formulas.calls import applied, call, indicator
from varlaw.symbolic.formulas.limits import MAX_DEPTH, NotRead, begin, finish
from varlaw.symbolic.formulas.scripts import UNSEEN
from varlaw.symbolic.formulas.sums import free_names, summed
from varlaw.symbolic.formulas.tree import Head, Node

NAMED = ("name", "variable", "seen")
PERIODIC = ("sin", "cos", "tan", "cot")
STYLES_OF_VECTORS = ("bold_", "vec_", "bb_")
VECTORS = "a product of vectors or sets"
UNCLEAR = "how far does the function reach?"


def alone(factor: Factor) -> Node:
    """The value of a factor that no other factor changes."""
    if factor.kind == "group":
        return finished(_bracket(factor), factor.after)
    if factor.kind == "function" or (factor.kind == "moment" and factor.node.text in ("E", "P")):
        if factor.after or factor.below:
            raise NotRead("a function without its argument", factor.start, factor.end)
        return factor.node
    if factor.kind == "one" and factor.below is not None:
        return finished(indicator(factor, factor.below, factor.below.end), factor.after)
    if factor.kind in ("one", "big") or factor.below is not None:
        raise NotRead(f"{factor.node.text} on its own", factor.start, factor.end)
    return finished(factor.node, factor.after)


def _bracket(factor: Factor) -> Node:
    content = factor.content
    assert content is not None
    if content.given:
        raise NotRead("a bar inside brackets", content.start, content.end)
    if content.related:
        found = tuple(node for line in content.lines for node in line.relations)
        return replace(factor.node, parts=found)
    parts = tuple(line.sides[0] for line in content.lines)
    if len(parts) == 1 and content.sign in ("()", "[]"):
        return replace(operand(parts[0]), start=content.start, end=content.end)
    return replace(factor.node, parts=parts)


def term(children: list[list[Factor] | Token]) -> Node:
    """Rows of factors with signs of multiplication and division between them."""
    big = sum(
        factor.kind in ("big", "function")
        for row in children
        if isinstance(row, list)
        for factor in row
    )
    if big > MAX_DEPTH:
        raise NotRead(f"more than {MAX_DEPTH} functions in one product")
    for before, sign, after in zip(children, children[1:], children[2:], strict=False):
        if not isinstance(sign, Token) or sign.type != "TIMES":
            continue
        if _vectors(before, -1) and _vectors(after, 0):
            raise NotRead(VECTORS, begin(sign), finish(sign))
    return _term(children)


def _vectors(row: list[Factor] | Token, place: int) -> bool:
    """Whether a factor of a row holds bold letters, letters with an arrow, or names of sets."""
    if isinstance(row, Token) or (factor := row[place]).kind == "norm":
        return False
    sides = [side for line in factor.content.lines for side in line.sides] if factor.content else []
    return any(
        node.head is Head.NAME and node.text.startswith(STYLES_OF_VECTORS)
        for side in (factor.node, *sides)
        for node in side.walk()
    )


def _term(children: list[list[Factor] | Token]) -> Node:
    value: Node | None = None
    slash, negative = False, None
    for place, child in enumerate(children):
        if isinstance(child, Token):
            negative = child if child.type == "MINUS" else None
            slash = slash if negative else child.type == "SLASH"
            continue
        node, last = _valued(child, children[place + 1 :], slash, only=len(children) == 1)
        if negative is not None:
            node = Node(Head.NEGATIVE, (operand(node),), "", begin(negative), node.end)
        value = node if value is None else _joined(value, node, slash)
        if last:
            break
        negative = None
    assert value is not None
    return value


def _valued(
    row: list[Factor], rest: list[list[Factor] | Token], slash: bool, only: bool
) -> tuple[Node, bool]:
    """The value of a row, and whether a sum in it took all that follows."""
    big = next((place for place, factor in enumerate(row) if factor.kind == "big"), None)
    if big is None:
        parts = _row(row, rest, only)
    else:
        behind = row[big + 1 :]
        parts = [*_row(row[:big], [], False), _body(row[big], [behind, *rest] if behind else rest)]
    if slash and row[0].kind == "braces" and row[0].node.head is Head.MULTIPLY:
        raise NotRead(UNSEEN, row[0].start, row[0].end)
    if slash and (len(parts) > 1 or (big is not None and rest)):
        raise NotRead("what stands below the slash?", row[0].start, parts[-1].end)
    return _product(parts), big is not None


def _joined(left: Node, right: Node, slash: bool) -> Node:
    left, right = operand(left), operand(right)
    if slash:
        if differential(left) and differential(right):
            raise NotRead("a derivative", left.start, right.end)
        return Node(Head.DIVIDE, (left, right), "", left.start, right.end)
    return Node(Head.MULTIPLY, (*_factors(left), *_factors(right)), "", left.start, right.end)


def _factors(node: Node) -> tuple[Node, ...]:
    return node.parts if node.head is Head.MULTIPLY else (node,)


def _product(parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    for before, node in itertools.pairwise(parts):
        if node.head in (Head.NUMBER, Head.DIGITS) and not _in_brackets(before, node):
            raise NotRead("a number behind a factor", before.start, node.end)
        numbers = {before.head, *(part.head for part in node.parts)}
        if node.head is Head.DIVIDE and numbers == {Head.NUMBER}:
            raise NotRead("a mixed number or a product?", before.start, node.end)
    flat = tuple(inner for part in parts for inner in _factors(operand(part)))
    return Node(Head.MULTIPLY, flat, "", flat[0].start, flat[-1].end)


def _in_brackets(before: Node, node: Node) -> bool:
    """Whether a number is a factor in brackets, as in (3)(4) and 2(3).

    It is no label of an equation, 2 (3), nor the accuracy of the digits before it, 1.38(6).
    """
    bare = before.end - before.start <= len(before.text)
    digits = before.head is Head.NUMBER and "." in before.text and bare
    return node.start == before.end and node.end - node.start > len(node.text) and not digits


def _row(factors: list[Factor], rest: list[list[Factor] | Token], only: bool) -> list[Node]:
    """The factors of a row, with functions applied. `rest` is what follows the row."""
    if only and len(factors) == 1:
        return [alone(factors[0])]
    found: list[Node] = []
    place = 0
    while place < len(factors):
        factor = factors[place]
        following = factors[place + 1] if place + 1 < len(factors) else None
        group = following if following is not None and following.kind == "group" else None
        place += 1
        if group is not None and (called := call(factor, group)):
            found.append(finished(called, group.after))
            place += 1
        elif factor.kind == "function":
            node, place = _bare(factors, place - 1, rest)
            found.append(node)
        elif factor.kind == "moment" and following and _only_absolute(factor, factors[place:]):
            inner = alone(following)
            start, end = factor.start, following.end
            found.append(Node(Head.EXPECTATION, (inner,), factor.node.text, start, end))
            place += 1
        elif factor.kind == "moment" and (following or factor.node.text in ("E", "P")):
            raise NotRead("an expectation without brackets", factor.start, factor.end)
        else:
            found.append(alone(factor))
        if factor.kind == "name" and factor.node.text == "E" and _absolute(following):
            raise NotRead("an expectation without brackets", factor.start, factor.end)
        if len(factors) > 1 or rest:
            _seen(factor)
        if factor.kind == "integral" and following and not _apart(factor, following):
            raise NotRead("a factor behind the differential", following.start, following.end)
    return found


def _seen(factor: Factor) -> None:
    """Refuse {a + b} c, which is printed as a + b c."""
    if factor.kind == "braces" and factor.node.head in (Head.ADD, Head.NEGATIVE, Head.DIVIDE):
        raise NotRead(UNSEEN, factor.start, factor.end)


def _apart(integral: Factor, following: Factor) -> bool:
    """Whether what follows an integral is another one that does not use its variable."""
    name = integral.node.parts[1].text
    return following.kind == "integral" and name not in free_names(following.node)


def _absolute(factor: Factor | None) -> bool:
    return factor is not None and factor.node.head is Head.ABSOLUTE


def _only_absolute(moment: Factor, behind: list[Factor]) -> bool:
    r"""Whether nothing but |..| or a power of it follows: \mathbb E|z| and \mathbb E|z|^2."""
    if len(behind) != 1 or moment.node.parts or moment.below or moment.after:
        return False
    return _absolute(behind[0])


def _bare(factors: list[Factor], place: int, rest: list[list[Factor] | Token]) -> tuple[Node, int]:
    """A function without brackets and its argument; the place behind it."""
    function, start = factors[place], place + 1
    if start >= len(factors):
        raise NotRead("a function without its argument", function.start, function.end)
    first = factors[start]
    group = factors[start + 1] if start + 1 < len(factors) else None
    if group is not None and group.kind == "group" and (called := call(first, group)):
        argument, end = finished(called, group.after), start + 2
    elif first.kind == "function":
        argument, end = _bare(factors, start, rest)
    else:
        end = start
        while end < len(factors) and factors[end].kind not in ("function", "big"):
            end += 1
        taken = factors[start:end]
        angle = first.kind == "number" and function.node.text in PERIODIC
        if first.kind == "braces" and first.after:
            raise NotRead(UNCLEAR, function.start, first.end)
        if len(taken) > 1 and not (angle and all(item.kind in NAMED for item in taken[1:])):
            raise NotRead(UNCLEAR, function.start, taken[-1].end)
        argument = _product([alone(item) for item in taken])
    if end < len(factors) and factors[end].kind not in ("function", "big"):
        raise NotRead(UNCLEAR, function.start, argument.end)
    if rest and end == len(factors):
        _clear_end(function, rest)
    return applied(function, (argument,), argument.end), end


def _clear_end(function: Factor, rest: list[list[Factor] | Token]) -> None:
    """Refuse \\log n / m, unless what follows is a function as well."""
    row = next((item for item in rest if isinstance(item, list)), None)
    if row is None or row[0].kind not in ("function", "big", "integral"):
        raise NotRead(UNCLEAR, function.start, function.end)


def _body(big: Factor, rest: list[list[Factor] | Token]) -> Node:
    """A sum, product or limit of all that follows."""
    if not rest or isinstance(rest[0], Token):
        raise NotRead(f"a {big.node.text} of nothing", big.start, big.end)
    alone = len(rest) == 1 and len(rest[0]) == 1  # one factor, such as a fraction
    return summed(big, operand(_term(rest)), alone)
