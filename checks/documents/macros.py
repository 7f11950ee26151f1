r"""Definitions of macros in a text: \newcommand, \DeclareMathOperator, \def, \let and the like."""

import re
from functools import cached_property

_DEFINES = re.compile(
    r"\\(?:(?:(?:new|renew|provide)command|DeclareMathOperator)\*?|DeclarePairedDelimiter|def|let)"
    r"(?![A-Za-z])"
)
_NAMED = re.compile(
    r"""\\(?:
        (?:(?:new|renew|provide)command|DeclareMathOperator)\*?
            \s*(?:\{\s*\\(?:[A-Za-z]+|.)\s*\}|\\(?:[A-Za-z]+|.))
            \s*(?:\[[0-9]\]\s*)?(?:\[[^\]\n]{0,99}\]\s*)?
        | def\s*\\(?:[A-Za-z]+|.)(?:\s*\#[1-9])*\s*
        | DeclarePairedDelimiter\s*(?:\{\s*\\[A-Za-z]+\s*\}|\\[A-Za-z]+)\s*\{[^{}\n]{0,20}\}\s*
        )(?=\{)""",
    re.VERBOSE,
)
_LET = re.compile(r"\\let\s*\\[A-Za-z]+\s*=?\s*\\[A-Za-z]+")


class Definitions:
    """The definitions in one text, found in time linear in its length."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _closers(self) -> dict[int, int]:
        """Each opening brace with its closing one."""
        pairs, waiting = {}, []
        for brace in re.finditer(r"\\.|[{}]", self.text, re.DOTALL):
            if brace[0] == "{":
                waiting.append(brace.start())
            elif brace[0] == "}" and waiting:
                pairs[waiting.pop()] = brace.start()
        return pairs

    def end(self, start: int) -> int | None:
        """Where the definition that begins here ends; None if none does, or it never ends."""
        if let := _LET.match(self.text, start):
            return let.end()
        head = _NAMED.match(self.text, start)
        closer = self._closers.get(head.end()) if head else None
        return None if closer is None else closer + 1

    def within(self, start: int, end: int) -> list[tuple[int, int]]:
        """The definitions that lie in a part of the text, none inside another."""
        found: list[tuple[int, int]] = []
        while define := _DEFINES.search(self.text, start, end):
            stop = self.end(define.start())
            if stop is not None and stop <= end:
                found.append((define.start(), stop))
                start = stop
            else:
                start = define.end()
        return found
