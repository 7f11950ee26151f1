"""Text cut out of a document that still knows where each of its characters stood."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stretch:
    """Pieces of a document put together: `begins` is where they begin here, `origins` there."""

    text: str
    begins: tuple[int, ...]
    origins: tuple[int, ...]

    @classmethod
    def of(cls, document: str) -> "Stretch":
        r"""The whole document, lines ended by one character: \r\n is left with its \n."""
        whole = cls(document, (0,), (0,))
        if "\r\n" not in document:
            return whole
        pieces, start = [], 0
        while (end := document.find("\r\n", start)) >= 0:
            pieces.append((start, end))
            start = end + 1
        return whole.cut([*pieces, (start, len(document))])

    def at(self, position: int) -> int:
        """Where the character at this position stands in the document."""
        piece = bisect_right(self.begins, position) - 1
        return self.origins[piece] + position - self.begins[piece]

    def after(self, position: int) -> int:
        """Where in the document the text before this position ends."""
        return self.at(position - 1) + 1 if position else self.at(0)

    def offsets(self, start: int, end: int) -> tuple[int, ...]:
        """Where each character of a part stands in the document, and where the part ends."""
        found = [spot for first, last in self._runs(start, end) for spot in range(first, last)]
        return (*found, self.after(end) if end > start else self.at(start))

    def cut(self, pieces: Iterable[tuple[int, int]]) -> "Stretch":
        """Only these pieces, each from a position up to another, in their order."""
        texts, begins, origins, length = [], [], [], 0
        for start, end in pieces:
            texts.append(self.text[start:end])
            for first, last in self._runs(start, end):
                begins.append(length)
                origins.append(first)
                length += last - first
        return Stretch("".join(texts), tuple(begins) or (0,), tuple(origins) or (0,))

    def without(self, holes: Iterable[tuple[int, int]]) -> "Stretch":
        """All but these pieces, given in their order."""
        kept, start = [], 0
        for first, last in holes:
            kept.append((start, first))
            start = last
        return self.cut([*kept, (start, len(self.text))])

    def _runs(self, start: int, end: int) -> Iterable[tuple[int, int]]:
        """The document's own stretches from a position up to another."""
        piece = bisect_right(self.begins, start) - 1
        while start < end:
            last = self.begins[piece + 1] if piece + 1 < len(self.begins) else len(self.text)
            origin = self.origins[piece] + start - self.begins[piece]
            stop = min(last, end)
            yield origin, origin + stop - start
            start, piece = stop, piece + 1
