"""The main job: all the evidence on laws of the catalogue, in parallel, as one report."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from types import ModuleType
from typing import Any

from varlaw.checks.report import (
    AssumptionReport,
    LawReport,
    Measurement,
    Proof,
    Report,
    StepReport,
    worst,
)
from varlaw.checks.statistics import Verdict
from varlaw.derivations import catalogue
from varlaw.symbolic.language import Text

Progress = Callable[[str, int, int], None]
Finished = Callable[[LawReport], None]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Reasoning:
    """What can be said of a law without drawing a random number."""

    statement: str
    steps: tuple[StepReport, ...]
    assumptions: tuple[AssumptionReport, ...]
    sufficient: tuple[tuple[str, ...], ...]
    problems: tuple[str, ...]
    seconds: float
    random: bool = False  # whether there is something in it to draw


@dataclass
class _Pending:
    """The parts of a law's evidence as they come in."""

    entry: catalogue.Entry
    expected: int
    measuring: bool = True
    reasoning: Reasoning | None = None
    measured: dict[int, tuple[Measurement, float]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return self.reasoning is not None and len(self.measured) == self.expected


def reason(name: str) -> Reasoning:
    """Steps, audit and finite models of one law."""
    from varlaw.checks.audit import counter_examples, inherited, sufficient
    from varlaw.checks.proofs import prove_law
    from varlaw.symbolic.arrays import arrays_in

    began = time.perf_counter()
    law = catalogue.find(name)
    steps, stopped = prove_law(lambda: law.derivation)
    problems = [
        f"step {k} ({s.rule}): {s.why}"
        for k, s in enumerate(steps, 1)
        if s.outcome in (Proof.UNCHECKED, Proof.REFUTED)
    ]
    if stopped:
        return Reasoning("", steps, (), (), (*problems, stopped), time.perf_counter() - began)
    problems += [f"broken in a finite model: {text}" for text in counter_examples(law)]
    return Reasoning(
        law.statement_text,
        steps,
        inherited(law),
        sufficient(law),
        tuple(problems),
        time.perf_counter() - began,
        bool(arrays_in(law.derivation.start)),
    )


def verify(
    names: Sequence[str] | None = None,
    *,
    tolerance: float = 0.01,
    error_rate: float = 1e-6,
    seed: int = 0,
    jobs: int | None = 1,
    steps_only: bool = False,
    overrides: Mapping[str, Text] | None = None,
    progress: Progress | None = None,
    on_law: Finished | None = None,
) -> Report:
    """Verify laws (all of the catalogue if none is named), with every kind of evidence.

    `tolerance` is relative and `error_rate` holds for the whole run, shared out over its
    experiments. `jobs` processes are used (None: one per core); the result does not depend on
    their number. `overrides` sets parameters of the experiments, such as {"m": 512}. `progress` is
    called with (law, parts done, parts in all), `on_law` with each report as it is finished.

    Raises UnknownLaw, or ValueError for a parameter out of range or a law that is written wrongly.
    """
    known = catalogue.entries()
    for name in names or ():
        catalogue.known(name)
    chosen = [name for name in known if not names or name in names]
    for name in chosen:
        catalogue.check(known[name])
    tasks = [] if steps_only else _plan(chosen, tolerance, error_rate, seed, overrides or {})
    pending = {
        name: _Pending(known[name], sum(task.law == name for task in tasks), not steps_only)
        for name in chosen
    }
    work: list[tuple[str, int | None, Callable[..., Any], Any]] = [
        (name, None, reason, name) for name in _slowest_first(chosen)
    ]
    work += [(task.law, k, _timed_measure, task) for k, task in enumerate(tasks)]
    finished: dict[str, LawReport] = {}
    with _results(work, jobs or os.cpu_count() or 1) as results:
        for done, (name, number, result) in enumerate(results, 1):
            part = pending[name]
            if number is None:
                part.reasoning = result
            else:
                part.measured[number] = result
            if progress:
                progress(name, done, len(work))
            if part.complete:
                finished[name] = _report(part)
                if on_law:
                    on_law(finished[name])
    return Report(tuple(finished[name] for name in chosen), error_rate, seed)


def _plan(
    names: list[str], tolerance: float, error_rate: float, seed: int, overrides: Mapping[str, Text]
) -> list[Any]:
    from varlaw.checks.experiments.run import Settings, plan

    return list(plan(names, Settings(tolerance, error_rate, seed, overrides)))


def _timed_measure(task: Any) -> tuple[Measurement, float]:
    from varlaw.checks.experiments.run import attempt

    began = time.perf_counter()
    return attempt(task), time.perf_counter() - began


def _slowest_first(names: list[str]) -> list[str]:
    """High moments take longest to prove; starting with them shortens the run."""
    return sorted(names, key=lambda name: "eighth" not in name)


def _report(part: _Pending) -> LawReport:
    found = part.reasoning
    assert found is not None
    measured = tuple(m for _, (m, _) in sorted(part.measured.items()))
    verdicts = [m.verdict for m in measured]
    outcomes = {step.outcome for step in found.steps}
    if Proof.REFUTED in outcomes or any(p.startswith("broken") for p in found.problems):
        verdicts.append(Verdict.REFUTED)
    elif Proof.UNCHECKED in outcomes or not found.steps or not found.statement:
        verdicts.append(Verdict.UNDECIDED)
    problems = found.problems + tuple(
        f"{m.quantity} with {m.weights} weights: {m.why or m.verdict}"
        for m in measured
        if m.verdict is not Verdict.VERIFIED
    )
    seconds = found.seconds + sum(s for _, s in part.measured.values())
    return LawReport(
        part.entry.name,
        part.entry.family,
        found.statement,
        worst(verdicts),
        found.steps,
        found.assumptions,
        found.sufficient,
        measured,
        round(seconds, 3),
        problems,
        measurable=part.measuring and found.random,
    )


@contextmanager
def _results(
    work: list[tuple[str, int | None, Callable[..., Any], Any]], jobs: int
) -> Iterator[Any]:
    """The results of the work in the order in which they are ready."""
    if jobs == 1 or len(work) == 1:
        yield ((name, number, call(argument)) for name, number, call, argument in work)
        return
    with _one_thread_each():
        pool = ProcessPoolExecutor(min(jobs, len(work)), mp_context=get_context("spawn"))
        futures: dict[Future[Any], tuple[str, int | None]] = {}
        try:
            with _by_themselves():  # every process starts as work is handed in
                for name, number, call, argument in work:
                    futures[pool.submit(call, argument)] = name, number
            yield _as_ready(futures)
        finally:
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                if any(not future.done() for future in futures):
                    process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _by_themselves() -> Iterator[None]:
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


def _as_ready(futures: dict[Future[Any], tuple[str, int | None]]) -> Iterator[Any]:
    waiting = set(futures)
    while waiting:
        ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in ready:
            name, number = futures[future]
            yield name, number, future.result()


@contextmanager
def _one_thread_each() -> Iterator[None]:
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
