"""Processes that are killed where they take too long, and that die where they take too much memory.

They are forked from one process that has imported all that they need, so that a new one is there
at once; nothing of a document is ever in that process.
"""

import resource
import signal
from collections.abc import Callable
from multiprocessing import forkserver, get_context
from pathlib import Path
from typing import Any

from varlaw.checks.executors import by_themselves, one_thread_each

NEEDED = (
    "varlaw.checks.algebra",
    "varlaw.checks.claims.decide",
    "varlaw.checks.claims.integrals",
    "varlaw.checks.claims.probability",
    "varlaw.checks.claims.guarded",
    "varlaw.checks.claims.workers",
    "varlaw.symbolic.strategy",
)
START = 60.0  # seconds until a process is ready
MEGABYTES = 500


class Guarded:
    """A process that runs `target(pipe, *arguments)`, and our end of the pipe."""

    def __init__(self, target: Callable[..., None], *arguments: Any) -> None:
        warm_up()
        context = get_context("forkserver")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=target, args=(theirs, *arguments), daemon=True)
        with by_themselves():
            self.process.start()
        theirs.close()

    def end(self) -> bool:
        """Kill it; whether its time by the processor was over before."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return bool(self.process.exitcode == -signal.SIGPROF)


def warm_up() -> None:
    """Start the process that the others are forked from, unless it runs; returns at once."""
    with by_themselves(), one_thread_each():
        forkserver.set_forkserver_preload([*NEEDED])
        forkserver.ensure_running()


def limit_memory(megabytes: int = MEGABYTES) -> None:
    """At most so much memory from now on, where the system can tell; no core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        pages = int(statistics.read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def limit_processor(seconds: float) -> None:
    """At most so much of the processor's time from now on: the system ends the process then."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
