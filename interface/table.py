"""Tables of text that fit: one line a row where there is room, the rest of the row below it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

import click

GAP = "  "
INDENT = "    "
LEAST = 32  # a column is moved below its row rather than wrapped more narrowly than this


@dataclass(frozen=True)
class Cell:
    """A text and, on a terminal, its colour."""

    text: str
    colour: str | None = None

    def padded(self, width: int, colour: bool) -> str:
        filled = self.text.ljust(width)
        return click.style(filled, fg=self.colour) if colour and self.colour else filled


@dataclass(frozen=True)
class Table:
    """Rows under titles. Columns that are empty throughout are left out.

    Where the table is wider than the terminal, the first of the `movable` columns is wrapped; with
    too little room for that, as many of them as necessary are put below their row.
    """

    titles: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    movable: tuple[str, ...] = ()

    def text(self, width: int | None = None, colour: bool = False) -> str:
        """The table in lines of at most `width` characters; without a width, one line a row."""
        widths = {
            k: max(len(title), *(len(row[k].text) for row in self.rows))
            for k, title in enumerate(self.titles)
            if any(row[k].text for row in self.rows)
        }
        movable = [k for k in map(self.titles.index, self.movable) if k in widths]
        wrapped, moved = None, []
        if width is not None and movable and (excess := _total(widths) - width) > 0:
            if widths[movable[0]] - excess >= LEAST:
                wrapped = movable[0]
                widths[wrapped] -= excess
            while wrapped is None and movable and _total(widths) > width:
                moved.append(movable.pop(0))
                del widths[moved[-1]]
        lines = _lines(tuple(map(Cell, self.titles)), widths, wrapped, colour)
        for row in self.rows:
            lines += _lines(row, widths, wrapped, colour)
            lines += self._below(row, moved, width or 0)
        return "\n".join(lines)

    def _below(self, row: tuple[Cell, ...], moved: Sequence[int], width: int) -> Iterable[str]:
        texts = [row[k].text for k in moved[:1]]
        texts += [", ".join(f"{self.titles[k]}: {row[k].text}" for k in moved[1:] if row[k].text)]
        for text in texts:
            yield from (INDENT + line for line in wrap(text, max(width - len(INDENT), LEAST)))


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + len(GAP) * (len(widths) - 1)


def _lines(
    row: tuple[Cell, ...], widths: dict[int, int], wrapped: int | None, colour: bool
) -> list[str]:
    """A row as one line, and as many more as its wrapped cell needs."""
    pieces = wrap(row[wrapped].text, widths[wrapped]) if wrapped is not None else []
    cells = {k: row[k] for k in widths}
    if wrapped is not None and pieces:
        cells[wrapped] = Cell(pieces[0])
    start = sum(width + len(GAP) for k, width in widths.items() if k < (wrapped or 0))
    line = GAP.join(cell.padded(widths[k], colour) for k, cell in cells.items())
    return [line.rstrip(), *(" " * start + piece for piece in pieces[1:])]
