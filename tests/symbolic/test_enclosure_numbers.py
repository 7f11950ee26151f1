"""Balls of numbers, and which digits of a ball are printed."""

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from sympy import (
    Abs,
    EulerGamma,
    Expr,
    Float,
    Function,
    Integer,
    Max,
    Min,
    Rational,
    Symbol,
    acos,
    asin,
    asinh,
    atan,
    cos,
    cosh,
    erf,
    erfc,
    erfi,
    exp,
    gamma,
    log,
    pi,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

from varlaw.symbolic.gaussian import balls
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball, bivariate_cdf, raised
from varlaw.symbolic.gaussian.decimals import digits_of, ends, shown
from varlaw.symbolic.gaussian.owen import owen_t

FUNCTIONS = [exp, log, erf, erfc, erfi, sin, cos, tan, sinh, cosh, tanh, asin, acos, atan, asinh]


def test_more_digits_than_python_writes_of_a_whole_number() -> None:
    with localcontext() as context:
        context.prec = 5000  # str() of an int ends at 4300
        assert digits_of(sqrt(Integer(2)), 5000).digits == str(Decimal(2).sqrt())
        assert digits_of(sqrt(Integer(2)), 5000).digits != str(Decimal(3).sqrt())


@pytest.mark.parametrize("function", [*FUNCTIONS, gamma], ids=str)
def test_functions_agree_with_mpmath(function: type[Function]) -> None:
    with mpmath.workdps(60):
        expected = getattr(mpmath, function.__name__)(mpmath.mpf(2) / 7)
        found = digits_of(function(Rational(2, 7)), 50)
        assert abs(mpmath.mpf(found.digits) - expected) <= mpmath.mpf(found.radius)
        assert abs(mpmath.mpf(found.digits) - expected * (1 + mpmath.mpf(10) ** -48)) > mpmath.mpf(
            found.radius
        )


@pytest.mark.parametrize(
    ("number", "digits"),
    [
        (sqrt(2), "1.4142135624"),
        (Integer(2) ** Rational(3, 2), "2.8284271247"),
        (Integer(2) ** Rational(-1, 3), "0.79370052598"),
        (pi**2 / 6, "1.6449340668"),
        (EulerGamma, "0.57721566490"),
        (Max(sqrt(2), Rational(3, 2), Min(2, pi)), "2.0000000000"),
        (Abs(1 - pi), "2.1415926536"),
        (Float("0.5"), "0.50000000000"),
    ],
    ids=str,
)
def test_numbers(number: Expr, digits: str) -> None:
    assert digits_of(number, 11).digits == digits


@pytest.mark.parametrize(
    "number", [Symbol("x"), Function("f")(1), log(0), sqrt(-2), log(-1), 1 / Symbol("y")], ids=str
)
def test_what_is_no_real_number_is_refused(number: Expr) -> None:
    with pytest.raises(NoEnclosure):
        digits_of(number, 10)


def test_zero_is_absolute() -> None:
    hidden = sqrt(2) + sqrt(3) - sqrt(5 + 2 * sqrt(6))
    found = digits_of(hidden, 30)
    assert found.digits == "0"
    assert 0 < mpmath.mpf(found.radius) < mpmath.mpf("1e-30")
    assert digits_of(Integer(0), 30).radius == "0"
    assert digits_of(exp(-100) / 7, 3).digits == "0." + "0" * 44 + "531"


@pytest.mark.parametrize(
    ("middle", "radius", "asked", "digits"),
    [
        ("1.2345", "0.001", 10, "1.2"),  # 1.2335 and 1.2355 differ in the third digit
        ("1.2345", "0.0001", 10, "1.23"),  # 1.2344 and 1.2346 round to 1.234 and 1.235
        ("9.9997", "0.0001", 4, "10.00"),
        ("-0.00123456", "1e-8", 3, "-0.00123"),
        ("123456.7", "0.1", 3, "1.23e5"),  # zeros that are not proved are not printed
        ("0.125", "1e-30", 2, "0.125"),  # a tie: one digit more says what it is
        ("0.1", "1e-30", 5, "0.10000"),
    ],
)
def test_only_determined_digits_are_printed(
    middle: str, radius: str, asked: int, digits: str
) -> None:
    with ctx.workprec(200):
        assert shown(arb(middle, radius), asked).digits == digits


@pytest.mark.parametrize("radius", ["1", "0.6"])
def test_a_ball_without_a_digit_is_refused(radius: str) -> None:
    with pytest.raises(NoEnclosure, match="only known"):
        shown(arb("0.55", radius), 5)


def test_infinite_and_huge_balls_are_refused() -> None:
    for value in (arb.nan(), arb.pos_inf(), arb(0, arb(10) ** 50_000)):
        with pytest.raises(NoEnclosure):
            shown(value, 5)
    with ctx.workprec(500), pytest.raises(NoEnclosure, match="too large or too small"):
        shown((arb(2) ** 230).exp(), 5)


def test_numbers_of_any_size_have_digits() -> None:
    with ctx.workprec(300):
        found = shown(arb(1 + arb(10) ** -40) / 3 * arb(10) ** -1_000_000, 5)
    assert found.digits in ("3.3333e-1000001", "33.333e-1000002")
    assert shown(arb(7) * arb(10) ** 20_000, 3).digits == "7.00e20000"
    assert digits_of(exp(-(Integer(10) ** 13)), 6).digits.endswith("e-4342944819033")
    tail = digits_of(erfc(5 * Integer(10) ** 6 * sqrt(2)), 8)
    with mpmath.workdps(40):
        x = 5 * mpmath.mpf(10) ** 6 * mpmath.sqrt(2)
        size = -x * x - mpmath.log(x * mpmath.sqrt(mpmath.pi) * (1 + 1 / (2 * x * x)))
        size /= mpmath.ln(10)
        figures, _, power = tail.digits.partition("e")
        assert abs(mpmath.log10(mpmath.mpf(figures)) + int(power) - size) < 1e-6


@given(
    st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6),
    st.integers(min_value=1, max_value=30),
    st.integers(min_value=1, max_value=25),
)
def test_literal_and_radius_cover_the_ball(value: Fraction, bits: int, digits: int) -> None:
    with ctx.workprec(120):
        number = arb(value.numerator) / value.denominator + arb(0, 1) * arb(2) ** -(3 * bits)
        try:
            found = shown(number, digits)
        except NoEnclosure:
            return
    low, high = ends(number)
    literal, radius = Fraction(found.digits), Fraction(found.radius)
    assert literal - radius <= low <= high <= literal + radius
    figures = found.digits.partition("e")[0].replace(".", "").replace("-", "").lstrip("0")
    assert len(figures) <= digits + 1
    if figures:  # correctly rounded: both ends are within half a unit of the last digit
        unit = Fraction(1, 10 ** len(found.digits.partition("e")[0].partition(".")[2]))
        unit *= Fraction(10) ** int(found.digits.partition("e")[2] or 0)
        assert radius <= unit / 2 * Fraction(11, 10)  # the radius itself is rounded up
        assert max(abs(literal - low), abs(high - literal)) <= unit / 2


def test_callables_get_more_precision_until_the_digits_are_proved() -> None:
    precisions: list[int] = []

    def cancelling() -> arb:
        precisions.append(ctx.prec)
        return (arb(10) ** 40 + arb(2).sqrt()) - arb(10) ** 40

    assert digits_of(cancelling, 20).digits == "1.4142135623730950488"
    assert all(a < b for a, b in pairwise(precisions))
    assert len(precisions) > 1


def test_whole_powers_of_balls_that_touch_zero() -> None:
    assert raised(arb(0, 1), 2).contains(1) and raised(arb(0, 1), 2).is_finite()
    assert raised(arb(2), -3).overlaps(arb(1) / 8)
    assert raised(arb(7), 0) == 1


@pytest.mark.parametrize(
    ("h", "k", "rho"),
    [(0, 0, 0.5), (0.5, -1, 0.25), (1, 2, -0.75), (-3, -2, 0.9), (1, 1, 0.984375), (40, -1, 0.5)],
)
def test_bivariate_distribution_function(h: float, k: float, rho: float) -> None:
    """P(X < h, Y < k) = E[Phi((k - rho X)/sqrt(1 - rho^2)); X < h], integrated by mpmath."""
    with mpmath.workdps(30):
        spread = mpmath.sqrt(1 - mpmath.mpf(rho) ** 2)
        expected = mpmath.quad(
            lambda x: mpmath.npdf(x) * mpmath.ncdf((k - rho * x) / spread),
            [-15, -6, -3, -1, 0, 1, 3, 6, 15] if h > 10 else [h - 15, h - 6, h - 3, h - 1, h],
        )
        with ctx.workprec(100):
            value = bivariate_cdf(arb(h), arb(k), arb(rho))
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in ends(value))
        assert low - mpmath.mpf("1e-22") <= expected <= high + mpmath.mpf("1e-22")
        assert high - low < 1e-20


@pytest.mark.parametrize("bits", [80, 600])
def test_owen_and_plackett_agree(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(bits)
    spots = [(draw.uniform(-2, 5), draw.uniform(-2, 5), draw.uniform(-1, 1)) for _ in range(20)]
    spots += [(1, 1, 0.75), (-0.5, -0.5, -0.9375), (2, 2, 0.984375), (0.125, -2, 0.5)]
    with ctx.workprec(bits):
        series = [bivariate_cdf(*map(arb, spot)) for spot in spots]
        monkeypatch.setattr(balls, "_by_owen", lambda *_: None)
        integrals = [bivariate_cdf(*map(arb, spot)) for spot in spots]
        for one, other in zip(series, integrals, strict=True):
            assert one.overlaps(other)
            assert one.rad() < arb(2) ** (24 - bits)
            assert not (one * (1 + arb(2) ** (-bits // 2))).overlaps(other)


@pytest.mark.parametrize(("h", "a"), [(1, 0.5), (-0.25, 1.25), (2.5, -0.75), (3, 1)])
def test_owens_function(h: float, a: float) -> None:
    with mpmath.workdps(30):
        expected = mpmath.quad(
            lambda u: mpmath.exp(-(mpmath.mpf(h) ** 2) * (1 + u * u) / 2) / (1 + u * u), [0, a]
        )
        with ctx.workprec(120):
            found = owen_t(arb(h), arb(a), arb(2) ** -110)
            assert found is not None
            assert found.rad() < arb(2) ** -95
        assert abs(mpmath.mpf(found.str(28, radius=False)) - expected / (2 * mpmath.pi)) < 1e-26


def test_owens_series_is_not_for_far_tails() -> None:
    assert owen_t(arb(30), arb(1), arb(2) ** -50) is None


def test_bivariate_distribution_function_at_the_ends() -> None:
    with ctx.workprec(100):
        half, one = arb(0.5), arb(1)
        assert bivariate_cdf(half, one, arb(1)).overlaps(ball(erfc(-sqrt(2) / 4) / 2))
        assert bivariate_cdf(arb(0), arb(0), arb(-1)).contains(0)
        exact = arb(1) / 4 + (arb(1) / 3).asin() / (2 * arb.pi())
        assert bivariate_cdf(arb(0), arb(0), arb(1) / 3).overlaps(exact)
        assert not bivariate_cdf(arb(0), arb(0), arb(1) / 3).overlaps(exact + arb(10) ** -25)
    with pytest.raises(NoEnclosure):
        bivariate_cdf(arb(0), arb(0), arb(2))
