"""The statistics of the experiments: means with a variance bound, planned sizes and verdicts.

The bound of a CatoniSequence is derived from the law of the sampler, never from the data. Other
sequences are in bounded.py, quantiles.py and asymptotic.py beside it.
"""

import math
import sys
from enum import StrEnum

import numpy as np

from varlaw.checks.statistics.intervals import (
    PRECISION,
    ROUNDING,
    ConfidenceSequence,
    EmptyInterval,
    Interval,
    Kind,
    NoInterval,
    NotConstant,
    NotFinite,
    Values,
    Vector,
    linear_half_width,
    outer_root,
)

__all__ = [
    "BUDGET",
    "ROUNDING",
    "WIDE",
    "CatoniSequence",
    "EmptyInterval",
    "Interval",
    "Kind",
    "NoInterval",
    "NotConstant",
    "NotFinite",
    "Verdict",
    "judge",
    "place",
    "planned_size",
    "share",
]

BUDGET = 5 << 29  # random numbers for one measurement, unless given: half a minute's worth at most
WIDE = "the interval lies neither inside the tolerance nor outside"
POWER_QUANTILE = 3.2905  # P(|Z| < 3.2905) = 0.999 for a standard normal Z
CHUNK = 1 << 15  # values per pass of the inner loop; six temporary arrays of 256 KiB each


class Verdict(StrEnum):
    """What the evidence says about a claim."""

    VERIFIED = "verified"
    LOOSE = "loose"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class CatoniSequence(ConfidenceSequence):
    """Confidence sequence for a mean, from nothing but a bound on the variance.

    With phi(x) = sign(x) log(1 + |x| + x^2/2) and a constant lambda > 0, the interval after t
    replicates X_1..X_t is the set of all m with

        |sum_i phi(lambda (X_i - m))| <= log(2/alpha) + t variance lambda^2 / 2.

    It contains the mean for *all* t at once with probability at least 1 - alpha, so one may look
    as often as one likes. (At m = mean, E exp(+-phi) <= 1 + variance lambda^2/2 makes
    exp(+-sum phi - t variance lambda^2/2) two nonnegative supermartingales; Ville's inequality
    bounds each by 2/alpha, except with probability alpha/2.) The replicates need a constant
    conditional mean and a conditional variance of at most `variance`; no other moment need exist.

    `planned` is the number of replicates at which the interval is tightest: lambda =
    sqrt(2 log(2/alpha) / (planned variance)) gives it a half-width of about
    sqrt(2 log(2/alpha) variance / planned). Any other t is valid, only wider than need be.

    With `intersect` the interval is the intersection over all looks so far, also valid at once.

    Source: H. Wang and A. Ramdas, Catoni-style confidence sequences for heavy-tailed mean
    estimation, Stochastic Processes and their Applications 163 (2023) 168-202,
    arXiv:2202.01250, Theorem 9, with constant coefficients.

    >>> sequence = CatoniSequence(alpha=0.05, variance=1.0, planned=1000)
    >>> sequence.update(np.random.default_rng(1).standard_normal(1000))
    >>> 0.0 in sequence.interval()
    True
    """

    def __init__(
        self, alpha: float, variance: float, planned: int, *, intersect: bool = True
    ) -> None:
        super().__init__(alpha, planned, intersect=intersect)
        if not 0 <= variance < math.inf:
            raise ValueError(f"variance bound must be finite and not negative, not {variance}")
        self.variance = variance
        self._kept = Vector()
        self._least = math.inf
        self._greatest = -math.inf
        if variance > 0:
            self._coefficient = math.sqrt(2 * math.log(2 / alpha) / planned) / math.sqrt(variance)
            largest = 1e150 / self._coefficient  # (coefficient * value)^2 must not overflow
        else:
            self._coefficient = math.inf
            largest = sys.float_info.max
        self.usable = (-largest, largest)

    @property
    def half_width(self) -> float:
        """As predicted from the variance bound, without looking."""
        return linear_half_width(self.alpha, self.variance, self.planned, self.count)

    @property
    def _doubt(self) -> str:
        return f"is the variance really at most {self.variance}?"

    def _take(self, batch: Values) -> None:
        """Raises NotConstant where the variance bound is 0."""
        least = min(float(batch.min()), self._least)
        greatest = max(float(batch.max()), self._greatest)
        if self.variance == 0 and least < greatest:
            raise NotConstant(
                f"replicates range from {least} to {greatest} although the variance bound is 0; "
                "give a small positive bound if they differ by rounding only"
            )
        self._least, self._greatest = least, greatest
        self._kept.append(batch)

    def _ends(self) -> tuple[float, float]:
        if self.variance == 0:
            return self._least, self._greatest
        return self._end(-1), self._end(+1)

    def _end(self, side: int) -> float:
        """One end; at first, all terms of the sum are large enough `outside`."""
        scale = self._bound() / (self.count * self._coefficient)
        mean = float(np.mean(self._kept.values))
        near, far = self._least, self._greatest
        if side < 0:
            near, far = far, near
        spacing = float(np.spacing(max(abs(near), abs(far), scale)))
        precision = max(PRECISION * scale, 8 * spacing)
        # count * phi(reach) = bound
        reach = math.sqrt(1 + 2 * math.expm1(self._bound() / self.count)) - 1
        inside = near + side * reach / self._coefficient
        outside = far + side * (reach * (1 + PRECISION) / self._coefficient + precision)
        guess = mean + side * scale
        return outer_root(
            lambda m: self._exclusion(m, side), side, inside, outside, guess, precision
        )

    def _exclusion(self, mean: float, side: int) -> tuple[float, float]:
        """By how much the sum at `mean` exceeds the bound beyond rounding; its slope in `mean`.

        The mean is excluded if the first is not negative. Rounding: each term is right to about
        12 units, numpy's pairwise sum of a chunk adds at most 28, and fsum adds none.
        """
        totals, sizes, slopes = [], [], []
        values = self._kept.values
        for start in range(0, self.count, CHUNK):
            scaled = values[start : start + CHUNK] - mean
            scaled *= self._coefficient
            magnitude = np.abs(scaled)
            inner = 0.5 * magnitude
            inner += 1
            inner *= magnitude  # |x| + x^2/2
            size = np.log1p(inner)
            magnitude += 1
            inner += 1
            magnitude /= inner  # phi'(x)
            sizes.append(float(size.sum()))
            totals.append(float(np.copysign(size, scaled, out=size).sum()))
            slopes.append(float(magnitude.sum()))
        doubt = ROUNDING * (math.fsum(sizes) + self._bound())
        excess = -side * math.fsum(totals) - self._bound() - doubt
        return excess, self._coefficient * math.fsum(slopes)

    def _bound(self) -> float:
        """log(2/alpha) + t variance lambda^2 / 2, with lambda put in."""
        return math.log(2 / self.alpha) * (1 + self.count / self.planned)


def share(error_rate: float, runs: int) -> float:
    """The alpha of each of `runs` experiments that together err with at most `error_rate`.

    Bonferroni: error_rate / runs, whatever the dependence between them.
    """
    _check_alpha(error_rate)
    if runs < 1:
        raise ValueError(f"number of experiments must be positive, not {runs}")
    return error_rate / runs


def planned_size(
    variance: float,
    claimed: float,
    tolerance: float,
    alpha: float,
    *,
    absolute: float | None = None,
    reach: float = 0.0,
    square: float | None = None,
) -> int:
    """Replicates after which a true claim is verified in about 99.9 % of all experiments.

    With l = log(2/alpha), margin = tolerance |claimed| (or `absolute`, if claimed is 0) and
    z = 3.2905, the two-sided 0.999 quantile of the normal law,

        N = variance (sqrt(2 l) + z)^2 / margin^2 + 2 l:

    the half-width of a CatoniSequence is about sqrt(2 l variance / (N - 2 l)), and its centre,
    about normal with standard deviation sqrt(variance / N), is off by less than z of those.
    For a statistic with values in an interval of length `reach`, the half-width of a
    BettingSequence or BernsteinSequence is about sqrt(2 l variance / N) + 2 l reach / N at most
    (bets are cut off at 1/2, and before that its next term is a third of the second one), so

        N = variance (a + sqrt(a^2 + b))^2 / (4 margin^2) + 2 l,

    a = sqrt(2 l) + z and b = 8 l reach margin / variance. `square` takes the place of 2 l in a for
    sequences whose half-width is about sqrt(square variance / N).
    The power is a prediction; the error rate of the interval does not rest on it.

    >>> planned_size(variance=2.0, claimed=1.0, tolerance=0.05, alpha=1e-6)
    60266
    """
    _check_alpha(alpha)
    margin = _margin(claimed, tolerance, absolute)
    if not 0 <= variance < math.inf:
        raise ValueError(f"variance bound must be finite and not negative, not {variance}")
    if variance == 0 and reach == 0:
        return 1
    if margin == 0:
        raise ValueError("tolerance must be positive where the variance is")
    double = 2 * math.log(2 / alpha)
    wide = math.sqrt(double if square is None else square)
    root = math.sqrt(variance) / margin * (wide + POWER_QUANTILE)
    root = root / 2 + math.hypot(root / 2, math.sqrt(double * reach / margin))
    if not root < 1e150:
        raise ValueError(f"no feasible size: tolerance {margin} for a variance of {variance}")
    return math.ceil(root * root + double)


def judge(
    interval: Interval, claimed: float, tolerance: float, *, absolute: float | None = None
) -> Verdict:
    """Equivalence test of `claimed`, up to a relative tolerance (`absolute`, if claimed is 0).

    Verified if the interval lies wholly inside claimed (1 +- tolerance), refuted if wholly
    outside, otherwise undecided: too few replicates never verify.

    >>> judge(Interval(1.98, 2.01, "proved", 100), claimed=2.0, tolerance=0.05)
    <Verdict.VERIFIED: 'verified'>
    """
    margin = _margin(claimed, tolerance, absolute)
    return place(interval, claimed - margin, claimed + margin)


def place(interval: Interval, low: float, high: float) -> Verdict:
    """Whether the interval lies wholly inside [low, high], wholly outside, or neither."""
    if low <= interval.low and interval.high <= high:
        return Verdict.VERIFIED
    if interval.high < low or high < interval.low:
        return Verdict.REFUTED
    return Verdict.UNDECIDED


def _margin(claimed: float, tolerance: float, absolute: float | None) -> float:
    """The absolute tolerance of a claim."""
    if not math.isfinite(claimed):
        raise ValueError(f"claimed value must be finite, not {claimed}")
    if claimed == 0 and absolute is None:
        raise ValueError("a claimed value of 0 needs an absolute tolerance")
    margin = absolute if claimed == 0 and absolute is not None else tolerance * abs(claimed)
    if not 0 <= margin < math.inf:
        raise ValueError(f"tolerance must be finite and not negative, not {tolerance}")
    return margin


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"error rate must lie strictly between 0 and 1, not {alpha}")
