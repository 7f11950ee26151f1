"""Names of laws on the command line."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from varlaw.derivations.catalogue import Law


def law_names(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """The names of laws that begin so, for the shell's completion."""
    from varlaw.derivations.catalogue import entries

    return [name for name in entries() if name.startswith(start)]


def known_law(name: str) -> None:
    """A usage error, with the nearest name, unless there is a law called `name`."""
    from varlaw.derivations.catalogue import UnknownLaw, known

    try:
        known(name)
    except UnknownLaw as error:
        raise click.UsageError(str(error)) from error


def found_law(name: str) -> "Law":
    """The law called `name`, or a usage error."""
    from varlaw.derivations.catalogue import find

    known_law(name)
    return find(name)
