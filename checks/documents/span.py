"""What is found in a document: spans of mathematics, comments for us, and problems."""

from dataclasses import dataclass
from enum import StrEnum, auto


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
    the end, so that any part of the text has a place.
    """

    kind: Kind
    text: str
    offsets: tuple[int, ...]
    environment: str = ""


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
    """A document, or one Markdown cell of a notebook."""

    path: str
    text: str
    spans: tuple[Span, ...]
    remarks: tuple[Remark, ...]
    problems: tuple[Problem, ...]
    macros: tuple[str, ...] = ()  # \newcommand and \def, as written
    cell: int | None = None

    def place(self, start: int, end: int) -> Place:
        """Where a stretch of the text stands."""
        line, column = self._at(start)
        return Place(self.path, line, column, *self._at(end), self.cell)

    def _at(self, offset: int) -> tuple[int, int]:
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
