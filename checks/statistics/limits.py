"""Limit laws: the fit of c + b n^(-k) to intervals, by interval arithmetic rounded outwards."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from varlaw.checks.statistics.verdicts import (
    ROUNDING,
    WIDE,
    Interval,
    Kind,
    Verdict,
    judge,
    place,
)

__all__ = ["Fit", "extrapolations", "limit_verdict", "order_fit", "recedes"]

NEXT_ORDER = "the next order of the error may be in the way: try larger sizes"


@dataclass(frozen=True)
class Fit:
    """What order_fit found: value(n) = limit + coefficient n^(-order).

    `ratio` is the interval of (v1 - v2) / (v2 - v3), `window` where it must lie to speak for the
    stated order, and `order` the verdict on that. `reach` holds the limit at any order from half
    the stated one on. Like the verdict, all rest on the assumption
    that is stated in order_fit.
    """

    limit: Interval
    coefficient: Interval
    ratio: Interval
    window: tuple[float, float]
    order: Verdict
    reach: Interval

    @property
    def identified(self) -> bool:
        """Whether the stated order is the nearest one and the coefficient is separated from 0."""
        return self.order is Verdict.VERIFIED and 0.0 not in self.coefficient

    def judge(self, claimed: float, tolerance: float, *, absolute: float | None = None) -> Verdict:
        """The verdict on the limit; undecided while the order is not identified."""
        if not self.identified:
            return Verdict.UNDECIDED
        return judge(self.limit, claimed, tolerance, absolute=absolute)


def order_fit(
    sizes: Sequence[int],
    values: Sequence[Interval],
    order: float = 1.0,
    *,
    competitors: Sequence[float] | None = None,
    remainder: float = 0.0,
) -> Fit:
    """Test a limit law v(n) = c + b n^(-k) with error order k on intervals of v(n_1)..v(n_j).

    For the three largest sizes n1 < n2 < n3, by interval arithmetic,

        c     = (n3^k v3 - n2^k v2) / (n3^k - n2^k),
        b     = (v1 - v3) / (n1^-k - n3^-k),
        ratio = (v1 - v2) / (v2 - v3) = rho(k) = (n1^-k - n2^-k) / (n2^-k - n3^-k).

    For sizes n, 2n, 4n this is Richardson's extrapolation, c = (2^k v3 - v2) / (2^k - 1) and
    rho(k) = 2^k. rho increases with k, so the ratio tells exponents apart: the order is verified
    if the ratio lies wholly between rho at the midpoints of k and its neighbours among the
    `competitors` (default: k/2 and 2k), refuted if wholly outside, else undecided.

    Assumption: |v(n) - c - b n^-k| <= remainder n^(-2k), that is, the next order is 2k with a
    coefficient of at most `remainder`; every interval is widened by it. With the default 0 the
    next order is neglected: c is then off by that order, and the ratio speaks for k as long as
    the next order moves the apparent exponent by less than half its distance to a competitor.

    Error rate: at most the sum of those of the three intervals (union bound).

    Raises ValueError for fewer than three sizes or sizes that do not increase.
    """
    if len(sizes) != len(values):
        raise ValueError(f"{len(sizes)} sizes but {len(values)} intervals")
    if len(sizes) < 3:
        raise ValueError(f"an order needs at least three sizes, not {len(sizes)}")
    if sizes[0] < 1 or any(a >= b for a, b in pairwise(sizes)):
        raise ValueError(f"sizes must be positive and increase: {list(sizes)}")
    others = (order / 2, 2 * order) if competitors is None else tuple(competitors)
    if not order > 0 or not others or order in others or min(others) <= 0:
        raise ValueError(f"order {order} needs positive competitors different from it: {others}")
    if not 0 <= remainder < math.inf:
        raise ValueError(f"remainder must be finite and not negative, not {remainder}")

    v1, v2, v3 = (
        _widened(value, remainder * size ** (-2 * order))
        for size, value in zip(sizes[-3:], values[-3:], strict=True)
    )
    # sizes relative to the largest, so that their powers cannot overflow
    r1, r2, r3 = (size / sizes[-1] for size in sizes[-3:])

    def rho(exponent: float) -> float:
        return float((r1**-exponent - r2**-exponent) / (r2**-exponent - r3**-exponent))

    weight = 1 / (1 - r2**order)
    limit = _combine((weight, v3), (1 - weight, v2))
    slope = sizes[-1] ** order / (r1**-order - 1)
    coefficient = _combine((slope, v1), (-slope, v3))
    ratio = _quotient(_combine((1.0, v1), (-1.0, v2)), _combine((1.0, v2), (-1.0, v3)))
    below = [(k + order) / 2 for k in others if k < order]
    above = [(k + order) / 2 for k in others if k > order]
    # the limit of rho at exponent 0 is positive: at any rate the differences have one sign
    window = (rho(max(below)) if below else 0.0, rho(min(above)) if above else math.inf)
    far = 1 / (1 - r2 ** (order / 2))
    slow = _combine((far, v3), (1 - far, v2))
    reach = _joint(min(v3.low, slow.low), max(v3.high, slow.high), v2, v3)
    return Fit(limit, coefficient, ratio, window, place(ratio, *window), reach)


def extrapolations(sizes: Sequence[int], values: Sequence[float], order: float) -> list[float]:
    """The limit by Richardson from each two neighbouring sizes."""
    powers = [size**order for size in sizes]
    return [
        (powers[k + 1] * values[k + 1] - powers[k] * values[k]) / (powers[k + 1] - powers[k])
        for k in range(len(values) - 1)
    ]


def limit_verdict(
    fit: Fit,
    values: Sequence[Interval],
    extrapolated: Sequence[float],
    claimed: float,
    tolerance: float,
) -> tuple[Verdict, str]:
    """The verdict on a claimed limit, and why where it is undecided.

    The extrapolations from smaller and from larger sizes differ by more than what the latter
    neglects: a claim no further off than that is not refuted. Where the order is not identified, a
    claim is refuted that lies outside of the fit's reach, or that the values go away from.
    """
    verdict = fit.judge(claimed, tolerance, absolute=tolerance)
    within = fit.limit
    if not fit.identified:
        verdict, within = judge(fit.reach, claimed, tolerance, absolute=tolerance), fit.reach
        verdict = Verdict.UNDECIDED if verdict is Verdict.VERIFIED else verdict
    away = max(within.low - claimed, claimed - within.high)
    if recedes(values, claimed):
        return Verdict.REFUTED, ""
    if verdict is Verdict.REFUTED and away < abs(extrapolated[-1] - extrapolated[-2]):
        return Verdict.UNDECIDED, NEXT_ORDER
    return verdict, WIDE if fit.identified else "order not identified"


def recedes(values: Sequence[Interval], claimed: float) -> bool:
    """Whether values go away from their limit, surely, from each size to the next."""
    ends = [(i.low - claimed, i.high - claimed) for i in values]
    least = [max(low, -high, 0.0) for low, high in ends]
    most = [max(-low, high) for low, high in ends]
    return all(far > near for far, near in zip(least[1:], most, strict=False))


def _combine(*terms: tuple[float, Interval]) -> Interval:
    """The interval of a linear combination, rounded outwards."""
    lows = [weight * (v.low if weight > 0 else v.high) for weight, v in terms]
    highs = [weight * (v.high if weight > 0 else v.low) for weight, v in terms]
    doubt = ROUNDING * sum(abs(end) for end in lows + highs)
    return _joint(sum(lows) - doubt, sum(highs) + doubt, *(v for _, v in terms))


def _widened(interval: Interval, by: float) -> Interval:
    return Interval(interval.low - by, interval.high + by, interval.kind, interval.replicates)


def _quotient(above: Interval, below: Interval) -> Interval:
    """The interval of a quotient, rounded outwards; the whole line if it may divide by 0."""
    ends = (above.low, above.high, below.low, below.high)
    if 0.0 in below or not all(math.isfinite(end) for end in ends):
        return _joint(-math.inf, math.inf, above, below)
    corners = [a / b for a in ends[:2] for b in ends[2:]]
    doubt = ROUNDING * max(abs(corner) for corner in corners)
    return _joint(min(corners) - doubt, max(corners) + doubt, above, below)


def _joint(low: float, high: float, *sources: Interval) -> Interval:
    """An interval derived from others: proved if all are, with the fewest replicates of any."""
    kind: Kind = "proved" if all(v.kind == "proved" for v in sources) else "asymptotic"
    return Interval(low, high, kind, min(v.replicates for v in sources))
