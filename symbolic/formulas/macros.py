r"""Splitting TeX into its smallest pieces, and replacing macros by what they stand for.

>>> macros = read_macros([r"\newcommand{\half}[1]{\frac{#1}{2}}"])
>>> "".join(piece.text for piece in expand(pieces(r"\half{x}"), macros))
'\\frac{x}{2}'
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from varlaw.symbolic.formulas.limits import MAX_MACRO_DEPTH, MAX_TOKENS, NotRead, check_text
from varlaw.symbolic.formulas.vocabulary import WIDE

PIECE = re.compile(r"\\[A-Za-z]+\*?|\\.|&[lg]t;|%[^\n]*\n?|\d+|[A-Za-z]|\s+|.", re.DOTALL)
DEFINITION = re.compile(
    r"\s*\\(?:re|provide)?newcommand\*?\s*(?:\{\s*(\\[A-Za-z]+)\s*\}|(\\[A-Za-z]+))"
    r"\s*(?:\[(\d)\])?\s*(?:\[([^\[\]]*)\])?\s*\{(.*)\}\s*",
    re.DOTALL,
)
OPERATOR = re.compile(
    r"\s*\\DeclareMathOperator\*?\s*\{?\s*(\\[A-Za-z]+)\s*\}?\s*\{(.*)\}\s*", re.DOTALL
)
DEF = re.compile(r"\s*\\def\s*(\\[A-Za-z]+)((?:#\d)*)\s*\{(.*)\}\s*", re.DOTALL)
DEFINED = re.compile(r"\s*\\[A-Za-z]+[*\s{]*(\\(?:[A-Za-z]+|.))", re.DOTALL)
LET = re.compile(r"\s*\\let\s*(\\[A-Za-z]+)\s*=?\s*(\\[A-Za-z]+)\s*")
DELIMITERS = re.compile(
    r"\s*\\DeclarePairedDelimiter\s*\{?\s*(\\[A-Za-z]+)\s*\}?\s*\{([^{}]*)\}\s*\{([^{}]*)\}\s*"
)


class Piece(NamedTuple):
    """A command, a number, a letter, a space or a sign, and its place in the source."""

    text: str
    start: int
    end: int
    depth: int = 0  # how many macros it came through

    @property
    def is_space(self) -> bool:
        return self.text.isspace()


@dataclass(frozen=True, slots=True)
class Macro:
    """What a command stands for: a text with #1, #2... and the default of its first argument."""

    name: str
    body: str
    arguments: int = 0
    default: str | None = None
    sized: bool = False  # a star or a size such as [\\big] may follow its name
    refusal: str = ""  # why formulas with it are not read


def pieces(text: str) -> list[Piece]:
    """The pieces of a text, without comments."""
    found = []
    for match in PIECE.finditer(text.translate(WIDE)):
        piece = match.group()
        if piece[0] == "%":
            if piece[-1] != "\n":
                raise NotRead("a % without its backslash", match.start(), match.end())
            continue
        if piece[-1] == "*" and piece[0] == "\\" and len(piece) > 2 and piece != r"\operatorname*":
            found.append(Piece(piece[:-1], match.start(), match.end() - 1))
            found.append(Piece("*", match.end() - 1, match.end()))
            continue
        found.append(Piece(piece, match.start(), match.end()))
    return found


def read_macros(definitions: Iterable[str]) -> Mapping[str, Macro]:
    r"""The macros that \newcommand, \def, \let and others define. Raises NotRead."""
    macros = {}
    for definition in definitions:
        check_text(definition)
        macro = _macro(definition)
        macros[macro.name] = macro
    return macros


def document_macros(definitions: Iterable[str]) -> Mapping[str, Macro]:
    """Those of a document: one that is defined twice, or not understood, is refused in formulas."""
    macros: dict[str, Macro] = {}
    for definition in definitions:
        try:
            macro = next(iter(read_macros([definition]).values()))
        except NotRead as error:
            if named := DEFINED.match(definition):
                macros[named[1]] = Macro(
                    named[1], "", refusal=f"{named[1]} stands for {error.reason}"
                )
            continue
        changed = macros.get(macro.name, macro) != macro
        told = f"{macro.name} is defined in two ways" if changed else ""
        macros[macro.name] = replace(macro, refusal=told)
    return macros


def _macro(text: str) -> Macro:
    if match := DEFINITION.fullmatch(text):
        braced, bare, count, default, body = match.groups()
        return Macro(braced or bare, body, int(count or 0), default)
    if match := OPERATOR.fullmatch(text):
        return Macro(match.group(1), rf"\operatorname{{{match.group(2)}}}")
    if match := DEF.fullmatch(text):
        return Macro(match.group(1), match.group(3), match.group(2).count("#"))
    if match := LET.fullmatch(text):
        return Macro(match.group(1), match.group(2))
    if match := DELIMITERS.fullmatch(text):
        name, left, right = match.groups()
        return Macro(name, rf"\left{left} #1 \right{right}", 1, sized=True)
    raise NotRead("not a definition of a macro", 0, len(text))


def expand(source: list[Piece], macros: Mapping[str, Macro]) -> list[Piece]:
    """The pieces with every macro replaced; what comes from a macro has the place of its call."""
    if not macros:
        return source
    waiting, done, work = source[::-1], [], 0
    while waiting:
        piece = waiting.pop()
        macro = macros.get(piece.text)
        if macro is None:
            done.append(piece)
            continue
        if piece.depth >= MAX_MACRO_DEPTH:
            raise NotRead(f"macros nested deeper than {MAX_MACRO_DEPTH}", piece.start, piece.end)
        replacement = _replacement(macro, piece, waiting)
        work += len(replacement) + 1
        if work > 4 * MAX_TOKENS:
            raise NotRead(f"{piece.text} expands to too much", piece.start, piece.end)
        waiting += reversed(replacement)
    return done


def _replacement(macro: Macro, call: Piece, waiting: list[Piece]) -> list[Piece]:
    if macro.refusal:
        raise NotRead(macro.refusal, call.start, call.end)
    arguments, end = _arguments(macro, call, waiting)
    found: list[Piece] = []
    body = iter(pieces(macro.body))
    for piece in body:
        if piece.text == "#":
            number = next(body, piece).text
            if not number.isdecimal() or not 1 <= int(number[0]) <= len(arguments):
                raise NotRead(f"{macro.name} asks for an argument that it lacks", call.start)
            found += arguments[int(number[0]) - 1]
            found += [Piece(digit, call.start, end, call.depth + 1) for digit in number[1:]]
        else:
            found.append(Piece(piece.text, call.start, end, call.depth + 1))
        if len(found) > 4 * MAX_TOKENS:
            raise NotRead(f"{macro.name} expands to too much", call.start, call.end)
    return found


def _arguments(macro: Macro, call: Piece, waiting: list[Piece]) -> tuple[list[list[Piece]], int]:
    """The arguments of a call, and where it ends with them."""
    arguments, end = [], call.end
    if macro.sized and waiting and waiting[-1].text in ("*", "["):
        size = waiting.pop()
        end = size.end if size.text == "*" else _until("]", call, waiting)[1]
    for index in range(macro.arguments):
        if index == 0 and macro.default is not None:
            argument, last = _optional(macro.default, call, waiting)
        else:
            argument, last = _argument(call, waiting)
        arguments.append(argument)
        end = max(end, last)
    return arguments, end


def _argument(call: Piece, waiting: list[Piece]) -> tuple[list[Piece], int]:
    while waiting and waiting[-1].is_space:
        waiting.pop()
    if not waiting:
        raise NotRead(f"{call.text} without its argument", call.start, call.end)
    first = waiting.pop()
    return ([first], first.end) if first.text != "{" else _until("}", call, waiting)


def _optional(default: str, call: Piece, waiting: list[Piece]) -> tuple[list[Piece], int]:
    if waiting and waiting[-1].text == "[":
        waiting.pop()
        return _until("]", call, waiting)
    found = [Piece(piece.text, call.start, call.end, call.depth + 1) for piece in pieces(default)]
    return found, call.end


def _until(close: str, call: Piece, waiting: list[Piece]) -> tuple[list[Piece], int]:
    """The pieces up to a closing sign, and where that ends."""
    found: list[Piece] = []
    depth = 0
    while waiting:
        piece = waiting.pop()
        if piece.text == close and depth == 0:
            return found, piece.end
        depth += (piece.text == "{") - (piece.text == "}")
        found.append(piece)
    raise NotRead(f"{call.text} without the end of its argument", call.start, call.end)
