"""The command `varlaw check`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from varlaw.commands.settings import settings_for
from varlaw.console import Exit, colour, formats, say, say_json

if TYPE_CHECKING:
    from varlaw.checks.claims.findings import Findings
    from varlaw.checks.documents.configuration import Configuration


@click.command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@formats("text", "json", "github")
@click.option("--strict", is_flag=True, help="Undecided links, loose ones and problems fail, too.")
@click.option(
    "--context",
    type=click.Path(),
    metavar="FILE",
    help="Declarations that hold in all documents, such as z ~ N(0, 1).",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=2, show_default=True, help="Number of processes."
)
@click.option("-v", "--verbose", is_flag=True, help="Show all links, and what was not read.")
@click.option("--no-cache", is_flag=True, help="Decide everything anew.")
@click.pass_context
def check(
    run: click.Context,
    paths: tuple[str, ...],
    form: str,
    strict: bool,
    context: str | None,
    jobs: int,
    verbose: bool,
    no_cache: bool,
) -> None:
    """Check the claims in documents: Markdown, LaTeX, notebooks, text; folders are walked.

    PATH is a file, a folder, or - for standard input (as Markdown). Nothing in a document is run.
    """
    from varlaw import findings as presented
    from varlaw.checks.documents.files import find_files

    with settings_for(paths[0], context) as settings:
        files = find_files(paths, settings.files, settings.exclude)
        if not files:
            raise ValueError("no document found: .md .tex .ipynb .txt .varlaw are read")
        report = presented.Report(_found(files, settings, jobs, not no_cache))
    strict = strict or settings.strict
    if form == "json":
        say_json(presented.record(report))
    elif form == "github":
        say(presented.annotations(report, strict))
    else:
        shown = ["refuted", "loose"] + ["undecided"] * (strict or verbose)
        shown += ["verified", "not read"] * verbose
        say(presented.text(report, shown, colour()))
    run.exit(_code(report.summary, strict))


def _code(count: dict[str, int], strict: bool) -> Exit:
    if count["refuted"]:
        return Exit.REFUTED
    doubtful = count["loose"] or count["undecided"] or count["problems"]
    return Exit.UNDECIDED if strict and doubtful else Exit.WELL


def _found(
    files: list[Path], settings: "Configuration", jobs: int, keep: bool
) -> "dict[str, Findings]":
    """The findings of each file; those that are kept from an earlier run are not found again."""
    from varlaw.checks.claims.caching import Cache
    from varlaw.checks.documents.files import read_bytes
    from varlaw.checks.documents.reading import read_document

    cache = Cache()
    contents = {path: read_bytes(path) for path in files}
    keys = {path: cache.key(data, path.suffix, settings) for path, data in contents.items()}
    found = {path: cache.get(keys[path]) if keep else None for path in files}
    if missing := [path for path in files if found[path] is None]:
        from varlaw.checks.claims.checking import check
        from varlaw.checks.claims.guarded import warm_up
        from varlaw.checks.documents.clock import Clock

        warm_up()
        documents = [
            read_document(path, contents[path], clock=Clock(settings.reading)) for path in missing
        ]
        for path, findings in zip(missing, check(documents, settings, jobs), strict=True):
            found[path] = findings
            if keep:
                cache.put(keys[path], findings)
    return {str(path): findings for path, findings in found.items() if findings is not None}
