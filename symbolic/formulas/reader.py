r"""Formulas of documents as trees: LaTeX by `read_formula`, plain text by `read_plain`.

    >>> reading = read_formula(r"1/\sqrt{768} \approx 0.0361")
    >>> reading.chains[0].signs
    ('~=',)

What is not in the grammar is not read: NotRead says why and where. There is never a partial tree.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer

from varlaw.symbolic.formulas.builder import Line, chain
from varlaw.symbolic.formulas.latex import Latex
from varlaw.symbolic.formulas.layout import arranged, with_variables
from varlaw.symbolic.formulas.limits import (
    MAX_DEPTH,
    MAX_NAME,
    NotRead,
    begin,
    check_text,
    finish,
)
from varlaw.symbolic.formulas.macros import Macro, expand, pieces
from varlaw.symbolic.formulas.plain import plain_tokens
from varlaw.symbolic.formulas.rules import Rules
from varlaw.symbolic.formulas.tree import Chain, Head, Node
from varlaw.symbolic.parsers import Grammar

SAID = frozenset({"~", "<", ">", "<=", ">="})  # of each name of a list before it
MAX_TREE_DEPTH = 2 * MAX_DEPTH
SIGNS = {"RELATION", "PLUS", "MINUS", "TIMES", "SLASH", "COMMA", "MID", "SUP", "SUB", "LABEL"}
OPENING = {*SIGNS, "LBRACE", "OPEN", "BAR_OPEN", "NORM_OPEN", "AT_OPEN", "CASES_OPEN"}
CLOSING = {*SIGNS, "RBRACE", "CLOSE", "BAR_CLOSE", "NORM_CLOSE", "AT_CLOSE", "CASES_CLOSE"}
BREAKS = {"$END", "SEPARATOR"}


@dataclass(frozen=True, slots=True)
class Reading:
    """The chains of relations in a text, and its expressions without a relation."""

    chains: tuple[Chain, ...]
    expressions: tuple[Node, ...] = ()


class _Ready(Lexer):
    """Hands tokens over that are made already."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, data: Any) -> Iterator[Token]:  # type: ignore[override]
        yield from data


GRAMMAR = Grammar(
    "varlaw.symbolic.formulas",
    "formulas",
    options={"maybe_placeholders": False},
    objects={"lexer": _Ready, "transformer": Rules()},
)


@cache
def _parser() -> Lark:
    return GRAMMAR.parser()


def read_formula(
    text: str,
    *,
    macros: Mapping[str, Macro] | None = None,
    variables: Collection[str] = (),
    environment: str = "",
) -> Reading:
    """Read the LaTeX of one maths span. Raises NotRead.

    `variables` are names that stand for numbers, so that m(n + 1) is a product; `environment` is
    the one that the span is the inside of, such as align.
    """
    check_text(text)
    source = expand(pieces(text), macros or {})
    tokens = arranged(Latex(source, variables, environment).read())
    return _reading(text, with_variables(tokens, variables))


def read_plain(text: str, *, variables: Collection[str] = ()) -> Reading:
    """Read plain mathematics, such as E[gelu(z)^2] = 1/3 + sqrt(3)/(6 pi). Raises NotRead."""
    check_text(text)
    return _reading(text, with_variables(arranged(plain_tokens(text)), variables))


def _reading(text: str, tokens: list[Token]) -> Reading:
    if not tokens:
        raise NotRead("nothing but layout", 0, len(text))
    try:
        children: Any = _parser().parse(tokens)
    except UnexpectedToken as error:
        raise _unexpected(text, tokens, error) from None
    lines = [child for child in children if isinstance(child, Line)]
    separators = [str(child) for child in children if isinstance(child, Token)]
    lines, separators = _without_remark(_shared(lines, separators), separators, text)
    for line in lines:
        for side in line.sides:
            _check(side)
    _check_list(lines, separators, text)
    return Reading(
        tuple(chain(line) for line in lines if line.signs),
        tuple(line.sides[0] for line in lines if not line.signs),
    )


def _shared(lines: list[Line], separators: list[str]) -> list[Line]:
    """Lines with what x, y ~ N(0, 1) and a, b > 0 say of their last name said of each."""
    found = lines[-1:]
    for sign, line in zip(reversed(separators), reversed(lines[:-1]), strict=True):
        after = found[0]
        names = [line.sides[0].head, after.sides[0].head] == [Head.NAME] * 2
        if sign == "," and not line.signs and names and after.signs[:1] and after.signs[0] in SAID:
            line = replace(after, sides=(line.sides[0], *after.sides[1:]), start=line.start)
        found.insert(0, line)
    return found


def _without_remark(
    lines: list[Line], separators: list[str], text: str
) -> tuple[list[Line], list[str]]:
    r"""Without what is said in brackets behind a gap: x = 0.27 \quad (27\%)."""
    if separators[-1:] == ["quad"] and lines[-2].signs and not lines[-1].signs:
        last = lines[-1].sides[0]
        if text[last.start : last.start + 1] == "(" and text[last.end - 1 : last.end] == ")":
            return lines[:-1], separators[:-1]
    return lines, separators


def _unexpected(text: str, tokens: list[Token], error: UnexpectedToken) -> NotRead:
    """Where the grammar cannot go on, in words."""
    token = error.token
    place = next((k for k, one in enumerate(tokens) if one is token), len(tokens))
    start, end = (begin(token), finish(token)) if place < len(tokens) else (len(text), len(text))
    here = text[start:end].strip()
    if token.type == "PLUS_MINUS":
        return NotRead(f"plus or minus, {here}", start, end)
    if place == 0 or tokens[place - 1].type in BREAKS:
        return NotRead(f"nothing stands before {here}", start, end)
    before = tokens[place - 1]
    first = begin(before)
    shown = text[first : finish(before)].strip()
    if token.type in BREAKS:
        return NotRead(f"nothing stands behind {shown}", first, finish(before))
    if before.type in OPENING and token.type in CLOSING:
        return NotRead(f"nothing stands between {shown} and {here}", first, end)
    if token.type in SIGNS and "LBRACE" in error.expected and "PLUS" not in error.expected:
        return NotRead(f"an argument is missing before {here}", start, end)
    inside = "in these brackets" if token.type == "RELATION" else f"behind {shown}"
    return NotRead(f"{here} cannot stand {inside}", start, end)


def _check_list(lines: list[Line], separators: list[str], text: str) -> None:
    """Refuse a list of which only some parts hold a relation: a, b = 0; 3 of 4 = 75 %."""
    for sign, before, after in zip(separators, lines, lines[1:], strict=False):
        if sign == "words" and not (before.signs and after.signs):
            raise NotRead("words inside a formula", before.end, after.start)
        if sign in (",", "quad", ".", "&", "row") and bool(before.signs) != bool(after.signs):
            raise NotRead("a list of which only some members hold a relation", 0, len(text))


def _check(node: Node) -> None:
    """Refuse trees that are too deep, and relations in brackets that nothing makes sense of."""
    waiting = [(node, 1)]
    while waiting:
        inner, depth = waiting.pop()
        if depth > MAX_TREE_DEPTH:
            raise NotRead(f"nested deeper than {MAX_TREE_DEPTH}", node.start, node.end)
        if len(inner.text) > MAX_NAME and inner.head not in (Head.NUMBER, Head.DIGITS):
            raise NotRead(f"a name of {len(inner.text)} letters", inner.start, inner.end)
        if inner.head is Head.TUPLE and any(part.head is Head.RELATION for part in inner.parts):
            raise NotRead("a relation in brackets", inner.start, inner.end)
        waiting += [(part, depth + 1) for part in inner.parts]
