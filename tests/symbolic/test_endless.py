"""Kinks without end, and arguments that rest at a kink."""

from collections.abc import Callable
from typing import Any

import mpmath as mp
import pytest

from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pair import pair_moment


def mean_of_absolute_sine() -> Any:
    """|sin x| = 2/pi - 4/pi Sum cos(2 k x)/(4 k^2 - 1), and E cos(2 k Z) = exp(-2 k^2)."""
    terms = (mp.exp(-2 * k * k) / (4 * k * k - 1) for k in range(1, 12))
    return 2 / mp.pi - 4 / mp.pi * mp.fsum(terms)


@pytest.mark.parametrize("digits", [15, 60])
@pytest.mark.parametrize(("text", "share"), [("abs(sin(x))", 1), ("relu(sin(x))", mp.mpf(1) / 2)])
def test_fourier_series(text: str, share: Any, digits: int) -> None:
    with mp.workdps(digits + 10):
        expected = share * mean_of_absolute_sine()
        found = mp.mpf(moment(text).digits(digits).digits)
        assert abs(found - expected) < mp.mpf(10) ** (1 - digits)


def gelu_slope(t: Any) -> Any:
    return mp.ncdf(t) + t * mp.npdf(t)


def celu(t: Any) -> Any:
    return t if t > 0 else mp.expm1(t)


GELU_ZERO = mp.mpf("-0.7517915246935644")  # of gelu'

QUADRATURES: list[tuple[str, Callable[[Any], Any], Callable[[], list[Any]]]] = [
    ("relu(cos(3*x) - 1/2)", lambda t: max(mp.cos(3 * t) - mp.mpf(1) / 2, 0),
     lambda: [(k * 2 + s / mp.mpf(3)) * mp.pi / 3 for k in range(-4, 5) for s in (-1, 1)]),
    ("sqrt(|sin(x)|)", lambda t: mp.sqrt(abs(mp.sin(t))),
     lambda: [k * mp.pi for k in range(-3, 4)]),
    ("1[sin(x) > 1/3]", lambda t: mp.mpf(mp.sin(t) > mp.mpf(1) / 3),
     lambda: [k * 2 * mp.pi + s for k in (-1, 0, 1)
              for s in (mp.asin(mp.mpf(1) / 3), mp.pi - mp.asin(mp.mpf(1) / 3))]),
    ("celu(gelu'(2*x - 2))", lambda t: celu(gelu_slope(2 * t - 2)), lambda: [GELU_ZERO / 2 + 1]),
    ("|gelu'(x)|", lambda t: abs(gelu_slope(t)), lambda: [GELU_ZERO]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "f", "kinks"), QUADRATURES, ids=[q[0] for q in QUADRATURES])
def test_against_quadrature(text: str, f: Any, kinks: Any) -> None:
    with mp.workdps(18):
        points = sorted({mp.mpf(p) for p in range(-10, 11)} | set(kinks()))
        expected = mp.quad(lambda t: f(t) * mp.npdf(t), points)
        assert abs(mp.mpf(moment(text).digits(16).digits) - expected) < 1e-14


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("step(relu(x))", "1/2"),
        ("threshold(hardtanh(x))", "0"),  # 1 is not above the threshold 1
        ("hardshrink(hardtanh(x)/2)", "0"),
        ("elu'(relu(x))", "1"),  # ELU has a derivative at 0
        ("relu'(relu(x))", "1/2"),
        ("leaky_relu'(relu(x))", "101/200"),  # the slope at 0 is the one below, as in PyTorch
        ("hardtanh'(hardtanh(x))", "erf(sqrt(2)/2)"),
        ("max(elu(step(x)), 1/3)", "2/3"),
    ],
)
def test_an_argument_that_rests_at_a_kink(text: str, value: str) -> None:
    assert str(moment(text)) == value


@pytest.mark.parametrize("text", ["relu(tan(x))", "log(|sin(x^2)|)", "relu(sin(exp(x^2)))"])
def test_what_is_not_bounded_far_out_is_refused(text: str) -> None:
    with pytest.raises(NoMoment, match="no digits could be proved"):
        moment(text)


def square_waves(rho: Any) -> Any:
    """sign(sin x) = 4/pi Sum sin(k x)/k over odd k, term by term."""
    terms = (
        mp.exp(-(j * j + k * k) / mp.mpf(2)) * mp.sinh(j * k * rho) / (j * k)
        for j in range(1, 60, 2)
        for k in range(1, 60, 2)
    )
    return 16 / mp.pi**2 * mp.fsum(terms)


@pytest.mark.parametrize("rho", ["1/2", "-3/5", "9/10", "0", "-1"])
def test_pairs(rho: str) -> None:
    found = pair_moment("sign(sin(x))", rho=rho)
    with mp.workdps(30):
        value = mp.mpf(found.digits(15).digits)
        above, _, below = rho.partition("/")
        expected = square_waves(mp.mpf(above) / int(below or 1)) if rho != "-1" else -1
        assert abs(value - expected) < 1e-14
        assert rho == "0" or abs(value + expected) > 1e-3


def mean_of_log_sine(angle: Any, pace: Any) -> Any:
    """E log|sin(angle + pace Z)| by quadrature between the poles."""
    ends = [(k * mp.pi / 2 - angle) / pace for k in range(-24, 25)]
    return mp.quad(lambda t: mp.log(abs(mp.sin(angle + pace * t))) * mp.npdf(t), ends)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("log(|sin(x)|)", [(1, 0, 1)]),
        ("log(|tan(2*x + 1)|)", [(1, 1, 2), (-1, 1 + mp.pi / 2, 2)]),
        ("log(sqrt(|cos(x)|)) + x", [(mp.mpf(1) / 2, mp.pi / 2, 1)]),
    ],
)
def test_logarithms_of_waves(text: str, terms: list[tuple[Any, Any, Any]]) -> None:
    with mp.workdps(20):
        expected = mp.fsum(c * mean_of_log_sine(angle, pace) for c, angle, pace in terms)
        assert abs(mp.mpf(moment(text).digits(15).digits) - expected) < 1e-13


@pytest.mark.parametrize(
    ("text", "weight", "zeros"),
    [
        ("x^2*log(|sin(x)|)", lambda t: t**2 * mp.log(abs(mp.sin(t))), 1),
        (
            "(x - 1)^3*log(|cos(2*x + 1)|)",
            lambda t: (t - 1) ** 3 * mp.log(abs(mp.cos(2 * t + 1))),
            2,
        ),
    ],
)
def test_polynomials_times_logarithms_of_waves(text: str, weight: Any, zeros: int) -> None:
    mean, variance = mp.mpf(1) / 3, mp.mpf(2)
    with mp.workdps(20):
        start = (mp.pi / 2 - 1) / 2 if zeros == 2 else mp.mpf(0)
        ends = [start + k * mp.pi / zeros for k in range(-4 * zeros - 2, 4 * zeros + 3)]
        expected = mp.quad(lambda t: weight(t) * mp.npdf(t, mean, mp.sqrt(variance)), ends)
        assert abs(mp.mpf(moment(text, "1/3", 2).digits(15).digits) - expected) < 1e-13


def test_the_logarithm_of_mish() -> None:
    with mp.workdps(20):
        expected = mp.quad(
            lambda t: mp.log(abs(t * mp.tanh(mp.log1p(mp.exp(t))))) * mp.npdf(t),
            [-20, -8, -2, -0.5, 0, 0.5, 2, 8, 20],
        )
        assert abs(mp.mpf(moment("log(|mish(x)|)").digits(15).digits) - expected) < 1e-14


@pytest.mark.parametrize("text", ["log(sin(x))", "log(x^2*cos(x))", "log(|sin(x^2)|)"])
def test_messages_speak_of_what_was_asked(text: str) -> None:
    with pytest.raises(NoMoment) as error:
        moment(text)
    assert not any(word in str(error.value) for word in ("either(", "min(", "max("))
