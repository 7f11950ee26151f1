"""The command `varlaw sweep`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from varlaw.commands.laws import known_law, law_names
from varlaw.commands.running import executor_at, running
from varlaw.console import Exit, colour, complain, formats, pairs, say, width, write_file

if TYPE_CHECKING:
    from varlaw.checks.sweep import Reading, Sweep


@click.command("sweep")
@click.argument("law", shell_complete=law_names)
@click.option(
    "--set",
    "grid",
    multiple=True,
    callback=pairs,
    metavar="NAME=GRID",
    help="Values of a parameter, such as m=64:1024:x2, d=8,16 or l=1:100:log9; may be repeated.",
)
@running
@click.option("--plot", type=click.Path(), metavar="PATH", help="Draw a .png, .svg or .pdf.")
@click.option("-o", "--output", type=click.Path(), metavar="PATH", help="Write to a file.")
@formats("text", "csv", "jsonl", default=None, json="jsonl")
def sweep(
    law: str,
    grid: dict[str, str],
    form: str | None,
    plot: str | None,
    output: str | None,
    **options: Any,
) -> Exit:
    """Measure a law over a grid of parameters: a table, CSV, JSON lines, a picture.

    GRID is a value, a list such as 64,128,1024, or a range: 64:512:+64 adds, 64:65536:x2
    multiplies, 1:1000:log20 is 20 values evenly spaced in their logarithm, 1:2:lin10 ten values
    evenly spaced. Dimensions are rounded to whole numbers.
    """
    known_law(law)
    from varlaw import evidence
    from varlaw.checks.sweep import Sweep, axes
    from varlaw.checks.sweep import sweep as measured
    from varlaw.derivations.catalogue import find
    from varlaw.progress import shown_progress

    try:
        found = axes(law, grid)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    _can_be_written(plot, output)
    finished: dict[int, Reading] = {}
    try:
        with shown_progress() as progress, executor_at(options.pop("executor")) as executor:
            whole = measured(
                law,
                grid,
                progress=progress,
                on_reading=finished.__setitem__,
                executor=executor,
                **options,
            )
    except BaseException as error:
        if isinstance(error, ValueError) and not finished:
            raise click.UsageError(str(error)) from error
        complain(f"stopped after {len(finished)} measurements; --resume goes on")
        done = tuple(finished[place] for place in sorted(finished))
        settings = (options[name] for name in ("tolerance", "error_rate", "seed"))
        _present(Sweep(law, find(law).statement_text, found, done, *settings), form, plot, output)
        raise
    _present(whole, form, plot, output)
    return evidence.exit_code(whole.verdict)


def _can_be_written(plot: str | None, output: str | None) -> None:
    """Usage errors that are better known before hours of work than after."""
    if plot is not None:
        from varlaw.sweep_plot import check

        check(plot)
    for path in (plot, output):
        if path not in (None, "-") and not Path(path).resolve().parent.is_dir():
            raise click.UsageError(f"cannot write {path!r}: there is no such folder; make it first")


def _present(sweep: "Sweep", form: str | None, plot: str | None, output: str | None) -> None:
    from varlaw import sweeps

    form = form or sweeps.form_of(output)
    if output in (None, "-"):
        say(sweeps.document(sweep, form, width(), colour()), colour())
    else:
        write_file(Path(output), sweeps.document(sweep, form) + "\n")
    if plot is not None and sweep.readings:
        from varlaw.sweep_plot import picture

        write_file(Path(plot), picture(sweep, Path(plot).suffix))
