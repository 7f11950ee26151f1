r"""Formulas copied from a page: what was seen, directly followed by its LaTeX source.

Where KaTeX or MathJax wrote a formula, copying takes both its rendering and its source along, as in
"σ=2/768\sigma = \sqrt{2/768}". The rendering has lost roots, fractions and exponents, so only the
source is read. In the stream of visible characters (commands as the signs they print, no braces, no
blanks) such a pair is a word twice in a row, of which only the second copy holds commands.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from varlaw.checks.documents.found import Found, add_span
from varlaw.checks.documents.scanning import BLANK
from varlaw.checks.documents.signs import ACCENTS, ALIKE, INVISIBLE, SIGNS
from varlaw.checks.documents.span import Kind
from varlaw.checks.documents.stretch import Stretch

LONGEST = 400  # visible characters of a formula
_STEPS = 8  # of comparison for each character; only texts made for it need more
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\S", re.DOTALL)
_COMMAND = re.compile(r"\\[A-Za-z]")
_BLANK = re.compile(BLANK)
_RELATION = re.compile("(?<![=≈<>≤≥≠∼])[=≈<>≤≥≠∼](?![=≈<>≤≥≠∼])")
_TWICE = re.compile(r"(?<![^\s(])([^\W\d_]|-?\d+\.\d+)(\1)(?=[.,;:)]*(?:\s|\Z))")
_UNKNOWN = "\0"
_DIGIT = re.compile(r"[0-9]")
_NUMBER = re.compile(r"\d\.\d")


def find_pairs(found: Found) -> None:
    """Add the sources of such pairs in the prose of a document to its spans.

    Where commands prove that the document has such pairs, those without commands ("x1x_1") are
    read, too, and in a proved paragraph "LL" and "0.020.02".
    """
    parts = list(_paragraphs(found))
    streams = {
        key: _Stream(*part)
        for key, part in enumerate(parts)
        if _COMMAND.search(part[0].text, part[1], part[2])
    }
    proved = {key for key, stream in streams.items() if stream.sources(weak=False)}
    for key, (stretch, start, end) in enumerate(parts) if proved else ():
        stream = streams.get(key) or _Stream(stretch, start, end)
        sources = stream.sources(weak=True)
        if key in proved:
            twice = [word.span(2) for word in _TWICE.finditer(stretch.text, start, end)]
            sources = _apart(sorted(sources + twice))
        for first, last in sources:
            add_span(found, stretch.cut([(first, last)]), Kind.INLINE, stretch, (first, last))
        if stream.steps < 0:
            message = "too much repetition to look for formulas copied with their source"
            found.problem(message, stretch.at(start))


def _apart(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those pieces that begin behind the one before."""
    kept: list[tuple[int, int]] = []
    for first, last in pieces:
        if not kept or first >= kept[-1][1]:
            kept.append((first, last))
    return kept


def _paragraphs(found: Found) -> Iterator[tuple[Stretch, int, int]]:
    for stretch, gaps in found.prose:
        for start, end in gaps:
            for blank in _BLANK.finditer(stretch.text, start, end):
                yield stretch, start, blank.start()
                start = blank.end()
            yield stretch, start, end


@dataclass(frozen=True, slots=True)
class _Pair:
    """A source from `first` up to `last`; the stream after it goes on at `following`."""

    period: int
    score: int
    first: int
    last: int
    following: int


class _Stream:
    """The visible characters of a paragraph, where each comes from, and where commands stand."""

    def __init__(self, stretch: Stretch, start: int, end: int) -> None:
        self.text, self.end = stretch.text, end
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.marks: dict[int, bool] = {}  # at a character: a command (True), or _ and ^ (False)
        visible: list[str] = []
        for token in _TOKEN.finditer(stretch.text, start, end):
            signs = self._signs(token[0], len(visible))
            visible += signs
            self.starts += [token.start()] * len(signs)
            self.ends += [token.end()] * len(signs)
        self.written = self.visible = "".join(visible)
        self.shape = _DIGIT.sub("0", self.written)
        self.steps = 0

    def _signs(self, token: str, position: int) -> str:
        """What a token shows; a mark is kept where commands stand."""
        if token[0] == "\\":
            self.marks[position] = True
            return "" if token in INVISIBLE else _alike(SIGNS.get(token, _UNKNOWN))
        if token in "_^":
            self.marks.setdefault(position, False)
        return "" if token in "{}_^&~" else _alike(token)

    def sources(self, *, weak: bool) -> list[tuple[int, int]]:
        """Where the sources of pairs stand in the text."""
        found, low = [], 0
        self.steps = _STEPS * len(self.visible) + 10_000
        spots = {spot for spot, strong in self.marks.items() if strong or weak}
        if weak:
            spots.update(sign.start() for sign in _RELATION.finditer(self.visible))
        for spot in sorted(spots):
            if not low <= spot < len(self.visible) or self.steps < 0:
                continue
            strong = self.marks.get(spot, False)
            pair = self._pair(spot, low, strong=strong)
            if strong and pair is None:
                pair = self._corrected(spot, low)
            if pair:
                found.append((pair.first, pair.last))
                low = pair.following
            elif spot in self.marks:
                # A rendering holds no commands.
                low = spot + (self.text[self.starts[spot]] == "\\")
        return found

    def _corrected(self, spot: int, low: int) -> _Pair | None:
        """A relation with a decimal, of which one copy has other digits than the other."""
        self.visible = self.shape
        pair = self._pair(spot, low, strong=True)
        self.visible = self.written
        if pair is None or pair.score < 2:
            return None
        seen = self.written[pair.following - pair.period : pair.following]
        return pair if _RELATION.search(seen) and _NUMBER.search(seen) else None

    def _pair(self, spot: int, low: int, *, strong: bool) -> _Pair | None:
        """The longest word that stands twice, with the character at `spot` in its second copy."""
        low = max(low, spot - LONGEST)
        best: _Pair | None = None
        twin = self.visible.rfind(self.visible[spot], low, spot)
        while twin >= 0 and self.steps > 0:
            period = spot - twin
            left = self._run(spot - 1, twin - 1, -1, low, period)
            right = self._run(spot + 1, twin + 1, 1, low, period)
            for begin in range(max(spot - left, low + period), spot + right + 2 - period):
                pair = self._judged(begin, period, strong) if self.steps > 0 else None
                if pair and (best is None or (pair.period, pair.score) > (best.period, best.score)):
                    best = pair
            twin = self.visible.rfind(self.visible[spot], low, twin)
        return best

    def _run(self, here: int, there: int, step: int, low: int, most: int) -> int:
        """How many characters agree from two positions on."""
        length, visible = 0, self.visible
        while (
            length < most - 1
            and there >= low
            and here < len(visible)
            and visible[here] == visible[there] != _UNKNOWN
        ):
            length, here, there = length + 1, here + step, there + step
        self.steps -= length + 1
        return length

    def _judged(self, begin: int, period: int, strong: bool) -> _Pair | None:
        """The pair whose second copy begins here, if its source is whole."""
        stop, text = begin + period, self.text
        self.steps -= 5
        first, last = self.ends[begin - 1], self.ends[stop - 1]
        if self.starts[begin] < first or (stop < len(self.starts) and self.starts[stop] < last):
            return None  # in the middle of a command
        apart = first
        while text[first] not in "\\{^" and not _alike(text[first]):
            first += 1
        depth = 0
        for brace in re.finditer(r"\\.|[{}]", text[first:last]):
            depth += (brace[0] == "{") - (brace[0] == "}")
            if depth < 0:
                return None
        self.steps -= last - first
        while depth and last < self.end and (text[last] == "}" or text[last].isspace()):
            depth -= text[last] == "}"
            last += 1
        if depth or text[first] in "_^" or text[last : last + 1] in ("_", "^", "{"):
            return None
        seen = self.starts[begin - period]
        score = (not text[seen - 1 : seen].isalnum()) + (not text[last : last + 1].isalnum())
        if not strong and (
            score < 2 or text[apart:first].isspace() or not self._is_formula(begin, stop)
        ):
            return None
        return _Pair(period, score, first, last, stop)

    def _is_formula(self, begin: int, stop: int) -> bool:
        """Whether letters or digits stand in a part, not signs alone (lines of ====)."""
        return any(sign.isalnum() for sign in self.visible[begin:stop])


def _alike(signs: str) -> str:
    """Signs as both a page and a source write them; accents and joiners are left out."""
    return "".join(
        ALIKE.get(plain, plain)
        for sign in signs
        if sign not in ACCENTS and unicodedata.category(sign) != "Cf"
        for plain in unicodedata.normalize("NFKC", ALIKE.get(sign, sign))
        if not plain.isspace()
    )
