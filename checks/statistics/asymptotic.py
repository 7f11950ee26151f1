"""Asymptotic confidence sequences for a mean: where nothing bounds the tail or the variance."""

import math
import sys

from varlaw.checks.statistics.intervals import ConfidenceSequence, NoInterval, Values

START = 1000  # replicates before which nothing is said


class AsymptoticSequence(ConfidenceSequence):
    """Asymptotic confidence sequence for a mean of finite, unknown variance.

    After t replicates with mean m and standard deviation s (divisor t),

        m +- s sqrt(2 (1 + 1/(t r)) / t  *  log(sqrt(t r + 1) / alpha)),

    where r, given in `mixture`, makes it about as narrow as can be at the planned number. It
    approximates an exact sequence of the same centre: by a strong approximation the sums of the
    replicates are those of normal variables up to less than sqrt(t log log t), and for these
    Robbins' mixture of exp(lambda S - lambda^2 s^2 t/2) over normal lambda with Ville's inequality
    gives the boundary.

    What it is worth at a finite number of replicates depends on the tail, which nothing here
    bounds: it is labelled `asymptotic`, does not count towards an error rate, and says nothing
    before the first `START` replicates, nor where all are equal. Looks are not intersected unless
    asked for: later ones are better.

    Source: I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas, Time-uniform central
    limit theory and asymptotic confidence sequences, Annals of Statistics 52 (2024) 2613-2640,
    arXiv:2103.06476, Theorem 2.2.

    >>> import numpy as np
    >>> sequence = AsymptoticSequence(0.05, planned=2000)
    >>> sequence.update(np.random.default_rng(1).standard_exponential(2000))
    >>> 1.0 in sequence.interval(), sequence.interval().kind
    (True, 'asymptotic')
    """

    kind = "asymptotic"
    usable = (-1e150, 1e150)  # squares must not overflow

    def __init__(self, alpha: float, planned: int, *, intersect: bool = False) -> None:
        super().__init__(alpha, planned, intersect=intersect)
        self._mean, self._squares = 0.0, 0.0

    def _take(self, batch: Values) -> None:
        """Join the moments of two groups: Chan, Golub and LeVeque, Am. Stat. 37 (1983), (1.5)."""
        mean = float(batch.mean())
        apart, count = mean - self._mean, self.count + batch.size
        self._squares += float(((batch - mean) ** 2).sum())
        self._squares += apart**2 * (self.count / count) * batch.size
        self._mean += apart * (batch.size / count)

    def _ends(self) -> tuple[float, float]:
        if self.count < START:
            return -math.inf, math.inf
        deviation = math.sqrt(self._squares / self.count)
        if deviation <= 8 * sys.float_info.epsilon * abs(self._mean):
            raise NoInterval(
                f"all {self.count} replicates are {self._mean:.9g}: without any spread "
                "an asymptotic interval says nothing"
            )
        half = deviation * math.sqrt(mixture(self.alpha, self.count / self.planned) / self.count)
        return self._mean - half, self._mean + half


def mixture(alpha: float, ratio: float = 1.0) -> float:
    """The square of the half-width, in units of variance / t, at t = ratio times the planned size.

    With c = t r and r planned = -2 log alpha + log(1 - 2 log alpha), it is

        2 (1 + 1/c) log(sqrt(1 + c) / alpha).

    Source: as for AsymptoticSequence, Theorem 2.2 and the appendix on the choice of rho.
    """
    logarithm = -2 * math.log(alpha)
    c = ratio * (logarithm + math.log1p(logarithm))
    return (1 + 1 / c) * (math.log1p(c) + logarithm)
