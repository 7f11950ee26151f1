"""The measurements that the tests of experiments plan, for the whole catalogue."""

from dataclasses import replace
from typing import Any

from varlaw.checks.experiments import (
    LimitTrial,
    Settings,
    Task,
    Trial,
    experiments,
    plan,
)
from varlaw.checks.experiments.registry import Experiment
from varlaw.derivations import catalogue

QUICK = Settings(tolerance=0.02, error_rate=1e-3)
TASKS = plan(catalogue.entries(), QUICK)


def task_id(task: Task) -> str:
    return f"{task.law}, {task.quantity}, {task.weights}"


def task(law: str, weights: str | None = None, quantity: str = "", **more: Any) -> Task:
    """The first planned measurement of a law."""
    found = next(
        t
        for t in TASKS
        if t.law == law and weights in (None, t.weights) and t.quantity.startswith(quantity)
    )
    return replace(found, **more)


def prepared(planned: Task) -> list[Trial]:
    trial = one(planned).prepare(planned.weights, dict(planned.values))
    return list(trial.trials) if isinstance(trial, LimitTrial) else [trial]


def one(planned: Task) -> Experiment:
    return next(e for e in experiments() if (e.law, e.quantity) == (planned.law, planned.quantity))
