"""Where tokens stand, in attention: rotary positions, and biases of logits by distance.

A rotation of the pairs j of features by t theta_j keeps norms of queries and keys, and multiplies
the product of two logits, of query t with key s and of t' with s', by the mean over pairs of
cos((s' - s - t' + t) theta_j), theta_j = base^(-2j/d) (Su et al. 2021, section 3.2.2). A bias for
each distance t - s, of variance V and independent of all else, adds V to that product where the
distances have one bias, and 0 else; nearby distances have biases of their own, those further off
share them in logarithmic buckets (Raffel et al. 2020, section 2.1).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from sympy import Expr

from varlaw.symbolic.blocks.overlaps import Means, rounded
from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.gaussian.arrays import Array

ROWS = 256  # distances that are summed at once


@dataclass(frozen=True)
class Positions:
    """n tokens; arrays [t, t'] of pairs of queries, which both see the first m of the tokens.

    `base` is that of the rotation of `pairs` pairs of features, 0 for none; `variance` that of the
    biases, in so many `buckets`, 0 for one of its own for each distance.
    """

    tokens: int
    causal: bool
    base: float = 0.0
    pairs: int = 1
    variance: float = 0.0
    buckets: int = 0
    furthest: int = 128

    @cached_property
    def seen(self) -> Array:
        """m."""
        n, place = self.tokens, np.arange(1, self.tokens + 1)
        return np.minimum.outer(place, place) if self.causal else np.full((n, n), n)

    @cached_property
    def kept(self) -> Array:
        """What is left of a product of logits with one key."""
        return np.asarray(self._cosines.mean(0)[np.abs(self._apart)])

    def others(self, products: Array) -> Array:
        """The mean over two different keys of their product, times what is left of it."""
        found, far = np.zeros((self.tokens,) * 2), np.abs(self._apart)
        own = np.cumsum(np.diag(products))[self.seen - 1]
        for cosines in self._cosines:
            turned = cosines[far]
            found += turned * (self._sums(products * turned) - own)
        return found / len(self._cosines) / self._counts

    @cached_property
    def alike(self) -> Array:
        """The same for keys whose products are all 1."""
        cosines = np.asarray(self._cosines)
        sums = np.cumsum(2 * np.cumsum(cosines, 1) - 1, 1)  # of m keys: the next has two with each
        found = cosines.T @ (sums - np.arange(1, self.tokens + 1))  # by distance and m
        return found[np.abs(self._apart), self.seen - 1] / len(cosines) / self._counts

    @cached_property
    def added(self) -> Array:
        """By how much biases make logits with one key covary more than those with two."""
        n, m, steps = self.tokens, self.seen, np.arange(self.tokens)
        if self.variance == 0:
            return np.zeros((n, n))
        if self.buckets == 0:
            far = np.abs(self._apart)
            same, every = np.where(far == 0, m, 0), np.maximum(m - far, 0)
        else:
            place = bucket(self._apart, self.buckets, self.furthest, self.causal)
            kinds = np.cumsum(place[:, :, None] == np.arange(self.buckets), 1)  # [t, s, kind]
            same, every = np.zeros((n, n)), np.zeros((n, n))
            for t in steps:
                last = m[t] - 1
                same[t] = np.cumsum(place[t] == place, 1)[steps, last]
                every[t] = (kinds[t, last] * kinds[steps, last]).sum(1)
        return self.variance * (same / m - (every - same) / self._counts)

    def mean(self, values: Array, *, pairs: bool) -> float:
        """The mean over queries, or over pairs of them, with the weights that overlaps have."""
        n, place = self.tokens, np.arange(1, self.tokens + 1)
        late = np.maximum.outer(place, place) if self.causal else np.full((n, n), n)
        one = np.eye(n)
        weights = (1 - 1 / self.seen) / late * (1 - one if pairs else one)
        return float((weights * values).sum() / weights.sum()) if n > 1 else float(values.mean())

    def turned(self) -> tuple[float, float, float]:
        """The means of `kept` over pairs of queries, and of `alike` over queries and over pairs.

        For causal tokens, by the distance and m, without arrays of all pairs.
        """
        n, m, cosines = self.tokens, np.arange(1, self.tokens + 1), self._cosines
        sums = np.cumsum(2 * np.cumsum(cosines, 1) - 1, 1) - m
        keys = sums / (len(cosines) * np.maximum(m * (m - 1), 1))
        alone = (1 - 1 / m) / m
        whole = kept = alike = 0.0
        for low in range(1, n, ROWS):
            far = np.arange(low, min(low + ROWS, n))
            late = m + far[:, None]
            weights = np.where(late <= n, (1 - 1 / m) / late, 0)
            whole += weights.sum()
            kept += weights.sum(1) @ cosines[:, far].mean(0)
            alike += (weights * (cosines[:, far].T @ keys)).sum()
        return kept / whole, float(alone @ keys.sum(0) / alone.sum()), alike / whole

    @property
    def _apart(self) -> Array:
        """t - s."""
        return np.subtract.outer(np.arange(self.tokens), np.arange(self.tokens))

    @cached_property
    def _counts(self) -> Array:
        """The number of pairs of different keys."""
        return np.maximum(self.seen * (self.seen - 1), 1)

    @cached_property
    def _cosines(self) -> Array:
        """cos(l theta_j), [j, l]; one row of 1 without rotation."""
        if self.base == 0:
            return np.ones((1, self.tokens))
        frequencies = self.base ** (-np.arange(self.pairs) / self.pairs)
        return np.cos(np.outer(frequencies, np.arange(self.tokens)))

    def _sums(self, products: Array) -> Array:
        """Sums over the pairs of keys that two queries see."""
        if not self.causal:
            return np.full_like(products, products.sum())
        sums = np.diag(np.cumsum(np.cumsum(products, 0), 1))
        return np.asarray(sums[self.seen - 1])


def bucket(distance: Array, buckets: int, furthest: int, causal: bool) -> Array:
    """The bucket of a distance t - s: 0, 1, ... one by one, then evenly in its logarithm.

    Without a causal mask half of the buckets are for s > t.
    """
    count = buckets if causal else buckets // 2
    far, exact = np.abs(distance), count // 2
    inside = np.log(np.maximum(far, 1) / exact) / np.log(furthest / exact) * (count - exact)
    found = np.where(far < exact, far, np.minimum(exact + inside.astype(int), count - 1))
    if causal:
        return np.asarray(np.where(distance < 0, 0, found))
    return np.asarray(found + count * (distance < 0))


def located(
    tokens: Expr,
    *,
    causal: bool,
    base: Expr,
    head_width: Expr,
    variance: Expr,
    buckets: Expr,
    furthest: Expr,
) -> Positions:
    """`Positions` of expressions. Raises BlockError where one has no value."""
    given = (tokens, base, head_width, variance, buckets, furthest)
    if any(one.free_symbols for one in given):
        raise BlockError(
            "positions by distance need numbers for tokens, bases and variances: rotary=0 and"
            " relative=0 leave them out"
        )
    pairs = max(int(head_width) // 2, 1)
    return Positions(
        int(tokens), causal, float(base), pairs, float(variance), int(buckets), int(furthest)
    )


@lru_cache(maxsize=64)
def means(place: Positions) -> Means:
    """The means of a number of tokens."""
    if place.causal and place.variance == 0 and place.tokens > 2:
        return Means(*(rounded(number) for number in (*place.turned(), 0, 0)))
    found = (
        place.mean(place.kept, pairs=True),
        place.mean(place.alike, pairs=False),
        place.mean(place.alike, pairs=True),
        place.mean(place.added, pairs=False),
        place.mean(place.added, pairs=True),
    )
    return Means(*(rounded(number) for number in found))
