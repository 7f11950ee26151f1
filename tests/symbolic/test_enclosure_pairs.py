"""Enclosures of E[f(Z1) g(Z2)], against closed forms and a Mehler series."""

from collections.abc import Callable
from typing import Any

import mpmath
import pytest
from flint import arb, ctx
from sympy import Expr, Integer, Rational, Symbol, erf, exp, oo, sin, sqrt, tanh

from varlaw.symbolic.gaussian import correlated
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.decimals import Enclosed, ends
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.joint import enclose2
from varlaw.symbolic.gaussian.pieces import Piece

x = Symbol("x")
ONE, ZERO = Integer(1), Integer(0)
SIGMOID = 1 / (1 + exp(-x))
GELU = x * (1 + erf(x / sqrt(2))) / 2
RELU = [Piece(-oo, ZERO, ZERO), Piece(ZERO, oo, x)]


def whole(f: Expr) -> list[Piece]:
    return [Piece(-oo, oo, f)]


def joint(f: Any, g: Any, rho: Any, digits: int = 40, v: Any = (1, 1), m: Any = (0, 0)) -> Enclosed:
    f, g = (e if isinstance(e, list) else whole(ZERO + e) for e in (f, g))
    return enclose2(
        f, g, x, ZERO + rho, (ZERO + v[0], ZERO + v[1]), digits, (ZERO + m[0], ZERO + m[1])
    )


def holds(found: Enclosed, number: Any) -> bool:
    low, high = (mpmath.mpf(end.numerator) / end.denominator for end in ends(found.value))
    slack = abs(mpmath.mpf(number)) * mpmath.mpf("1e-57")
    printed = abs(mpmath.mpf(found.digits) - number) <= mpmath.mpf(found.radius) + slack
    return bool(low - slack <= number <= high + slack and printed)


@pytest.mark.parametrize(
    ("f", "decimals"),
    [
        (erf(x), "0.128188433697949863224"),
        (GELU, "0.162677219805644319530"),
        (tanh(x), "0.110668385547446333280"),
    ],
    ids=["erf", "gelu", "tanh"],
)
def test_mehler_series_at_three_tenths(f: Expr, decimals: str) -> None:
    """Reference: a Mehler series of E[f(Z1) f(Z2)] at rho = 0.3 with 35 digits."""
    assert joint(f, f, Rational(3, 10), 21).digits == decimals


def arcsine(a: Any, b: Any, c: Any) -> Any:
    return 2 / mpmath.pi * mpmath.asin(2 * c / mpmath.sqrt((1 + 2 * a) * (1 + 2 * b)))


@pytest.mark.parametrize(
    "rho", [Rational(-99, 100), Rational(-1, 3), Rational(99, 100), sqrt(3) / 2]
)
def test_arcsine_law(rho: Expr) -> None:
    """E[erf erf] = 2/pi asin(2 c/sqrt((1 + 2 a)(1 + 2 b))) (Williams 1997)."""
    with mpmath.workdps(60):
        number = mpmath.mpf(str(rho.evalf(60)))
        exact = arcsine(2, mpmath.mpf(1) / 3, number * mpmath.sqrt(mpmath.mpf(2) / 3))
        found = joint(erf(x), erf(x), rho, 40, (2, Rational(1, 3)))
        assert "two variables" in found.method
        assert holds(found, exact)
        assert not holds(found, exact * (1 + mpmath.mpf("1e-39")))
        assert not holds(found, arcsine(2, mpmath.mpf(1) / 3, number))  # variances forgotten


CLOSED: list[tuple[Any, Any, Any, Any, Any, Callable[[], Any]]] = [
    (x, x, Rational(1, 2), (1, 1), (0, 0), lambda: mpmath.mpf(1) / 2),
    (x**2, x**2, Rational(-1, 3), (1, 1), (0, 0), lambda: 1 + mpmath.mpf(2) / 9),
    (x, x, Rational(1, 4), (4, 9), (1, -2), lambda: mpmath.mpf(-1) / 2),
    (exp(x), exp(x), Rational(1, 2), (1, 1), (0, 0), lambda: mpmath.exp(1.5)),
    (exp(x), exp(x), Rational(1, 2), (1, 1), (1, -2), lambda: mpmath.exp(0.5)),
    (
        sin(x),
        sin(x),
        Rational(7, 10),
        (1, 1),
        (0, 0),
        lambda: mpmath.exp(-1) * mpmath.sinh(mpmath.mpf("0.7")),
    ),
    (exp(-(x**2)), 1, Rational(9, 10), (1, 1), (0, 0), lambda: 1 / mpmath.sqrt(3)),
]


@pytest.mark.parametrize(
    ("f", "g", "rho", "v", "m", "exact"), CLOSED, ids=[str(c[:3]) for c in CLOSED]
)
def test_closed_forms(f: Any, g: Any, rho: Any, v: Any, m: Any, exact: Callable[[], Any]) -> None:
    with mpmath.workdps(60):
        found = joint(f, g, rho, 40, v, m)
        assert holds(found, exact())
        assert not holds(found, exact() * (1 + mpmath.mpf("1e-39")))


def test_stein() -> None:
    """E[Z1 f(Z2)] = rho E f'(Z2)."""
    one = joint(x, tanh(x), Rational(2, 5), 40).value
    slope = enclose(whole(1 - tanh(x) ** 2), x, ZERO, ONE, 45).value
    with ctx.workprec(200):
        other = slope * 2 / 5
        assert other.overlaps(one)
        assert not (other + arb("1e-30")).overlaps(one)


@pytest.mark.parametrize(("rho", "sign"), [(1, 1), (-1, -1)])
def test_full_correlation_is_one_variable(rho: int, sign: int) -> None:
    square = enclose(whole(tanh(x) ** 2), x, ZERO, ONE, 30).value
    assert joint(tanh(x), tanh(x), rho, 30).value.overlaps(square * sign)
    assert joint(RELU, RELU, rho, 20).digits == ("0.50000000000000000000" if sign > 0 else "0")
    with mpmath.workdps(40):  # relu(Z) relu(2 Z + 1) = Z (2 Z + 1) for Z > 0
        found = joint(RELU, RELU, 1, 30, (1, 4), (0, 1))
        assert holds(found, 1 + 1 / mpmath.sqrt(2 * mpmath.pi))


def test_close_to_full_correlation() -> None:
    near = joint(tanh(x), tanh(x), Rational(9999, 10000), 25).value
    square = enclose(whole(tanh(x) ** 2), x, ZERO, ONE, 30).value
    slope = enclose(whole((1 - tanh(x) ** 2) ** 2), x, ZERO, ONE, 30).value
    assert abs(square - near - slope / 10000) < 1e-7  # d/d rho E[f f] = E[f' f']
    assert not near.overlaps(square)


def test_independence_is_a_product() -> None:
    assert joint(SIGMOID, tanh(x) + 1, 0, 20).digits == "0.50000000000000000000"
    assert joint(SIGMOID, x, 0, 20).digits == "0"
    assert joint(x**2, x**2, Rational(1, 2), 20, (0, 1), (3, 0)).digits == "9.0000000000000000000"


def test_kinks_by_what_the_variables_share() -> None:
    """relu, relu: the arc-cosine kernel of order 1 (Cho and Saul 2009)."""
    with mpmath.workdps(40):
        for rho in (Rational(3, 10), Rational(-9, 10), Rational(99, 100)):
            r = mpmath.mpf(rho.p) / rho.q
            exact = mpmath.sqrt(1 - r * r) + r * (mpmath.pi - mpmath.acos(r))
            found = joint(RELU, RELU, rho, 20)
            assert "share" in found.method
            assert holds(found, exact / (2 * mpmath.pi))
            assert not holds(found, exact / (2 * mpmath.pi) + mpmath.mpf("1e-19"))


def test_three_ways_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def unsuited(*_: object) -> None:
        raise correlated.NotSuited

    found = [joint(tanh(x), SIGMOID, Rational(1, 2), 10)]
    monkeypatch.setattr(correlated.Correlated, "_by_grids", unsuited)
    found.append(joint(tanh(x), SIGMOID, Rational(1, 2), 10))
    monkeypatch.setattr(correlated, "mean_by_common_part", unsuited)
    found.append(joint(tanh(x), SIGMOID, Rational(1, 2), 10))
    for one, word in zip(found, ("two variables", "share", "nested"), strict=True):
        assert word in one.method
        assert one.digits == found[0].digits and one.value.overlaps(found[0].value)


@pytest.mark.parametrize("rho", [2, -1.5, Rational(101, 100)])
def test_impossible_correlations_are_refused(rho: Any) -> None:
    with pytest.raises(ValueError, match="between -1 and 1"):
        joint(x, x, rho)


def test_other_refusals() -> None:
    with pytest.raises(ValueError, match="not positive"):
        joint(x, x, Rational(1, 2), 10, (1, -1))
    with pytest.raises(NoEnclosure):
        joint(exp(x**2), x, Rational(1, 2), 10)
    with pytest.raises(NoEnclosure):
        joint(1 / x, x, Rational(1, 2), 10)
