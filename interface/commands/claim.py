"""The command `varlaw claim`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from varlaw.commands.running import measuring
from varlaw.console import Exit, Mathematics, colour, formats, pairs, say, width, write_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlaw.checks.claims.evidence import Evidence


FORMS = ("text", "latex", "markdown", "json")
MOST_CHARACTERS = 1_000_000  # of standard input


@click.command("claim", cls=Mathematics)
@click.argument("text", metavar="TEXT")
@click.option(
    "--context", type=click.Path(), metavar="FILE", help="Declarations that hold for the claims."
)
@click.option("--measure", is_flag=True, help="Measure the expectations by Monte Carlo, too.")
@click.option(
    "--set",
    "values",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Fix a symbol in the measurements, such as m=512; may be repeated.",
)
@measuring
@click.option(
    "--strict",
    is_flag=True,
    help="Loose claims and measurements that confirm nothing fail, too.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show the audit's counter-examples.")
@click.option("-o", "--output", type=click.Path(), metavar="PATH", help="Write to a file.")
@formats(*FORMS, default=None)
@click.pass_context
def claim(
    run: click.Context,
    /,
    text: str,
    form: str | None,
    context: str | None,
    output: str | None,
    strict: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Judge, derive and measure claims, such as 'E[gelu(z)^2] = 0.42522 where z ~ N(0, 1)'.

    TEXT is in the claim language, its statements set apart by ; or lines; - is standard input.
    """
    from varlaw import claims
    from varlaw.checks.claims.declarations.language import numbered, read_statements, separated
    from varlaw.documents import form_of

    if text == "-":
        text = sys.stdin.read(MOST_CHARACTERS + 1)
        if len(text) > MOST_CHARACTERS:
            raise click.UsageError(f"-: more than {MOST_CHARACTERS} characters")
    shared = _declared(context)
    text = separated(text)
    statements = read_statements(text, shared)
    for mistake in statements.mistakes:
        raise click.UsageError(f"{numbered(text, mistake.start)}: {mistake.message}")
    if not statements.claims:
        raise click.UsageError("nothing is claimed: a claim that begins with a name needs 'claim'")
    found = _gathered(statements, text, options)
    usual = form_of(output)
    form = form or (usual if usual in FORMS else "text")
    shown = claims.Shown(form, width() or 100, colour(), verbose)
    written = claims.document(found, shown)
    if output in (None, "-"):
        say(written, colour())
    else:
        write_file(Path(output), written + "\n")
    run.exit(_code(found, strict))


def _declared(context: str | None) -> Any:
    from varlaw.checks.claims.checking import declared
    from varlaw.checks.documents.configuration import Configuration, read_text

    try:
        return declared(Configuration(context=read_text(Path(context)) if context else ""))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _gathered(statements: Any, text: str, options: dict[str, Any]) -> "list[Evidence]":
    from varlaw.checks.claims.evidence import gather
    from varlaw.checks.claims.measured import Settings

    jobs = options.pop("jobs") or os.cpu_count() or 1
    measured = options.pop("measure")
    if options["values"] and not measured:
        raise click.UsageError("--set goes with --measure")
    settings = Settings(jobs=jobs, **options) if measured else None
    try:
        return gather(statements, text, settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _code(found: "Sequence[Evidence]", strict: bool) -> Exit:
    verdicts = {str(one.verdict) for one in found}
    if "refuted" in verdicts:
        return Exit.REFUTED
    open_ends = any(str(m.verdict) != "verified" for one in found for m in one.measured)
    none = any(m.estimate is None for one in found for m in one.measured)
    doubtful = none or (strict and ("loose" in verdicts or open_ends))
    return Exit.UNDECIDED if doubtful or "undecided" in verdicts else Exit.WELL
