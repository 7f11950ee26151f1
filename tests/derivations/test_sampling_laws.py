"""Laws of sampling, hidden fans and orthogonal matrices against numbers computed otherwise."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from sympy import Expr, Integer, Rational

from varlaw.derivations.catalogue import entries, find


def value(name: str, **at: object) -> float:
    """The right-hand side of a law at numbers."""
    end: Expr = find(name).derivation.end
    return float(end.subs({s: at[s.name] for s in end.free_symbols}).evalf())


def kept(f: Callable[[mpmath.mpf], mpmath.mpf], low: float, high: float) -> float:
    """E[f(z) | low < z < high] by quadrature."""

    def over(g: Callable[[mpmath.mpf], mpmath.mpf]) -> mpmath.mpf:
        return mpmath.quad(lambda z: g(z) * mpmath.npdf(z), [low, 0, high])

    return float(over(f) / over(lambda z: 1))


PUBLISHED = [  # numbers of issues and references, or worked out by hand
    ("normal-std", {"v": Rational(1, 50)}, 0.1414213562373095),
    ("uniform-variance", {"a": 2}, 4 / 3),
    ("uniform-interval", {"a": 0, "b": 1}, 1 / 12),
    ("uniform-gain", {"g": 1, "m": 3}, 1.0),
    ("uniform-kurtosis", {}, 1.8),
    ("pytorch-linear-bound", {"m": 512}, 512**-0.5),
    ("pytorch-linear-variance", {"m": 512}, 0.02551551815399144**2),
    ("pytorch-linear-output", {"m": 512, "q": 1}, 0.333984375),
    ("pytorch-relu-factor", {}, 1 / 6),
    ("truncated-normal", {"c": 2}, 0.77374130354992324718),
    ("truncated-normal-absolute", {"s": 1, "a": 2}, 0.77374130354992324718),
    ("truncated-normal-pytorch", {"c": 2}, 1 - 0.77374130354992324718),
    ("conv-depthwise", {"k": 9}, 1 / 9),
    ("conv-grouped", {"C": 64, "G": 64, "k": 3}, 1 / 3),
    ("conv-fan-in", {"c": 16, "k": 9}, 1 / 144),
    ("conv-strided-backward", {"n": 8, "k": 9, "s": 4}, 4 / 72),
    ("fused-qkv-variance", {"m": 512}, 1 / 1024),
    ("fused-qkv-gain", {}, 2**0.5),
    ("fused-qkv-logits", {}, 0.25),
    ("einsum-kernel-xavier", {"h": 8, "d": 64, "q": 1}, 1 / 36),
    ("orthogonal-variance", {"g": 1, "p": 20}, 1 / 20),
    ("orthogonal-forward", {"g": 1, "m": 5, "p": 20, "q": 1}, 1 / 4),
    ("orthogonal-forward", {"g": 1, "m": 20, "p": 20, "q": 1}, 1.0),
    ("orthogonal-backward", {"g": 1, "n": 20, "p": 20, "q": 1}, 1.0),
    ("orthogonal-backward", {"g": 1, "n": 5, "p": 20, "q": 1}, 1 / 4),
    ("orthogonal-relu", {}, 2**0.5),
    ("gaussian-length-fourth", {"n": 2}, 8.0),
    ("haar-fourth", {"n": 2}, 3 / 8),  # the mean of cos^4
    ("haar-pair", {"n": 2}, 1 / 8),  # the mean of (sin cos)^2
    ("haar-trace", {}, 1.0),
]


@pytest.mark.parametrize(("name", "at", "expected"), PUBLISHED)
def test_the_statement_at_numbers(name: str, at: dict[str, object], expected: float) -> None:
    assert value(name, **at) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(("left", "right"), [(1, 2), (0.5, 3), (2, 2)])
def test_truncation_at_any_bounds(left: float, right: float) -> None:
    at = {"l": Rational(left), "r": Rational(right)}
    mean, second = kept(lambda z: z, -left, right), kept(lambda z: z**2, -left, right)
    assert value("truncated-normal-mean", **at) == pytest.approx(mean, abs=1e-12)
    assert value("truncated-normal-bounds", **at) == pytest.approx(second - mean**2, rel=1e-12)


def test_absolute_bounds_a_hundred_standard_deviations_away() -> None:
    at = {"s": Rational(1, 50), "a": Integer(2)}
    assert value("truncated-normal-absolute", **at) == pytest.approx(0.0004, rel=1e-14)
    end = find("truncated-normal-pytorch").derivation.end
    (c,) = end.free_symbols
    lost = mpmath.mpf(100) * mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-5000)
    assert end.subs(c, 100).evalf(20) == pytest.approx(lost, rel=1e-12)
    assert mpmath.floor(mpmath.log10(lost)) == -2170


def test_the_gram_matrix_of_independent_weights() -> None:
    """Normal weights, m = n: 2 + 1/n."""
    end = find("iid-gram-second").derivation.end
    normal = end.replace(lambda e: type(e).__name__ == "Moment", lambda e: Rational(3, 49))
    assert normal.subs({s: 7 for s in normal.free_symbols}) == 2 + Rational(1, 7)


@pytest.mark.parametrize(("taps", "stride"), [(3, 2), (4, 2), (5, 3), (2, 3)])
def test_how_often_the_taps_of_a_kernel_meet_a_position(taps: int, stride: int) -> None:
    """Counted on a long line: on average taps/stride, as the mean of the indicator says."""
    size = 200
    met = np.zeros(stride * size + taps)
    for place in range(size):
        met[stride * place : stride * place + taps] += 1
    inner = met[taps * stride : -taps * stride]
    inner = inner[: len(inner) // stride * stride]
    assert inner.mean() == pytest.approx(taps / stride)
    assert value("conv-transposed", c=1, k=taps, s=stride) == pytest.approx(1 / inner.mean())


FAMILIES = {"sampling", "truncation", "shapes", "orthogonal", "haar"}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_most_laws_say_where_the_usual_telling_goes_wrong(family: str) -> None:
    found = [entry for entry in entries().values() if entry.family == family]
    told = [entry for entry in found if entry.pitfalls]
    assert len(told) >= 0.6 * len(found)
    assert all(number and right for e in told for _, right, number in e.pitfalls)
