r"""The language of expressions typed by people; the only reader of such text in the project.

    >>> read("2/(m + n)")
    2/(m + n)
    >>> read_function("gelu(x)^2")[0]
    gelu(x)**2
    >>> read_function(r"\frac{1}{2} \max(t, 0)")
    (Max(0, t)/2, t)

Text is parsed by our own grammar into SymPy objects built one by one. It never reaches a SymPy
method that evaluates strings.

Plain text and LaTeX may be mixed. `pi` and `e` are the constants, decimals are exact rationals, and
primes differentiate: `gelu'(x)`. A prime is the derivative almost everywhere, so `step'(x)` is 0.
A product needs its `*` except where it cannot be misread: `2x`, `2 sin(x)`, `(x + 1)(x - 1)`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from sympy import Dummy, Expr, Integer, Symbol

from varlaw.symbolic.language_builder import CONSTANTS, Builder, meaning, shown
from varlaw.symbolic.language_limits import MAX_CHARACTERS, MAX_DEPTH, MAX_DIGITS, ReadingError
from varlaw.symbolic.parsers import Grammar

Text: TypeAlias = str | int | float | Expr

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "ReadingError",
    "Text",
    "free_names",
    "read",
    "read_condition",
    "read_function",
]

ALMOST_EVERYWHERE = "derivative almost everywhere"
VARIABLES = ("x", "z")  # the names that a function's variable has unless another one is given


def read(text: Text, *, names: Mapping[str, Expr] | None = None, real: bool = False) -> Expr:
    """Read an expression such as "2/(m+n)"; numbers and SymPy expressions pass through.

    A name in `names` stands for its value; any other becomes a positive symbol, or a real one if
    `real` is set. Raises ReadingError.
    """
    if isinstance(text, Expr):
        return text
    source = _source(text)
    if isinstance(text, int):
        return Integer(text)
    return Builder(source, _symbols(names, real=real)).expression(_parse(source, "start"))


def read_function(
    text: Text,
    variable: str | None = None,
    *,
    names: Mapping[str, Expr] | None = None,
    positive: Iterable[str] = (),
    notes: list[str] | None = None,
) -> tuple[Expr, Symbol]:
    """Read a function of one variable: its expression, and the variable as a real symbol.

    The variable is the one named, else `x`, else `z`, else the only name there is. Other names are
    what `names` says, else parameters: real symbols, positive ones if they are among `positive`.
    `notes` gets ALMOST_EVERYWHERE if there is a derivative of something that jumps. Raises
    ReadingError.
    """
    source = _source(text)
    tree = _parse(source, "start")
    used, known = _names(tree), {**(names or {})}
    try:
        chosen = _variable(variable, [name for name in used if name not in known], source)
    except ReadingError:
        Builder(source, _symbols(known, real=True)).expression(tree)  # its errors come first
        raise
    x = Symbol(chosen, real=True) if chosen else Dummy("x", real=True)
    known |= {name: Symbol(name, positive=True) for name in map(meaning, positive)}
    known |= {x.name: x}
    builder = Builder(source, _symbols(known, real=True), x)
    f = builder.expression(tree)
    if builder.almost_everywhere and notes is not None:
        notes.append(ALMOST_EVERYWHERE)
    return f, x


def read_condition(
    text: str, *, names: Mapping[str, Expr] | None = None, variable: Symbol | None = None
) -> Expr:
    """Read a condition such as "x > 0" or "a < x < b", as the function that is 1 where it holds."""
    source = _source(text)
    builder = Builder(source, _symbols(names, real=True), variable)
    return builder.condition(_parse(source, "condition"))


def free_names(text: Text) -> tuple[str, ...]:
    """The names in an expression, in order, without those of functions and constants."""
    if isinstance(text, Expr):
        return tuple(sorted(symbol.name for symbol in text.free_symbols))
    if isinstance(text, int):
        return ()
    return _names(_parse(_source(text), "start"))


def _source(text: Text) -> str:
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        raise ReadingError(f"expected a number or a text, not {text!r}")
    if len(source := str(text)) > MAX_CHARACTERS:
        raise ReadingError(f"expression of {len(source)} characters; at most {MAX_CHARACTERS}")
    return source


def _symbols(names: Mapping[str, Expr] | None, *, real: bool) -> Any:
    """What gives a name its value: the names given, and symbols for all others."""
    kind = {"real": True} if real else {"positive": True}
    known = names or {}
    return lambda name: known[name] if name in known else Symbol(name, **kind)


def _names(tree: Tree[Token]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting: list[Tree[Token] | Token] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Tree):
            waiting += reversed(node.children)
        elif node.type == "NAME":
            found[meaning(str(node))] = None
    return tuple(name for name in found if name not in CONSTANTS)


def _variable(wanted: str | None, used: list[str], source: str) -> str:
    """The name of the variable, empty for a constant."""
    if wanted is not None:
        wanted = meaning(wanted)
        if not wanted.isidentifier() or not wanted.isascii():
            raise ReadingError(f"{wanted!r} is not a name")
        if wanted in CONSTANTS:
            raise ReadingError(f"{wanted!r} has a meaning already and cannot be the variable")
        if wanted not in used:
            raise ReadingError(f"{shown(source)} is not a function of {wanted}")
        return wanted
    for name in VARIABLES:
        if name in used:
            return name
    if len(used) > 1:
        listed = f"{', '.join(used[:-1])} and {used[-1]}"
        raise ReadingError(f"{shown(source)} has the names {listed}: say which is the variable")
    return used[0] if used else ""


class _Bars:
    """Tells bars that open from bars that close, |x| and ||x| - 1|, and from that of E[x | ...].

    A bar closes if something to close is open between the same brackets, and an operand precedes.
    """

    always_accept = ("BAR",)
    opening = frozenset(("_ROUND", "_SQUARE", "_BRACE", "_SET"))
    closing = frozenset(f"{name}_END" for name in opening)
    operands = closing | {"NUMBER", "NAME", "FRACTION", "ROOT", "RAISED", "_BAR_CLOSE"}

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        opened, means, before = [0], [False], ""
        for token in stream:
            if token.type == "BAR":
                ends = before in self.operands
                closes = "_BAR_CLOSE" if opened[-1] else "_GIVEN" if means[-1] else "_BAR_OPEN"
                token.type = closes if ends else "_BAR_OPEN"
            if token.type in self.opening:
                opened.append(0)
                means.append(before == "_MEAN")
            elif token.type in self.closing:
                opened, means = opened[:-1] or [0], means[:-1] or [False]
            elif token.type == "_BAR_OPEN":
                opened[-1] += 1
            elif token.type == "_BAR_CLOSE":
                opened[-1] -= 1
            before = token.type
            yield token


GRAMMAR = Grammar(
    "varlaw.symbolic",
    "language",
    options={
        "lexer": "contextual",
        "start": ["start", "condition"],
        "propagate_positions": True,
        "g_regex_flags": int(re.ASCII),
    },
    objects={"postlex": _Bars()},
)


@cache
def _parser() -> Lark:
    return GRAMMAR.parser()


def _parse(source: str, start: str) -> Tree[Token]:
    try:
        return _parser().parse(source, start=start)
    except UnexpectedInput as error:
        raise ReadingError(_explain(source, error)) from None


def _explain(source: str, error: UnexpectedInput) -> str:
    if not source.strip():
        return "empty expression"
    place, text = error.pos_in_stream or 0, ""
    if isinstance(error, UnexpectedToken):
        if error.token.type == "$END":
            return f"{shown(source)} ends too early, at column {len(source.rstrip()) + 1}"
        text = str(error.token)
    elif isinstance(error, UnexpectedCharacters):
        text = source[place]
    return f"unexpected {text[:30]!r} at column {place + 1} of {shown(source)}"
