"""The command `varlaw verify`."""

from typing import TYPE_CHECKING, Any

import click

from varlaw.commands.laws import known_law, law_names
from varlaw.commands.running import executor_at, running
from varlaw.console import Exit, colour, complain, formats, pairs, say, say_json, width

if TYPE_CHECKING:
    from varlaw.checks.compiled.backends import Backend


@click.command("verify")
@click.argument("laws", nargs=-1, metavar="[LAW]...", shell_complete=law_names)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    callback=pairs,
    metavar="NAME=VALUE",
    help="Fix a symbol in the experiments, such as m=512; may be repeated.",
)
@running
@click.option(
    "--backend",
    metavar="numpy|torch|cupy|jax",
    help="Measure a second time, compiled from the derivations, on this array library.",
)
@click.option("--device", metavar="NAME", help="Device of the backend, such as cuda:0.")
@click.option(
    "--dtype",
    metavar="float64|float32|float16",
    help="Type of numbers of the backend; float64 unless given. Sums are accumulated in float64.",
)
@click.option(
    "--streams",
    metavar="numpy|own",
    help="Random numbers for the backend: NumPy's, moved to it, or its own generator's.",
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
        known_law(name)
    from varlaw import evidence
    from varlaw.checks.report import LawReport, Report
    from varlaw.derivations.catalogue import entries
    from varlaw.progress import shown_progress

    def present(report: Report) -> None:
        if form == "json":
            say_json(report.to_json())
        else:
            say(evidence.text(report, width(), verbose, colour()), colour())

    backend = _backend(*(options.pop(name) for name in ("backend", "device", "dtype", "streams")))
    wanted = list(dict.fromkeys(laws))
    finished: list[LawReport] = []
    try:
        with shown_progress() as progress, executor_at(options.pop("executor")) as executor:
            report = evidence.verify(
                *wanted,
                progress=progress,
                on_law=finished.append,
                executor=executor,
                backend=backend,
                sufficient=verbose or form == "json",
                **options,
            )
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
    return evidence.exit_code(report.verdict)


def _backend(
    name: str | None, device: str | None, dtype: str | None, streams: str | None
) -> "Backend | None":
    """The backend of compiled measurements, None if there are to be none, or a usage error."""
    if name is None:
        if device or dtype or streams:
            raise click.UsageError("--device, --dtype and --streams go with --backend")
        return None
    from varlaw.checks.compiled.backends import Backend

    try:
        return Backend(name, device or "", dtype or "float64", streams or "numpy")
    except ValueError as error:
        raise click.UsageError(str(error)) from error
