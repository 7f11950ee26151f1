"""The command `varlaw explain`."""

import re
from typing import TYPE_CHECKING

import click

from varlaw.commands.settings import settings_for
from varlaw.console import colour, formats, say, say_json

if TYPE_CHECKING:
    from varlaw.checks.documents.span import Document

PLACE = re.compile(r"(?P<path>.+?)(?::cell (?P<cell>\d+))?:(?P<line>\d+)(?::(?P<column>\d+))?:?")


@click.command("explain")
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option(
    "--context", type=click.Path(), metavar="FILE", help="Declarations that hold in the document."
)
@formats("text", "json")
def explain(place: str, form: str, context: str | None) -> None:
    """Show how the mathematics on a line of a document was read, and why it is judged as it is.

    In a notebook the place is 'FILE:cell 3:2', as `varlaw check` writes it.
    """
    from varlaw import findings as presented
    from varlaw.checks.claims.explaining import Spotted
    from varlaw.checks.claims.explaining import explain as explained
    from varlaw.checks.documents.files import find_files, read_bytes
    from varlaw.checks.documents.reading import read_document

    found = PLACE.fullmatch(place)
    if found is None:
        raise click.UsageError(f"{place!r} is no place: give FILE:LINE or FILE:LINE:COLUMN")
    at = Spotted(**{key: int(found[key]) for key in ("line", "column", "cell") if found[key]})
    with settings_for(found["path"], context) as settings:
        (path,) = find_files([found["path"]])
        parts = read_document(path, read_bytes(path))
        _look_for_cell(parts, at.cell, place)
        explanations, lines = explained(parts, settings, at)
    if not explanations:
        near = sorted(lines, key=lambda line: abs(line - at.line))[:1]
        more = f"; the nearest is on line {near[0]}" if near else ""
        raise click.UsageError(f"{place}: nothing was found there{more}")
    if form == "json":
        say_json(presented.explained_record(str(path), explanations))
    else:
        say(presented.explanations(str(path), explanations, colour()))


def _look_for_cell(parts: "tuple[Document, ...]", cell: int | None, place: str) -> None:
    """Raise a usage error where a notebook has no such cell, or a document has none at all."""
    if any(part.cell == cell for part in parts):
        return
    known = ", ".join(str(part.cell) for part in parts if part.cell is not None)
    told = f"give a cell, of {known}: FILE:cell 3:2" if known else "it has no cells"
    raise click.UsageError(f"{place}: {told}")
