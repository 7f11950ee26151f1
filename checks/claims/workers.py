"""Judging in worker processes that are killed where they take too long or too much memory.

A worker gets chains, the context and the definitions as plain data, and answers link by link, so
that after a kill it is known which link it was; the others go to a new worker. Of one document
those that look cheap come first, so that no others take their time; every link is first given a
short one, and those that need more share what is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from multiprocessing.connection import Connection, wait
from time import monotonic, process_time

from varlaw.checks.claims.caching import STOPPED
from varlaw.checks.claims.declarations.context import EMPTY, Context
from varlaw.checks.claims.declarations.definitions import Definitions, gathered
from varlaw.checks.claims.guarded import DIED, START, Guarded, limit_memory, limit_processor
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Chain, Head, Node

SECONDS = 5.0
UNLIMITED = 1e9
QUICK = 1.0  # seconds that a link gets at first
SHARE = 8  # of the first half of a document's time, the next link gets so small a part
LEAST = 0.05  # seconds that a link gets while there are any
FORK = 0.05  # seconds for a new process
SLOWER = 20  # times by the clock, at most, of the processor's time
BATCH = 100
COSTLY = (Head.SUM, Head.PRODUCT, Head.INTEGRAL, Head.LIMIT, Head.FACTORIAL, Head.EXPECTATION)
HEAVY = 50  # what counts as so many names
DIGITS = 4
OVER = "the time for its document was used up by others"


@dataclass(frozen=True)
class Task:
    """The chains of one document, in order, with what is declared where each of them stands.

    The others are only there for what they define where `only` some are to be judged. `conditions`
    are those behind a word such as "when". `seconds` is how much of the processor's time each
    worker has for all of them.
    """

    chains: tuple[Chain, ...]
    contexts: tuple[Context, ...] = ()
    only: frozenset[int] | None = None
    seconds: float = UNLIMITED
    conditions: frozenset[int] = frozenset()

    @property
    def links(self) -> list[tuple[int, int]]:
        """What is to be judged, as (chain, link)."""
        return [
            (place, link)
            for place, chain in enumerate(self.chains)
            if self.only is None or place in self.only
            for link in range(len(chain.links))
        ]

    def weight(self, at: tuple[int, int]) -> int:
        """How long a link may take, by what stands in it."""
        place, link = at
        left, _, right = self.chains[place].links[link]
        return sum(_weight(node) for side in (left, right) for node in side.walk())

    def context(self, place: int) -> Context:
        return self.contexts[place] if self.contexts else EMPTY

    def definitions(self) -> Definitions:
        """What the chains define, but for those that are claims in so many words."""
        defining = (
            None if self.context(place).stated else chain for place, chain in enumerate(self.chains)
        )
        return gathered(defining, self.conditions)


def _weight(node: Node) -> int:
    """1 for what is cheap; numbers of many digits may be exponents or ends of sums."""
    if node.head is Head.NUMBER:
        return 1 + HEAVY * (len(node.text) > DIGITS)
    if node.head is Head.POWER:
        small = node.parts[1].head is Head.NUMBER and len(node.parts[1].text) < DIGITS - 1
        return 1 if small else HEAVY
    return HEAVY if node.head in COSTLY else 1


@dataclass(order=True)
class _Job:
    """Links of one task, as (chain, link), the first of which has this rank.

    `again` is for one that needs more time than at first.
    """

    task: int
    again: bool
    rank: int
    links: list[tuple[int, int]]
    done: int = field(default=0, compare=False)  # how many are answered
    patience: float = field(default=0.0, compare=False)  # seconds for each of them


@dataclass
class _Worker:
    guarded: Guarded
    deadline: float
    ready: bool = False
    job: _Job | None = None
    told: set[int] = field(default_factory=set)  # the tasks whose declarations it has


def judge(
    tasks: Sequence[Task], jobs: int = 2, seconds: float = SECONDS
) -> list[list[list[Judgement]]]:
    """The judgements of each task, chain by chain, link by link.

    A link that takes longer than `seconds`, or too much memory, is undecided with that reason; so
    are those that the time of their task does not suffice for.
    """
    pool = _Pool(tasks, seconds)
    try:
        pool.run(jobs)
    finally:
        pool.close()
    judged: list[list[list[Judgement]]] = [[[] for _ in task.chains] for task in tasks]
    for number, task in enumerate(tasks):
        for place, link in task.links:
            judged[number][place].append(pool.found[number, place, link])
    return judged


class _Pool:
    """Workers, the jobs that wait for them, and what was found so far."""

    def __init__(self, tasks: Sequence[Task], seconds: float) -> None:
        self.tasks, self.seconds = tasks, seconds
        self.known = [task.definitions() for task in tasks]
        self.found: dict[tuple[int, int, int], Judgement] = {}
        self.workers: list[_Worker] = []
        self.spent = [0.0] * len(tasks)  # seconds of the processor's time
        self.unseen = [len(task.links) for task in tasks]  # links that had no time so far
        self.waiting: list[_Job] = []
        for number, task in enumerate(tasks):
            links = sorted(task.links, key=task.weight)
            for start in range(0, len(links), BATCH):
                self.wait(number, False, links[start : start + BATCH])

    def wait(
        self, task: int, again: bool, links: list[tuple[int, int]], patience: float = 0.0
    ) -> None:
        """Put links of a task in the queue."""
        rank = self.tasks[task].weight(links[0])
        heappush(self.waiting, _Job(task, again, rank, links, patience=patience))

    def run(self, jobs: int) -> None:
        self.workers = [self.started() for _ in range(min(jobs, len(self.waiting)))]
        while True:
            for worker in self.workers:
                if worker.ready and worker.job is None and (job := self.next()) is not None:
                    self.give(worker, job)
            if not self.waiting and not any(worker.job for worker in self.workers):
                return
            busy = {w.guarded.pipe: w for w in self.workers if w.job is not None or not w.ready}
            first = min(worker.deadline for worker in busy.values())
            heard = wait(list(busy), max(first - monotonic(), 0))
            gone = [busy[pipe] for pipe in busy if pipe in heard and not self.hear(busy[pipe])]
            slow = [w for w in busy.values() if w not in gone and w.deadline < monotonic()]
            for worker in (*gone, *slow):
                self.workers[self.workers.index(worker)] = self.successor(worker, worker in slow)

    def started(self) -> _Worker:
        return _Worker(Guarded(_work), monotonic() + START)

    def next(self) -> _Job | None:
        """The next job that there is time for; the links of others are undecided."""
        while self.waiting:
            job = heappop(self.waiting)
            patience = min(self.seconds, self.share(job))
            if patience > job.patience:
                job.patience = patience
                return job
            reason = late(job.patience) if job.again else OVER
            for link in job.links:
                self.stopped(job.task, link, reason)
        return None

    def share(self, job: _Job) -> float:
        """The seconds for the next link of a job, of what is left for its task.

        Of the second half of its time every link has a share that no other takes.
        """
        whole = self.tasks[job.task].seconds * len(self.workers)
        left = whole - self.spent[job.task]
        if job.again:
            return left / (1 + sum(other.task == job.task for other in self.waiting))
        if left <= 0:
            return 0.0
        return min(QUICK, max((left - whole / 2) / SHARE, left / self.unseen[job.task], LEAST))

    def give(self, worker: _Worker, job: _Job) -> None:
        task = self.tasks[job.task]
        known = None if job.task in worker.told else self.known[job.task]
        worker.told.add(job.task)
        chains = {place: (task.chains[place], task.context(place)) for place, _ in job.links}
        worker.job = job
        self.wind_up(worker, job)
        worker.guarded.pipe.send((job.task, known, chains, job.links, job.patience))

    def wind_up(self, worker: _Worker, job: _Job) -> None:
        """Set the clock for the next link."""
        worker.deadline = monotonic() + SLOWER * job.patience + 1

    def hear(self, worker: _Worker) -> bool:
        """Take one answer; False where the worker is gone."""
        try:
            answer = worker.guarded.pipe.recv()
        except (EOFError, OSError):
            return False
        job = worker.job
        if job is None:
            worker.ready = True
            return True
        if answer is None:
            self.wait(job.task, job.again, job.links[job.done :])
            worker.job = None
            return True
        self.found[(job.task, *job.links[job.done])], seconds = answer
        self.spent[job.task] += seconds
        self.unseen[job.task] -= not job.again
        job.done += 1
        self.wind_up(worker, job)
        if job.done == len(job.links):
            worker.job = None
        return True

    def successor(self, worker: _Worker, is_late: bool) -> _Worker:
        """A new worker for one that is gone or late; the link it was at waits, or is undecided."""
        is_late = worker.guarded.end() or is_late
        job = worker.job
        if job is None:
            raise OSError("a worker process could not be started")
        link, rest = job.links[job.done], job.links[job.done + 1 :]
        self.spent[job.task] += job.patience + FORK
        self.unseen[job.task] -= not job.again
        if not is_late:
            self.stopped(job.task, link, DIED)
        elif job.again or job.patience == self.seconds:
            self.stopped(job.task, link, late(job.patience))
        else:
            self.wait(job.task, True, [link], job.patience)
        if rest:
            self.wait(job.task, job.again, rest)
        return self.started()

    def stopped(self, task: int, at: tuple[int, int], reason: str) -> None:
        """A link that is undecided for want of time or memory."""
        place, link = at
        left, sign, right = self.tasks[task].chains[place].links[link]
        undecided = Judgement(left, sign, right, Verdict.UNDECIDED, reason=reason, rule=STOPPED)
        self.found[task, place, link] = undecided

    def close(self) -> None:
        for worker in self.workers:
            worker.guarded.end()


def late(seconds: float) -> str:
    """The reason for a link that was not decided in time."""
    return f"took longer than {seconds:.2g} s"


def _work(pipe: Connection) -> None:
    """A worker: judge what arrives until the pipe closes."""
    # all that links may need, before the limits and the clock
    import varlaw.checks.claims.values.integrals
    import varlaw.checks.steps.algebra
    import varlaw.symbolic.strategy  # noqa: F401
    from varlaw.checks.claims.links.decide import judge_link

    limit_memory()
    definitions: dict[int, Definitions] = {}
    pipe.send(None)
    while True:
        try:
            task, told, chains, links, seconds = pipe.recv()
        except EOFError:
            return
        if told is not None:
            definitions[task] = told
        first = process_time()
        for number, (place, link) in enumerate(links):
            begin = process_time()
            if number and begin - first > seconds:  # together they take long: ask again
                pipe.send(None)
                break
            limit_processor(seconds)
            known = definitions[task].at(place)
            chain, context = chains[place]
            answer = _judged(judge_link, chain, context, link, known)
            pipe.send((answer, process_time() - begin))
        limit_processor(0)


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
