"""Experiments: Monte Carlo on the real operations, one function per law and quantity."""

from varlaw.checks.experiments.measuring import Task, measure_trial
from varlaw.checks.experiments.registry import (
    Case,
    Experiment,
    LimitTrial,
    Trial,
    experiment,
    experiments,
)
from varlaw.checks.experiments.run import Settings, measure, plan

__all__ = [
    "Case",
    "Experiment",
    "LimitTrial",
    "Settings",
    "Task",
    "Trial",
    "experiment",
    "experiments",
    "measure",
    "measure_trial",
    "plan",
]
