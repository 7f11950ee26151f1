"""Planning the measurements of a run, and carrying them out one by one."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.experiments.measuring import Task, measure_trial
from varlaw.checks.experiments.registry import Experiment, experiment_of, experiments
from varlaw.checks.journal import Journal
from varlaw.checks.report import Measurement
from varlaw.checks.statistics.verdicts import BUDGET, Verdict, share
from varlaw.derivations.catalogue import Law
from varlaw.symbolic.derivation import UNFORESEEN, RuleError
from varlaw.symbolic.language import Text


@dataclass(frozen=True)
class Settings:
    """How a run measures: within a relative tolerance, at one error rate for the whole run.

    `overrides` fixes parameters by name. `budget` is how many random numbers one measurement may
    be planned with: by default far more than the default parameters need. With a `backend` laws are
    measured a second time, compiled from their derivations, on that library. Raises
    ValueError for a setting out of range.
    """

    tolerance: float = 0.01
    error_rate: float = 1e-6
    seed: int = 0
    overrides: Mapping[str, Text] = field(default_factory=dict)
    budget: int = BUDGET
    backend: Backend | None = None

    def __post_init__(self) -> None:
        for name, value in (("tolerance", self.tolerance), ("error rate", self.error_rate)):
            if not 0 < value < 1:
                raise ValueError(f"the {name} lies strictly between 0 and 1, and is not {value}")
        if self.seed < 0:
            raise ValueError(f"the seed is a natural number, not {self.seed}")
        if self.budget < 1:
            raise ValueError(f"the budget is a positive number of draws, not {self.budget}")


DEEPEST = 1000  # layers: the exact moments of a stream then take a minute


def plan(laws: Iterable[str], settings: Settings) -> list[Task]:
    """The measurements of the named laws, which share the error rate between them.

    Raises ValueError for an override that no selected law knows, or one out of range.
    """
    wanted = dict.fromkeys(laws)
    chosen = [e for e in experiments() if e.law in wanted]
    second = _compiled(wanted, settings.overrides) if settings.backend else []
    known = sorted({name for e in (*chosen, *second) for name in e.defaults})
    for name in settings.overrides:
        if name not in known:
            which = f"there are {', '.join(known)}" if known else "there are none"
            raise ValueError(f"no selected law has a parameter {name!r}; {which}")
    plain: Backend | None = None
    made = [(e, plain, e.values(settings.overrides)) for e in chosen]
    made += [(e, settings.backend, e.values(settings.overrides)) for e in second]
    count = sum(len(e.weights) for e in (*chosen, *second))
    return [
        Task(
            e.law,
            e.quantity,
            weights,
            tuple(values.items()),
            share(settings.error_rate, count),
            settings.tolerance,
            settings.seed,
            settings.budget,
            backend,
            module="" if backend else e.module,
        )
        for e, backend, values in made
        for weights in e.weights
    ]


def _compiled(laws: Iterable[str], overrides: Mapping[str, Text]) -> list[Experiment]:
    """The compiled experiments on those of the laws that have one."""
    found, _ = _coverage(tuple(laws), tuple(overrides.items()))
    return found


def not_compiled(laws: Iterable[str], settings: Settings) -> dict[str, str]:
    """Why those of the laws that have no compiled experiment have none."""
    _, reasons = _coverage(tuple(laws), tuple(settings.overrides.items()))
    return reasons


@lru_cache(maxsize=4)
def _coverage(
    laws: tuple[str, ...], overrides: tuple[tuple[str, Text], ...]
) -> tuple[list[Experiment], dict[str, str]]:
    from varlaw.checks.compiled.coverage import experiment_on
    from varlaw.checks.compiled.models import Unmeasurable

    made, reasons = list[Experiment](), dict[str, str]()
    for name in laws:
        try:
            made.append(experiment_on(name, dict(overrides)))
        except Unmeasurable as error:
            reasons[name] = str(error)
    return made, reasons


def find(task: Task) -> Experiment:
    """The experiment that a task carries out."""
    if task.backend is not None:
        from varlaw.checks.compiled.coverage import experiment_on

        return experiment_on(task.law, dict(task.values), task.backend)
    return experiment_of(task.law, task.quantity, task.module)


def measure(task: Task, law: Law | None = None, journal: Journal | None = None) -> Measurement:
    """Carry out one measurement; `law` stands in for the catalogue's law, if given.

    The numbers drawn depend on the seed, the law, the quantity and the law of the weights alone,
    so that neither the number of workers nor the other laws of the run change them.
    """
    trial = find(task).prepare(task.weights, dict(task.values), law)
    if task.backend is None:
        return measure_trial(task, trial, journal)
    from varlaw.checks.compiled.trials import measure_compiled

    return measure_compiled(task, trial, task.backend, journal)


FAILURES = (*UNFORESEEN, LookupError, MemoryError, RecursionError, ValueError)


def attempt(task: Task, journal: Journal | None = None) -> Measurement:
    """Carry out one measurement; what it cannot be carried out with leaves it undecided."""
    depth = dict(task.values).get("l", 0)
    try:
        if depth > DEEPEST:
            raise ValueError(f"experiments have at most {DEEPEST} layers, not {depth}")
        return measure(task, journal=journal)
    except OverflowError:
        told = "its numbers go out of the range of double precision"
    except FAILURES as error:
        stops = isinstance(error, RuleError) and error.so_far is not None
        told = "the derivation stops" if stops else " ".join(str(error).split()) or "out of memory"
    return without(task, told)


def without(task: Task, why: str) -> Measurement:
    """The record of a measurement that could not be carried out."""
    return Measurement(
        task.quantity,
        task.weights,
        math.nan,
        None,
        None,
        None,
        "proved",
        0,
        Verdict.UNDECIDED,
        (),
        f"not measured: {why}",
    )
