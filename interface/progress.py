"""Progress on standard error while something long runs, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]  # what is being done, how much is done, of how much


@contextmanager
def shown_progress() -> Iterator[Progress | None]:
    """A function that shows progress while the context lasts; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("starting", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bars.update(bar, description=what, completed=done, total=total)

        yield progress
