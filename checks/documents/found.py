"""What is found in one document while it is read, and when that has to end."""

import re
from dataclasses import dataclass, field

from varlaw.checks.documents.clock import LATE, Clock
from varlaw.checks.documents.span import Kind, Problem, Remark, Span
from varlaw.checks.documents.stretch import Stretch

MOST_PROBLEMS = 100
MOST_SPANS = 20_000
LONGEST_SPAN = 20_000  # characters
BLOCKS, FINDING = 1 / 3, 2 / 3  # of its time, for blocks of text, and for formulas in them
AT_LEAST = 0.1  # of its time, for formulas where the blocks took more
_VARLAW = re.compile(r"\s*varlaw\s*:", re.IGNORECASE)


@dataclass
class Found:
    """What is found so far in one document; only the first problems are kept, all are counted."""

    spans: list[Span] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    macros: list[str] = field(default_factory=list)
    unreported: int = 0
    prose: list[tuple[Stretch, list[tuple[int, int]]]] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)
    room: int = MOST_SPANS
    full: bool = False
    late: bool = False
    until: float | None = None  # when finding formulas has to end

    def is_full(self, start: int) -> bool:
        """Whether no more formulas are to be found: there are too many, or it takes too long."""
        if not self.full and len(self.spans) >= self.room:
            self._stop(f"more than {MOST_SPANS} formulas", start)
            self.full = True
        elif not self.full and self._is_over():
            self._stop(f"finding formulas {LATE}", start)
            self.full = True
        return self.full

    def _is_over(self) -> bool:
        """Whether the time for formulas is over, of which some is left however long blocks took."""
        spent = self.clock.spent
        if self.until is None:
            self.until = max(FINDING * self.clock.seconds, spent + AT_LEAST * self.clock.seconds)
        return spent > self.until

    def is_late(self, start: int) -> bool:
        """Whether no more blocks of text are to be found, since that takes too long."""
        if not self.late and self.clock.over(BLOCKS):
            told = f"finding blocks of text {LATE}: what follows is read without them"
            self.problems.append(Problem(told, start))
            self.late = True
        return self.late

    def _stop(self, why: str, start: int) -> None:
        self.problems.append(Problem(f"{why}: what follows is not read", start))

    def problem(self, message: str, start: int) -> None:
        """Note what could not be read."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(message, start))
        else:
            self.unreported += 1

    def remark(self, comment: str, start: int, end: int) -> None:
        """Note a comment, its own marks taken off, if it is addressed to us."""
        if us := _VARLAW.match(comment):
            self.remarks.append(Remark(comment[us.end() :].strip(), start, end))


def add_span(
    found: Found,
    inner: Stretch,
    kind: Kind,
    outer: Stretch,
    whole: tuple[int, int],
    environment: str = "",
) -> None:
    """Note a span, unless it is empty."""
    if len(inner.text) > LONGEST_SPAN and kind is not Kind.BLOCK:
        told = f"a formula of {len(inner.text)} characters; at most {LONGEST_SPAN}: not read"
        found.problem(told, outer.at(whole[0]))
    elif inner.text.strip():
        offsets = inner.offsets(0, len(inner.text))
        start, end = outer.at(whole[0]), outer.after(whole[1])
        found.spans.append(Span(kind, inner.text, offsets, environment, start, end))
