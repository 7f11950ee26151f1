"""The main job: all the evidence on laws of the catalogue, in parallel, as one report."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from varlaw.checks.executors import Work
from varlaw.checks.journal import Journal, fingerprint, register
from varlaw.checks.report import (
    AssumptionReport,
    LawReport,
    Measurement,
    Proof,
    Report,
    StepReport,
    worst,
)
from varlaw.checks.runs import DIED, begun, carried_out, measuring
from varlaw.checks.statistics.verdicts import BUDGET, Verdict
from varlaw.derivations import catalogue
from varlaw.symbolic.language import Text

if TYPE_CHECKING:
    from varlaw.checks.compiled.backends import Backend

Progress = Callable[[str, int, int], None]
Finished = Callable[[LawReport], None]


@register
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
    not_compiled: str = ""
    reasoning: Reasoning | None = None
    measured: dict[int, tuple[Measurement, float]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return self.reasoning is not None and len(self.measured) == self.expected


def reason(question: tuple[str, bool]) -> Reasoning:
    """Steps, audit and finite models of one law; sufficient sets of assumptions if wanted."""
    from varlaw.checks.audit import counter_examples, inherited, sufficient
    from varlaw.checks.steps.proofs import prove_law
    from varlaw.symbolic.arrays import arrays_in

    name, sets = question
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
        sufficient(law) if sets else (),
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
    budget: int = BUDGET,
    jobs: int | None = 1,
    steps_only: bool = False,
    overrides: Mapping[str, Text] | None = None,
    sufficient: bool = True,
    executor: Executor | None = None,
    resume: bool = False,
    backend: "Backend | None" = None,
    progress: Progress | None = None,
    on_law: Finished | None = None,
) -> Report:
    """Verify laws (all of the catalogue if none is named), with every kind of evidence.

    `tolerance` is relative and `error_rate` holds for the whole run, shared out over its
    experiments; a measurement that would take more than `budget` random numbers is undecided.
    `jobs` processes are used (None: one per core); the result does not depend on their number. An
    `executor` does the work instead, such as that of a Dask cluster, whose machines need varlaw.
    What is finished is journalled: with `resume` a run with the same laws and settings that was cut
    off is gone on with. `overrides` sets parameters of the experiments, such
    as {"m": 512}. Minimal sets of assumptions are looked for unless `sufficient` is false, which
    saves a third of the time. With a `backend` laws are measured a second time, compiled from their
    derivations, on that array library. `progress` is called with (law, parts done, parts in all),
    `on_law` with each report as it is finished.

    Raises UnknownLaw, or ValueError for a parameter out of range, a law that is written wrongly, or
    nothing to resume.
    """
    known = catalogue.entries()
    for name in names or ():
        catalogue.known(name)
    chosen = [name for name in known if not names or name in names]
    for name in chosen:
        catalogue.check(known[name])
    tasks: list[Any] = []
    reasons: dict[str, str] = {}
    if not steps_only:
        tasks, reasons = _plan(
            chosen, tolerance, error_rate, seed, overrides or {}, budget, backend
        )
    pending = {
        name: _Pending(
            known[name],
            sum(task.law == name for task in tasks),
            not steps_only,
            reasons.get(name, ""),
        )
        for name in chosen
    }
    pieces = [_Piece(name, None, (name, sufficient)) for name in _slowest_first(chosen)]
    pieces += [_Piece(task.law, k, task) for k, task in enumerate(tasks)]
    run = {"laws": chosen, "tasks": [t.record for t in tasks], "sufficient": sufficient}
    journal = begun(fingerprint(run), resume)
    finished: dict[str, LawReport] = {}
    with carried_out(pieces, journal, jobs, executor) as results:
        for done, (place, result) in enumerate(results, 1):
            piece = pieces[place]
            part = pending[piece.law]
            if piece.number is None:
                part.reasoning = result
            else:
                part.measured[piece.number] = result
            if progress:
                progress(piece.law, done, len(pieces))
            if part.complete:
                finished[piece.law] = _report(part)
                if on_law:
                    on_law(finished[piece.law])
    if journal:
        journal.close()
    return Report(tuple(finished[name] for name in chosen), error_rate, seed)


@dataclass(frozen=True)
class _Piece:
    """The reasoning on a law, or one of its measurements: done by itself."""

    law: str
    number: int | None
    argument: Any

    @property
    def key(self) -> str:
        return f"{self.law}: reasoning" if self.number is None else f"{self.argument.key}"

    def work(self, journal: Journal | None) -> Work:
        if self.number is None:
            return Work(reason, self.argument, _no_reasoning)
        return measuring(self.argument, journal)


def _plan(
    names: list[str],
    tolerance: float,
    error_rate: float,
    seed: int,
    overrides: Mapping[str, Text],
    budget: int,
    backend: "Backend | None",
) -> tuple[list[Any], dict[str, str]]:
    """The measurements, and why some laws have none on the backend."""
    from varlaw.checks.experiments.run import Settings, not_compiled, plan

    settings = Settings(tolerance, error_rate, seed, overrides, budget, backend)
    return plan(names, settings), not_compiled(names, settings) if backend else {}


def _no_reasoning(question: tuple[str, bool]) -> Reasoning:
    return Reasoning("", (), (), (), (DIED,), 0.0)


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
        not_compiled=part.not_compiled,
    )
