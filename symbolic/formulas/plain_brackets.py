"""Brackets in plain mathematics: which bar opens and which closes, subscripts, cases."""

from dataclasses import dataclass

from lark import Token

from varlaw.symbolic.formulas.limits import MAX_DEPTH, NotRead
from varlaw.symbolic.formulas.vocabulary import words

ENDS = words(
    "NUMBER DIGITS NAME WORD INFINITY FUNCTION RBRACE CLOSE BAR_CLOSE NORM_CLOSE PRIME BANG "
    "PERCENT MARK TRANSPOSE CASES_CLOSE DIFFERENTIAL"
)
CLOSERS = {")": "([", "]": "[(", "}": "{"}


@dataclass(slots=True)
class Open:
    """A bracket that is not closed yet."""

    sign: str
    kind: str  # the token that closes it
    start: int
    first: int  # the index of its token
    words: bool = False
    conditional: bool = False
    integrals: int = 0


class Brackets:
    """The state of one reading of a text, and its brackets; `tokens` is the result."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.stack = [Open("", "", 0, 0)]
        self.closed = -1  # the index of the token that opened the bracket closed last

    @property
    def top(self) -> Open:
        return self.stack[-1]

    def last(self, back: int = 1) -> str:
        """The kind of the token read last, or of one before."""
        return self.tokens[-back].type if len(self.tokens) >= back else ""

    def emit(self, kind: str, text: str, start: int, end: int) -> None:
        self.tokens.append(Token(kind, text, start_pos=start, end_pos=end))

    def open(self, text: str, start: int, end: int) -> None:
        last = self.last()
        words = self.top.words and text in "{("
        if text == "{" and last in ("SUB", "SUP"):
            words = words or (last == "SUB" and self.last(2) in ("NAME", "RBRACE", "PRIME"))
            level = Open(text, "RBRACE", start, len(self.tokens), words)
            self.emit("LBRACE", text, start, end)
        elif text == "[" and last == "NAME" and start == self.tokens[-1].end_pos:
            self.emit("SUB", "_", start, start)
            level = Open(text, "RBRACE", start, len(self.tokens))
            self.emit("LBRACE", "{", start, end)
        elif text == "(" and self.text.startswith("cases", max(start - 5, 0)) and last != "NAME":
            level = Open("cases", "CASES_CLOSE", start, len(self.tokens))
            self.emit("CASES_OPEN", "cases", start - 5, end)
        else:
            conditional = last in ("MOMENT", "NAME", "RBRACE")
            level = Open(text, "CLOSE", start, len(self.tokens), words, conditional)
            self.emit("OPEN", text, start, end)
        if len(self.stack) > MAX_DEPTH:
            raise NotRead(f"brackets nested deeper than {MAX_DEPTH}", start, end)
        self.stack.append(level)

    def close(self, text: str, start: int, end: int) -> None:
        level = self.top
        opener = "(" if level.sign == "cases" else level.sign
        if not opener or opener not in CLOSERS[text]:
            raise NotRead(f"{text} closes nothing", start, end)
        if level.integrals:
            raise NotRead("an integral without its differential", level.start, end)
        self.stack.pop()
        if level.kind == "RBRACE" and self.last() == "CLOSE" and self.closed == level.first + 1:
            before = self.tokens[level.first - 1]
            if before.type == "SUP":
                self.tokens[level.first - 1] = before.update(type="LABEL")
        self.closed = level.first
        self.emit(level.kind, "}" if level.kind == "RBRACE" else text, start, end)

    def bar(self, text: str, start: int, end: int) -> None:
        sign, kind = ("|", "BAR") if text == "|" else ("||", "NORM")
        ended = self.last() in ENDS
        if ended and self.top.sign == sign:
            if self.top.integrals:
                raise NotRead("an integral without its differential", start, end)
            self.stack.pop()
            return self.emit(f"{kind}_CLOSE", text, start, end)
        if ended and self.top.conditional and kind == "BAR":
            return self.emit("MID", text, start, end)
        if len(self.stack) > MAX_DEPTH:
            raise NotRead(f"brackets nested deeper than {MAX_DEPTH}", start, end)
        self.stack.append(Open(sign, "", start, len(self.tokens)))
        return self.emit(f"{kind}_OPEN", text, start, end)
