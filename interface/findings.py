"""What `varlaw check` found, as text, as JSON and as annotations of GitHub."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from varlaw.checks.claims.findings import Findings, Link, Note, Spot
from varlaw.columns import columns, printable
from varlaw.evidence import plural

if TYPE_CHECKING:
    from varlaw.checks.claims.explaining import Explanation

SCHEMA = "varlaw.check"
VERSION = 1
COLOURS = {"verified": "green", "loose": "yellow", "refuted": "red", "undecided": "yellow"}
ORDER = ("refuted", "loose", "undecided", "verified")
BEFORE = 40  # characters of a long line that are shown before the place


@dataclass(frozen=True)
class Report:
    """The findings of documents by path, in order."""

    found: Mapping[str, Findings]

    def links(self, *verdicts: str) -> Iterator[tuple[str, Link]]:
        """Links with one of these verdicts, document by document."""
        for path, findings in self.found.items():
            for link in findings.links:
                if link.verdict in verdicts:
                    yield path, link

    def count(self, verdict: str) -> int:
        return sum(1 for _ in self.links(verdict))

    @property
    def summary(self) -> dict[str, int]:
        """How many there are of everything."""
        all_found = self.found.values()
        return {
            "files": len(self.found),
            "spans": sum(one.spans for one in all_found),
            "links": sum(len(one.links) + one.no_claims for one in all_found),
            **{verdict: self.count(verdict) for verdict in ("verified", *ORDER[:3])},
            "not_claims": sum(one.no_claims for one in all_found),
            "not_read": sum(len(one.unread) for one in all_found),
            "ignored": sum(one.ignored for one in all_found),
            "problems": sum(len(one.problems) for one in all_found),
        }


def text(report: Report, shown: Iterable[str], colour: bool = False) -> str:
    """What is wrong, each with its line and the place underlined; at the end a line of counts.

    `shown` are the verdicts to show, and "not read" for spans that were not.
    """
    chosen = tuple(shown)
    parts = []
    for path, findings in report.found.items():
        parts += [
            _entry(path, note.spot, "problem", note.message, colour) for note in findings.problems
        ]
        parts += [_link(path, link, colour) for link in findings.links if link.verdict in chosen]
        if "not read" in chosen:
            parts += [
                _entry(path, note.spot, "not read", note.message, colour)
                for note in findings.unread
            ]
    last = last_line(report)
    if report.count("undecided") and "undecided" not in chosen:
        last += "\nundecided: --verbose shows them, `varlaw explain FILE:LINE` says what would help"
    return "\n".join([*parts, last])


def last_line(report: Report) -> str:
    """The counts in words."""
    count = report.summary
    told = [
        f"{count['verified']} verified",
        f"{count['loose']} loose",
        f"{count['refuted']} refuted",
        f"{count['undecided']} undecided",
        f"{count['not_claims']} no claims",
    ]
    rest = [
        plural(count["not_read"], "span") + " not read" if count["not_read"] else "",
        f"{count['ignored']} ignored" if count["ignored"] else "",
        plural(count["problems"], "problem") if count["problems"] else "",
    ]
    head = f"{plural(count['files'], 'file')}, {plural(count['spans'], 'span')}"
    links = f"{plural(count['links'], 'link')}: {', '.join(told)}"
    return "; ".join([f"{head}, {links}", *filter(None, rest)])


def _link(path: str, link: Link, colour: bool) -> str:
    return _entry(path, link.spot, link.verdict, explained(link), colour)


def explained(link: Link) -> str:
    """Why a link has its verdict, in one line."""
    value = f"it is {link.value}" if link.value else ""
    return "; ".join(filter(None, (value, link.reason)))


def _entry(path: str, spot: Spot, title: str, message: str, colour: bool) -> str:
    head = click.style(title, fg=COLOURS.get(title, "yellow"), bold=True) if colour else title
    line, mark = _underlined(spot)
    where = printable(place(path, spot))
    shown = f"\n    {line}\n    {mark}" if line.strip() else ""
    told = f": {printable(message)}" if message else ""
    return f"{where}: {head}{told}{shown}"


def place(path: str, spot: Spot) -> str:
    """Such as doc.md:3:14, or notes.ipynb:cell 2:3:14."""
    inside = f"cell {spot.cell}:" if spot.cell is not None else ""
    return f"{path}:{inside}{spot.line}:{spot.column}"


def _underlined(spot: Spot) -> tuple[str, str]:
    """The line, cut to about the width of a terminal, and carets below the place."""
    start = spot.column - 1
    end = spot.end_column - 1 if spot.end_line == spot.line else len(spot.shown)
    first = max(start - BEFORE, 0) if len(spot.shown) > 90 else 0
    shown = printable(spot.shown[first : first + 90])
    if first:
        shown = "..." + shown[3:]
    if first + 90 < len(spot.shown):
        shown = shown[:-3] + "..."
    before, below = shown[: start - first], shown[start - first : end - first]
    return shown, " " * columns(before) + "^" * max(columns(below), 1)


def explanations(path: str, found: "Sequence[Explanation]", colour: bool = False) -> str:
    """What `varlaw explain` says: each stretch with its place, and the facts about it."""
    parts = []
    for one in found:
        line = _entry(path, one.spot, one.title, one.text, colour)
        parts.append("\n".join([line, *(f"  {title}: {told}" for title, told in one.facts)]))
    return "\n\n".join(parts)


def explained_record(path: str, found: "Sequence[Explanation]") -> dict[str, Any]:
    """The same as JSON."""
    return {
        "schema": "varlaw.explain",
        "version": 1,
        "path": path,
        "found": [
            {
                **_stretch(one.spot),
                "text": one.text or None,
                "status": one.title,
                "facts": [{"title": title, "text": told} for title, told in one.facts],
            }
            for one in found
        ],
    }


def record(report: Report) -> dict[str, Any]:
    """As JSON: one entry for each link that was decided, or would have to be."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "links": [
            {
                "path": path,
                **_stretch(link.spot),
                "text": link.text,
                "relation": link.relation,
                "verdict": link.verdict,
                "value": link.value or None,
                "reason": link.reason,
                "rule": link.rule or None,
            }
            for path, findings in report.found.items()
            for link in findings.links
        ],
        "problems": [
            {"path": path, **_stretch(note.spot), "message": note.message}
            for path, findings in report.found.items()
            for note in findings.problems
        ],
        "summary": report.summary,
    }


def _stretch(spot: Spot) -> dict[str, int | None]:
    return {
        "cell": spot.cell,
        "line": spot.line,
        "column": spot.column,
        "end_line": spot.end_line,
        "end_column": spot.end_column,
    }


def annotations(report: Report, strict: bool) -> str:
    """Workflow commands that GitHub shows beside the lines; the refuted first, as it shows ten."""
    lines = [_annotation("error", path, link) for path, link in report.links("refuted")]
    kind = "error" if strict else "warning"
    lines += [_annotation(kind, path, link) for path, link in report.links("loose")]
    if strict:
        lines += [_annotation("error", path, link) for path, link in report.links("undecided")]
    for path, findings in report.found.items():
        lines += [
            _command("error" if strict else "warning", path, note.spot, "problem", note)
            for note in findings.problems
        ]
    return "\n".join([*lines, last_line(report)])


def _annotation(kind: str, path: str, link: Link) -> str:
    note = Note(link.spot, f"{link.text}: {explained(link)}")
    return _command(kind, path, link.spot, link.verdict, note)


def _command(kind: str, path: str, spot: Spot, title: str, note: Note) -> str:
    """One workflow command. Of a notebook GitHub shows the file, and the message says the cell."""
    message = note.message
    where = {"file": path, "title": title}
    if spot.cell is None:
        where |= {"line": str(spot.line), "endLine": str(spot.end_line), "col": str(spot.column)}
        if spot.line == spot.end_line:
            where["endColumn"] = str(spot.end_column)
    else:
        message = f"cell {spot.cell}:{spot.line}:{spot.column}: {message}"
    told = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in where.items())
    return f"::{kind} {told}::{_escaped(message)}"


def _escaped(value: str, more: str = "") -> str:
    for sign in "%\r\n" + more:
        value = value.replace(sign, f"%{ord(sign):02X}")
    return value
