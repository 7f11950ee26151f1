"""The language of small expressions typed by people; the only reader of text in the project.

Text is parsed by our own grammar into SymPy objects built one by one. It never reaches a SymPy
method that evaluates strings.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from sympy import Expr, Integer, Pow, Rational, Symbol, sqrt

Text: TypeAlias = str | int | float | Expr

MAX_CHARACTERS = 1000
MAX_DEPTH = 60
MAX_DIGITS = 400
MAX_EXPONENT = 10_000


class ReadingError(ValueError):
    """A text is not an expression of the language; the message points at the column."""


def read(text: Text, *, names: Mapping[str, Expr] | None = None, real: bool = False) -> Expr:
    """Read a small expression such as "2/(m+n)"; numbers and SymPy expressions pass through.

    A name in `names` stands for its value; any other becomes a positive symbol, or a real one if
    `real` is set. Decimals are exact rationals. Raises ReadingError.
    """
    if isinstance(text, Expr):
        return text
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        raise ReadingError(f"expected a number or a text, not {text!r}")
    source = str(text)
    if len(source) > MAX_CHARACTERS:
        raise ReadingError(f"expression of {len(source)} characters; at most {MAX_CHARACTERS}")
    try:
        tree = _parser().parse(source)
    except UnexpectedInput as error:
        raise ReadingError(_explain(source, error)) from None
    return _build(tree, names or {}, {"real": True} if real else {"positive": True}, 0)


@cache
def _parser() -> Lark:
    grammar = files("varlaw.symbolic").joinpath("language.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual")


def _explain(source: str, error: UnexpectedInput) -> str:
    if not source.strip():
        return "empty expression"
    if isinstance(error, UnexpectedCharacters):
        return f"unexpected {source[error.column - 1]!r} at column {error.column} of {source!r}"
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        return f"unexpected {str(error.token)!r} at column {error.column} of {source!r}"
    return f"{source!r} ends too early"


def _build(node: Any, names: Mapping[str, Expr], kind: dict[str, bool], depth: int) -> Expr:
    if depth > MAX_DEPTH:
        raise ReadingError(f"expression nested deeper than {MAX_DEPTH}")
    assert isinstance(node, Tree)
    if node.data == "number":
        return _number(str(node.children[0]))
    if node.data == "name":
        name = str(node.children[0])
        return names[name] if name in names else Symbol(name, **kind)
    parts = [
        _build(child, names, kind, depth + 1)
        for child in node.children
        if not isinstance(child, Token)
    ]
    match node.data:
        case "add":
            return parts[0] + parts[1]
        case "subtract":
            return parts[0] - parts[1]
        case "multiply":
            return parts[0] * parts[1]
        case "divide":
            if parts[1] == 0:
                raise ReadingError("division by zero")
            return parts[0] / parts[1]
        case "negative":
            return -parts[0]
        case "root":
            return sqrt(parts[0])
        case _:
            return _power(*parts)


def _power(base: Expr, exponent: Expr) -> Expr:
    if exponent.is_number and (not exponent.is_Rational or abs(exponent) > MAX_EXPONENT):
        raise ReadingError(
            f"exponent {exponent} is out of range (rational, at most {MAX_EXPONENT})"
        )
    if base.is_Rational and not exponent.is_number:
        return Pow(base, exponent, evaluate=False)
    if base == 0 and exponent.is_negative:
        raise ReadingError("division by zero")
    if base.is_Rational and exponent.is_Rational:
        digits = max(len(str(base.p)), len(str(base.q))) * abs(exponent)
        if digits > MAX_DIGITS:
            raise ReadingError(f"the number {base}^{exponent} has more than {MAX_DIGITS} digits")
    return base**exponent


def _number(text: str) -> Expr:
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or (exponent and abs(int(exponent[:9])) > MAX_DIGITS):
        raise ReadingError(f"number with more than {MAX_DIGITS} digits")
    whole, _, fraction = mantissa.partition(".")
    value = Rational(int(whole + fraction), 10 ** len(fraction))
    return value * Integer(10) ** int(exponent) if exponent else value
