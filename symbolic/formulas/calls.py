"""A factor and the bracket behind it: calls, moments, indicators, products, or not read."""

from dataclasses import replace

from varlaw.symbolic.formulas.builder import (
    Content,
    Factor,
    Line,
    binomial,
    condition,
    finished,
    operand,
)
from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.formulas.vocabulary import GREEK, LETTERS_OF_FUNCTIONS, MOMENTS


def call(factor: Factor, group: Factor) -> Node | None:
    """What a factor makes of the bracket behind it; None if they are multiplied."""
    content = group.content
    assert content is not None
    end = content.end
    if factor.kind == "function":
        raised = any(head is Head.POWER for head, *_ in group.after)
        if factor.node.text in ("log", "ln") and raised and not factor.after:
            raise NotRead("a power of the logarithm or inside it?", factor.start, group.end)
        return applied(factor, _arguments(content), end)
    if factor.kind == "moment":
        return _moment(factor, content)
    if factor.kind == "one" or (
        factor.kind == "number" and factor.node.text == "1" and content.related
    ):
        if factor.after:
            raise NotRead("a power of an indicator's sign", factor.start, factor.end)
        return indicator(factor, content, end)
    if factor.kind == "seen" and _atomic(content):
        raise NotRead(f"{factor.node.text}(...): a call or a product", factor.start, content.end)
    if factor.kind != "name" and (factor.kind != "seen" or len(content.lines) == 1):
        return None
    if not factor.node.parts and not factor.after and content.related:
        if factor.node.text == "P":
            return _moment(factor, content)
        if factor.node.text == "I":
            return indicator(factor, content, end)
    return _named(factor, content)


def _named(factor: Factor, content: Content) -> Node | None:
    """A name before brackets: a call, a product, or not read."""
    core = factor.node.text.rstrip("'").split("_")[-1]
    style = factor.node.text.rpartition("_")[0]
    function = core in LETTERS_OF_FUNCTIONS or style == "cal" or "'" in factor.node.text
    word = len(core) > 1 and core not in GREEK
    if factor.node.text == "Phi" and _inverted(factor):
        arguments = _arguments(content)
        return Node(Head.CALL, arguments, "Phi^{-1}", factor.start, content.end)
    if factor.after:
        if function or word or _atomic(content):
            raise NotRead("a power of a function or of a factor?", factor.start, content.end)
        return None
    if len(content.lines) != 1 or content.related or content.given:
        given = Node(Head.GIVEN, tuple(_given(content.given)), "", content.start, content.end)
        arguments = _arguments(replace(content, given=()))
        return applied(factor, (*arguments, given) if content.given else arguments, content.end)
    if function or word or (_atomic(content) and content.sign == "()"):
        return applied(factor, _arguments(content), content.end)
    if (
        len(core) == 1
        and core not in "EP"
        and plain(factor.node) in _names(content.lines[0].sides[0])
    ):
        return None  # p(1 - p): nothing is a function of itself
    raise NotRead(f"{factor.node.text}(...): a call or a product", factor.start, content.end)


def _inverted(factor: Factor) -> bool:
    r"""Whether it is \Phi^{-1}, which nobody writes for 1/\Phi."""
    if len(factor.after) != 1:
        return False
    head, exponent, _ = factor.after[0]
    if head is not Head.POWER or exponent is None or exponent.head is not Head.NEGATIVE:
        return False
    return exponent.parts[0].text == "1"


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


def applied(function: Factor, arguments: tuple[Node, ...], end: int) -> Node:
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
    if name == "binom" and len(arguments) == 2:
        n, k = map(operand, arguments)
        return finished(binomial(n, k, start, end), function.after)
    head = {"sqrt": Head.ROOT, "root": Head.ROOT, "abs": Head.ABSOLUTE}.get(name, Head.CALL)
    if head is not Head.CALL:
        arguments = tuple(operand(node) for node in arguments)
    node = Node(head, arguments, name if head is Head.CALL else "", start, end)
    return finished(node, function.after)


def _moment(factor: Factor, content: Content) -> Node:
    """An expectation, variance, covariance or probability, with what is given."""
    name = MOMENTS[factor.node.text]
    start, end = factor.start, content.end
    laws = _laws(factor)
    given = [*_given(content.given), *(law for law in laws if law.head is Head.RELATION)]
    lines = content.lines
    if name == "P":
        parts: tuple[Node, ...] = (condition(lines),)
    else:
        if any(line.signs for line in lines):
            raise NotRead("a relation inside an expectation", content.start, end)
        parts = tuple(operand(line.sides[0]) for line in lines)
    if len(parts) != (2 if name in ("Cov", "Corr", "quantile") else 1):
        raise NotRead(f"{len(parts)} arguments of {name}", start, end)
    over = {plain(law) for law in laws if law.head is not Head.RELATION}
    if over and not all(_names(part) <= over for part in (*parts, *given)):
        raise NotRead("an expectation over some of its names", start, end)
    if given:
        parts += (Node(Head.GIVEN, tuple(given), "", content.start, end),)
    return finished(Node(Head.EXPECTATION, parts, name, start, end), factor.after)


def _given(lines: tuple[Line, ...]) -> list[Node]:
    found: list[Node] = []
    for line in lines:
        found += line.relations if line.signs else line.sides
    return found


def _laws(factor: Factor) -> list[Node]:
    r"""The laws below \mathbb{E}_{z \sim N(0, 1)}, or the names below \mathbb{E}_z."""
    if factor.below is None:
        return []
    found: list[Node] = []
    for line in factor.below.lines:
        if not line.signs and line.sides[0].head is Head.NAME:
            found.append(line.sides[0])
            continue
        if line.signs != ("~",) or line.dangling:
            raise NotRead("an expectation with a subscript", factor.start, factor.below.end)
        found += line.relations
    return found


def _names(node: Node) -> set[str]:
    """The names in a formula, without the names of functions and in subscripts."""
    if node.head is Head.NAME:
        return {plain(node)} - {"e", "pi"}
    return {name for part in node.parts for name in _names(part)}


def indicator(factor: Factor, content: Content, end: int) -> Node:
    found = condition(content.lines)
    parts = found.parts if found.head is Head.INDICATOR else (found,)
    return Node(Head.INDICATOR, parts, "", factor.start, end)
