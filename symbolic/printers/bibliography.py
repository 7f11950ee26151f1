"""Sources: a small reader of BibTeX, and references as text."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^,\s]+)\s*,(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_ACCENT = re.compile(r"\{?\\([\"'`^~])\{?(\w)\}?\}?")
_COMBINING = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303"}


class BibliographyError(ValueError):
    """A bibliography cannot be read, or lacks a source."""


@dataclass(frozen=True)
class Source:
    """One entry of a bibliography: its key, kind, fields and its text as it stands in the file."""

    key: str
    kind: str
    fields: Mapping[str, str]
    bibtex: str

    @property
    def authors(self) -> list[str]:
        """The authors as "First Last", in the file's spelling."""
        names = re.split(r"\s+and\s+", self.fields["author"])
        return [" ".join(reversed(re.split(r"\s*,\s*", name, maxsplit=1))) for name in names]

    @property
    def reference(self) -> str:
        """Authors (year). Title. Venue. In LaTeX, as the file spells it."""
        *first, last = self.authors
        names = f"{', '.join(first)} and {last}" if first else last
        venue = next(
            (self.fields[f] for f in ("journal", "booktitle", "howpublished") if f in self.fields),
            "",
        )
        details = [venue, self.fields.get("note", "")]
        return (
            ". ".join(
                [f"{names} ({self.fields['year']})", self.fields["title"], *filter(None, details)]
            )
            + "."
        )

    @property
    def text(self) -> str:
        """The reference in plain letters."""
        return plain(self.reference)


def read_bibliography(text: str) -> dict[str, Source]:
    """The entries of a BibTeX file by key. Raises BibliographyError for one without the basics."""
    found: dict[str, Source] = {}
    for match in _ENTRY.finditer(text):
        kind, key, body = match.groups()
        fields = {name.lower(): " ".join(value.split()) for name, value in _FIELD.findall(body)}
        missing = {"author", "title", "year"} - fields.keys()
        if missing or key in found:
            problem = f"lacks {', '.join(sorted(missing))}" if missing else "is there twice"
            raise BibliographyError(f"source {key!r} {problem}")
        found[key] = Source(key, kind.lower(), fields, match.group(0).strip())
    if len(found) != text.count("\n@") + text.startswith("@"):
        raise BibliographyError(
            "an entry of the bibliography is not closed by a brace on its own line"
        )
    return found


def plain(text: str) -> str:
    """BibTeX's spelling of letters as letters, without its braces."""
    text = _ACCENT.sub(
        lambda m: unicodedata.normalize("NFC", m.group(2) + _COMBINING[m.group(1)]), text
    )
    text = re.sub(r"\{?\\L\}?", "Ł", text).replace("--", "–").replace("~", " ").replace(r"\&", "&")
    return re.sub(r"\\url\{([^{}]*)\}", r"\1", text).replace("{", "").replace("}", "")
