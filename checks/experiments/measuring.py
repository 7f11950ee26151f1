"""Measuring a trial: draw, look, judge, until there is a verdict or the budget is spent."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from varlaw.checks.compiled.backends import Backend
from varlaw.checks.experiments.moments import Number
from varlaw.checks.experiments.registry import (
    AnyTrial,
    ComposedTrial,
    Draws,
    LimitTrial,
    Trial,
)
from varlaw.checks.journal import Journal
from varlaw.checks.report import FittedOrder, Measurement
from varlaw.checks.statistics.limits import Fit, extrapolations, limit_verdict, order_fit
from varlaw.checks.statistics.sampling import stream
from varlaw.checks.statistics.verdicts import WIDE, Interval, NoInterval, Verdict, judge

BATCH = 1 << 17  # numbers held at once
LONG = 1 << 27  # planned numbers from which on the replicates are kept in the journal
BATCHES = 8  # per chunk, that is, per random stream
STRETCHES = 16 * BATCHES  # batches in the planned size, at least
FEWEST_AT_ONCE = 128  # replicates in a batch, where their numbers can be held
MOST_REPLICATES = 1 << 25  # that are kept; means over several where more are needed
TIGHTEST = 0.55  # of the planned size: where intervals are tightest; at the size 5 % wider
LOOKS = (1 / 64, 1 / 16, 0.25, 0.5, 0.65, 0.8, 1, 2, 4)  # in units of the planned size
CLOSE_LOOKS = (*LOOKS[:3], *(k / 50 for k in range(20, 50)), *LOOKS[-3:])  # where they cost little
SHORT = 64  # part of the budget for a limit law that would take more than all of it
FEWEST = 64  # replicates that tell anything
SAME = 1e-9  # neighbours as near as this to the claim claim the same

Neighbours = tuple[tuple[str, float, Verdict], ...]


@dataclass(frozen=True)
class Task:
    """One measurement: a quantity of a law with one law of the weights, and its share of alpha."""

    law: str
    quantity: str
    weights: str
    values: tuple[tuple[str, int | Fraction], ...]
    alpha: float
    tolerance: float
    seed: int
    budget: int
    backend: Backend | None = None  # of a compiled experiment
    point: tuple[str, ...] = ()  # of a grid, such as ("m=64",): every point has its own streams
    module: str = ""  # that holds the experiment, so that a worker need not load all of them

    @property
    def key(self) -> tuple[str, ...]:
        """What the random streams depend on, beside the seed."""
        return self.law, self.quantity, self.weights, *self.point

    @property
    def record(self) -> dict[str, Any]:
        """All of it, as text and numbers."""
        return asdict(self)


class Series:
    """The replicates of a trial, drawn chunk by chunk, and their confidence sequence.

    `size` is the planned one, and intervals are tightest at `tightest` times it.
    """

    def __init__(
        self,
        trial: Trial,
        key: tuple[int | str, ...],
        seed: int,
        alpha: float,
        size: int,
        journal: Journal | None = None,
        tightest: float = 1.0,
    ) -> None:
        self.trial, self.key, self.seed, self.size = trial, key, seed, size
        self.journal = journal if size * trial.numbers >= LONG else None
        self.sequence = trial.method.sequence(alpha, trial.spread, math.ceil(tightest * size))
        wanted = max(FEWEST_AT_ONCE, size // STRETCHES)
        self.batch = max(1, min(wanted, BATCH // (trial.work or trial.numbers)))
        self.chunks = 0

    def grow(self, count: int) -> None:
        """Draw whole chunks until there are at least `count` replicates. Raises NoInterval."""
        while self.sequence.count < count:
            for values in np.split(self._chunk(), BATCHES):
                self.sequence.update(values)
            self.chunks += 1

    def _chunk(self) -> Draws:
        """The replicates of the next chunk, from the journal where they are in it."""

        def draw() -> Draws:
            rng = stream(self.seed, *self.key, self.chunks)
            return np.concatenate([self.trial.draw(rng, self.batch) for _ in range(BATCHES)])

        if self.journal is None:
            return draw()
        return self.journal.chunk(f"{self.key}", self.chunks, draw)

    def looks(self, budget: int, parts: Sequence[float] = LOOKS) -> Iterator[int]:
        """When to look: at parts and multiples of the planned size, as far as the budget goes."""
        most = min(budget // self.trial.numbers, MOST_REPLICATES)
        return (math.ceil(self.size * k) for k in parts if k <= 1 or self.size * k <= most)


def measure_trial(task: Task, trial: AnyTrial, journal: Journal | None = None) -> Measurement:
    """Carry out a trial that was made ready, up to the task's budget.

    The replicates of a long one are kept in the journal, if there is one.
    """
    with np.errstate(all="ignore"):  # what is not finite is reported as such
        try:
            if isinstance(trial, LimitTrial):
                return _measure_limit(task, trial, journal)
            if isinstance(trial, ComposedTrial):
                return _measure_composed(task, trial, journal)
            return _measure_mean(task, trial, journal)
        except NoInterval as error:
            return undecided(task, trial, str(error))


def _measure_mean(task: Task, trial: Trial, journal: Journal | None) -> Measurement:
    claimed, absolute = float(trial.claimed), task.tolerance * trial.scale

    def margin(value: float) -> float:
        return task.tolerance * abs(value) or absolute

    def planned(trial: Trial) -> int:
        return trial.method.planned_size(
            trial.spread, claimed, task.tolerance, task.alpha, absolute=absolute
        )

    size = planned(trial)
    if why := _over_budget(size, trial, task):
        return undecided(task, trial, why)
    if size > MOST_REPLICATES:
        trial = trial.averaged(math.ceil(2 * size / MOST_REPLICATES))
        size = planned(trial)

    def verdict(interval: Interval, value: float) -> Verdict:
        return judge(interval, value, task.tolerance, absolute=absolute)

    series = Series(trial, task.key, task.seed, task.alpha, size, journal, TIGHTEST)
    sequence, others = series.sequence, _others(trial)
    found = undecided(task, trial, WIDE)
    for look in series.looks(task.budget, CLOSE_LOOKS):
        series.grow(look)
        estimate, half = sequence.estimate, sequence.half_width
        told = [v for _, v in others] if abs(estimate - claimed) < margin(claimed) else []
        if look < size and any(abs(abs(estimate - v) - margin(v)) < half for v in (claimed, *told)):
            continue  # some interval would be neither inside its tolerance nor outside
        interval = sequence.interval()
        neighbours = tuple((name, value, verdict(interval, value)) for name, value in others)
        found = _measured(task, trial, estimate, interval, verdict(interval, claimed), neighbours)
        if found.verdict is not Verdict.UNDECIDED:
            break
    return found


def _measure_limit(task: Task, trial: LimitTrial, journal: Journal | None) -> Measurement:
    """What is out of reach of the budget is measured as far as a part of it goes.

    That verifies nothing, but refutes a claim that is far off, as those of a wrong order are.
    """
    claimed, alpha, made = float(trial.claimed), task.alpha / len(trial.sizes), []
    short = ""
    for size, part, margin in zip(trial.sizes, trial.trials, trial.margins, strict=True):
        aim = margin * (abs(claimed) or part.scale) * min(1.0, task.tolerance / 0.01)
        planned = part.method.planned_size(part.spread, 0.0, task.tolerance, alpha, absolute=aim)
        if why := _over_budget(planned, part, task):
            short = short or f"at size {size}: {why}"
            planned = min(task.budget // (SHORT * part.numbers), MOST_REPLICATES)
            if planned < FEWEST:
                return undecided(task, trial, short)
        made.append(Series(part, (*task.key, size), task.seed, alpha, planned, journal))
    found = undecided(task, trial, short or WIDE)
    for looks in zip(*(series.looks(task.budget) for series in made), strict=False):
        if short and looks[0] > made[0].size:
            break
        for series, look in zip(made, looks, strict=True):
            series.grow(look)
        intervals = [series.sequence.interval() for series in made]
        fit = order_fit(trial.sizes, intervals, trial.order)
        estimates = [series.sequence.estimate for series in made]
        extrapolated = extrapolations(trial.sizes, estimates, trial.order)
        verdict, why = limit_verdict(fit, intervals, extrapolated, claimed, task.tolerance)
        if short and verdict is not Verdict.REFUTED:
            continue
        neighbours = tuple(
            (name, value, judge(fit.limit, value, task.tolerance)) for name, value in _others(trial)
        )
        orders = tuple(
            (f"error of order {order:g}", order, order_fit(trial.sizes, intervals, order).order)
            for order in trial.wrong_orders
        )
        found = replace(
            _measured(task, trial, extrapolated[-1], fit.limit, verdict, neighbours + orders, why),
            fit=_fitted(trial, fit, estimates, intervals),
        )
        if found.verdict is not Verdict.UNDECIDED:
            break
    return found


def _measure_composed(task: Task, trial: ComposedTrial, journal: Journal | None) -> Measurement:
    claimed, alpha, made = float(trial.claimed), task.alpha / len(trial.trials), []
    for number, (part, margin) in enumerate(zip(trial.trials, trial.margins, strict=True)):
        aim = margin * task.tolerance
        planned = part.method.planned_size(part.spread, 0.0, task.tolerance, alpha, absolute=aim)
        if why := _over_budget(planned, part, task):
            return undecided(task, trial, why)
        made.append(Series(part, (*task.key, number), task.seed, alpha, planned, journal, TIGHTEST))
    found = undecided(task, trial, WIDE)
    for looks in zip(*(series.looks(task.budget) for series in made), strict=False):
        for series, look in zip(made, looks, strict=True):
            series.grow(look)
        interval = trial.combine([series.sequence.interval() for series in made])
        points = [Interval(x, x, "proved", 1) for x in (s.sequence.estimate for s in made)]
        neighbours = tuple(
            (name, value, judge(interval, value, task.tolerance)) for name, value in _others(trial)
        )
        verdict = judge(interval, claimed, task.tolerance)
        found = _measured(task, trial, trial.combine(points).low, interval, verdict, neighbours)
        if found.verdict is not Verdict.UNDECIDED:
            break
    return found


def _fitted(
    trial: LimitTrial, fit: Fit, means: list[float], intervals: list[Interval]
) -> FittedOrder:
    """What was measured at each size, and the coefficient of the error."""
    values = tuple((m, i.low, i.high) for m, i in zip(means, intervals, strict=True))
    b = fit.coefficient
    return FittedOrder(trial.order, trial.sizes, values, b.low, b.high, fit.order)


def _over_budget(size: int, trial: Trial, task: Task) -> str:
    """Why a planned size is out of reach, or nothing."""
    excess = size * trial.numbers / task.budget
    if not trial.method.averages:
        excess = max(excess, size / MOST_REPLICATES)
    if excess <= 1:
        return ""
    enough = 1.01 * task.tolerance * math.sqrt(excess)
    advice = f"; a tolerance of {enough:.3g} would do" if enough < 1 else ""
    return (
        f"needs {size:.3g} replicates of {trial.numbers} random numbers, over the budget of "
        f"{task.budget:.3g}{advice}"
    )


def _others(trial: AnyTrial) -> list[tuple[str, float]]:
    """The neighbours that claim something else."""
    claimed, given = float(trial.claimed), _floats(trial.neighbours)
    return [(k, v) for k, v in given.items() if not math.isclose(v, claimed, rel_tol=SAME)]


def _floats(values: Mapping[str, Number]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}


def _measured(
    task: Task,
    trial: AnyTrial,
    estimate: float,
    interval: Interval,
    verdict: Verdict,
    neighbours: Neighbours,
    why: str = WIDE,
) -> Measurement:
    """The record; what is verified without being told from its neighbours is undecided."""
    left = [name for name, _, found in neighbours if found is not Verdict.REFUTED]
    if verdict is Verdict.VERIFIED and left:
        verdict, why = Verdict.UNDECIDED, f"cannot tell the claim from: {'; '.join(left)}"
    return Measurement(
        task.quantity,
        task.weights,
        float(trial.claimed),
        estimate,
        interval.low,
        interval.high,
        interval.kind,
        interval.replicates,
        verdict,
        neighbours,
        why if verdict is Verdict.UNDECIDED else "",
        trial.sampler,
    )


def undecided(task: Task, trial: AnyTrial, why: str) -> Measurement:
    """The record of a trial that told nothing."""
    parts = (trial,) if isinstance(trial, Trial) else trial.trials
    proved = all(part.method.kind == "proved" for part in parts)
    return Measurement(
        task.quantity,
        task.weights,
        float(trial.claimed),
        None,
        None,
        None,
        "proved" if proved else "asymptotic",
        0,
        Verdict.UNDECIDED,
        why=why,
        sampler=trial.sampler,
    )
