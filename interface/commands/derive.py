"""The command `varlaw derive`."""

from typing import Any

import click

from varlaw.commands.laws import found_law, law_names
from varlaw.console import formats, pairs


@click.command("derive")
@click.argument("law", required=False, shell_complete=law_names)
@click.option("--all", "everything", is_flag=True, help="Every law of the catalogue.")
@formats("text", "latex", "markdown", "json", default=None)
@click.option("--standalone", is_flag=True, help="LaTeX: a document that compiles (the default).")
@click.option("--fragment", is_flag=True, help="LaTeX: a piece to include in a document.")
@click.option("--label", metavar="LABEL", help="LaTeX: label of the result.")
@click.option("--bib", is_flag=True, help="The sources as BibTeX, instead of the derivation.")
@click.option(
    "--rename",
    multiple=True,
    callback=pairs,
    metavar="A=B",
    help="Write symbol A as B, such as m=n_{in}; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="PATH",
    help="Write to a file; with --all to a directory, one file for each law.",
)
def derive(law: str | None, everything: bool, output: str | None, **options: Any) -> None:
    """Write the derivation of a law, as text, LaTeX, Markdown or JSON."""
    if everything is bool(law):
        raise click.UsageError("give a law or --all, and not both")
    from varlaw import documents
    from varlaw.derivations.catalogue import names

    latex = options["standalone"] or options["fragment"] or options["label"]
    usual = documents.form_of(output, "latex" if latex else "text")
    form = "bib" if options["bib"] else options["form"] or usual
    wanted = documents.Wanted(form, options["rename"], _latex_options(form, options))
    found = [found_law(name) for name in (names() if law is None else [law])]
    if everything and output not in (None, "-") and form != "bib":
        documents.write_each(found, wanted, output)
    else:
        documents.write(found, wanted, output)


def _latex_options(form: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options of LaTeX, after a look at which options go together."""
    if given["bib"] and given["form"]:
        raise click.UsageError("'--bib' and '--format' exclude one another")
    if given["standalone"] and given["fragment"]:
        raise click.UsageError("'--standalone' and '--fragment' exclude one another")
    for name in ("standalone", "fragment", "label"):
        if given[name] and form != "latex":
            raise click.UsageError(f"'--{name}' is for '--format latex'")
    if form != "latex":
        return {}
    return {"standalone": not given["fragment"], "label": given["label"]}
