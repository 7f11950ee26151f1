"""Processes that are killed where they take too long, and that die where they take too much memory.

They are forked from one process that has imported all that they need, so that a new one is there
at once; nothing of a document is ever in that process.
"""

import resource
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from varlaw.checks.executors import by_themselves, end_with_parent, one_thread_each

NEEDED = (
    "varlaw.checks.steps.algebra",
    "varlaw.checks.claims.links.decide",
    "varlaw.checks.claims.values.integrals",
    "varlaw.checks.claims.expectations.probability",
    "varlaw.checks.claims.guarded",
    "varlaw.checks.claims.links.networks",
    "varlaw.checks.claims.values.infinite_sums",
    "varlaw.checks.claims.workers",
    "varlaw.derivations.catalogue",
    "varlaw.symbolic.strategy",
)
START = 60.0  # seconds until a process is ready
MEGABYTES = 500
DIED = "the computation broke off, for want of memory or of processor time"


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


def warm_up(*more: str) -> None:
    """Start the process that the others are forked from, unless it runs; returns at once.

    It imports these modules, too.
    """
    with by_themselves(), one_thread_each():
        forkserver.set_forkserver_preload([*NEEDED, *more])
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


@dataclass(frozen=True)
class Call:
    """`function(argument)` within a time of the processor and a memory; all can be pickled."""

    function: Callable[[Any], Any]
    argument: Any
    seconds: float
    megabytes: int = MEGABYTES


@dataclass(frozen=True)
class Stopped:
    """Stands in for the result of a call that took too much, or went wrong."""

    reason: str


def results(calls: Sequence[Call], jobs: int = 1) -> list[Any]:
    """What each call returns, or Stopped with the reason; `jobs` of them at a time.

    Raises the ValueError that one of them raises.
    """
    found: dict[int, Any] = {}
    running: dict[Connection, tuple[int, Guarded]] = {}
    waiting = iter(enumerate(calls))
    try:
        while len(found) < len(calls):
            for place, call in islice(waiting, jobs - len(running)):
                guarded = Guarded(_answer, call)
                running[guarded.pipe] = place, guarded
            ready = wait(list(running))
            for pipe in [pipe for pipe in running if pipe in ready]:
                place, guarded = running.pop(pipe)
                found[place] = _heard(guarded, calls[place].seconds)
    finally:
        for _, guarded in running.values():
            guarded.end()
    return [found[place] for place in range(len(calls))]


def _heard(guarded: Guarded, seconds: float) -> Any:
    try:
        answer = guarded.pipe.recv()
    except (EOFError, OSError):
        answer = None
    late = guarded.end()
    if answer is None:
        return Stopped(f"took longer than {seconds:g} s" if late else DIED)
    if isinstance(answer, ValueError):
        raise answer
    return answer[0] if isinstance(answer, tuple) else answer


def _answer(pipe: Connection, call: Call) -> None:
    end_with_parent()
    limit_memory(call.megabytes)
    limit_processor(call.seconds)
    try:
        answer: Any = (call.function(call.argument),)
    except ValueError as error:
        answer = ValueError(str(error))
    except MemoryError:
        answer = Stopped("took too much memory")
    except Exception as error:
        answer = Stopped(f"could not be computed ({type(error).__name__})")
    pipe.send(answer)
