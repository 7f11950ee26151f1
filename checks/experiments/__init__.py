"""Experiments: Monte Carlo on the real operations, one function per law and quantity."""

from varlaw.checks.experiments.registry import Experiment, experiment, experiments
from varlaw.checks.experiments.run import Settings, Task, measure, plan

__all__ = ["Experiment", "Settings", "Task", "experiment", "experiments", "measure", "plan"]
