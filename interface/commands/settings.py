"""What is set for the documents of a command: the nearest configuration, and --context."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from varlaw.checks.documents.configuration import Configuration


@contextmanager
def settings_for(path: str, context: str | None) -> Iterator["Configuration"]:
    """The configuration nearest to a path, with the declarations of the file `context`.

    Within it, what is wrong with settings or documents (ValueError) is a usage error.
    """
    from varlaw.checks.documents.configuration import find_configuration, read_text

    try:
        settings = find_configuration(Path(path if path != "-" else "."))
        if context is not None:
            more = read_text(Path(context))
            settings = replace(settings, context=f"{settings.context}\n{more}".strip())
        yield settings
    except ValueError as error:
        raise click.UsageError(str(error)) from None
