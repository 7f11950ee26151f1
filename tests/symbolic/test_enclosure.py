"""Enclosures of E[f(Z)]: against published values, closed forms and mpmath, traps, and refusals."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import (
    Expr,
    Function,
    Integer,
    Rational,
    Symbol,
    atan,
    cos,
    cosh,
    diff,
    erf,
    erfc,
    exp,
    gamma,
    log,
    oo,
    pi,
    sin,
    sqrt,
    tan,
    tanh,
)

from varlaw.symbolic.gaussian import enclosure, growth, trapezoid
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.decimals import Enclosed, ends
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.strips import Strip

x = Symbol("x")
ZERO, ONE = Integer(0), Integer(1)
SIGMOID = 1 / (1 + exp(-x))
SOFTPLUS = log(1 + exp(x))
SILU = x * SIGMOID
MISH = x * (1 - 2 / ((1 + exp(x)) ** 2 + 1))
GELU = x * (1 + erf(x / sqrt(2))) / 2
GELU_TANH = x * (1 + tanh(sqrt(2 / pi) * (x + Rational(8943, 200000) * x**3))) / 2
QUICK_GELU = x / (1 + exp(-Rational(851, 500) * x))

Pieces = list[Piece]


@pytest.fixture(autouse=True)
def sixty_digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


def whole(f: Expr) -> Pieces:
    return [Piece(-oo, oo, f)]


def kinked(*parts: Any) -> Pieces:
    """Expressions and the points between them, in turn."""
    starts = [-oo, *(ZERO + start for start in parts[1::2])]
    return [
        Piece(a, b, ZERO + e) for a, b, e in zip(starts, [*starts[1:], oo], parts[::2], strict=True)
    ]


def expectation(pieces: Pieces, mean: Any = 0, variance: Any = 1, digits: int = 40) -> Enclosed:
    return enclose(pieces, x, ZERO + mean, ZERO + variance, digits)


def holds(found: Enclosed, number: Any) -> bool:
    """Whether both the ball and what is printed of it contain a number known to sixty digits."""
    low, high = (mpmath.mpf(end.numerator) / end.denominator for end in ends(found.value))
    slack = abs(mpmath.mpf(number)) * mpmath.mpf("1e-57")
    printed = abs(mpmath.mpf(found.digits) - number) <= mpmath.mpf(found.radius) + slack
    return bool(low - slack <= number <= high + slack and printed)


PUBLISHED = [  # 1/sqrt of E f(z)^2 or Var f(z), z ~ N(0, 1), by mpmath at high precision
    ("1/sqrt(E tanh^2)", [(whole(tanh(x) ** 2), 1)], "1.592537419722831427770439"),
    ("1/sqrt(E sigmoid^2)", [(whole(SIGMOID**2), 1)], "1.846228545338605412960881"),
    ("sqrt(E silu^2)", [(whole(SILU**2), -1)], "0.5964692111227134884047986"),
    ("1/sqrt(E silu'^2)", [(whole(diff(SILU, x) ** 2), 1)], "1.623320257952497316979902"),
    (
        "1/sqrt(E (z sigmoid(4z))^2)",
        [(whole((x / (1 + exp(-4 * x))) ** 2), 1)],
        "1.4350837590042406",
    ),
    ("NFNet silu", [(whole(SILU**2), 1), (whole(SILU), 0)], "1.787187222100441982034138"),
    ("NFNet softplus", [(whole(SOFTPLUS**2), 1), (whole(SOFTPLUS), 0)], "1.91912598010765640353"),
    ("NFNet gelu", [(whole(GELU**2), 1), (whole(GELU), 0)], "1.700926243363333119468658"),
    (
        "NFNet gelu, tanh form",
        [(whole(GELU_TANH**2), 1), (whole(GELU_TANH), 0)],
        "1.7009165616954503",
    ),
    ("1/sqrt(E gelu'^2)", [(whole(diff(GELU, x) ** 2), 1)], "1.481114412708348196612847"),
]


@pytest.mark.parametrize(("name", "sums", "expected"), PUBLISHED, ids=[r[0] for r in PUBLISHED])
def test_published_constants(name: str, sums: list[tuple[Pieces, int]], expected: str) -> None:
    moments = [mpmath.mpf(expectation(pieces).digits) for pieces, _ in sums]
    variance = moments[0] - sum(m**2 for m in moments[1:])
    value = mpmath.sqrt(variance) if sums[0][1] < 0 else 1 / mpmath.sqrt(variance)
    unit = mpmath.mpf(10) ** -(len(expected) - 2)
    assert abs(value - mpmath.mpf(expected)) <= unit
    assert abs(value * (1 + 100 * unit) - mpmath.mpf(expected)) > unit


def number(e: Any) -> Any:
    return mpmath.mpf(str((ZERO + e).evalf(40)))


def phi(z: Any) -> Any:
    return mpmath.npdf(z)


CLOSED: list[tuple[str, Pieces, Any, Any, Callable[[], Any]]] = [
    ("1", whole(ONE), 30, 1, lambda: mpmath.mpf(1)),
    ("z^2, far off", whole(x**2), 100, 1, lambda: mpmath.mpf(10001)),
    ("z, far off and narrow", whole(x), 100, Rational(1, 10**6), lambda: mpmath.mpf(100)),
    ("z^2, wide", whole(x**2), 0, 10**8, lambda: mpmath.mpf(10) ** 8),
    ("z^8", whole(x**8), 0, 1, lambda: mpmath.mpf(105)),
    ("exp(8 z)", whole(exp(8 * x)), 0, 1, lambda: mpmath.exp(32)),
    ("exp(100 z)", whole(exp(100 * x)), 0, 1, lambda: mpmath.exp(5000)),
    ("2^z", whole(2**x), 0, 1, lambda: mpmath.exp(mpmath.log(2) ** 2 / 2)),
    ("exp(z^2/4)", whole(exp(x**2 / 4)), 0, 1, lambda: mpmath.sqrt(2)),
    ("exp(z^2), variance 1/4", whole(exp(x**2)), 0, Rational(1, 4), lambda: mpmath.sqrt(2)),
    ("bump", whole(exp(-(x**2))), 0, 1, lambda: 1 / mpmath.sqrt(3)),
    ("sin(20 z)^2", whole(sin(20 * x) ** 2), 0, 1, lambda: (1 - mpmath.exp(-800)) / 2),
    ("cos(50 z) + 1", whole(cos(50 * x) + 1), 0, 1, lambda: 1 + mpmath.exp(-1250)),
    ("z sin(2 z)", whole(x * sin(2 * x)), 0, 1, lambda: 2 * mpmath.exp(-2)),
    ("cosh", whole(cosh(x)), 0, 1, lambda: mpmath.exp(0.5)),
    ("erf(z)^2", whole(erf(x) ** 2), 0, 1, lambda: 2 / mpmath.pi * mpmath.asin(mpmath.mpf(2) / 3)),
    ("erfc off centre", whole(erfc(x)), 10, 1, lambda: mpmath.erfc(10 / mpmath.sqrt(3))),
    ("gelu^2", whole(GELU**2), 0, 1, lambda: 1 / mpmath.mpf(3) + mpmath.sqrt(3) / (6 * mpmath.pi)),
    (
        "gelu'^2, where SymPy is wrong",
        whole(diff(GELU, x) ** 2),
        0,
        1,
        lambda: 1 / mpmath.mpf(3) + 2 / (3 * mpmath.sqrt(3) * mpmath.pi),
    ),
    ("sigmoid by symmetry", whole(SIGMOID), 0, 7, lambda: mpmath.mpf(1) / 2),
    (
        "1/(1 + z^2)",
        whole(1 / (1 + x**2)),
        0,
        1,
        lambda: mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(0.5) * mpmath.erfc(1 / mpmath.sqrt(2)),
    ),
    ("relu^2", kinked(0, 0, x**2), 0, 1, lambda: mpmath.mpf(1) / 2),
    ("relu off centre", kinked(0, 0, x), 1, 4, lambda: mpmath.ncdf(0.5) + 2 * phi(0.5)),
    ("relu, nearly linear", kinked(0, 0, x), 100, Rational(1, 10**6), lambda: mpmath.mpf(100)),
    ("relu in the tail", kinked(0, 0, x), -30, 1, lambda: phi(30) - 30 * mpmath.ncdf(-30)),
    ("z beyond 40", kinked(0, 40, x), 0, 1, lambda: phi(40)),
    (
        "relu(z - 0.37)",
        kinked(0, Rational(37, 100), x - Rational(37, 100)),
        0,
        1,
        lambda: (
            phi(mpmath.mpf(37) / 100) - mpmath.mpf(37) / 100 * mpmath.ncdf(-mpmath.mpf(37) / 100)
        ),
    ),
    (
        "step off zero",
        kinked(0, Rational(3, 10), 1),
        0,
        1,
        lambda: mpmath.ncdf(-mpmath.mpf(3) / 10),
    ),
    ("step at sqrt(2)", kinked(0, sqrt(2), 1), 0, 1, lambda: mpmath.ncdf(-mpmath.sqrt(2))),
    (
        "hardtanh^2",
        kinked(1, -1, x**2, 1, 1),
        0,
        1,
        lambda: 1 - mpmath.sqrt(2 / (mpmath.pi * mpmath.e)),
    ),
    ("relu6, saturated", kinked(0, 0, x, 6, 6), 100, Rational(1, 10**6), lambda: mpmath.mpf(6)),
    (
        "relu^(1/2)",
        kinked(0, 0, sqrt(x)),
        0,
        1,
        lambda: 2 ** mpmath.mpf(-0.75) * mpmath.gamma(0.75) / mpmath.sqrt(mpmath.pi),
    ),
    (
        "relu^(3/2)",
        kinked(0, 0, x ** Rational(3, 2)),
        0,
        1,
        lambda: 2 ** mpmath.mpf(-0.25) * mpmath.gamma(1.25) / mpmath.sqrt(mpmath.pi),
    ),
]


@pytest.mark.parametrize(
    ("name", "pieces", "mean", "variance", "expected"),
    CLOSED,
    ids=lambda v: "value" if callable(v) else str(v)[:30],
)
def test_closed_forms(
    name: str, pieces: Pieces, mean: Any, variance: Any, expected: Callable[[], Any]
) -> None:
    found = expectation(pieces, mean, variance, 40)
    assert holds(found, expected())
    assert not holds(found, expected() * (1 + mpmath.mpf(10) ** -39))  # the wrong twin
    figures = found.digits.partition("e")[0].replace(".", "").lstrip("0")
    assert len(figures) == 40


def test_numbers_that_other_programs_give_are_not_contained() -> None:
    derivative = expectation(whole(diff(GELU, x) ** 2))
    assert not holds(derivative, mpmath.mpf("0.363962716"))  # SymPy 1.14
    assert not holds(expectation(whole(x * sin(x))), 0)  # Maxima 5.46
    assert not holds(expectation(whole(x**2), 100), 0)  # scipy.quad and mpmath.quad, unsplit
    assert not holds(expectation(kinked(1, -1, x**2, 1, 1)), mpmath.mpf("0.1987480430987992"))


NUMERIC = [
    ("tanh^2", whole(tanh(x) ** 2), lambda z: mpmath.tanh(z) ** 2),
    ("silu^3", whole(SILU**3), lambda z: (z / (1 + mpmath.exp(-z))) ** 3),
    ("softplus", whole(SOFTPLUS), lambda z: mpmath.log(1 + mpmath.exp(z))),
    ("mish", whole(MISH), lambda z: z * mpmath.tanh(mpmath.log(1 + mpmath.exp(z)))),
    (
        "mish, as defined",
        whole(x * tanh(SOFTPLUS)),
        lambda z: z * mpmath.tanh(mpmath.log1p(mpmath.exp(z))),
    ),
    ("quick gelu", whole(QUICK_GELU), lambda z: z / (1 + mpmath.exp(-mpmath.mpf(1702) / 1000 * z))),
    (
        "atan(z)^2 cos z",
        whole(atan(x) ** 2 * cos(x)),
        lambda z: mpmath.atan(z) ** 2 * mpmath.cos(z),
    ),
    ("sqrt(1 + z^2)", whole(sqrt(1 + x**2)), lambda z: mpmath.sqrt(1 + z * z)),
    ("log(2 + sin z)", whole(log(2 + sin(x))), lambda z: mpmath.log(2 + mpmath.sin(z))),
    ("exp(-z^4)", whole(exp(-(x**4))), lambda z: mpmath.exp(-(z**4))),
    ("exp(-e^z)", whole(exp(-exp(x))), lambda z: mpmath.exp(-mpmath.exp(z))),
    (
        "silu erf",
        whole(SILU * erf(3 * x + 1)),
        lambda z: z / (1 + mpmath.exp(-z)) * mpmath.erf(3 * z + 1),
    ),
    (
        "softsign^2",
        kinked((x / (1 - x)) ** 2, 0, (x / (1 + x)) ** 2),
        lambda z: (z / (1 + abs(z))) ** 2,
    ),
    ("elu^3", kinked((exp(x) - 1) ** 3, 0, x**3), lambda z: (mpmath.expm1(z) if z < 0 else z) ** 3),
    ("relu silu", kinked(0, 0, x * SILU), lambda z: z * z / (1 + mpmath.exp(-z)) if z > 0 else 0),
]


@pytest.mark.parametrize(("name", "pieces", "function"), NUMERIC, ids=[row[0] for row in NUMERIC])
@pytest.mark.parametrize(
    ("mean", "variance"), [(0, 1), (Rational(-7, 3), Rational(1, 9)), (2, sqrt(5))]
)
def test_mpmath_agrees(
    name: str, pieces: Pieces, function: Callable[[Any], Any], mean: Any, variance: Any
) -> None:
    with mpmath.workdps(30):
        m, s = (
            mpmath.mpf(str(mean.evalf(40)) if mean != 0 and not isinstance(mean, int) else mean),
            mpmath.sqrt(mpmath.mpf(str((Integer(0) + variance).evalf(40)))),
        )
        points = sorted(
            [*(m + s * t for t in (-13, -6, -3, -1.5, 0, 1.5, 3, 6, 13)), mpmath.mpf(0)]
        )
        points = [p for p in points if m - 13 * s <= p <= m + 13 * s]
        expected = mpmath.quad(lambda z: function(z) * mpmath.npdf(z, m, s), points)
        found = expectation(pieces, mean, variance, 20)
        assert abs(mpmath.mpf(found.digits) - expected) <= mpmath.mpf(found.radius) + mpmath.mpf(
            "1e-24"
        )
        assert found.value.rad() < arb(10) ** -19


def test_many_digits_agree_with_few() -> None:
    few, many = (expectation(whole(SILU**2), digits=digits) for digits in (50, 1000))
    assert len(many.digits) == 1002
    assert abs(Fraction(many.digits) - Fraction(few.digits)) <= Fraction(few.radius)
    assert Fraction(many.radius) < Fraction(1, 10**1000)


def test_two_methods_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [tanh(x) ** 2, SILU**2, MISH**2, diff(SOFTPLUS, x) ** 2, exp(x) * SIGMOID]
    fast = [expectation(whole(f), Rational(1, 3), 2, 60) for f in functions]
    assert {found.method for found in fast} == {"trapezoid rule with a proved error"}

    def unsuited(*_: object) -> arb:
        raise trapezoid.NotSuited

    monkeypatch.setattr(enclosure, "mean_on_line", unsuited)
    for f, other in zip(functions, fast, strict=True):
        slow = expectation(whole(f), Rational(1, 3), 2, 60)
        assert "quadrature" in slow.method
        assert slow.value.overlaps(other.value)
        assert slow.digits == other.digits


def test_wide_and_narrow() -> None:
    wide = expectation(whole(SIGMOID**2), 0, 10**8, 20)
    # sigmoid^2 = sigmoid - sigmoid', and E sigmoid'(sd T) is near phi(0)/sd
    assert abs(mpmath.mpf(wide.digits) - (0.5 - phi(0) / 10**4)) < mpmath.mpf("1e-11")
    narrow = expectation(whole(tanh(x) ** 2), 0, Rational(1, 10**20), 20)
    assert abs(mpmath.mpf(narrow.digits) - mpmath.mpf(10) ** -20) < mpmath.mpf("3e-40")


def test_zero_is_absolute_and_tiny_numbers_are_relative() -> None:
    assert expectation(whole(tanh(x))).digits == "0"
    assert holds(expectation(whole(tanh(x))), 0)
    tiny = expectation(kinked(0, 40, x), digits=5)
    assert holds(tiny, phi(40))
    assert tiny.digits.startswith("0." + "0" * 347 + "1")
    assert len(tiny.digits) == 2 + 347 + 5
    assert expectation(kinked(0, 0, 0)).radius == "0"


def test_variance_zero_is_the_value() -> None:
    assert expectation(whole(tanh(x)), 2, 0, 20).digits == "0.96402758007581688395"
    assert expectation(kinked(0, 0, x), 0, 0, 20).digits == "0"
    assert expectation(kinked(0, 1, x), 3, 0, 5).digits == "3.0000"
    with pytest.raises(NoEnclosure, match="jumps"):
        expectation(kinked(0, 1, x), 1, 0, 5)


@pytest.mark.parametrize(
    ("pieces", "variance"),
    [
        (whole(1 / x), 1),
        (whole(1 / (x - 1000)), 1),
        (whole(1 / (exp(x) - 2)), 1),
        (whole(tan(x)), 1),
        (whole(gamma(x)), 1),
        (whole(exp(x**2 / 2)), 1),
        (whole(exp(x**2)), 1),
        (whole(exp(x**2 / 8)), 4),
        (whole(exp(x**3)), 1),
        (whole(exp(exp(x))), 1),
        (whole(log(x)), 1),
        (whole(log(x + 10)), 1),
        (whole(sqrt(x)), 1),
        (whole(x ** Rational(1, 3)), 1),
        (whole(x**x), 1),
        (kinked(0, 0, 1 / x), 1),
        (whole(Function("f")(x)), 1),
        (whole(abs(x)), 1),
        (whole(x * Symbol("y")), 1),
    ],
    ids=lambda v: str(v)[:60],
)
def test_undefined_infinite_or_unknown_is_refused_in_one_line(
    pieces: Pieces, variance: int
) -> None:
    with pytest.raises(NoEnclosure) as refused:
        expectation(pieces, 0, variance, 30)
    assert "\n" not in str(refused.value)


def test_just_inside_the_limit_of_convergence() -> None:
    found = expectation(whole(exp(Rational(49, 100) * x**2)), digits=30)
    assert holds(found, 1 / mpmath.sqrt(mpmath.mpf(2) / 100))


@pytest.mark.parametrize("variance", [-1, -sqrt(2)])
def test_negative_variances_are_refused(variance: Any) -> None:
    with pytest.raises(ValueError, match="not positive"):
        expectation(whole(x), 0, variance)


def test_no_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        expectation(whole(x), digits=0)


def test_a_tail_that_is_cut_too_early_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth.Growth, "edge", lambda self, *_: 6.0)
    early = expectation(whole(SOFTPLUS**2), digits=5)
    exact = mpmath.mpf("0.92124590885930027867724868682136339739558701936290")
    assert holds(early, exact)  # the tail is in the ball
    assert early.value.rad() > arb(10) ** -9
    monkeypatch.setattr(growth.Growth, "tail", lambda self, *_: arb(0))
    assert not holds(expectation(whole(SOFTPLUS**2), digits=20), exact)


def test_a_strip_with_poles_in_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = mpmath.mpf("0.39429449039784117441645977244411956057379074942231")
    assert holds(expectation(whole(tanh(x) ** 2)), exact)
    monkeypatch.setattr(trapezoid, "strip", lambda _: Strip(arb(4), ()))
    try:
        wrong = expectation(whole(tanh(x) ** 2))
    except NoEnclosure:
        return
    assert not holds(wrong, exact) or "quadrature" in wrong.method


PARTS = [tanh(x), SIGMOID, SILU, SOFTPLUS, MISH, GELU, x, exp(-(x**2)), sin(3 * x), exp(x / 2)]
SAME = [
    mpmath.tanh,
    lambda z: 1 / (1 + mpmath.exp(-z)),
    lambda z: z / (1 + mpmath.exp(-z)),
    lambda z: mpmath.log(1 + mpmath.exp(z)),
    lambda z: z * mpmath.tanh(mpmath.log(1 + mpmath.exp(z))),
    lambda z: z * mpmath.ncdf(z),
    lambda z: z,
    lambda z: mpmath.exp(-z * z),
    lambda z: mpmath.sin(3 * z),
    lambda z: mpmath.exp(z / 2),
]


def rational(value: Fraction) -> Expr:
    return Rational(value.numerator, value.denominator)


NUMBERS = st.fractions(min_value=-2, max_value=2, max_denominator=8)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(PARTS) - 1), NUMBERS, NUMBERS), min_size=1, max_size=3),
    st.fractions(min_value=-3, max_value=3, max_denominator=4),
    st.fractions(min_value=Fraction(1, 8), max_value=4, max_denominator=8),
)
def test_random_products(
    factors: list[tuple[int, Fraction, Fraction]], mean: Fraction, variance: Fraction
) -> None:
    f: Expr = ONE
    for index, a, b in factors:
        f *= PARTS[index].subs(
            x, Rational(a.numerator, a.denominator) * x + Rational(b.numerator, b.denominator)
        )

    def value(z: Any) -> Any:
        product = mpmath.mpf(1)
        for index, a, b in factors:
            product *= SAME[index](
                z * a.numerator / a.denominator + mpmath.mpf(b.numerator) / b.denominator
            )
        return product

    found = expectation(
        whole(f),
        Rational(mean.numerator, mean.denominator),
        Rational(variance.numerator, variance.denominator),
        15,
    )
    with mpmath.workdps(25):
        m, s = number(rational(mean)), mpmath.sqrt(number(rational(variance)))
        expected = mpmath.quad(
            lambda t: value(m + s * t) * phi(t), [-18, -9, -6, -4, -2, -1, 0, 1, 2, 4, 6, 9, 18]
        )
        error = abs(mpmath.mpf(found.digits) - expected)
        assert error <= mpmath.mpf(found.radius) + abs(expected) * mpmath.mpf("1e-18") + mpmath.mpf(
            "1e-20"
        )


@pytest.mark.parametrize(
    ("f", "precise"),
    [
        (SOFTPLUS, lambda z: mpmath.log(1 + mpmath.exp(z))),
        (SOFTPLUS**2, lambda z: mpmath.log(1 + mpmath.exp(z)) ** 2),
        (GELU_TANH, lambda z: z * (1 + mpmath.tanh(mpmath.sqrt(2 / mpmath.pi)
                                                   * (z + mpmath.mpf(8943) / 200000 * z**3))) / 2),
        (tanh(x) ** 2 + x, lambda z: mpmath.tanh(z) ** 2 + z),
    ],
    ids=["softplus", "softplus^2", "gelu_tanh", "tanh^2 + x"],
)  # fmt: skip
def test_many_digits_at_mean_zero(f: Expr, precise: Callable[[Any], Any]) -> None:
    # the trapezoid rule, whose error here is below exp(-2 pi 1.2/h)
    with mpmath.workdps(320):
        h = mpmath.mpf(1) / 90
        value = h * mpmath.fsum(precise(k * h) * mpmath.npdf(k * h) for k in range(-3430, 3431))
        assert abs(mpmath.mpf(expectation(whole(f), digits=305).digits) - value) < 1e-303


def test_an_odd_part_that_diverges_is_not_dropped() -> None:
    with pytest.raises(NoEnclosure):
        expectation(whole(tanh(x) ** 2 + 1 / x), digits=305)
