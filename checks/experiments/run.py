"""Planning the measurements of a run, and carrying them out one by one."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from varlaw.checks.experiments.measuring import Task, measure_trial
from varlaw.checks.experiments.registry import Experiment, experiments
from varlaw.checks.journal import Journal
from varlaw.checks.report import Measurement
from varlaw.checks.statistics import Verdict, share
from varlaw.derivations.catalogue import Law
from varlaw.symbolic.language import Text


@dataclass(frozen=True)
class Settings:
    """How a run measures: within a relative tolerance, at one error rate for the whole run.

    `overrides` fixes parameters by name. `budget` is how many random numbers one measurement may
    be planned with: by default half a minute's worth at most, and far more than the default
    parameters need. Raises ValueError for a setting out of range.
    """

    tolerance: float = 0.01
    error_rate: float = 1e-6
    seed: int = 0
    overrides: Mapping[str, Text] = field(default_factory=dict)
    budget: int = 5 << 29

    def __post_init__(self) -> None:
        for name, value in (("tolerance", self.tolerance), ("error rate", self.error_rate)):
            if not 0 < value < 1:
                raise ValueError(f"the {name} lies strictly between 0 and 1, and is not {value}")
        if self.seed < 0:
            raise ValueError(f"the seed is a natural number, not {self.seed}")
        if self.budget < 1:
            raise ValueError(f"the budget is a positive number of draws, not {self.budget}")


DEEPEST = 100  # layers: beyond them the exact moments of a stream take longer than its draws


def plan(laws: Iterable[str], settings: Settings) -> list[Task]:
    """The measurements of the named laws, which share the error rate between them.

    Raises ValueError for an override that no selected law knows, or one out of range.
    """
    wanted = set(laws)
    chosen = [e for e in experiments() if e.law in wanted]
    known = sorted({name for e in chosen for name in e.defaults})
    for name in settings.overrides:
        if name not in known:
            which = f"there are {', '.join(known)}" if known else "there are none"
            raise ValueError(f"no selected law has a parameter {name!r}; {which}")
    made = [(e, e.values(settings.overrides)) for e in chosen]
    count = sum(len(e.weights) for e in chosen)
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
        )
        for e, values in made
        for weights in e.weights
    ]


def find(task: Task) -> Experiment:
    """The experiment that a task carries out."""
    return next(e for e in experiments() if (e.law, e.quantity) == (task.law, task.quantity))


def measure(task: Task, law: Law | None = None, journal: Journal | None = None) -> Measurement:
    """Carry out one measurement; `law` stands in for the catalogue's law, if given.

    The numbers drawn depend on the seed, the law, the quantity and the law of the weights alone,
    so that neither the number of workers nor the other laws of the run change them.
    """
    return measure_trial(task, find(task).prepare(task.weights, dict(task.values), law), journal)


def attempt(task: Task, journal: Journal | None = None) -> Measurement:
    """Carry out one measurement; what it cannot be carried out with leaves it undecided."""
    depth = dict(task.values).get("l", 0)
    try:
        if depth > DEEPEST:
            raise ValueError(f"experiments have at most {DEEPEST} layers, not {depth}")
        return measure(task, journal=journal)
    except (ValueError, ArithmeticError, MemoryError, RecursionError) as error:
        told = " ".join(str(error).split()) or "out of memory"
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
