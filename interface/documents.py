"""The derivations as documents: `varlaw derive`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from varlaw.console import json_text, say, write_file

if TYPE_CHECKING:
    from varlaw.derivations.catalogue import Law

VERSION = 1
SUFFIXES = {"text": ".txt", "latex": ".tex", "markdown": ".md", "json": ".json"}


@dataclass(frozen=True)
class Wanted:
    """What a document is to look like."""

    form: str
    fragment: bool = False
    label: str | None = None
    bib: bool = False
    rename: Mapping[str, str] = field(default_factory=dict)


def form_of(path: str | None) -> str:
    """The format that a file's name asks for: text unless it ends in .tex, .md or .json."""
    suffix = Path(path).suffix.lower() if path else ""
    return next((form for form, known in SUFFIXES.items() if known == suffix), "text")


def write(laws: Sequence["Law"], wanted: Wanted, output: str | None, together: bool) -> None:
    """Write the laws' derivations to a file, to a directory, or to standard output.

    `together` says that `output` is one file. Every text is made before the first one is written.
    """
    if wanted.bib:
        _put(bibliography(laws), output)
    elif together or output is None:
        _put(joined(laws, wanted), output)
    else:
        texts = {law.name + SUFFIXES[wanted.form]: document(law, wanted) for law in laws}
        try:
            Path(output).mkdir(exist_ok=True)
        except OSError as error:
            raise click.ClickException(f"cannot make {output!r}: {error.strerror}") from error
        for name, text in texts.items():
            write_file(Path(output, name), text)


def _put(text: str, output: str | None) -> None:
    if output in (None, "-"):
        say(text.rstrip("\n"))
    else:
        write_file(Path(output), text)


def joined(laws: Sequence["Law"], wanted: Wanted) -> str:
    """One document for one law or for several."""
    if len(laws) == 1:
        return document(laws[0], wanted)
    if wanted.form == "json":
        found = [law.to_json(rename=wanted.rename) for law in laws]
        return json_text({"schema": "varlaw.derivations", "version": VERSION, "laws": found}) + "\n"
    return "\n".join(document(law, wanted) for law in laws)


def document(law: "Law", wanted: Wanted) -> str:
    """The derivation of one law, ending in a line break."""
    match wanted.form:
        case "latex":
            text = law.to_latex(
                standalone=not wanted.fragment, label=wanted.label, rename=wanted.rename
            )
        case "markdown":
            text = law.to_markdown(rename=wanted.rename)
        case "json":
            text = json_text(law.to_json(rename=wanted.rename))
        case _:
            text = law.to_text(rename=wanted.rename)
    return text.rstrip("\n") + "\n"
