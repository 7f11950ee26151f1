"""The catalogue as a person sees it: `varlaw.laws()`, `varlaw list` and `varlaw show`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any, overload

from varlaw.derivations.catalogue import Entry, entries, find

if TYPE_CHECKING:
    from varlaw.checks.report import AssumptionReport
    from varlaw.derivations.catalogue import Law

VERSION = 1
LABEL = 9  # width of the labels, as in the derivation's text


class Catalogue(Sequence[Entry]):
    """The laws, one entry each: name, family, title, regime, sources; a table in a notebook."""

    def __init__(self, listed: Iterable[Entry]) -> None:
        self._entries = tuple(listed)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> "Catalogue": ...
    def __getitem__(self, place: int | slice) -> "Entry | Catalogue":
        found = self._entries[place]
        return found if isinstance(found, Entry) else Catalogue(found)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        width = max((len(entry.name) for entry in self), default=0)
        lines = []
        for family, members in groupby(self, key=lambda entry: entry.family):
            lines += ["", family]
            lines += [f"  {entry.name:{width}}  {entry.title}" for entry in members]
        return "\n".join(lines[1:])

    def _repr_html_(self) -> str:
        from html import escape

        columns = ("name", "family", "title", "regime")
        head = "".join(f"<th>{column}</th>" for column in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(getattr(entry, c))}</td>" for c in columns) + "</tr>"
            for entry in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def laws() -> Catalogue:
    """The catalogue of laws, family by family; reads the sources only, derives nothing.

    >>> "attention-qk" in [entry.name for entry in laws() if entry.family == "attention"]
    True
    """
    return Catalogue(sorted(entries().values(), key=lambda entry: entry.family))


def list_json() -> dict[str, Any]:
    """The contract of `varlaw list --json`."""
    described = [_described(find(entry.name)) for entry in laws()]
    return {"schema": "varlaw.list", "version": VERSION, "laws": described}


def _described(law: "Law") -> dict[str, Any]:
    return {
        "name": law.name,
        "family": law.entry.family,
        "title": law.entry.title,
        "statement": law.statement_text,
        "regime": law.entry.regime,
        "assumptions": [str(assumption) for assumption in law.declared],
        "sources": list(law.entry.sources),
        "pitfalls": [
            {"telling": telling, "right": right, "number": number}
            for telling, right, number in law.entry.pitfalls
        ],
    }


def show_json(law: "Law", audit: bool = False) -> dict[str, Any]:
    """The contract of `varlaw show LAW --json`."""
    shown = _described(law) | {
        "used": [str(a) for a in sorted(law.derivation.assumptions)],
        "without": [str(a) for a in law.usual],
        "rests_on": list(law.entry.rests_on),
        "note": law.entry.note,
        "steps": len(law.derivation.steps),
    }
    if audit:
        shown["audit"] = [asdict(answer) for answer in _audit(law)]
    return {"schema": "varlaw.show", "version": VERSION, "law": shown}


def show_text(law: "Law", width: int, audit: bool = False) -> str:
    """What is known of a law before it is verified: its derivation and its place among others."""
    used = law.derivation.assumptions
    rows = {
        "family": law.entry.family,
        "unused": "; ".join(str(a) for a in law.declared if a not in used),
        "without": "; ".join(str(a) for a in law.usual),
        "rests on": ", ".join(law.entry.rests_on),
    }
    shown = [_labelled(label, text, width) for label, text in rows.items() if text]
    for telling, right, number in law.entry.pitfalls:
        shown.append(_labelled("pitfall", f"the telling: {telling}", width))
        shown.append(_labelled("", f"what is right: {right} ({number})", width))
    if audit:
        from varlaw.evidence import answered

        shown += [_labelled("audit", answered(answer), width) for answer in _audit(law)]
    return "\n".join([law.to_text(width=width), *shown])


def _audit(law: "Law") -> Sequence["AssumptionReport"]:
    from varlaw.checks.audit import inherited

    return inherited(law)


def _labelled(label: str, text: str, width: int) -> str:
    from textwrap import fill

    start, rest = label.ljust(LABEL), " " * LABEL
    return fill(
        start + text, width, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
