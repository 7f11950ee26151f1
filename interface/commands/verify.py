"""The command `varlaw verify`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from varlaw.commands.laws import known_law, law_names
from varlaw.console import Exit, between, colour, complain, formats, pairs, say, say_json, width

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from varlaw.checks.compiled.backends import Backend

CONNECT = 10  # seconds to wait for a scheduler


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
@click.option(
    "--executor",
    metavar="dask://HOST:PORT",
    help="Where to do the work instead: a Dask cluster whose workers have varlaw.",
)
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
@click.option("--resume", is_flag=True, help="Go on with the same run, cut off before its end.")
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
        with shown_progress() as progress, _executor(options.pop("executor")) as executor:
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
    return evidence.exit_code(report)


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


@contextmanager
def _executor(address: str | None) -> Iterator["Executor | None"]:
    """The executor at an address, None for no address, or a usage error."""
    if address is None:
        yield None
        return
    scheme, _, place = address.partition("://")
    if scheme != "dask" or not place:
        raise click.UsageError(f"an executor is given as dask://HOST:PORT, not {address!r}")
    try:
        from distributed import Client
    except ImportError as error:
        raise click.UsageError("a Dask cluster needs: pip install 'varlaw[dask]'") from error
    try:
        client = Client(f"tcp://{place}", timeout=CONNECT)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"no Dask scheduler answers at {place}") from error
    with client:
        yield client.get_executor()
