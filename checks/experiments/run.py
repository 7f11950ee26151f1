"""Planning a run of experiments, and measuring: draw, look, judge, until there is a verdict."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from varlaw.checks.experiments.registry import Draws, Experiment, LimitTrial, Trial, experiments
from varlaw.checks.limits import Fit, order_fit
from varlaw.checks.report import Measurement
from varlaw.checks.sampling import stream
from varlaw.checks.statistics import (
    CatoniSequence,
    Interval,
    NoInterval,
    Verdict,
    judge,
    planned_size,
    share,
)
from varlaw.derivations.catalogue import Law
from varlaw.symbolic.language import Text

BATCH = 1 << 16  # numbers held at once
BATCHES = 8  # per chunk, that is, per random stream
MOST_REPLICATES = 1 << 25
LOOKS = (0.25, 0.5, 1, 2, 4)  # in units of the planned size
SAME = 1e-9  # neighbours as near as this to the claim claim the same


@dataclass(frozen=True)
class Settings:
    """How a run measures: within a relative tolerance, at one error rate for the whole run.

    `overrides` fixes parameters by name. `budget` is how many random numbers one measurement may
    draw. Raises ValueError for a setting out of range.
    """

    tolerance: float = 0.01
    error_rate: float = 1e-6
    seed: int = 0
    overrides: Mapping[str, Text] = field(default_factory=dict)
    budget: int = 1 << 30

    def __post_init__(self) -> None:
        for name, value in (("tolerance", self.tolerance), ("error rate", self.error_rate)):
            if not 0 < value < 1:
                raise ValueError(f"the {name} lies strictly between 0 and 1, and is not {value}")
        if self.budget < 1:
            raise ValueError(f"the budget is a positive number of draws, not {self.budget}")


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


def plan(laws: Iterable[str], settings: Settings) -> list[Task]:
    """The measurements of the named laws, in the catalogue's order of experiments.

    Raises ValueError for an override that no selected law knows, or out of range.
    """
    wanted = set(laws)
    chosen = [e for e in experiments() if e.law in wanted]
    known = sorted({name for e in chosen for name in e.defaults})
    for name in settings.overrides:
        if name not in known:
            which = f"they have {', '.join(known)}" if known else "they have none"
            raise ValueError(f"no selected law has a parameter {name!r}; {which}")
    made = [(e, e.values(settings.overrides)) for e in chosen]
    count = sum(len(e.weights) for e in chosen)
    return [
        Task(e.law, e.quantity, weights, tuple(values.items()), share(settings.error_rate, count),
             settings.tolerance, settings.seed, settings.budget)
        for e, values in made for weights in e.weights
    ]


def measure(task: Task, law: Law | None = None) -> Measurement:
    """Carry out one measurement; `law` stands in for the catalogue's law, if given.

    The numbers drawn depend on the seed, the law, the quantity and the law of the weights alone.
    """
    trial = find(task).prepare(task.weights, dict(task.values), law)
    with np.errstate(all="ignore"):  # what is not finite is reported as such
        if isinstance(trial, LimitTrial):
            return _measure_limit(task, trial)
        return _measure_mean(task, trial)


def find(task: Task) -> Experiment:
    """The experiment of a task."""
    return next(e for e in experiments() if (e.law, e.quantity) == (task.law, task.quantity))


class Series:
    """The replicates of a trial, drawn chunk by chunk, and their confidence sequence."""

    def __init__(self, trial: Trial, key: tuple[int | str, ...], seed: int, alpha: float, size: int):
        self.trial, self.key, self.seed = trial, key, seed
        self.sequence = CatoniSequence(alpha, trial.spread, size)
        self.batch = max(1, BATCH // max(trial.numbers, trial.work))
        self.count, self.total, self.chunks = 0, 0.0, 0

    @property
    def mean(self) -> float:
        return self.total / self.count

    def grow(self, size: int) -> None:
        """Draw whole chunks until there are at least `size` replicates. Raises NoInterval."""
        while self.count < size:
            rng = stream(self.seed, *self.key, self.chunks)
            for _ in range(BATCHES):
                values: Draws = self.trial.draw(rng, self.batch)
                self.sequence.update(values)
                self.total += float(values.sum())
                self.count += values.size
            self.chunks += 1

    def half_width(self) -> float:
        """About how wide the interval is to either side of the mean."""
        s = self.sequence
        double = 2 * math.log(2 / s.alpha) * s.variance
        return (1 + self.count / s.planned) * math.sqrt(double * s.planned) / (2 * self.count)


def _looks(size: int, trial: Trial, budget: int) -> Iterator[int]:
    """When to look: at parts and multiples of the planned size, as far as the budget goes."""
    most = min(budget // trial.numbers, MOST_REPLICATES)
    for part in LOOKS:
        if part <= 1 or size * part <= most:
            yield math.ceil(size * part)


def _over_budget(size: int, trial: Trial, task: Task) -> str:
    """Why a planned size is out of reach, or nothing."""
    excess = max(size * trial.numbers / task.budget, size / MOST_REPLICATES)
    if excess <= 1:
        return ""
    return (f"needs {size:.3g} replicates of {trial.numbers} random numbers, over the budget of "
            f"{task.budget:.3g}; a tolerance of {task.tolerance * math.sqrt(excess):.2g} would do")


def _measure_mean(task: Task, trial: Trial) -> Measurement:
    claimed, absolute = float(trial.claimed), task.tolerance * trial.scale
    try:
        size = planned_size(
            trial.spread, claimed, task.tolerance, task.alpha, absolute=absolute)
    except ValueError as error:
        return _undecided(task, claimed, str(error))
    if why := _over_budget(size, trial, task):
        return _undecided(task, claimed, why)
    series = Series(trial, (task.law, task.quantity, task.weights), task.seed, task.alpha, size)
    margin = task.tolerance * abs(claimed) or absolute
    interval, verdict, neighbours = None, Verdict.UNDECIDED, _open(claimed, trial.neighbours)
    try:
        for look in _looks(size, trial, task.budget):
            series.grow(look)
            if abs(series.mean - claimed) < series.half_width() > margin:
                continue  # the interval would hold the claim, and more than its tolerance
            interval = series.sequence.interval()
            verdict = judge(interval, claimed, task.tolerance, absolute=absolute)
            neighbours = tuple(
                (name, value, judge(interval, value, task.tolerance, absolute=absolute))
                for name, value, _ in neighbours)
            if verdict is Verdict.REFUTED or (verdict is Verdict.VERIFIED and not _left(neighbours)):
                break
    except NoInterval as error:
        return _undecided(task, claimed, str(error), series.count)
    return _measured(task, claimed, series.mean, interval, verdict, neighbours)


def _measure_limit(task: Task, trial: LimitTrial) -> Measurement:
    claimed = float(trial.claimed)
    made = []
    for size, part, margin in zip(trial.sizes, trial.trials, trial.margins, strict=True):
        aim = margin * abs(claimed) * min(1.0, task.tolerance / 0.01)
        alpha = task.alpha / len(trial.sizes)
        planned = planned_size(part.spread, 0.0, task.tolerance, alpha, absolute=aim)
        if why := _over_budget(planned, part, task):
            return _undecided(task, claimed, f"at size {size}: {why}")
        key = (task.law, task.quantity, task.weights, size)
        made.append((Series(part, key, task.seed, alpha, planned), planned))
    intervals: list[Interval] = []
    fit, verdict, neighbours = None, Verdict.UNDECIDED, _open(claimed, trial.neighbours)
    try:
        for part in (1, 2, 4):
            for series, planned in made:
                series.grow(part * planned)
            intervals = [series.sequence.interval() for series, _ in made]
            fit = order_fit(trial.sizes, intervals, trial.order)
            verdict = _limit_verdict(fit, trial, [s.mean for s, _ in made], claimed, task.tolerance)
            neighbours = tuple(
                (name, value, judge(fit.limit, value, task.tolerance))
                for name, value, _ in _open(claimed, trial.neighbours)) + tuple(
                (f"error of order {order:g}", order, order_fit(trial.sizes, intervals, order).order)
                for order in trial.wrong_orders)
            if verdict is Verdict.REFUTED or (verdict is Verdict.VERIFIED and not _left(neighbours)):
                break
    except NoInterval as error:
        return _undecided(task, claimed, str(error), min(s.count for s, _ in made))
    assert fit is not None
    found = _measured(task, claimed, _extrapolated(trial, [s.mean for s, _ in made])[-1],
                      fit.limit, verdict, neighbours)
    return found


def _extrapolated(trial: LimitTrial, means: list[float]) -> list[float]:
    """The limit by Richardson from each two neighbouring sizes."""
    powers = [size**trial.order for size in trial.sizes]
    return [
        (powers[i + 1] * means[i + 1] - powers[i] * means[i]) / (powers[i + 1] - powers[i])
        for i in range(len(means) - 1)
    ]


def _limit_verdict(
    fit: Fit, trial: LimitTrial, means: list[float], claimed: float, tolerance: float
) -> Verdict:
    """The fit's verdict, but undecided where the neglected next order may be what refutes.

    Two extrapolations from smaller and larger sizes differ by more than what the latter neglects.
    """
    verdict = fit.judge(claimed, tolerance)
    early, late = _extrapolated(trial, means)[-2:]
    away = max(fit.limit.low - claimed, claimed - fit.limit.high)
    if verdict is Verdict.REFUTED and away < abs(late - early):
        return Verdict.UNDECIDED
    return verdict


Neighbours = tuple[tuple[str, float, Verdict], ...]


def _open(claimed: float, neighbours: Mapping[str, object]) -> Neighbours:
    """The neighbours that claim something else, not judged yet."""
    values = {name: float(value) for name, value in neighbours.items()}  # type: ignore[arg-type]
    return tuple(
        (name, value, Verdict.UNDECIDED) for name, value in values.items()
        if not math.isclose(value, claimed, rel_tol=SAME))


def _left(neighbours: Neighbours) -> list[str]:
    """The neighbours that are not refuted."""
    return [name for name, _, verdict in neighbours if verdict is not Verdict.REFUTED]


def _measured(
    task: Task, claimed: float, estimate: float, interval: Interval | None, verdict: Verdict,
    neighbours: Neighbours,
) -> Measurement:
    why = ""
    if verdict is Verdict.VERIFIED and (left := _left(neighbours)):
        verdict, why = Verdict.UNDECIDED, f"cannot tell the claim from: {'; '.join(left)}"
    elif verdict is Verdict.UNDECIDED:
        why = "the interval lies neither inside the tolerance nor outside"
    assert interval is not None
    return Measurement(
        task.quantity, task.weights, claimed, estimate, interval.low, interval.high,
        interval.kind, interval.replicates, verdict, neighbours, why)


def _undecided(task: Task, claimed: float, why: str, replicates: int = 0) -> Measurement:
    return Measurement(
        task.quantity, task.weights, claimed, None, None, None, "proved", replicates,
        Verdict.UNDECIDED, why=why)
