"""Confidence sequences: intervals for an unknown number that hold at every look at once.

A *replicate* is one fresh draw of everything random; every value given to a sequence is the
statistic of one replicate. An interval is `proved` when its error rate follows from a theorem
whose conditions hold by construction, and `asymptotic` otherwise.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
Kind = Literal["proved", "asymptotic"]

ROUNDING = 64 * sys.float_info.epsilon  # bounds the relative error of a pairwise sum of logarithms
PRECISION = 1e-6  # how far an end may lie outside its root, in units of the half-width
NEWTON_STEPS, ALL_STEPS = 20, 200


class NoInterval(ValueError):
    """No valid interval can be given, so the verdict is `undecided`; the message says why."""


class NotFinite(NoInterval):
    """A replicate is nan, infinite, or so large that its square overflows."""


class OutOfBounds(NoInterval):
    """A replicate lies outside the bounds that its statistic was said to have."""


class NotConstant(NoInterval):
    """The variance bound is 0 but the replicates differ."""


class EmptyInterval(NoInterval):
    """The intervals of successive looks do not meet: the variance bound or the draws are wrong."""


@dataclass(frozen=True)
class Interval:
    """The closed interval [low, high] for an unknown number; ends may be infinite.

    >>> 2.0 in Interval(1.5, 2.5, "proved", replicates=100)
    True
    """

    low: float
    high: float
    kind: Kind
    replicates: int

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"interval [{self.low}, {self.high}] is not ordered")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """high - low."""
        return self.high - self.low


class ConfidenceSequence(ABC):
    """What all confidence sequences have in common: replicates come in, intervals come out.

    `alpha` is the error rate of all looks together, `planned` the number of replicates at which
    the interval is tightest; any other number is valid, only wider than need be. With `intersect`
    an interval is the intersection over all looks so far, also valid at once.
    """

    kind: ClassVar[Kind] = "proved"
    usable = (-sys.float_info.max, sys.float_info.max)  # values that are taken

    def __init__(self, alpha: float, planned: int, *, intersect: bool = True) -> None:
        if not 1e-100 <= alpha < 1:  # below that the first intervals leave the range of floats
            raise ValueError(f"alpha must be at least 1e-100 and less than 1, not {alpha}")
        if planned < 1:
            raise ValueError(f"planned number of replicates must be positive, not {planned}")
        self.alpha, self.planned, self.intersect = alpha, planned, intersect
        self.count, self.total = 0, 0.0
        self._interval = Interval(-math.inf, math.inf, self.kind, 0)

    def update(self, values: ArrayLike) -> None:
        """Take the statistics of further replicates, a vector with one number per replicate.

        Raises NotFinite (or OutOfBounds) and leaves the sequence as it was; leaving the offending
        replicate out and going on would bias the estimate.
        """
        batch = np.asarray(values, dtype=np.float64)
        if batch.ndim != 1:
            raise ValueError(f"one number per replicate: expected a vector, not {batch.ndim} axes")
        if batch.size == 0:
            return
        low, high = self.usable
        if not (low <= batch.min() and batch.max() <= high):  # also where one is nan
            position = int(np.argmin((low <= batch) & (batch <= high)))
            raise self._refusal(self.count + position, float(batch[position]))
        self._take(batch)
        self.count += batch.size
        self.total += float(batch.sum())

    def interval(self) -> Interval:
        """Look at the replicates so far; the whole line before the first one.

        Raises EmptyInterval where successive looks exclude each other.
        """
        if self.count == self._interval.replicates:
            return self._interval
        low, high = self._ends()
        if self.intersect:
            low, high = max(low, self._interval.low), min(high, self._interval.high)
        if low > high:
            raise EmptyInterval(f"nothing fits all looks at {self.count} replicates: {self._doubt}")
        self._interval = Interval(low, high, self.kind, self.count)
        return self._interval

    @property
    def estimate(self) -> float:
        """The mean of the replicates so far."""
        return self.total / self.count

    @property
    def half_width(self) -> float:
        """About how far the interval reaches to either side of the estimate."""
        return self.interval().width / 2

    @property
    def _doubt(self) -> str:
        """What to ask where looks exclude each other."""
        return "are the replicates really independent, with one law?"

    def _refusal(self, number: int, value: float) -> NoInterval:
        return NotFinite(f"replicate {number} is {value}, not a usable number")

    @abstractmethod
    def _take(self, batch: Values) -> None:
        """Keep what is needed of a batch; `count` and `total` are still without it."""

    @abstractmethod
    def _ends(self) -> tuple[float, float]:
        """The interval from the replicates so far alone."""


class Vector:
    """A vector of floats that grows."""

    def __init__(self) -> None:
        self._room: Values = np.empty(1024)
        self._size = 0

    def append(self, batch: Values) -> None:
        needed = self._size + batch.size
        if needed > self._room.size:
            grown = np.empty(max(needed, 2 * self._room.size))
            grown[: self._size] = self.values
            self._room = grown
        self._room[self._size : needed] = batch
        self._size = needed

    @property
    def values(self) -> Values:
        return self._room[: self._size]


def linear_half_width(alpha: float, variance: float, planned: int, count: int) -> float:
    """The half-width after `count` replicates of a sequence with a constant coefficient.

    (log(2/alpha) + count variance lambda^2/2) / (count lambda), with the lambda =
    sqrt(2 log(2/alpha) / (planned variance)) that is best at `planned`.
    """
    double = 2 * math.log(2 / alpha) * variance
    return (1 + count / planned) * math.sqrt(double * planned) / (2 * count)


def outer_root(
    exclusion: Callable[[float], tuple[float, float]],
    side: int,
    inside: float,
    outside: float,
    guess: float,
    precision: float,
) -> float:
    """The upper (side = 1) or lower (side = -1) end of an interval, never inside the exact one.

    `exclusion` gives by how much a number exceeds the bound (it is excluded if that is not
    negative) and the slope of that outwards. `inside` is not excluded, `outside` is known to be,
    throughout. Newton steps inside the bracket, bisection where they leave it or take too long.
    """
    for attempt in range(ALL_STEPS):
        if attempt >= NEWTON_STEPS or not side * inside < side * guess < side * outside:
            guess = inside + (outside - inside) / 2
        excess, slope = exclusion(guess)
        step = -excess / slope
        if excess >= 0:
            outside = guess
            if -step <= precision:
                break
        else:
            inside = guess
        if side * (outside - inside) <= precision:
            break
        guess += side * (step + precision / 2)
    return outside
