"""The derivations as documents: `varlaw derive`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from varlaw.console import json_text, say, write_file
from varlaw.derivations.catalogue import Law
from varlaw.symbolic.notation import NotationError
from varlaw.symbolic.printers import FORMATS, render


@dataclass(frozen=True)
class Wanted:
    """What a document is to look like; `options` are those of its format."""

    form: str
    rename: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        return FORMATS[self.form].suffix


def form_of(path: str | None, usual: str = "text") -> str:
    """The format whose files end as the path does, else the usual one."""
    suffix = Path(path).suffix.lower() if path else ""
    return next((name for name, known in FORMATS.items() if known.suffix == suffix), usual)


def document(laws: Sequence[Law], wanted: Wanted) -> str:
    """One document that tells the derivations of some laws, ending in one line break.

    Raises a usage error for a rename or a label that the document cannot have.
    """
    accounts = [law.account() for law in laws]
    try:
        made = render(accounts, wanted.form, rename=wanted.rename, **wanted.options)
    except NotationError as error:
        raise click.UsageError(str(error)) from error
    return (made if isinstance(made, str) else json_text(made)).rstrip("\n") + "\n"


def write(laws: Sequence[Law], wanted: Wanted, output: str | None) -> None:
    """Write one document to a file or, without one, to standard output."""
    text = document(laws, wanted)
    if output in (None, "-"):
        say(text.removesuffix("\n"))
    else:
        write_file(Path(output), text)


def write_each(laws: Sequence[Law], wanted: Wanted, folder: str) -> None:
    """Write one file for each law; every text is made before the first one is written."""
    texts = {law.name + wanted.suffix: document([law], wanted) for law in laws}
    try:
        Path(folder).mkdir(exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"cannot make {folder!r}: {error.strerror}") from error
    for name, text in texts.items():
        write_file(Path(folder, name), text)
