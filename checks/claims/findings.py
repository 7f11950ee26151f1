"""What is found in a document, as plain data: to be printed, written as JSON, and kept."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Spot:
    """A stretch of a document; lines and columns from 1; `cell` is that of a notebook.

    `shown` is the line in which it begins.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None
    shown: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a chain of relations that was decided, or would have to be."""

    spot: Spot
    text: str
    relation: str
    verdict: str
    value: str
    reason: str
    rule: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a document that is no claim: an opener without its closer, a comment."""

    spot: Spot
    message: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All of one document.

    `spans` counts its pieces of mathematics, those that are ignored included; `unread` says of some
    why they were not read; `no_claims` counts links that claim nothing.
    """

    links: tuple[Link, ...] = ()
    problems: tuple[Note, ...] = ()
    unread: tuple[Note, ...] = ()
    spans: int = 0
    ignored: int = 0
    no_claims: int = 0

    def joined(self, other: "Findings") -> "Findings":
        """Both, as of two cells of one notebook."""
        return Findings(
            self.links + other.links,
            self.problems + other.problems,
            self.unread + other.unread,
            self.spans + other.spans,
            self.ignored + other.ignored,
            self.no_claims + other.no_claims,
        )

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def findings_of(record: Mapping[str, Any]) -> Findings:
    """The inverse of `Findings.record`. Raises TypeError or KeyError for anything else."""
    return Findings(
        tuple(Link(**{**link, "spot": Spot(**link["spot"])}) for link in record["links"]),
        _notes(record["problems"]),
        _notes(record["unread"]),
        int(record["spans"]),
        int(record["ignored"]),
        int(record["no_claims"]),
    )


def _notes(records: Any) -> tuple[Note, ...]:
    return tuple(Note(Spot(**note["spot"]), note["message"]) for note in records)
