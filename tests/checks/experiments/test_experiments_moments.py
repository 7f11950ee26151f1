"""The exact moments behind the variance bounds, against enumeration and other arithmetic."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sympy import Rational, Symbol, sqrt

from varlaw.checks.experiments.layer_norm import bound, standardise, stream
from varlaw.checks.experiments.moments import (
    Scaled,
    evaluate,
    expected,
    sum_moment,
    variance_of_mean,
)
from varlaw.checks.experiments.streams import (
    FOURTH,
    OVERLAP_SQUARE,
    PRODUCT,
    SECOND,
    SQUARE,
    Stream,
)
from varlaw.checks.statistics.sampling import LAWS, Discrete, shifted
from varlaw.checks.statistics.sampling import stream as random_stream
from varlaw.symbolic.declarations import dimensions, indices, random_array
from varlaw.symbolic.sequences import IndexProduct
from varlaw.symbolic.terms import Sum

SKEWED = LAWS["skewed"]
THREE = LAWS["three-point"]
assert isinstance(SKEWED, Discrete) and isinstance(THREE, Discrete)


@pytest.mark.parametrize("orders", [(4,), (6,), (3,)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_moments_of_a_sum_by_enumeration(count: int, orders: tuple[int, ...]) -> None:
    brute = Fraction(0)
    for choice in product(SKEWED.atoms, repeat=count):
        weight = np.prod([p for _, p in choice])
        brute += weight * sum(value for value, _ in choice) ** orders[0]
    assert sum_moment(count, orders, lambda p: SKEWED.moment(p[0])) == brute


def test_joint_moments_of_two_sums_by_enumeration() -> None:
    """E[S^2 T^3] for S = q1 k1 + q2 k2 and T = q1 h1 + q2 h2."""
    brute = Fraction(0)
    for choice in product(SKEWED.atoms, repeat=6):
        (q1, q2, k1, k2, h1, h2), weights = zip(*choice, strict=True)
        s, t = q1 * k1 + q2 * k2, q1 * h1 + q2 * h2
        brute += np.prod(weights) * s**2 * t**3
    found = sum_moment(
        2, (2, 3), lambda p: SKEWED.moment(sum(p)) * SKEWED.moment(p[0]) * SKEWED.moment(p[1])
    )
    assert found == brute


def test_expected_by_enumeration() -> None:
    """E[(Sum_i x_i w_i)^4] over two terms with skewed x and three-point w."""
    d, i = dimensions("d"), indices("i")
    x, w = random_array("x"), random_array("w", mean=0, variance=1)
    brute = Fraction(0)
    for xs in product(SKEWED.atoms, repeat=2):
        for ws in product(THREE.atoms, repeat=2):
            total = sum(a * b for (a, _), (b, _) in zip(xs, ws, strict=True))
            brute += np.prod([p for _, p in (*xs, *ws)]) * total**4
    found = expected(Sum(x[i] * w[i], (i, 1, d)) ** 4, {"d": 2}, {"x": SKEWED, "w": THREE})
    assert found == Rational(brute)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(LookupError, match="no value for q"):
        evaluate(Symbol("q") + 1, {"m": 2})
    with pytest.raises(LookupError, match=r"no law for E\[x\^4\]"):
        expected(random_array("x")[1] ** 4, {}, {})


def test_sums_between_numbers_are_evaluated() -> None:
    k, n = indices("k"), dimensions("n")
    assert evaluate(Sum(Rational(1, 2) ** k, (k, 1, n)), {"n": 4}) == Rational(15, 16)


def test_products_over_layers_are_evaluated() -> None:
    t, g, l = Symbol("t"), Symbol("g"), Symbol("l")  # noqa: E741
    term = IndexProduct((g + t + 1) / (t + 1), t, Rational(0), l - 1)
    assert evaluate(term, {"g": 1, "l": 4}) == 5


def test_scaled_moments() -> None:
    law = Scaled(SKEWED, Fraction(2))
    assert law.moment(4) == 4 * Rational(SKEWED.moment(4))
    assert law.moment(3) == 2 * sqrt(2) * Rational(SKEWED.moment(3))
    values = law.sample(random_stream(1), (1000,))
    assert set(np.round(values, 12)) == {round(2 * 2**0.5, 12), round(-(0.5**0.5), 12)}


def test_variance_of_a_mean() -> None:
    # three fair coins worth 0 or 1: variance 1/12 of their mean
    assert variance_of_mean(3, Rational(1, 2), Rational(1, 2), Rational(1, 4)) == Rational(1, 12)


def brute_stream(width: int) -> dict[str, Fraction]:
    """Moments of x + x W for Rademacher x plus 1/2 and three-point W of variance 1/2."""
    found = dict.fromkeys(("second", "square", "fourth", "overlap_square", "product"), Fraction(0))
    half = Fraction(1, 2)
    entries = [(v, p) for v, p in THREE.atoms]
    for xs in product((half * 3, -half), repeat=width):
        for ws in product(entries, repeat=width * width):
            weight = np.prod([p for _, p in ws]) * half**width
            values = [v for v, _ in ws]
            # b^2 = 1/2 is kept apart: odd powers of b vanish by symmetry, so a root is enough
            grown = [
                (x, sum(xs[i] * values[i * width + j] for i in range(width)))
                for j, x in enumerate(xs)
            ]
            found["second"] += weight * sum(x**2 + half * f**2 for x, f in grown)
            found["fourth"] += weight * sum(
                x**4 + 6 * half * x**2 * f**2 + half**2 * f**4 for x, f in grown
            )
            size = sum(x**2 for x in xs)
            even, odd = sum(x**2 + half * f**2 for x, f in grown), sum(2 * x * f for x, f in grown)
            found["square"] += weight * (even**2 + half * odd**2)
            found["product"] += weight * even * size
            inner = sum(x * f for x, f in grown)
            found["overlap_square"] += weight * (size**2 + half * inner**2)
    return found


def test_stream_moments_by_enumeration() -> None:
    start = shifted(LAWS["rademacher"], Fraction(1, 2))
    stream = Stream.begin(start, 2).residual(THREE, Fraction(1, 2))
    brute = brute_stream(2)
    keys = {
        "second": SECOND,
        "square": SQUARE,
        "fourth": FOURTH,
        "overlap_square": OVERLAP_SQUARE,
        "product": PRODUCT,
    }
    assert {name: stream[key] for name, key in keys.items()} == {
        name: Rational(value) for name, value in brute.items()
    }


def test_residual_streams_need_symmetric_weights() -> None:
    with pytest.raises(ValueError, match="symmetric weights, not skewed"):
        Stream.begin(THREE, 2).residual(SKEWED, 1)


def test_layer_norm_is_layer_norm() -> None:
    x = random_stream(2).standard_normal((2, 8, 100)) * 3 + 5
    normed, std = standardise(x)
    np.testing.assert_allclose(normed.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose((normed**2).mean(axis=1), 1)
    np.testing.assert_allclose(std[:, 0], x.std(axis=1))


@pytest.mark.parametrize(("width", "published"), [(4, 0.197), (8, 0.230), (16, 0.241)])
def test_overlap_at_finite_width(width: int, published: float) -> None:
    """E[x_0 . x_4]/d at s2 = 1, measured before by an independent simulation; the limit is 1/4."""
    first, last, _ = stream(random_stream(3, width), 40_000, width, 4, 1.0)
    overlap = (first * last).mean(axis=(0, 1))
    error = overlap.std() / overlap.size**0.5
    assert abs(overlap.mean() - published) < 0.0005 + 5 * error
    assert abs(overlap.mean() - 0.25) > 0.005


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_the_variance_bound_of_layer_norm(depth: int) -> None:
    _, _, weight = stream(random_stream(4, depth), 20_000, 16, depth, 0.5**0.5)
    spread = weight.mean(axis=(0, 1)).var()
    assert spread < 1.05 * bound(16, depth, 0.5) < 20 * spread
