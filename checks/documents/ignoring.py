"""Spans that their author excuses: `varlaw: ignore` for a line, the next line or a region."""

from bisect import bisect_right
from dataclasses import dataclass

from varlaw.checks.documents.span import Document, Problem, Remark, Span


@dataclass(frozen=True, slots=True)
class Ignoring:
    """Which spans are ignored, and by which remark; what is wrong with the remarks."""

    covered: tuple[tuple[Remark, tuple[Span, ...]], ...]
    problems: tuple[Problem, ...]

    @property
    def spans(self) -> frozenset[Span]:
        """All spans that are ignored."""
        return frozenset(span for _, spans in self.covered for span in spans)

    @property
    def unused(self) -> tuple[Remark, ...]:
        """Remarks that ignore nothing."""
        return tuple(remark for remark, spans in self.covered if not spans)


def ignores(remark: Remark) -> bool:
    """Whether a remark is about ignoring, rather than context."""
    return remark.text.startswith("ignore")


def ignoring(document: Document) -> Ignoring:
    """What the remarks of a document ignore.

    `ignore` holds for its own line, `ignore-next-line` for the next one that is not blank, both for
    each span of which a part stands there; a word after it may say why. A region that is not closed
    ignores nothing, so that a forgotten end excuses no document.
    """
    covered: list[tuple[Remark, tuple[Span, ...]]] = []
    problems: list[Problem] = []
    region: Remark | None = None
    lines = _Lines(document)
    for remark in filter(ignores, document.remarks):
        match remark.text.split(maxsplit=1)[0]:
            case "ignore":
                first, last = document.line(remark.start), document.line(remark.end)
                covered.append((remark, lines.spans(first, last)))
            case "ignore-next-line":
                line = lines.next_line(remark.end)
                covered.append((remark, lines.spans(line, line)))
            case "ignore-start" if region is None:
                region = remark
            case "ignore-start":
                problems.append(Problem("ignore-start inside another", remark.start))
            case "ignore-end" if region is not None:
                covered.append((region, lines.between(region.end, remark.start)))
                region = None
            case "ignore-end":
                problems.append(Problem("ignore-end without its ignore-start", remark.start))
            case unknown:
                message = (
                    f"{unknown!r}: known are ignore, ignore-next-line, ignore-start, ignore-end"
                )
                problems.append(Problem(message, remark.start))
    if region is not None:
        problems.append(
            Problem("ignore-start without its ignore-end: ignores nothing", region.start)
        )
    return Ignoring(tuple(covered), tuple(problems))


class _Lines:
    """The spans of a document by the lines in which they stand."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.starts = [span.start for span in document.spans]

    def spans(self, first: int, last: int) -> tuple[Span, ...]:
        """Those of which a part stands in these lines."""
        starts = self.document.line_starts
        end = starts[last] if last < len(starts) else len(self.document.text) + 1
        return self.between(starts[first - 1], end)

    def between(self, start: int, end: int) -> tuple[Span, ...]:
        """Those of which a part stands between two places; spans do not overlap."""
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = bisect_right(self.starts, end - 1)
        return tuple(span for span in self.document.spans[first:last] if span.end > start)

    def next_line(self, offset: int) -> int:
        """The next line that is not blank after the one in which this stands."""
        text, starts = self.document.text, self.document.line_starts
        for line in range(self.document.line(offset) + 1, len(starts) + 1):
            end = starts[line] if line < len(starts) else len(text)
            if text[starts[line - 1] : end].strip(" \t\r\n>"):
                return line
        return len(starts)
