"""The command `varlaw`. Each command imports what it needs when it runs: help starts at once."""

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from varlaw.cli_kernel import gaussian_kernel
from varlaw.console import (
    Exit,
    Manners,
    Mathematics,
    between,
    complain,
    formats,
    pairs,
    say,
    say_json,
)

if TYPE_CHECKING:
    from varlaw.derivations.catalogue import Law


@click.group(
    cls=Manners,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="varlaw", message="%(prog)s %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Derive the variance laws of neural networks, prove each step, measure each law.

    Exit codes: 0 all well, 1 something refuted, 2 usage or internal error, 3 something undecided,
    130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(Exit.ERROR)


def _laws(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    """The names of laws that begin so, for the shell's completion."""
    from varlaw.derivations.catalogue import entries

    return [name for name in entries() if name.startswith(start)]


def _known(name: str) -> None:
    """A usage error, with the nearest name, unless there is a law called `name`."""
    from varlaw.derivations.catalogue import UnknownLaw, known

    try:
        known(name)
    except UnknownLaw as error:
        raise click.UsageError(str(error)) from error


def _find(name: str) -> "Law":
    """The law called `name`, or a usage error."""
    from varlaw.derivations.catalogue import find

    _known(name)
    return find(name)


@main.command("list")
@formats("text", "json")
def list_laws(form: str) -> None:
    """List the laws, family by family."""
    from varlaw import listing

    if form == "json":
        say_json(listing.list_json())
    else:
        say(repr(listing.laws()))


@main.command()
@click.argument("law", shell_complete=_laws)
@click.option("--audit", is_flag=True, help="Audit the assumptions: which of them are needed.")
@formats("text", "json")
def show(law: str, audit: bool, form: str) -> None:
    """Show what a law says, where it holds, and how it is derived."""
    from varlaw import listing

    found = _find(law)
    if form == "json":
        say_json(listing.show_json(found, audit))
    else:
        say(listing.show_text(found, min(_width() or 100, 100), audit))


@main.command()
@click.argument("law", required=False, shell_complete=_laws)
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
    from varlaw.derivations.catalogue import entries

    latex = options["standalone"] or options["fragment"] or options["label"]
    usual = documents.form_of(output, "latex" if latex else "text")
    form = "bib" if options["bib"] else options["form"] or usual
    wanted = documents.Wanted(form, options["rename"], _latex_options(form, options))
    found = [_find(name) for name in (entries() if law is None else [law])]
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


@main.command()
@click.argument("laws", nargs=-1, metavar="[LAW]...", shell_complete=_laws)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Fix a symbol in the experiments, such as m=512; may be repeated.",
)
@click.option(
    "--tolerance",
    type=float,
    callback=between(0, 1),
    default=0.01,
    show_default=True,
    metavar="NUMBER",
    help="Relative error within which a law has to be confirmed.",
)
@click.option(
    "--error-rate",
    type=float,
    callback=between(0, 0.5),
    default=1e-6,
    show_default=True,
    metavar="NUMBER",
    help="Probability of a wrong verdict, for the whole run.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the experiments.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    show_default="one per processor",
    help="Number of processes; the results do not depend on it.",
)
@click.option("--steps-only", is_flag=True, help="Prove the steps, measure nothing.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show the steps, the audit's counter-examples, every measurement.",
)
@formats("text", "json")
def verify(laws: tuple[str, ...], form: str, verbose: bool, **options: Any) -> Exit:
    """Gather all evidence on some laws, or on all: steps proved, assumptions audited, measured."""
    for name in laws:
        _known(name)
    from varlaw import evidence
    from varlaw.checks.report import LawReport, Report
    from varlaw.derivations.catalogue import entries
    from varlaw.progress import shown_progress

    def present(report: Report) -> None:
        if form == "json":
            say_json(report.to_json())
        else:
            say(evidence.text(report, _width(), verbose, _colour()), _colour())

    wanted = list(dict.fromkeys(laws))
    finished: list[LawReport] = []
    try:
        with shown_progress() as progress:
            report = evidence.verify(*wanted, progress=progress, on_law=finished.append, **options)
    except BaseException as error:
        if isinstance(error, ValueError) and not finished:
            raise click.UsageError(str(error)) from error
        order = [name for name in entries() if name in (wanted or entries())]
        done = tuple(sorted(finished, key=lambda law: order.index(law.name)))
        if done or isinstance(error, KeyboardInterrupt):  # what is finished is not lost
            complain(f"stopped after {len(done)} of {len(order)} laws")
            present(Report(done, options["error_rate"], options["seed"]))
        raise
    present(report)
    return evidence.exit_code(report)


@main.command("moment", cls=Mathematics)
@click.argument("expression", metavar="EXPR")
@click.option("--mean", default="0", show_default=True, metavar="M", help="Mean of the variable.")
@click.option(
    "--variance", default="1", show_default=True, metavar="V", help="Its variance, not its std."
)
@click.option("--given", metavar="CONDITION", help="A condition, such as 'x > 0' or 'a < x < b'.")
@click.option("--variable", metavar="NAME", help="The variable, where it is not x.")
@click.option(
    "--positive", multiple=True, metavar="NAME", help="A positive parameter; may be repeated."
)
@click.option(
    "--digits",
    type=click.IntRange(1, 100_000),
    default=15,
    show_default=True,
    help="Significant digits, all of them proved.",
)
@click.option(
    "--steps", is_flag=True, help="Show how the closed form is derived, each step checked."
)
@formats("text", "latex", "json")
def gaussian_moment(expression: str, form: str, **options: Any) -> None:
    """The mean of a function of a Gaussian variable: exactly where possible, and proved digits.

    EXPR is such as 'gelu(x)^2', 'x*Phi(x)', 'max(x, 0)', or LaTeX.
    """
    from varlaw import moments

    found = moments.answer(expression, **options)
    if form == "json":
        say_json(moments.record(found))
    else:
        say(
            moments.latex(found)
            if form == "latex"
            else moments.text(found, min(_width() or 100, 100))
        )


@main.command("gain")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Every activation of the table.")
@click.option("--expr", "expression", metavar="EXPR", help="A function instead of a name.")
@click.option("--mean", default="0", show_default=True, metavar="M", help="Mean of its argument.")
@click.option(
    "--variance", default="1", show_default=True, metavar="V", help="Its variance, not its std."
)
@click.option(
    "--digits",
    type=click.IntRange(1, 100_000),
    show_default="15; 8 with --all",
    help="Significant digits, all of them proved.",
)
@formats("text", "latex", "json")
def activation_gain(
    name: str | None, everything: bool, expression: str | None, form: str, **options: Any
) -> None:
    """The gains of an activation: factors of its output that keep a moment, forward or backward.

    Also where the variances of a deep network settle, and what libraries publish. NAME is such as
    'gelu', EXPR such as 'leaky_relu(x, 1/5)'.
    """
    if (name is not None) + everything + (expression is not None) != 1:
        raise click.UsageError("give one of a name, --expr and --all")
    from varlaw import gains

    options["digits"] = digits = options["digits"] or (8 if everything else 15)
    if everything:
        answers = gains.everything(**options)
    else:
        answers = [gains.answer(name, expression, **options)]
    if form == "json":
        say_json(gains.record(answers, digits))
    elif form == "latex":
        say("\n\n".join(gains.latex(found, digits) for found in answers))
    elif everything:
        say(gains.all_text(answers, digits))
    else:
        say(gains.text(answers[0], digits, _width()))


def _width() -> int | None:
    """The width of the terminal; None where standard output is none."""
    from shutil import get_terminal_size

    return get_terminal_size().columns if sys.stdout.isatty() else None


def _colour() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


main.add_command(gaussian_kernel)
