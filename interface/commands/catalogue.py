"""The commands `varlaw list` and `varlaw show`."""

import click

from varlaw.commands.laws import found_law, law_names
from varlaw.console import formats, say, say_json, width


@click.command("list")
@formats("text", "json")
def list_laws(form: str) -> None:
    """List the laws, family by family."""
    from varlaw import listing

    if form == "json":
        say_json(listing.list_json())
    else:
        say(repr(listing.laws()))


@click.command("show")
@click.argument("law", shell_complete=law_names)
@click.option("--audit", is_flag=True, help="Audit the assumptions: which of them are needed.")
@formats("text", "json")
def show(law: str, audit: bool, form: str) -> None:
    """Show what a law says, where it holds, and how it is derived."""
    from varlaw import listing

    found = found_law(law)
    if form == "json":
        say_json(listing.show_json(found, audit))
    else:
        say(listing.show_text(found, min(width() or 100, 100), audit))
