r"""What factors side by side mean: calls, products, and how far a sum or a bare function reaches.

- A known function before brackets is a call, and so is any name before a list, a name, a number or
  a call: f(z), F_t(x_t), N(0, 1), F(Norm(x)). The usual letters of functions (f, g, h, phi...) and
  words of several letters (\text{Norm}) call whatever the brackets hold.
- A number, a bracket, or a name that is a variable (by the caller, or since it stands elsewhere in
  the text without brackets) multiplies: 2(m + n), n(n + 1)/2. Else m(n + 1) is ambiguous: not read.
- A function without brackets takes one factor, or a number and the names behind it: \log 2n,
  \sin 2\pi x, \log 1000 + 1 = (\log 1000) + 1. With more behind it, it is not read: \log n m.
- A sum or product over an index takes all factors behind it, up to the next + or -.
- 1/2 L and a/b c are not read: it is open what stands below.
"""

import itertools
from dataclasses import replace

from lark import Token

from varlaw.symbolic.formulas.builder import (
    Content,
    Factor,
    Line,
    begin,
    condition,
    differential,
    finished,
    operand,
)
from varlaw.symbolic.formulas.limits import MAX_DEPTH, NotRead
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.formulas.vocabulary import GREEK, LETTERS_OF_FUNCTIONS, MOMENTS

BIG = {"sum": Head.SUM, "product": Head.PRODUCT, "limit": Head.LIMIT}
INDEXED = (Head.SUM, Head.PRODUCT, Head.LIMIT)


def alone(factor: Factor) -> Node:
    """The value of a factor that no other factor changes."""
    if factor.kind == "group":
        return finished(_bracket(factor), factor.after)
    if factor.kind == "function" or (factor.kind == "moment" and factor.node.text in ("E", "P")):
        if factor.after or factor.below:
            raise NotRead("a function without its argument", factor.start, factor.end)
        return factor.node
    if factor.kind == "one" and factor.below is not None:
        return finished(_indicator(factor, factor.below, factor.below.end), factor.after)
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
    return _term(children)


def _term(children: list[list[Factor] | Token]) -> Node:
    value: Node | None = None
    slash, negative = False, None
    for place, child in enumerate(children):
        if isinstance(child, Token):
            negative = child if child.type == "MINUS" else None
            slash = slash if negative else child.type == "SLASH"
            continue
        rest = children[place + 1 :]
        big = next((k for k, factor in enumerate(child) if factor.kind == "big"), None)
        if big is not None:
            body = _body(child[big], [*([child[big + 1 :]] if child[big + 1 :] else []), *rest])
            if slash and (big or rest):
                raise NotRead("what stands below the slash? brackets", child[0].start, body.end)
            parts = [*_row(child[:big], None, False), body] if big else [body]
            node = _product(parts)
            rest = []
        else:
            only = len(children) == 1
            parts = _row(child, rest, only)
            if slash and len(parts) > 1:
                end = parts[-1].end
                raise NotRead("what stands below the slash? brackets", child[0].start, end)
            node = _product(parts)
        if negative is not None:
            node = Node(Head.NEGATIVE, (operand(node),), "", begin(negative), node.end)
        value = node if value is None else _joined(value, node, slash)
        if big is not None:
            break
        negative = None
    assert value is not None
    return value


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
        if node.head in (Head.NUMBER, Head.DIGITS):
            raise NotRead("a number behind a factor", before.start, node.end)
    flat = tuple(inner for part in parts for inner in _factors(operand(part)))
    return Node(Head.MULTIPLY, flat, "", flat[0].start, flat[-1].end)


# ---- rows ----------------------------------------------------------------------------------------


def _row(factors: list[Factor], rest: list[list[Factor] | Token] | None, only: bool) -> list[Node]:
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
        if group is not None and (call := _call(factor, group)):
            found.append(finished(call, group.after))
            place += 1
        elif factor.kind == "function":
            node, place = _bare(factors, place - 1, rest)
            found.append(node)
        elif factor.kind == "moment" and factor.node.text in ("E", "P"):
            raise NotRead("an expectation without brackets", factor.start, factor.end)
        else:
            found.append(alone(factor))
        if factor.kind == "name" and factor.node.text == "E" and _absolute(following):
            raise NotRead("an expectation without brackets", factor.start, factor.end)
        if factor.kind == "integral" and following and following.kind != "integral":
            raise NotRead("a factor behind the differential", following.start, following.end)
    return found


def _absolute(factor: Factor | None) -> bool:
    return factor is not None and factor.node.head is Head.ABSOLUTE


def _bare(
    factors: list[Factor], place: int, rest: list[list[Factor] | Token] | None
) -> tuple[Node, int]:
    """A function without brackets and its argument; the place behind it."""
    function, start = factors[place], place + 1
    if start >= len(factors):
        raise NotRead("a function without its argument", function.start, function.end)
    if factors[start].kind == "function":
        following = factors[start + 1] if start + 1 < len(factors) else None
        if following is not None and following.kind == "group":
            call = _call(factors[start], following)
            assert call is not None
            argument, end = finished(call, following.after), start + 2
        else:
            argument, end = _bare(factors, start, rest)
        if end < len(factors) and factors[end].kind != "function":
            raise NotRead("how far does the function reach? brackets", function.start, argument.end)
        return _applied(function, (argument,), argument.end), end
    end = start
    while end < len(factors) and factors[end].kind not in ("function", "big"):
        end += 1
    taken = factors[start:end]
    simple = all(item.kind in ("name", "variable", "seen") for item in taken[1:])
    if any(item.kind == "group" for item in taken[1:]):
        simple = False
    if len(taken) > 1 and not (taken[0].kind == "number" and simple):
        raise NotRead("how far does the function reach? brackets", function.start, taken[-1].end)
    if rest and end == len(factors):
        _clear_end(function, rest)
    argument = _product([alone(item) for item in taken])
    return _applied(function, (argument,), argument.end), end


def _clear_end(function: Factor, rest: list[list[Factor] | Token]) -> None:
    """Refuse \\log n / m, unless what follows is a function as well."""
    row = next((item for item in rest if isinstance(item, list)), None)
    if row is None or row[0].kind not in ("function", "big", "integral"):
        raise NotRead("how far does the function reach? brackets", function.start, function.end)


# ---- calls ---------------------------------------------------------------------------------------


def _call(factor: Factor, group: Factor) -> Node | None:
    """What a factor makes of the bracket behind it; None if they are multiplied."""
    content = group.content
    assert content is not None
    end = content.end
    if factor.kind == "function":
        raised = any(head is Head.POWER for head, *_ in group.after)
        if factor.node.text in ("log", "ln") and raised and not factor.after:
            raise NotRead("a power of the logarithm or inside it?", factor.start, group.end)
        return _applied(factor, _arguments(content), end)
    if factor.kind == "moment":
        return _moment(factor, content)
    if factor.kind == "one" or (
        factor.kind == "number" and factor.node.text == "1" and content.related
    ):
        if factor.after:
            raise NotRead("a power of an indicator's sign", factor.start, factor.end)
        return _indicator(factor, content, end)
    if factor.kind == "seen" and _atomic(content):
        raise NotRead(f"{factor.node.text}(...): a call or a product", factor.start, content.end)
    if factor.kind != "name" and (factor.kind != "seen" or len(content.lines) == 1):
        return None
    if not factor.node.parts and not factor.after and content.related:
        if factor.node.text == "P":
            return _moment(factor, content)
        if factor.node.text == "I":
            return _indicator(factor, content, end)
    return _named(factor, content)


def _named(factor: Factor, content: Content) -> Node | None:
    """A name before brackets: a call, a product, or not read."""
    core = factor.node.text.rstrip("'").split("_")[-1]
    style = factor.node.text.rpartition("_")[0]
    function = core in LETTERS_OF_FUNCTIONS or style == "cal" or "'" in factor.node.text
    word = len(core) > 1 and core not in GREEK
    if factor.after:
        if function or word or _atomic(content):
            raise NotRead("a power of a function or of a factor?", factor.start, content.end)
        return None
    if len(content.lines) != 1 or content.related or content.given:
        if content.given:
            raise NotRead("a bar inside brackets", content.start, content.end)
        return _applied(factor, _arguments(content), content.end)
    if function or word or (_atomic(content) and content.sign == "()"):
        return _applied(factor, _arguments(content), content.end)
    raise NotRead(f"{factor.node.text}(...): a call or a product", factor.start, content.end)


def _atomic(content: Content) -> bool:
    if len(content.lines) != 1 or content.related:
        return False
    head = content.lines[0].sides[0].head
    return head in (Head.NAME, Head.NUMBER, Head.CALL, Head.INFINITY, Head.WORD)


def _arguments(content: Content) -> tuple[Node, ...]:
    if content.given:
        raise NotRead("a bar inside brackets", content.start, content.end)
    found: list[Node] = []
    for line in content.lines:
        if line.signs and (len(line.signs) != 1 or line.dangling or line.signs[0] != "="):
            raise NotRead("a relation as an argument", line.start, line.end)
        found += line.relations if line.signs else line.sides
    return tuple(found)


def _applied(function: Factor, arguments: tuple[Node, ...], end: int) -> Node:
    """A call, with a function's powers: \\sin^2 x is (\\sin x)^2."""
    name = function.node.text
    start = function.start
    for _, exponent, _ in function.after:
        if exponent is None or exponent.head is Head.NEGATIVE:
            raise NotRead("an inverse function or a power?", start, end)
    if function.kind == "function" and function.below is not None:
        if name != "log" or len(arguments) != 1:
            raise NotRead(f"a subscript of {name}", start, end)
        arguments = (*arguments, function.below.one())
    if function.kind == "name":
        name = plain(replace(function.node, text=name.removeprefix("cal_")))
    if len(arguments) != {"sqrt": 1, "abs": 1, "root": 2}.get(name, len(arguments)):
        raise NotRead(f"{len(arguments)} arguments of {name}", start, end)
    head = {"sqrt": Head.ROOT, "root": Head.ROOT, "abs": Head.ABSOLUTE}.get(name, Head.CALL)
    if head is not Head.CALL:
        arguments = tuple(operand(node) for node in arguments)
    node = Node(head, arguments, name if head is Head.CALL else "", start, end)
    return finished(node, function.after)


def _moment(factor: Factor, content: Content) -> Node:
    """An expectation, variance, covariance or probability, with what is given."""
    name = MOMENTS[factor.node.text]
    start, end = factor.start, content.end
    given = [*_given(content.given), *_laws(factor)]
    lines = content.lines
    if name == "P":
        parts: tuple[Node, ...] = (condition(lines),)
    else:
        if any(line.signs for line in lines):
            raise NotRead("a relation inside an expectation", content.start, end)
        parts = tuple(operand(line.sides[0]) for line in lines)
    if len(parts) != (2 if name == "Cov" else 1):
        raise NotRead(f"{len(parts)} arguments of {name}", start, end)
    if given:
        parts += (Node(Head.GIVEN, tuple(given), "", content.start, end),)
    return finished(Node(Head.EXPECTATION, parts, name, start, end), factor.after)


def _given(lines: tuple[Line, ...]) -> list[Node]:
    found: list[Node] = []
    for line in lines:
        found += line.relations if line.signs else line.sides
    return found


def _laws(factor: Factor) -> list[Node]:
    r"""The laws below \mathbb{E}_{z \sim N(0, 1)}."""
    if factor.below is None:
        return []
    found: list[Node] = []
    for line in factor.below.lines:
        if line.signs != ("~",) or line.dangling:
            raise NotRead("an expectation with a subscript", factor.start, factor.below.end)
        found += line.relations
    return found


def _indicator(factor: Factor, content: Content, end: int) -> Node:
    found = condition(content.lines)
    parts = found.parts if found.head is Head.INDICATOR else (found,)
    return Node(Head.INDICATOR, parts, "", factor.start, end)


# ---- sums ----------------------------------------------------------------------------------------


def _body(big: Factor, rest: list[list[Factor] | Token]) -> Node:
    """A sum, product or limit of all that follows."""
    name = big.node.text
    if not rest or isinstance(rest[0], Token):
        raise NotRead(f"a {name} of nothing", big.start, big.end)
    body = operand(_term(rest))
    if big.below is None:
        raise NotRead(f"a {name} without its index", big.start, big.end)
    if name == "limit":
        line = _line(big)
        if line.signs != ("->",) or line.sides[0].head is not Head.NAME or big.after:
            raise NotRead("a limit of something that is not a variable", big.start, big.end)
        return Node(Head.LIMIT, (body, *line.sides), "", big.start, body.end)
    indices, bounds = _indices(big)
    names = {index.text for index in indices}
    if any(node.head is Head.WORD and names & set(node.text) for node in body.walk()):
        raise NotRead("an index inside a word", body.start, body.end)
    if name == "product":
        _reach(body, names)
    for index in reversed(indices):
        body = Node(BIG[name], (body, index, *bounds), "", big.start, body.end)
    return body


def _reach(body: Node, names: set[str]) -> None:
    """Refuse prod_i a_i c and prod_i a_i / c: is c inside?"""
    if body.head is Head.DIVIDE or (
        body.head is Head.MULTIPLY
        and (not _holds(body.parts[-1], names) or body.parts[-1].head in INDEXED)
    ):
        raise NotRead("how far does the product go? brackets", body.start, body.end)


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
