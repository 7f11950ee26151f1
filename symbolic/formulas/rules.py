"""The grammar's rules as nodes of the tree; Lark calls a method for each rule, innermost first."""

from dataclasses import replace
from typing import Any

from lark import Token, Transformer

from varlaw.symbolic.formulas.builder import (
    Content,
    Factor,
    Line,
    binomial,
    condition,
    differential,
    operand,
)
from varlaw.symbolic.formulas.limits import NotRead, begin, finish
from varlaw.symbolic.formulas.products import alone, term
from varlaw.symbolic.formulas.scripts import Script, ends, scripted
from varlaw.symbolic.formulas.sums import bound_names, free_names
from varlaw.symbolic.formulas.tree import Head, Node

ATOMS = {
    "NUMBER": Head.NUMBER,
    "DIGITS": Head.DIGITS,
    "NAME": Head.NAME,
    "VARIABLE": Head.NAME,
    "SEEN": Head.NAME,
    "WORD": Head.WORD,
    "INFINITY": Head.INFINITY,
}
KINDS = ("NUMBER", "NAME", "VARIABLE", "SEEN")


class Rules(Transformer[Token, Any]):
    """A method for each rule of formulas.lark."""

    def start(self, children: list[Any]) -> list[Any]:
        return children

    def line(self, children: list[Any]) -> Line:
        sides = tuple(child for child in children if isinstance(child, Node))
        signs = tuple(str(child) for child in children if isinstance(child, Token))
        first = children[0]
        start = begin(first) if isinstance(first, Token) else first.start
        return Line(sides, signs, isinstance(first, Token), start, sides[-1].end)

    def content(self, children: list[Any]) -> Content:
        lines = tuple(child for child in children if isinstance(child, Line))
        return Content(lines, lines[0].start, lines[-1].end)

    def side(self, children: list[Any]) -> Node:
        return children[0]

    def range(self, children: list[Any]) -> Node:
        first, _, last = children
        return Node(Head.TUPLE, (first, last), "..", first.start, last.end)

    def plus_minus(self, children: list[Any]) -> Node:
        """The two ends of a +- b."""
        middle, _, width = children
        operand(middle), operand(width)
        start, end = middle.start, width.end
        less = Node(Head.NEGATIVE, (width,), "", width.start, end)
        ends = (Node(Head.ADD, (middle, part), "", start, end) for part in (less, width))
        return Node(Head.TUPLE, tuple(ends), "+-", start, end)

    def sum(self, children: list[Any]) -> Node:
        if len(children) == 1:
            return children[0]
        terms, negative, start = [], False, None
        for child in children:
            if isinstance(child, Token):
                negative, start = child.type == "MINUS", begin(child)
                continue
            part = operand(child)
            begins = child.start if start is None else start
            terms.append(Node(Head.NEGATIVE, (part,), "", begins, child.end) if negative else part)
        if len(terms) == 1:
            return terms[0]
        self._unbound(terms)
        return Node(Head.ADD, tuple(terms), "", terms[0].start, terms[-1].end)

    def _unbound(self, terms: list[Node]) -> None:
        """Refuse sum_i x_i + y_i: does the sum go on?"""
        if not any(map(bound_names, terms)):
            return
        later: set[str] = set()
        for node in reversed(terms):
            if bound_names(node) & later:
                raise NotRead("does the sum go on behind + or -?", node.start, node.end)
            later |= free_names(node)

    def term(self, children: list[Any]) -> Node:
        return term(children)

    def row(self, children: list[Any]) -> list[Factor]:
        return children

    def factor(self, children: list[Any]) -> Factor:
        base, *scripts = children
        return scripted(base, scripts)

    def script(self, children: list[Any]) -> Script:
        sign, *content = children
        end = content[0].end if content else finish(sign)
        return Script(sign.type, content[0] if content else None, begin(sign), end)

    def atom(self, children: list[Any]) -> Factor:
        if isinstance(children[0], Factor):
            return children[0]
        token = children[0]
        head = ATOMS[token.type]
        node = Node(
            head, (), "" if head is Head.INFINITY else str(token), begin(token), finish(token)
        )
        kind = token.type.lower() if token.type in KINDS else "value"
        return Factor(kind, node)

    def operator(self, children: list[Any]) -> Factor:
        token = children[0]
        kind = {"FUNCTION": "function", "MOMENT": "moment", "ONE": "one"}.get(token.type, "big")
        text = token.type.lower() if kind == "big" else str(token)
        return Factor(kind, Node(Head.NAME, (), text, begin(token), finish(token)))

    def argument(self, children: list[Any]) -> Content:
        if isinstance(children[0], Factor):
            node = alone(children[0])
            if children[0].kind == "function":
                raise NotRead("a function without its argument", node.start, node.end)
            line = Line((node,), (), False, node.start, node.end)
            return Content((line,), node.start, node.end)
        opening, content, closing = children
        return Content(content.lines, begin(opening), finish(closing))

    def braces(self, children: list[Any]) -> Factor:
        opening, node, closing = children
        inner = Node(node.head, node.parts, node.text, begin(opening), finish(closing))
        return Factor("braces", inner)

    def group(self, children: list[Any]) -> Factor:
        opening, content, *rest = children
        closing, start, end = rest[-1], begin(opening), finish(rest[-1])
        given = rest[1].lines if len(rest) > 1 else ()
        sign = f"{opening}{closing}".replace("\\", "")
        inside = Content(content.lines, start, end, given, sign)
        if sign in ("(]", "[)") and (len(content.lines) != 2 or given or content.related):
            raise NotRead("brackets that do not match", start, end)
        return Factor("group", Node(Head.TUPLE, (), sign, start, end), inside)

    def absolute(self, children: list[Any]) -> Factor:
        opening, node, closing = children
        inside = Node(Head.ABSOLUTE, (operand(node),), "", begin(opening), finish(closing))
        return Factor("value", inside)

    def evaluated(self, children: list[Any]) -> Factor:
        opening, node, closing = children
        inside = replace(operand(node), start=begin(opening), end=finish(closing))
        return Factor("at", inside)

    def norm(self, children: list[Any]) -> Factor:
        opening, node, closing = children
        inside = Node(Head.NORM, (operand(node),), "", begin(opening), finish(closing))
        return Factor("norm", inside)

    def integral(self, children: list[Any]) -> Factor:
        sign, *rest, token = children
        body = rest[-1] if rest and isinstance(rest[-1], Node) else None
        start, end = begin(sign), finish(token)
        bounds = ends(rest if body is None else rest[:-1], start, end)
        variable = Node(Head.NAME, (), str(token), begin(token), end)
        if body is None:
            body = Node(Head.NUMBER, (), "1", begin(token), end)
        end = max(end, body.end)
        return Factor(
            "integral", Node(Head.INTEGRAL, (operand(body), variable, *bounds), "", start, end)
        )

    def cases(self, children: list[Any]) -> Factor:
        parts: list[Node] = []
        rows = [child for child in children if isinstance(child, tuple)]
        for place, (value, holds) in enumerate(rows):
            if holds is None and place != len(rows) - 1:
                raise NotRead("a case without a condition", value.start, value.end)
            parts += [operand(value)] if holds is None else [operand(value), holds]
        node = Node(Head.CASES, tuple(parts), "", begin(children[0]), finish(children[-1]))
        return Factor("value", node)

    def case(self, children: list[Any]) -> tuple[Node, Node | None]:
        if len(children) == 1 or isinstance(children[-1], Token):
            return children[0], None
        return children[0], condition(children[-1].lines)

    def fraction(self, children: list[Any]) -> Factor:
        sign, above, below = children
        top, bottom = operand(above.one()), operand(below.one())
        if differential(top) and differential(bottom):
            raise NotRead("a derivative", begin(sign), below.end)
        return Factor("value", Node(Head.DIVIDE, (top, bottom), "", begin(sign), below.end))

    def binomial(self, children: list[Any]) -> Factor:
        """n over k, as n!/(k! (n - k)!)."""
        sign, above, below = children
        n, k = operand(above.one()), operand(below.one())
        return Factor("value", binomial(n, k, begin(sign), below.end))

    def root(self, children: list[Any]) -> Factor:
        sign, *degree, inside = children
        parts = (operand(inside.one()), *(operand(part.one()) for part in degree))
        return Factor("value", Node(Head.ROOT, parts, "", begin(sign), inside.end))

    def accent(self, children: list[Any]) -> Factor:
        sign, inside = children
        node = inside.one()
        if node.head is not Head.NAME:
            raise NotRead("an accent over a formula", begin(sign), inside.end)
        named = Node(Head.NAME, node.parts, f"{sign}_{node.text}", begin(sign), inside.end)
        return Factor("name", named)
