"""The options of commands that run experiments."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from varlaw.console import Command, between

if TYPE_CHECKING:
    from concurrent.futures import Executor

CONNECT = 10  # seconds to wait for a scheduler


def at_least_one(context: click.Context, option: click.Parameter, value: float) -> int:
    """A number of things, in whatever way it is written. Raises BadParameter."""
    if not 1 <= value < 1e18:
        raise click.BadParameter(f"a number from 1 to 1e18, not {value:g}")
    return int(value)


def measurement(what: str, tolerance: float, budget: int | str, words: str) -> tuple[Command, ...]:
    """The options that every measurement has, with a command's defaults and words."""
    return (
        click.option(
            "--tolerance",
            type=float,
            callback=between(0, 1),
            default=tolerance,
            show_default=True,
            metavar="NUMBER",
            help=f"Relative error within which {what} has to be confirmed.",
        ),
        click.option(
            "--error-rate",
            type=float,
            callback=between(0, 0.5),
            default=1e-6,
            show_default=True,
            metavar="NUMBER",
            help="Probability of a wrong verdict, for the whole run.",
        ),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of the measurements.",
        ),
        click.option(
            "--budget",
            type=float,
            callback=at_least_one,
            default=budget,
            show_default=True,
            metavar="NUMBER",
            help=words,
        ),
    )


MEASURING = (
    *measurement(
        "a law",
        0.01,
        2684354560,
        "Random numbers that one measurement may be planned with, such as 1e10.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        show_default="one per processor",
        help="Number of processes; the results do not depend on it.",
    ),
)
SIMULATING = measurement("a moment", 0.05, "1e9", "Random numbers of a simulation.")
OPTIONS = (
    *MEASURING,
    click.option(
        "--executor",
        metavar="dask://HOST:PORT",
        help="Where to do the work instead: a Dask cluster whose workers have varlaw.",
    ),
    click.option("--resume", is_flag=True, help="Go on with the same run, cut off before its end."),
)


def running(command: Command) -> Command:
    """Give a command the options of a run."""
    return _with(OPTIONS, command)


def measuring(command: Command) -> Command:
    """Give a command the options of measurements."""
    return _with(MEASURING, command)


def simulating(command: Command) -> Command:
    """Give a command the options of a simulation of blocks."""
    return _with(SIMULATING, command)


def _with(options: Sequence[Command], command: Command) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


@contextmanager
def executor_at(address: str | None) -> Iterator["Executor | None"]:
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
