"""Confidence sequences for a quantile: the typical value, where a mean says something else."""

import math

import numpy as np

from varlaw.checks.statistics.intervals import ROUNDING, ConfidenceSequence, Values, Vector


class QuantileSequence(ConfidenceSequence):
    """Confidence sequence for the quantile q of a given probability, for any law whatever.

    P(X < q) <= p <= P(X <= q), for independent replicates with one law; atoms are allowed, and
    where several numbers q do, all are covered.
    With lambda = sqrt(2 log(2/alpha) / (planned p (1 - p))) the lower end after t replicates is
    the smallest value X_k that more than

        (-t log(1 - p (1 - exp(-lambda))) - log(2/alpha)) / lambda

    replicates do not exceed (with ties counted), and the upper end is its mirror image.

    Proof: 1{X <= q} is 1 with probability at least p, so exp(-lambda 1{X <= q}) has a mean of at
    most 1 - p + p exp(-lambda); the product of their quotients is a nonnegative supermartingale,
    which by Ville's inequality ever reaches 2/alpha with probability alpha/2 at most.

    In probability the half-width at the planned number is about sqrt(2 log(2/alpha) p (1 - p) /
    planned); a density f at q turns it into one of q by the factor 1/f.

    Source: S. R. Howard and A. Ramdas, Sequential estimation of quantiles with applications to
    A/B testing and best-arm identification, Bernoulli 28 (2022) 1704-1728, arXiv:1906.09712,
    Theorem 1: a sequence for a fixed quantile from a sub-Bernoulli boundary on the count of values
    up to it. The boundary here is the line of Howard, Ramdas, McAuliffe and Sekhon, Probability
    Surveys 17 (2020), Theorem 1, in place of the stitched one: narrower at the planned number.

    >>> sequence = QuantileSequence(0.05, 0.5, planned=1000)
    >>> sequence.update(np.random.default_rng(1).standard_exponential(1000))
    >>> math.log(2) in sequence.interval()
    True
    """

    def __init__(
        self, alpha: float, probability: float, planned: int, *, intersect: bool = True
    ) -> None:
        super().__init__(alpha, planned, intersect=intersect)
        if not 0 < probability < 1:
            raise ValueError(f"probability lies strictly between 0 and 1, and is {probability}")
        self.probability = probability
        self._kept = Vector()

    @property
    def estimate(self) -> float:
        """The quantile of the replicates so far."""
        return float(np.quantile(self._kept.values, self.probability))

    def _take(self, batch: Values) -> None:
        self._kept.append(batch)

    def _ends(self) -> tuple[float, float]:
        below = self._excluded(self.probability)
        above = self._excluded(1 - self.probability)
        places = [k for k in (below, self.count - 1 - above) if 0 <= k < self.count]
        ordered = np.partition(self._kept.values, places) if places else self._kept.values
        low = float(ordered[below]) if 0 <= below < self.count else -math.inf
        high = float(ordered[-1 - above]) if 0 <= above < self.count else math.inf
        return low, high

    def _excluded(self, probability: float) -> int:
        """The largest number of replicates up to q that still excludes q; -1 if not even 0 does."""
        variance = self.probability * (1 - self.probability)
        coefficient = math.sqrt(2 * math.log(2 / self.alpha) / (self.planned * variance))
        drift = -self.count * math.log1p(probability * math.expm1(-coefficient))
        bound = math.log(2 / self.alpha)
        most = (drift - bound - ROUNDING * (drift + bound)) / coefficient
        return math.floor(most) if most >= 0 else -1
