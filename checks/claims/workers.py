"""Judging in worker processes that are killed where they take too long or too much memory.

A worker gets chains, the context and the definitions as plain data, and answers link by link, so
that after a kill it is known which link it was; the others go to a new worker.
"""

import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

from varlaw.checks.claims.caching import STOPPED
from varlaw.checks.claims.context import EMPTY, Context
from varlaw.checks.claims.definitions import Definitions, gathered
from varlaw.checks.claims.verdict import Judgement
from varlaw.checks.executors import by_themselves
from varlaw.checks.statistics import Verdict
from varlaw.symbolic.formulas.tree import Chain

SECONDS = 5.0
START = 60.0  # until a new worker is ready
MEGABYTES = 500
BATCH = 100
DIED = "the computation broke off, for want of memory or of processor time"


@dataclass(frozen=True)
class Task:
    """The chains of one document, in order, with what is declared where each of them stands.

    The others are only there for what they define where `only` some are to be judged.
    """

    chains: tuple[Chain, ...]
    contexts: tuple[Context, ...] = ()
    only: frozenset[int] | None = None

    @property
    def links(self) -> list[tuple[int, int]]:
        """What is to be judged, as (chain, link)."""
        return [
            (place, link)
            for place, chain in enumerate(self.chains)
            if self.only is None or place in self.only
            for link in range(len(chain.links))
        ]

    def context(self, place: int) -> Context:
        return self.contexts[place] if self.contexts else EMPTY

    def defining(self) -> list[Chain | None]:
        """The chains, without those that are claims in so many words and define nothing."""
        return [
            None if self.context(place).stated else chain for place, chain in enumerate(self.chains)
        ]


@dataclass
class _Job:
    """Links of one task, as (chain, link); `done` counts those answered."""

    task: int
    links: list[tuple[int, int]]
    done: int = 0


@dataclass
class _Worker:
    process: Any
    pipe: Connection
    deadline: float
    ready: bool = False
    job: _Job | None = None
    told: set[int] = field(default_factory=set)  # the tasks whose declarations it has


def judge(
    tasks: Sequence[Task], jobs: int = 2, seconds: float = SECONDS
) -> list[list[list[Judgement]]]:
    """The judgements of each task, chain by chain, link by link.

    A link that takes longer than `seconds`, or too much memory, is undecided with that reason.
    """
    pool = _Pool(tasks, seconds)
    try:
        pool.run(jobs)
    finally:
        pool.close()
    return [
        [
            [pool.found[number, at, link] for at, link in task.links if at == place]
            for place in range(len(task.chains))
        ]
        for number, task in enumerate(tasks)
    ]


class _Pool:
    """Workers, the jobs that wait for them, and what was found so far."""

    def __init__(self, tasks: Sequence[Task], seconds: float) -> None:
        self.tasks, self.seconds = tasks, seconds
        self.known = [gathered(task.defining()) for task in tasks]
        self.found: dict[tuple[int, int, int], Judgement] = {}
        self.workers: list[_Worker] = []
        self.waiting: list[_Job] = []
        for number, task in enumerate(tasks):
            self.waiting += [
                _Job(number, task.links[start : start + BATCH])
                for start in range(0, len(task.links), BATCH)
            ]

    def run(self, jobs: int) -> None:
        self.workers = [self.started() for _ in range(min(jobs, len(self.waiting)))]
        while self.waiting or any(worker.job for worker in self.workers):
            for worker in self.workers:
                if worker.ready and worker.job is None and self.waiting:
                    self.give(worker, self.waiting.pop(0))
            busy = {w.pipe: w for w in self.workers if w.job is not None or not w.ready}
            first = min(worker.deadline for worker in busy.values())
            heard = wait(list(busy), max(first - monotonic(), 0))
            gone = [busy[pipe] for pipe in busy if pipe in heard and not self.hear(busy[pipe])]
            late = [w for w in busy.values() if w not in gone and w.deadline < monotonic()]
            for worker in (*gone, *late):
                self.workers[self.workers.index(worker)] = self.successor(worker, worker in late)

    def started(self) -> _Worker:
        ours, theirs = get_context("spawn").Pipe()
        process = get_context("spawn").Process(
            target=_work, args=(theirs, self.seconds), daemon=True
        )
        with by_themselves():
            process.start()
        theirs.close()
        return _Worker(process, ours, monotonic() + START)

    def give(self, worker: _Worker, job: _Job) -> None:
        task = self.tasks[job.task]
        known = None if job.task in worker.told else self.known[job.task]
        worker.told.add(job.task)
        chains = {place: (task.chains[place], task.context(place)) for place, _ in job.links}
        worker.job, worker.deadline = job, monotonic() + self.seconds
        worker.pipe.send((job.task, known, chains, job.links))

    def hear(self, worker: _Worker) -> bool:
        """Take one answer; False where the worker is gone."""
        try:
            answer = worker.pipe.recv()
        except (EOFError, OSError):
            return False
        worker.deadline = monotonic() + self.seconds
        if worker.job is None:
            worker.ready = True
            return True
        self.found[(worker.job.task, *worker.job.links[worker.job.done])] = answer
        worker.job.done += 1
        if worker.job.done == len(worker.job.links):
            worker.job = None
        return True

    def successor(self, worker: _Worker, late: bool) -> _Worker:
        """A new worker for one that is gone or late; the link it was at is undecided."""
        _ended(worker)
        job = worker.job
        if job is None:
            raise OSError("a worker process could not be started")
        place, link = job.links[job.done]
        left, sign, right = self.tasks[job.task].chains[place].links[link]
        reason = f"took longer than {self.seconds:g} s" if late else DIED
        undecided = Judgement(left, sign, right, Verdict.UNDECIDED, reason=reason, rule=STOPPED)
        self.found[job.task, place, link] = undecided
        if job.links[job.done + 1 :]:
            self.waiting.insert(0, _Job(job.task, job.links[job.done + 1 :]))
        return self.started()

    def close(self) -> None:
        for worker in self.workers:
            _ended(worker)


def _ended(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _work(pipe: Connection, seconds: float) -> None:
    """A worker: judge what arrives until the pipe closes."""
    # all that links may need, before the limits and the clock
    import varlaw.checks.algebra
    import varlaw.checks.claims.integrals
    import varlaw.symbolic.strategy  # noqa: F401
    from varlaw.checks.claims.decide import judge_link

    _limit_memory()
    definitions: dict[int, Definitions] = {}
    pipe.send(None)
    while True:
        try:
            task, told, chains, links = pipe.recv()
        except EOFError:
            return
        if told is not None:
            definitions[task] = told
        for place, link in links:
            _limit_processor(seconds)
            known = definitions[task].at(place)
            chain, context = chains[place]
            pipe.send(_judged(judge_link, chain, context, link, known))


def _judged(
    judge_link: Callable[..., Judgement],
    chain: Chain,
    context: Context,
    link: int,
    known: Definitions,
) -> Judgement:
    """The judgement; what goes wrong inside leaves the link undecided, and the worker alive."""
    left, sign, right = chain.links[link]
    try:
        return judge_link(chain, link, context, known)
    except MemoryError:
        reason = "took too much memory"
    except Exception as error:
        reason = f"could not be computed ({type(error).__name__})"
    return Judgement(left, sign, right, Verdict.UNDECIDED, reason=reason, rule=STOPPED)


def _limit_memory() -> None:
    """At most so much memory from now on, where the system can tell; no core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        pages = int(statistics.read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MEGABYTES * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _limit_processor(seconds: float) -> None:
    """At most twice the time of the clock for the next link, by the processor's time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + 2 * seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
