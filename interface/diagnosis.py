"""The table of symptoms as text and JSON: `varlaw diagnose`."""

from collections.abc import Sequence
from itertools import groupby
from textwrap import fill
from typing import Any

from varlaw.derivations.diagnosis import SYMPTOMS, Symptom

LABEL = 10


def text(rows: Sequence[Symptom], width: int) -> str:
    """Symptoms by the step at which they are seen; a single one with all that is known of it."""
    if len(rows) == 1:
        return "\n".join(_whole(rows[0], width))
    longest = max(len(row.name) for row in rows)
    lines: list[str] = []
    for when, members in groupby(rows, key=lambda row: row.when):
        lines += ["", when]
        for row in members:
            start = f"  {row.name:{longest}}  "
            lines.append(_filled(start, f"{row.seen} [{', '.join(row.laws)}]", width))
    return "\n".join(lines[1:])


def _whole(row: Symptom, width: int) -> list[str]:
    facts = {
        "seen": f"{row.seen} ({row.when})",
        "cause": row.cause,
        "laws": ", ".join(row.laws),
        "check": row.check,
        "healthy": row.healthy,
        "remedy": row.remedy,
    }
    return [row.name, *(_filled(label.ljust(LABEL), fact, width) for label, fact in facts.items())]


def _filled(start: str, said: str, width: int) -> str:
    rest = " " * len(start)
    return fill(
        start + said, width, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def ordered() -> tuple[Symptom, ...]:
    """All symptoms, those of one step together."""
    return tuple(sorted(SYMPTOMS, key=lambda row: row.when))


def record(rows: Sequence[Symptom]) -> dict[str, Any]:
    """The contract of `varlaw diagnose --json`."""
    described = [
        {
            "name": row.name,
            "when": row.when,
            "seen": row.seen,
            "cause": row.cause,
            "laws": list(row.laws),
            "check": row.check,
            "healthy": row.healthy,
            "remedy": row.remedy,
        }
        for row in rows
    ]
    return {"schema": "varlaw.diagnose", "version": 1, "symptoms": described}
