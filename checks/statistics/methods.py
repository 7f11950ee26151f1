"""How a statistic is measured: which number is meant, and what its intervals rest on."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from varlaw.checks.statistics.asymptotic import START, AsymptoticSequence, mixture
from varlaw.checks.statistics.bounded import BernsteinSequence, BettingSequence
from varlaw.checks.statistics.intervals import ConfidenceSequence, Kind
from varlaw.checks.statistics.quantiles import QuantileSequence
from varlaw.checks.statistics.verdicts import CatoniSequence, planned_size

LARGE = 1 << 20  # replicates from which on betting is hardly narrower, and keeping them a burden


class Method(ABC):
    """A choice of confidence sequence, with the size that it needs."""

    least = 1  # replicates to plan with
    kind: Kind = "proved"  # what its intervals are
    averages = True  # means over several replicates have the same claim

    def planned_size(
        self,
        variance: float,
        claimed: float,
        tolerance: float,
        alpha: float,
        *,
        absolute: float | None = None,
    ) -> int:
        """As varlaw.checks.statistics.verdicts.planned_size."""
        size = planned_size(
            variance,
            claimed,
            tolerance,
            alpha,
            absolute=absolute,
            reach=self._reach(variance),
            square=self._square(alpha),
        )
        return max(size, self.least)

    @abstractmethod
    def sequence(self, alpha: float, variance: float, planned: int) -> ConfidenceSequence:
        """The sequence, before the first replicate."""

    def _reach(self, variance: float) -> float:
        """The length of the interval in which the statistic lies, if that widens the interval."""
        return 0.0

    def _square(self, alpha: float) -> float | None:
        """The square of the half-width in units of variance / N; None for 2 log(2/alpha)."""
        return None


@dataclass(frozen=True)
class ByVariance(Method):
    """The mean of a statistic whose variance has a bound, which is all that is known of it."""

    def sequence(self, alpha: float, variance: float, planned: int) -> ConfidenceSequence:
        return CatoniSequence(alpha, variance, planned)


BY_VARIANCE = ByVariance()


@dataclass(frozen=True)
class Bounded(Method):
    """The mean of a statistic that lies in [low, high]; its variance is a guess, for the plan.

    Narrower than by variance where the bound on that is loose; wider where the planned number is
    less than some 100 (high - low)^2 / variance. A statistic that rounding may take beyond its
    bounds has to be clipped by its experiment.
    """

    low: float
    high: float

    def sequence(self, alpha: float, variance: float, planned: int) -> ConfidenceSequence:
        kind = BettingSequence if planned <= LARGE else BernsteinSequence
        return kind(alpha, self.low, self.high, planned, variance=variance)

    def _reach(self, variance: float) -> float:
        return self.high - self.low


@dataclass(frozen=True)
class Quantile(Method):
    """The quantile of a probability: that of 1/2, the median, is the typical value.

    The variance is p (1 - p) / f^2 with the density f at the quantile, for the plan alone.
    """

    averages = False
    probability: float = 0.5

    def sequence(self, alpha: float, variance: float, planned: int) -> ConfidenceSequence:
        return QuantileSequence(alpha, self.probability, planned)

    def _reach(self, variance: float) -> float:
        """1/f: counts move by 1 in probability."""
        return math.sqrt(variance / (self.probability * (1 - self.probability)))


@dataclass(frozen=True)
class Asymptotic(Method):
    """The mean of a statistic without any bound; its variance is a guess, for the plan.

    Its intervals are labelled, and do not count towards the proved error rate.
    """

    least = START
    kind = "asymptotic"

    def sequence(self, alpha: float, variance: float, planned: int) -> ConfidenceSequence:
        return AsymptoticSequence(alpha, planned)

    def _square(self, alpha: float) -> float:
        return mixture(alpha)
