r"""A rule for markdown-it: lines inside a display are maths whatever they begin with.

Markdown takes a line that begins with - or + for a list, with > for a quote, with = for an
underlining; within $$ .. $$, \[ .. \] and environments these are signs.
"""

import re

from markdown_it.rules_block import StateBlock

from varlaw.checks.documents.scanning import BEGIN, MATHEMATICA

DISPLAY = re.compile(
    rf"{BEGIN}|\\end\{{([A-Za-z]+\*?)\}}|{MATHEMATICA}|\\\\[\[\]]|\$\$|\\.", re.DOTALL
)
_CLOSERS = {"$$": "$$", r"\[": r"\]", r"\\[": r"\\]"}


def paragraph_with_display(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph in which a display runs over several lines; False if there is none in it."""
    if silent or not state.env.get("displays"):
        return False
    terminators = state.md.block.ruler.getRules("paragraph")
    outer, state.parentType = state.parentType, "paragraph"
    opened, runs_over, line = "", False, start
    while line < state.lineMax and not state.isEmpty(line):
        if opened and state.sCount[line] < state.blkIndent:
            break
        if (
            line > start
            and not opened
            and 0 <= state.sCount[line] <= state.blkIndent + 3
            and any(rule(state, line, end, True) for rule in terminators)
        ):
            break
        before = opened
        opened = _opened(
            state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line], before
        )
        runs_over |= bool(before) and opened != before
        line += 1
    state.parentType = outer
    if opened or not runs_over:
        return False
    for kind, nesting in (("paragraph_open", 1), ("inline", 0), ("paragraph_close", -1)):
        token = state.push(kind, "p" if nesting else "", nesting)  # type: ignore[arg-type]
        token.map = [start, line]
        if kind == "inline":
            token.content = state.getLines(start, line, state.blkIndent, False).strip()
    state.line = line
    return True


def _opened(text: str, start: int, end: int, opened: str) -> str:
    """The closer that is awaited at the end of a line, given the one at its beginning."""
    for mark in DISPLAY.finditer(text, start, end):
        if opened:
            opened = "" if mark[0] == opened else opened
        elif mark[0] in _CLOSERS or mark[1]:
            opened = _CLOSERS.get(mark[0], rf"\end{{{mark[1]}}}")
    return opened
