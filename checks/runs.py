"""Carrying out a run: pieces of work on processes or an executor, kept in a journal."""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from varlaw.checks.executors import Work
from varlaw.checks.executors import results as done_by
from varlaw.checks.journal import Journal, folder
from varlaw.checks.report import Measurement

DIED = "the process that worked on it died again and again"


class Piece(Protocol):
    """What is done by itself: `key` is its name in the journal."""

    @property
    def key(self) -> str: ...

    def work(self, journal: Journal | None) -> Work: ...


def begun(fingerprint: str, resume: bool) -> Journal | None:
    """The journal of a run; an earlier one of the same run is gone on with, or begun anew.

    None where the cache cannot be written. Raises ValueError where there is nothing to resume.
    """
    path = folder() / f"{fingerprint}.sqlite"
    if resume and not path.exists():
        raise ValueError(
            "there is nothing to resume: no run with these laws and settings was cut off"
        )
    try:
        if not resume:
            Journal(path).close()
        return Journal(path)
    except OSError:
        return None


@contextmanager
def carried_out(
    pieces: Sequence[Piece], journal: Journal | None, jobs: int | None, executor: Executor | None
) -> Iterator[Iterator[tuple[int, Any]]]:
    """(position, result) of all pieces: those of the journal first, the others as they are ready.

    `jobs` is the number of processes, None for one per core.
    """
    known = {k: journal.result(piece.key) for k, piece in enumerate(pieces)} if journal else {}
    known = {k: found for k, found in known.items() if found is not None}
    left = [k for k in range(len(pieces)) if k not in known]
    shared = journal if executor is None else None  # others may run on another machine
    work = [pieces[k].work(shared) for k in left]
    with done_by(work, jobs or os.cpu_count() or 1, executor) as results:

        def all_of_them() -> Iterator[tuple[int, Any]]:
            yield from known.items()
            for place, found in results:
                if journal:
                    journal.keep(pieces[left[place]].key, found)
                yield left[place], found

        yield all_of_them()


def measuring(task: Any, journal: Journal | None) -> Work:
    """The work of a measurement, which gives it and the seconds that it took."""
    return Work(_timed_measure, (task, journal and str(journal.path)), _no_measurement)


def _timed_measure(given: tuple[Any, str | None]) -> tuple[Measurement, float]:
    from varlaw.checks.experiments.run import attempt

    task, path = given
    began = time.perf_counter()
    return attempt(task, Journal(Path(path)) if path else None), time.perf_counter() - began


def _no_measurement(given: tuple[Any, str | None]) -> tuple[Measurement, float]:
    from varlaw.checks.experiments.run import without

    return without(given[0], DIED), 0.0
