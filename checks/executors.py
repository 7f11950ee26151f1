"""Where work is done: in this process, in local ones, or by any executor of concurrent.futures."""

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from types import ModuleType
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TOGETHER = 2  # pools that may break before work is handed out one piece at a time
ALONE = 2  # deaths of a process with one piece of work before that is given up


@dataclass(frozen=True)
class Work:
    """A call that is independent of all others; `lost(argument)` stands in where its process dies.

    All three can be sent to another process.
    """

    call: Callable[[Any], Any]
    argument: Any
    lost: Callable[[Any], Any]


Results = Iterator[tuple[int, Any]]


@contextmanager
def results(work: Sequence[Work], jobs: int = 1, executor: Executor | None = None) -> Iterator[Any]:
    """An iterator over (position, result) in the order in which results are ready.

    With an executor it does the work, and stays open; else `jobs` local processes do (this one, for
    one job). A local process that dies is replaced, and what it did not finish is done again.
    """
    if executor is not None:
        yield _submitted(executor, dict(enumerate(work)))
    elif jobs == 1 or len(work) == 1:
        yield ((k, one.call(one.argument)) for k, one in enumerate(work))
    else:
        with one_thread_each():
            local = _Local(work, jobs)
            try:
                yield local.results()
            finally:
                local.stop()


def _submitted(executor: Executor, waiting: dict[int, Work]) -> Results:
    futures = {executor.submit(one.call, one.argument): k for k, one in waiting.items()}
    left = set(futures)
    while left:
        ready, left = wait(left, return_when=FIRST_COMPLETED)
        for future in ready:
            yield futures[future], future.result()


class _Local:
    """Local processes that do the work; the pool is made anew where one of them dies."""

    def __init__(self, work: Sequence[Work], jobs: int) -> None:
        self.waiting = dict(enumerate(work))
        self.jobs = jobs
        self.pool: ProcessPoolExecutor | None = None
        self.futures: dict[Future[Any], int] = {}

    def results(self) -> Results:
        for _ in range(TOGETHER):
            yield from self._attempt(dict(self.waiting), self.jobs)
        deaths: Counter[int] = Counter()
        while self.waiting:  # one of them kills its process: find out which
            position, one = next(iter(self.waiting.items()))
            yield from self._attempt({position: one}, 1)
            deaths[position] += position in self.waiting
            if deaths[position] == ALONE:
                del self.waiting[position]
                yield position, one.lost(one.argument)

    def _attempt(self, work: dict[int, Work], jobs: int) -> Results:
        """The results until a process dies; then what is left is still waiting."""
        if not work:
            return
        self.pool = ProcessPoolExecutor(
            min(jobs, len(work)),
            mp_context=get_context("spawn"),
            initializer=end_with_parent,
        )
        with by_themselves():  # every process starts as work is handed in
            self.futures = {self.pool.submit(w.call, w.argument): k for k, w in work.items()}
        left = set(self.futures)
        while left:
            ready, left = wait(left, return_when=FIRST_COMPLETED)
            for future in ready:
                try:
                    result = future.result()
                except BrokenProcessPool:
                    continue
                del self.waiting[self.futures[future]]
                yield self.futures[future], result
        self.stop()

    def stop(self) -> None:
        """Let the processes go; what they are at is not waited for."""
        if self.pool is None:
            return
        processes = list((getattr(self.pool, "_processes", None) or {}).values())
        if any(not future.done() for future in self.futures):
            for process in processes:
                process.terminate()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.pool = None


def end_with_parent() -> None:
    """Let this process end with the one that started it, which may be killed."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def by_themselves() -> Iterator[None]:
    """Processes started here do not run the caller's script again, and leave Ctrl-C to the caller.

    A spawned process imports the `__main__` of its parent; for as long as this lasts it is empty.
    """
    main, block = sys.modules["__main__"], hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if block else set()
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if block:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Worker processes started here run their linear algebra on one thread."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
