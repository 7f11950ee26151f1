"""The state of a reading of LaTeX: what is left, what is made of it, which brackets are open."""

from collections.abc import Collection
from dataclasses import dataclass

from lark import Token

from varlaw.symbolic.formulas.limits import MAX_DEPTH, NotRead
from varlaw.symbolic.formulas.macros import Piece
from varlaw.symbolic.formulas.vocabulary import (
    SPACES,
)


@dataclass(slots=True)
class Open:
    """A bracket that is not closed yet."""

    sign: str
    start: int
    words: bool = False  # letters side by side are a word: a subscript of a name
    wants: int = 0  # how many bare arguments are still wanted after it
    integrals: int = 0  # integrals inside whose differential is to come
    numerator: bool = False
    silent: bool = False  # nothing is written for it
    conditional: bool = False  # a bar inside may be "given"
    annotated: bool = False  # an underbrace: a script follows that is left out
    first: int = 0  # the index of its token
    late: Token | None = None  # the differential that stood in a numerator
    fractions: int = 0


class Scanner:
    """Pieces of LaTeX to be read, and the tokens read so far."""

    def __init__(self, source: list[Piece], variables: Collection[str], environment: str) -> None:
        self.source = source
        self.variables = variables
        self.joined = environment.rstrip("*") == "multline"
        self.tokens: list[Token] = []
        self.stack = [Open("", 0)]
        self.wants = 0
        self.words = False  # the next argument is a subscript of a name
        self.place = 0
        self.closed = -1  # the index of the token that opened the bracket closed last

    @property
    def top(self) -> Open:
        return self.stack[-1]

    @property
    def outer(self) -> bool:
        """Whether no bracket is open but a box."""
        return all(level.silent for level in self.stack[1:])

    def last(self, back: int = 1) -> str:
        """The kind of the token read last, or of one before."""
        return self.tokens[-back].type if len(self.tokens) >= back else ""

    def emit(self, kind: str, piece: Piece, value: str | None = None, end: int = 0) -> None:
        text = piece.text if value is None else value
        self.tokens.append(Token(kind, text, start_pos=piece.start, end_pos=max(end, piece.end)))

    def ahead(self) -> str:
        """The text of the next piece, "" at the end."""
        return self.source[self.place].text if self.place < len(self.source) else ""

    def skip_spaces(self) -> None:
        while self.place < len(self.source) and (
            self.source[self.place].is_space or self.ahead() in SPACES
        ):
            self.place += 1

    def argument(self, call: Piece) -> list[Piece]:
        """The pieces of the next argument, in braces or a single one."""
        self.skip_spaces()
        if self.place >= len(self.source):
            raise NotRead(f"{call.text} without its argument", call.start, call.end)
        first = self.source[self.place]
        self.place += 1
        if first.text != "{":
            return [first]
        start, depth = self.place, 1
        while self.place < len(self.source):
            depth += (self.ahead() == "{") - (self.ahead() == "}")
            self.place += 1
            if depth == 0:
                return self.source[start : self.place - 1]
        raise NotRead("{ is not closed", first.start, first.end)

    def opens(self, bracket: str) -> bool:
        """Whether this bracket comes next."""
        for item in self.source[self.place : self.place + 4]:
            if item.text == bracket:
                return True
            if not (item.is_space or item.text in SPACES or item.text == r"\left"):
                return False
        return False

    def take(self, text: str) -> tuple[str, int]:
        """The text and the next piece, which is joined to it."""
        piece = self.source[self.place]
        self.place += 1
        return text + piece.text, piece.end

    def used(self) -> None:
        """An argument that was wanted has been read."""
        if self.wants:
            self.wants -= 1
        self.words = False
        if not self.wants and self.top.fractions and self.top.late is not None:
            self.top.fractions, late, self.top.late = 0, self.top.late, None
            self.top.integrals -= 1
            self.tokens.append(late)

    def push(self, level: Open) -> None:
        level.words = level.words or (self.top.words and level.sign in ("{", "("))
        if len(self.stack) > MAX_DEPTH:
            raise NotRead(f"brackets nested deeper than {MAX_DEPTH}", level.start)
        level.first = len(self.tokens)
        self.stack.append(level)
        self.wants, self.words = 0, False

    def separator(self, piece: Piece, value: str) -> None:
        if self.outer:
            self.emit("SEPARATOR", piece, value)

    def case_separator(self, piece: Piece) -> None:
        if self.last() in ("CASES_OPEN", "CASE_ROW", "CASE_SEP"):
            return
        place = self.source[self.place - 1]
        self.emit("CASE_SEP", place, ",")
