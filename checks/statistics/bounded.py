"""Confidence sequences for the mean of a bounded statistic, which learn its variance themselves.

Both bet against a candidate mean; a bet may depend on all earlier replicates, never on its own.
The bet on replicate i is

    lambda_i = sqrt(2 log(2/alpha) / (planned s_{i-1}^2)),
    s_i^2 = (guess + Sum_{j<=i} (X_j - m_j)^2) / (i + 1),
    m_i = (centre + Sum_{j<=i} X_j) / (i + 1),

the one that is best at the planned number if s^2 is the variance. `guess` is a variance bound if
one is given, at most (high - low)^2/4; it and the plan change the width, never the error rate.

Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting,
Journal of the Royal Statistical Society B 86 (2024) 1-27, arXiv:2010.09686: the bets are those of
the predictable plug-in for a planned size (section 3), the theorems named below.
"""

import math
import sys

import numpy as np

from varlaw.checks.statistics.intervals import (
    PRECISION,
    ROUNDING,
    ConfidenceSequence,
    NoInterval,
    OutOfBounds,
    Values,
    Vector,
    linear_half_width,
    outer_root,
)

CHUNK = 1 << 15  # values per pass of the inner loop
MOST = 0.5  # how much of its capital a bet may lose at worst
LEAST_GUESS = 1e-20  # of the variance, in units of (high - low)^2


class BoundedSequence(ConfidenceSequence):
    """The bets that the two sequences of this file have in common."""

    def __init__(
        self,
        alpha: float,
        low: float,
        high: float,
        planned: int,
        *,
        variance: float = math.inf,
        intersect: bool = True,
    ) -> None:
        super().__init__(alpha, planned, intersect=intersect)
        if not (-1e100 <= low < high <= 1e100 and high - low > 1e-100):
            raise ValueError(f"bounds must be finite and increase: [{low}, {high}]")
        if not variance >= 0:
            raise ValueError(f"variance must not be negative, and is {variance}")
        self.usable = self.low, self.high = low, high
        self._reach = high - low
        self._moved = (low + high) / 2 - low  # the sum of X_j - low, and an imagined one
        self._squares = min(max(variance, LEAST_GUESS * self._reach**2), self._reach**2 / 4)
        self._least, self._greatest = high, low
        self._begin()

    def _begin(self) -> None:
        """What a sequence of one kind keeps, before the first replicate."""
        raise NotImplementedError

    @property
    def half_width(self) -> float:
        """As predicted from the variance estimated so far, without looking."""
        variance = self._squares / (self.count + 1)
        return linear_half_width(self.alpha, variance, self.planned, self.count)

    @property
    def _doubt(self) -> str:
        return "are the replicates really independent, with one mean?"

    def _refusal(self, number: int, value: float) -> NoInterval:
        if not math.isfinite(value):
            return super()._refusal(number, value)
        return OutOfBounds(
            f"replicate {number} is {value}, outside of its bounds [{self.low}, {self.high}]"
        )

    def _bets(self, batch: Values) -> tuple[Values, Values]:
        """The bet on each value of a batch, and its mean foreseen; both from earlier values only.

        Running sums go from left to right, so that bits do not depend on the batches.
        """
        numbers = np.arange(self.count + 1, self.count + batch.size + 2)
        moved = np.cumsum(np.concatenate(([self._moved], batch - self.low)))
        means = self.low + moved / numbers
        distances = (batch - means[1:]) ** 2
        squares = np.cumsum(np.concatenate(([self._squares], distances)))
        self._moved, self._squares = float(moved[-1]), float(squares[-1])
        self._least = min(self._least, float(batch.min()))
        self._greatest = max(self._greatest, float(batch.max()))
        double = 2 * math.log(2 / self.alpha) / self.planned
        return np.sqrt(double * numbers[:-1] / squares[:-1]), means[:-1]


class BettingSequence(BoundedSequence):
    """Confidence sequence for the mean of values in [low, high], by betting against candidates.

    A candidate m is excluded as too small once a capital that begins with 1 reaches 2/alpha:

        K(m) = Prod_i (1 + lambda_i(m) (X_i - m)),   lambda_i(m) = min(lambda_i, 1/2 / (m - low)),

    and as too large by the mirror image. At m = mean K is a nonnegative martingale that begins
    with 1, so it ever reaches 2/alpha with probability alpha/2 at most (Ville). Every factor falls
    with m, so what is excluded lies beyond one end, which is the root of log K(m) = log(2/alpha).
    The replicates need values in [low, high] and a constant conditional mean.

    Source: Waudby-Smith and Ramdas 2024 (see this module), Theorem 3 (hedged capital), with
    theta = c = 1/2.

    >>> sequence = BettingSequence(0.05, 0.0, 1.0, planned=1000)
    >>> sequence.update(np.random.default_rng(1).random(1000))
    >>> 0.5 in sequence.interval(), round(sequence.interval().width, 2)
    (True, 0.05)
    """

    def _begin(self) -> None:
        self._kept, self._stakes = Vector(), Vector()

    def _take(self, batch: Values) -> None:
        stakes, _ = self._bets(batch)
        self._kept.append(batch)
        self._stakes.append(stakes)

    def _ends(self) -> tuple[float, float]:
        return self._end(-1), self._end(+1)

    def _end(self, side: int) -> float:
        """One end; no bet is won at the value that is nearest to the other end."""
        outside, inside = self.low, self._greatest
        if side > 0:
            outside, inside = self.high, self._least
        if self._exclusion(outside, side)[0] < 0:
            return outside
        spacing = float(np.spacing(max(abs(self.low), abs(self.high))))
        precision = max(PRECISION * self.half_width, 8 * spacing)
        guess = self.estimate + side * self.half_width
        return outer_root(
            lambda m: self._exclusion(m, side), side, inside, outside, guess, precision
        )

    def _exclusion(self, mean: float, side: int) -> tuple[float, float]:
        """By how much log K exceeds its bound beyond rounding, and its slope outwards in `mean`.

        Rounding: a factor 1 + y >= 1/2 with y right to 3 units has a logarithm right to 12, and
        numpy's pairwise sum of a chunk adds at most 28; fsum adds none.
        """
        reach = mean - self.low if side < 0 else self.high - mean
        most = MOST / reach if reach > 0 else math.inf
        values, stakes = self._kept.values, self._stakes.values
        gains, sizes, slopes = [], [], []
        for start in range(0, self.count, CHUNK):
            stake = np.minimum(stakes[start : start + CHUNK], most)
            won = values[start : start + CHUNK] - mean
            won *= stake
            if side > 0:
                np.negative(won, out=won)
            # a stake at its limit falls with the reach: d/dm of its gain is the gain of 1 + y/MOST
            slope = np.where(stake < most, stake, stake * (1 + won / MOST))
            slope /= 1 + won
            gain = np.log1p(won, out=won)
            gains.append(float(gain.sum()))
            sizes.append(float(np.abs(gain).sum()))
            slopes.append(float(slope.sum()))
        bound = math.log(2 / self.alpha)
        excess = math.fsum(gains) - bound - ROUNDING * (math.fsum(sizes) + bound)
        return excess, max(math.fsum(slopes), sys.float_info.min)


class BernsteinSequence(BoundedSequence):
    """Confidence sequence for the mean of values in [low, high], of empirical-Bernstein form.

    In units of the width, where values lie in [0, 1], with bets cut off at 1/2 and the foreseen
    mean m_{i-1}, the interval is

        (Sum lambda_i X_i +- (log(2/alpha) + Sum psi(lambda_i) (X_i - m_{i-1})^2)) / Sum lambda_i,

    psi(x) = -log(1 - x) - x. (exp(lambda u - psi(lambda) u^2) <= 1 + lambda u for u = X - m_{i-1}
    >= -1, so with d = mean - m_{i-1} the mean of exp(lambda (X - mean) - psi(lambda) u^2) is at
    most (1 + lambda d) exp(-lambda d) <= 1; Ville's inequality bounds the product by 2/alpha.)
    It keeps no replicates; as the planned number grows, its width approaches that of
    BettingSequence, which is narrower.

    Source: Waudby-Smith and Ramdas 2024 (see this module), Theorem 2 (predictable plug-in
    empirical Bernstein), after Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 49
    (2021), Theorem 4. psi is rounded up to x^2/2 + x^3/3 + x^4/(4 (1 - x)), free of cancellation.

    >>> sequence = BernsteinSequence(0.05, 0.0, 1.0, planned=1000)
    >>> sequence.update(np.random.default_rng(1).random(1000))
    >>> 0.5 in sequence.interval(), round(sequence.interval().width, 2)
    (True, 0.06)
    """

    def _begin(self) -> None:
        # Sums of lambda_i, lambda_i X_i and psi(lambda_i) (X_i - m_{i-1})^2
        self._sums = np.zeros((3, 1))

    def _take(self, batch: Values) -> None:
        stakes, means = self._bets(batch)
        np.clip(means, self.low, self.high, out=means)  # rounding could lead out
        x = np.minimum(stakes * self._reach, MOST)
        psi = x * x * (1 / 2 + x / 3 + x * x / (4 * (1 - x)))
        values, errors = (batch - self.low) / self._reach, (batch - means) / self._reach
        terms = np.stack([x, x * values, psi * errors**2])
        self._sums = np.cumsum(np.hstack([self._sums, terms]), axis=1)[:, -1:]

    def _ends(self) -> tuple[float, float]:
        staked, weighted, spent = map(float, self._sums[:, 0])
        centre = weighted / staked
        half = (math.log(2 / self.alpha) + spent) / staked
        # sums of positive terms from left to right: relatively right to one unit for each term
        half += 4 * (self.count + 16) * sys.float_info.epsilon * (centre + half)
        units = 4 * float(np.spacing(max(abs(self.low), abs(self.high))))
        low = self.low + self._reach * (centre - half) - units
        high = self.low + self._reach * (centre + half) + units
        return max(low, self.low), min(high, self.high)
