"""A law and its measurement over a grid of parameters."""

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import product

from sympy import Rational

from varlaw.checks.executors import Work
from varlaw.checks.experiments.measuring import Task
from varlaw.checks.experiments.registry import experiments
from varlaw.checks.experiments.run import Settings, plan
from varlaw.checks.grids import MOST_POINTS, Value, values
from varlaw.checks.journal import Journal, fingerprint
from varlaw.checks.report import Measurement, worst
from varlaw.checks.runs import begun, carried_out, measuring
from varlaw.checks.statistics.verdicts import BUDGET, Verdict, share
from varlaw.derivations import catalogue
from varlaw.symbolic.names import suggestion

__all__ = ["Reading", "Sweep", "axes", "parameters", "sweep"]

Axes = Mapping[str, tuple[Value, ...]]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Reading:
    """One measurement; `values` are those of the grid's parameters that it depends on."""

    values: Mapping[str, Value]
    measured: Measurement
    seconds: float


@dataclass(frozen=True)
class Sweep:
    """A law measured over a grid, as far as it went; the error rate holds for all of it."""

    law: str
    statement: str
    axes: Axes
    readings: tuple[Reading, ...]
    tolerance: float
    error_rate: float
    seed: int

    @property
    def verdict(self) -> Verdict:
        """The worst verdict."""
        return worst(reading.measured.verdict for reading in self.readings)


@dataclass(frozen=True)
class _Piece:
    """One measurement as a piece of a run."""

    task: Task

    @property
    def key(self) -> str:
        return f"{self.task.key}"

    def work(self, journal: Journal | None) -> Work:
        return measuring(self.task, journal)


def parameters(law: str) -> dict[str, bool]:
    """The parameters of a law's experiments, and whether each is a dimension or depth."""
    chosen = [e for e in experiments() if e.law == law]
    return {name: isinstance(value, int) for e in chosen for name, value in e.defaults.items()}


def axes(law: str, grid: Mapping[str, str]) -> dict[str, tuple[Value, ...]]:
    """The values of each parameter of a grid, in the language of `varlaw.checks.grids`.

    Raises ValueError for a parameter that the law's experiments do not have, a text that is not in
    the language, or more than 10,000 points.
    """
    known = parameters(law)
    there = f"it has {', '.join(sorted(known))}" if known else "it has none"
    if not grid:
        raise ValueError(f"give the grid of a parameter of {law!r}; {there}")
    found = {}
    for name, text in grid.items():
        if name not in known:
            near = suggestion(name.lower(), known) or f"; {there}"
            raise ValueError(f"the experiments of {law!r} have no parameter {name!r}{near}")
        try:
            found[name] = values(text, whole=known[name])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    points = math.prod(map(len, found.values()))
    if points > MOST_POINTS:
        raise ValueError(f"the grid has {points} points, over {MOST_POINTS}: take larger steps")
    return found


def sweep(
    law: str,
    grid: Mapping[str, str],
    *,
    tolerance: float = 0.01,
    error_rate: float = 1e-6,
    seed: int = 0,
    budget: int = BUDGET,
    jobs: int | None = 1,
    executor: Executor | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    on_reading: Callable[[int, Reading], None] | None = None,
) -> Sweep:
    """Measure a law at every point of a grid, such as {"m": "64:1024:x2", "q": "1/2"}.

    The options are those of `varlaw.checks.verify.verify`; every point has its own random streams,
    and `on_reading` is called with the place and the content of each reading as it is ready. What
    is over the budget is undecided, and says so. Raises UnknownLaw, or ValueError for a law without
    an experiment, a grid or setting that is out of range, or nothing to resume.
    """
    catalogue.known(law)
    found = axes(law, grid)
    tasks = _plan(law, found, Settings(tolerance, error_rate, seed, budget=budget))
    run = {"sweep": law, "tasks": [task.record for task in tasks]}
    journal = begun(fingerprint(run), resume)
    done: dict[int, Reading] = {}
    with carried_out([_Piece(task) for task in tasks], journal, jobs, executor) as results:
        for place, (measured, seconds) in results:
            task = tasks[place]
            done[place] = Reading(_of_grid(task, found), measured, seconds)
            if progress:
                progress(", ".join(task.point) or law, len(done), len(tasks))
            if on_reading:
                on_reading(place, done[place])
    if journal:
        journal.close()
    readings = tuple(done[place] for place in range(len(tasks)))
    statement = catalogue.find(law).statement_text
    return Sweep(law, statement, found, readings, tolerance, error_rate, seed)


def _plan(law: str, found: Axes, settings: Settings) -> list[Task]:
    """The measurements at all points, each once, which share the error rate between them."""
    made: dict[tuple[str, ...], Task] = {}
    for point in _points(found):
        overrides = {name: Rational(value) for name, value in point.items()}
        for task in plan([law], replace(settings, overrides=overrides)):
            place = tuple(f"{name}={value}" for name, value in _of_grid(task, found).items())
            task = replace(task, point=place)
            made.setdefault(task.key, task)
    alpha = share(settings.error_rate, len(made))
    return [replace(task, alpha=alpha) for task in made.values()]


def _points(found: Axes) -> Iterator[dict[str, Value]]:
    return (dict(zip(found, point, strict=True)) for point in product(*found.values()))


def _of_grid(task: Task, found: Axes) -> dict[str, Value]:
    """The values of the grid's parameters that a measurement depends on."""
    return {name: value for name, value in task.values if name in found}
