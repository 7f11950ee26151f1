"""Means over Gaussian features at arrays of variances and correlations, in double precision.

E[f(x)] is an analytic function of log v for |Im log v| < pi/2, whatever f is, as the density is:
polynomials over ranges of v by a factor of 4 have all its digits. E[f(x) f(x')] is followed over
halves of 1 - |r| as well, down to where nothing changes any more. The numbers at the points are
those of the trapezoid rule, the step being halved until that changes nothing, and between the
points polynomials are compared with the rule. Where the digits are not found there is a NaN.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from sympy import Lambda

from varlaw.symbolic.blocks.state import BlockError
from varlaw.symbolic.gaussian.arrays import Array, on_arrays
from varlaw.symbolic.gaussian.enclosure import joined
from varlaw.symbolic.gaussian.pieces import pieces_of

DIGITS = 1e-10  # relative error that is allowed
STEP = 0.25  # of features, at first
NARROW = 0.7  # of a normal variable, at most
FAR = 9.0  # deviations of a normal variable, at first
FARTHEST = 36.0
HALVINGS = 6
MOST = 1 << 22  # values of f at a time
MOST_PAIRS = 1 << 24  # products of two values of f
TOGETHER = 2048  # values of a polynomial at a time
MOST_PRODUCTS = 1 << 18  # of numbers at a time
POINTS = 18  # of a polynomial
BETWEEN = np.array([-0.97, -0.31, 0.17, 0.9])  # where polynomials are compared with the rule
MANY = 64  # more than the halvings of 1 - |r|
NEAR = 1 / 16  # v (1 - |r|) up to which one polynomial does


def mean(law: Lambda, m: Array, v: Array) -> Array:
    """E[f(x)] for x ~ N(m, v), with an error of at most 1e-9 E|f(x)|; NaN where none is found.

    Raises BlockError for f with kinks.
    """
    m, v = np.broadcast_arrays(m, v)
    found = np.full(v.shape, np.nan)
    still, open_ = v == 0, (v > 0) & np.isfinite(v) & np.isfinite(m)
    found[still] = _function(law)(m[still])
    m, v = m[open_], v[open_]
    wide, values = np.log2(v) / 2, np.empty(v.shape)
    one = len(m) >= POINTS and _alike(m)
    for k, here in _parts(np.floor(wide).astype(int)):
        if one:
            values[here] = _at(_along(law, float(m[0]), k), 2 * (wide[here] - k) - 1)
        else:
            values[here] = _rule(law, m[here], np.sqrt(v[here]))[0]
    found[open_] = values
    return found


def _alike(m: Array) -> bool:
    return bool((m == m[0]).all())


def _parts(numbers: Array) -> Iterator[tuple[int, Array]]:
    """Each whole number, and where it is."""
    least = int(numbers.min(initial=0))
    for number in np.flatnonzero(np.bincount(numbers - least)).tolist():
        yield number + least, np.flatnonzero(numbers == number + least)


@lru_cache(maxsize=4096)
def _along(law: Lambda, m: float, k: int) -> Array:
    """Chebyshev coefficients of E[f(x)] over log2 v from 2 k to 2 k + 2."""

    def deviations(t: Array) -> Array:
        return np.asarray(2.0 ** (k + (t + 1) / 2))

    points = chebpts1(POINTS)
    values, _ = _rule(law, np.full(POINTS, m), deviations(points))
    true, size = _rule(law, np.full(len(BETWEEN), m), deviations(BETWEEN))
    coefficients = _fitted(values, float(size.min()))
    off = abs(_at(coefficients, BETWEEN) - true)
    return coefficients if (off <= DIGITS * size).all() else np.full((1, 1), np.nan)


def _fitted(values: Array, size: float) -> Array:
    """Chebyshev coefficients of values at Chebyshev's points, in two variables; few are kept."""
    turn = chebvander(chebpts1(POINTS), POINTS - 1).T * (2 / POINTS)
    turn[0] /= 2
    found = turn @ values.reshape(POINTS, -1)
    if values.ndim == 2:
        found = found @ turn.T
    kept = abs(found) > DIGITS / 1000 * size
    rows, columns = (np.flatnonzero(kept.any(axis)) for axis in (1, 0))
    return np.asarray(found[: rows.max(initial=0) + 1, : columns.max(initial=0) + 1])


def _at(coefficients: Array, t: Array, s: Array | None = None) -> Array:
    """A polynomial, a few points at a time: so small products are not worth several threads."""
    rows, columns = coefficients.shape
    found = np.empty(t.shape)
    together = min(MOST_PRODUCTS // (rows * columns), TOGETHER)
    for start in range(0, len(t), together):
        here = slice(start, start + together)
        terms = coefficients.T @ _terms(t[here], rows)
        found[here] = terms[0] if s is None else (terms * _terms(s[here], columns)).sum(0)
    return found


def _terms(t: Array, number: int) -> Array:
    """Chebyshev's polynomials: rows."""
    found = np.empty((max(number, 2), len(t)))
    found[0], found[1], n = 1, t, 1
    while n + 1 < number:  # T_(n + j) = 2 T_n T_j - T_(n - j)
        more = min(n, number - 1 - n)
        np.multiply(2 * found[n], found[1 : more + 1], out=found[n + 1 : n + more + 1])
        found[n + 1 : n + more + 1] -= found[n - more : n][::-1]
        n += more
    return found[:number]


def _rule(law: Lambda, m: Array, deviation: Array) -> tuple[Array, Array]:
    """E[f(x)] and E|f(x)| by the trapezoid rule, a few at a time; NaN where it does not settle."""
    step, far = min(NARROW, STEP / float(deviation.max())), FAR
    for _ in range(HALVINGS):
        if 2 * far / step > MOST:
            break
        places = step * np.arange(-ceil(far / step), ceil(far / step) + 1)
        rows = max(MOST // len(places), 1)
        if len(m) > rows:
            parts = [_rule(law, m[i : i + rows], deviation[i : i + rows])
                     for i in range(0, len(m), rows)]  # fmt: skip
            return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])
        weights = np.exp(-(places**2) / 2)
        weights /= weights.sum()
        values = _function(law)(m[:, None] + deviation[:, None] * places)
        fine, size = values @ weights, abs(values) @ weights
        ends = abs(values[:, [0, -1]]).max(1) * weights[0]
        if far < FARTHEST and (ends > DIGITS / 1000 * size).any():
            far *= 2
            continue
        coarse = 2 * values[:, len(places) // 2 % 2 :: 2] @ weights[len(places) // 2 % 2 :: 2]
        settled = abs(coarse - fine) <= DIGITS / 10 * size
        if settled.all():
            return fine, size
        step /= 2
    return np.full(m.shape, np.nan), np.full(m.shape, np.nan)


def pair(law: Lambda, m: Array, v: Array, r: Array) -> Array:
    """E[f(x) f(x')] for x, x' ~ N(m, v) with correlation r, as `mean`, to 1e-9 E[f(x)^2].

    Raises BlockError for f with kinks, and where m is not the same for all.
    """
    m, v, r = np.broadcast_arrays(m, v, np.clip(r, -1, 1))
    found = np.full(v.shape, np.nan)
    still, open_ = v == 0, (v > 0) & np.isfinite(v) & np.isfinite(r) & np.isfinite(m)
    found[still] = _function(law)(m[still]) ** 2
    if not open_.any():
        return found
    m, v, r = m[open_], v[open_], r[open_]
    if not _alike(m):
        raise BlockError("a sweep takes pairs of features of one mean only")
    left, wide, values = 1 - abs(r), np.log2(v) / 2, np.empty(v.shape)
    k = np.floor(wide).astype(int)
    halves = np.floor(-np.log2(np.maximum(left, 2.0**-MANY))).astype(int)
    halves = np.minimum(np.minimum(halves, _last(k)), MANY - 1)
    for number, here in _parts((k * MANY + halves) * 2 + (r < 0)):
        (octave, half), sign = divmod(number // 2, MANY), 1 - 2 * (number % 2)
        low, high = _ends(octave, half)
        across = 2 * (left[here] - low) / (high - low) - 1
        coefficients = _over(law, float(m[0]), octave, half, sign)
        values[here] = _at(coefficients, 2 * (wide[here] - octave) - 1, across)
    found[open_] = values
    return found


def _last(k: Array) -> Array:
    """The number of halvings of 1 - |r| after which one polynomial does, to v = 4^(k + 1)."""
    return np.maximum(2 * (k + 1) - round(np.log2(NEAR)), 0)


def _ends(k: int, half: int) -> tuple[float, float]:
    return 0.0 if half == _last(np.array(k)) else 2.0 ** -(half + 1), 2.0**-half


@lru_cache(maxsize=4096)
def _over(law: Lambda, m: float, k: int, half: int, sign: int) -> Array:
    """Chebyshev coefficients of E[f(x) f(x')] over log2 v and 1 - |r|."""
    low, high = _ends(k, half)

    def values(t: Array, step: float) -> Array | None:
        v = 4.0 ** (k + (t + 1) / 2)
        r = sign * (1 - low - (high - low) * (t + 1) / 2)
        v, r = (a.ravel() for a in np.meshgrid(v, r, indexing="ij"))
        found = _lattice(law, m, np.sqrt(v * (1 + r) / 2), np.sqrt(v * (1 - r) / 2), step)
        return None if found is None else found.reshape(len(t), len(t))

    _, sizes = _rule(Lambda(law.variables, law.expr**2), np.full(2, m), 2.0 ** np.array([k, k + 1]))
    size = float(sizes.min())
    one, two = (a.ravel() for a in np.meshgrid(BETWEEN, BETWEEN, indexing="ij"))
    step = STEP
    for _ in range(HALVINGS):
        coarse, fine = values(chebpts1(POINTS), step), values(BETWEEN, step / 2)
        if coarse is None or fine is None:
            break
        coefficients = _fitted(coarse, size)
        if (abs(_at(coefficients, one, two) - fine.ravel()) <= DIGITS * size).all():
            return coefficients
        step /= 2
    return np.full((1, 1), np.nan)


def _lattice(law: Lambda, m: float, a: Array, b: Array, step: float) -> Array | None:
    """E[f(m + a y + b y') f(m + a y - b y')] for independent normal y and y'; None if too many."""
    one, two = _points(a, step), _points(b, step)
    if one is None or two is None:
        return None
    (first, weights), (second, others) = one, two
    second, others = second[second >= 0], others[:, second >= 0]  # the product is even in y'
    others = np.where(second > 0, 2, 1) * others
    if len(first) * len(second) > MOST_PAIRS:
        return None
    f, found, rows = _function(law), np.zeros(len(a)), max(MOST // len(second), 1)
    for start in range(0, len(first), rows):
        here = slice(start, start + rows)
        at = m + first[here, None]
        product = f(at + second) * f(at - second)
        found += ((weights[:, here] @ product) * others).sum(1)
    return found


def _points(deviations: Array, step: float) -> tuple[Array, Array] | None:
    """Points that serve for all of the deviations, and the weights for each: rows."""
    h = min(step, NARROW * float(deviations.min()))
    number = ceil(FAR * float(deviations.max()) / h)
    if number > MOST // len(deviations):
        return None
    places = h * np.arange(-number, number + 1)
    weights = np.exp(-((places / deviations[:, None]) ** 2) / 2)
    return places, weights / weights.sum(1)[:, None]


@lru_cache(maxsize=256)
def _function(law: Lambda) -> Callable[[Array], Array]:
    """A smooth function on arrays. Raises BlockError for one with kinks."""
    f, (x,) = law.expr, law.variables
    if len(joined(pieces_of(f, x))) > 1:
        raise BlockError("a sweep takes means without a closed form of smooth activations only")
    body = on_arrays(f, x)

    def values(z: Array) -> Array:
        found = np.array(body(z))
        lost = ~np.isfinite(found)
        if lost.any():  # exp(-x)^2 overflows: the exponents of long doubles are longer
            with suppress(TypeError):  # SciPy's functions take no long doubles
                found[lost] = body(z[lost].astype(np.longdouble))
        return found

    return values
