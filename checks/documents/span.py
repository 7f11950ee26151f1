"""What is found in a document: spans of mathematics, comments for us, and problems."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum, auto

LINE_END = re.compile(r"\r\n|\r|\n")


class Kind(StrEnum):
    """How a span stands in its document."""

    INLINE = auto()
    DISPLAY = auto()
    ENVIRONMENT = auto()  # equation, align, gather and others
    BLOCK = auto()  # a fenced block in our own claim language, or a file of it


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document; lines and columns from 1, columns in code points, `end` exclusive.

    In a notebook `cell` is the number of the cell, from 1, and lines are those of the cell.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def __str__(self) -> str:
        inside = f"cell {self.cell}:" if self.cell is not None else ""
        return f"{self.path}:{inside}{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of mathematics.

    `text` is what the author wrote between the delimiters, without the marks of block quotes and
    lists. `offsets[k]` is where its k-th character stands in `Document.text`; there is one more for
    the end, so that any part of the text has a place. `start` and `end` are those of the whole,
    delimiters included; unless said, those of the text.
    """

    kind: Kind
    text: str
    offsets: tuple[int, ...]
    environment: str = ""
    start: int = -1
    end: int = -1

    def __post_init__(self) -> None:
        if self.start < 0:
            object.__setattr__(self, "start", self.offsets[0])
        if self.end < 0:
            object.__setattr__(self, "end", self.offsets[-1])


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment addressed to us: `varlaw: z ~ N(0, 1)`, `varlaw: ignore-next-line`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read: an opener without its closer, bytes that are no text."""

    message: str
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    r"""A document, or one Markdown cell of a notebook. Lines end with \n, \r\n or \r."""

    path: str
    text: str
    spans: tuple[Span, ...]
    remarks: tuple[Remark, ...]
    problems: tuple[Problem, ...]
    macros: tuple[str, ...] = ()  # \newcommand and \def, as written
    cell: int | None = None
    seconds: float = field(default=0.0, repr=False, compare=False)  # that were spent on it so far
    line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = (0, *(end.end() for end in LINE_END.finditer(self.text)))
        object.__setattr__(self, "line_starts", starts)

    def place(self, start: int, end: int) -> Place:
        """Where a stretch of the text stands."""
        line, column = self._at(start)
        return Place(self.path, line, column, *self._at(end), self.cell)

    def line(self, offset: int) -> int:
        """The line, from 1, in which a character of the text stands."""
        return bisect_right(self.line_starts, offset)

    def _at(self, offset: int) -> tuple[int, int]:
        line = self.line(offset)
        return line, offset - self.line_starts[line - 1] + 1
