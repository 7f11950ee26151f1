"""The claim language: declarations and claims, one to a line.

    x[i] ~ iid(second_moment = q) for i = 1..m
    w[i,j] ~ iid(mean = 0, var = s2)
    y[j] = sum_i x[i] w[i,j]
    claim E[y[j]^2] = m q s2
    claim E[gelu(z)^2] = 1/3 + sqrt(3)/(6 pi) where z ~ N(0, 1)
    claim (1 + 1/n)^n -> e as n -> oo

A line without `claim` is a declaration if it begins with a name, and a claim otherwise. What stands
behind `where` holds for its own claim. A line that is indented goes on with the one before; `#`
begins a comment.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from varlaw.checks.claims.declarations.context import EMPTY, Context, read_context
from varlaw.symbolic.formulas import Chain, Head, NotRead, read_plain
from varlaw.symbolic.formulas.names import free_names

LINE = re.compile(r"[^\n]*\n?")
CLAIM = re.compile(r"claim\b\s*")
WHERE = re.compile(r"\s+where\s+")
AS = re.compile(r"\s+as\s+")
TO_INFINITY = re.compile(r"([A-Za-z]\w*)\s*->\s*(?:oo|inf|infinity)")
BREAK = re.compile(r"#[^\n]*|;\s*")


@dataclass(frozen=True, slots=True)
class Claim:
    """The chains of one claim, whose nodes count from `start` in the text of the whole block."""

    chains: tuple[Chain, ...]
    context: Context
    start: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """A line that was not understood."""

    message: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statements:
    """What a block says: its claims, what it declares for all that follows, and its mistakes."""

    claims: tuple[Claim, ...]
    context: Context
    mistakes: tuple[Mistake, ...]
    declarations: tuple[tuple[int, int], ...] = ()  # where they stand


def read_statements(text: str, context: Context = EMPTY) -> Statements:
    """Read a block of the claim language; `context` is what was declared before."""
    claims: list[Claim] = []
    mistakes: list[Mistake] = []
    declarations: list[tuple[int, int]] = []
    for start, line in _lines(text):
        body = CLAIM.match(line)
        declared = read_context([line] if body is None else [], before=context)
        if body is None and not declared.problems:
            context = declared
            declarations.append((start, start + len(line)))
            continue
        begin = body.end() if body else 0
        stated, *where = WHERE.split(line[begin:])
        stated, *limits = AS.split(stated)
        local = read_context(where, before=context)
        for limit in limits:
            if (found := TO_INFINITY.fullmatch(limit.strip())) is None:
                mistakes.append(
                    Mistake(f"as {limit}: only as n -> oo is read", start, start + len(line))
                )
            else:
                local = replace(local, towards=found[1])
        mistakes += [
            Mistake(f"{text}: {why}", start, start + len(line)) for text, why in local.problems
        ]
        try:
            reading = read_plain(stated, variables=local.numbers)
        except NotRead as error:
            at = start + begin
            mistakes.append(Mistake(error.reason, at + error.start, at + error.end))
            continue
        if not reading.chains:
            told = "it claims nothing, and declares nothing"
            mistakes.append(Mistake(told, start, start + len(line)))
        whole = _with_variable(local, reading.chains)
        if declared.problems and not limits and any(map(_law, reading.chains)):
            why = declared.problems[-1][1]
            mistakes.append(Mistake(why, start, start + len(line)))
            continue
        claims.append(Claim(reading.chains, replace(whole, stated=True), start + begin))
    return Statements(tuple(claims), context, tuple(mistakes), tuple(declarations))


def _law(chain: Chain) -> bool:
    """Whether a chain says what a name is distributed as."""
    return chain.signs[0] == "~" and [side.head for side in chain.sides] == [Head.NAME, Head.CALL]


def _with_variable(context: Context, chains: Sequence[Chain]) -> Context:
    """The context of a claim: the only name in its limits goes to infinity, unless one is given."""
    sides = [side for c in chains if {"->", "~"} & set(c.signs) for side in c.sides]
    names = set().union(*map(free_names, sides)) - {"e", "pi"}
    if context.towards or len(names) != 1 or any(map(context.settles, names)):
        return context
    return replace(context, towards=names.pop())


def separated(text: str) -> str:
    """A text whose statements stand apart by `;` with each on its own line, all at its place."""
    return BREAK.sub(
        lambda found: found[0] if found[0][0] == "#" else " " * (len(found[0]) - 1) + "\n", text
    )


def numbered(text: str, place: int) -> str:
    """Where a place is, in words."""
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    return f"column {column}" if "\n" not in text.rstrip() else f"line {line}, column {column}"


def _lines(text: str) -> list[tuple[int, str]]:
    """Where each line begins, and the line without comment, those that go on with it joined."""
    lines = [(m.start(), m[0].split("#", 1)[0].rstrip()) for m in LINE.finditer(text)]
    lines = [(start, line) for start, line in lines if line]
    margin = min((len(line) - len(line.lstrip()) for _, line in lines), default=0)
    found: list[tuple[int, str]] = []
    for start, line in lines:
        if line[margin : margin + 1].isspace() and found:
            first, before = found[-1]
            found[-1] = (first, before.ljust(start - first) + line)
        else:
            found.append((start + margin, line[margin:]))
    return found
