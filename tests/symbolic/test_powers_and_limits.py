"""Powers and logarithms of |x|, terms at the limit of convergence, and other traps of signs."""

from typing import Any

import mpmath as mp
import pytest
from sympy import Integer, Rational, Symbol, erfc, exp, gamma, log, pi, sqrt

from varlaw.symbolic.activations import celu, elu, leaky_relu, relu, relu_k, step
from varlaw.symbolic.gaussian.closed import Divergent, closed_form
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.language import read

x = Symbol("x", real=True)
k, s = Symbol("k", positive=True), Symbol("s", positive=True)
n, r = Symbol("n", negative=True), Symbol("r", real=True)
one = Integer(1)


def half_line(f: Any) -> mp.mpf:
    """Int_0^oo f phi, also where f has a root or a logarithm at 0."""
    return mp.quad(lambda t: f(t) * mp.npdf(t), [0, 0.01, 0.1, 1, 3, 7, 13])


def test_powers_with_a_symbol() -> None:
    found = closed_form(relu_k(x, k), x, Integer(0), s**2)
    assert (found - s**k * 2 ** (k / 2 - 1) * gamma((k + 1) / 2) / sqrt(pi)).simplify() == 0
    for whole in (1, 2, 5):
        expected = closed_form(relu(x) ** whole, x, Integer(0), s**2)
        assert (found.subs(k, whole) - expected).simplify() == 0


@pytest.mark.parametrize(
    ("text", "f", "both"),
    [
        ("|x|^(1/3)", lambda t: mp.cbrt(t), 2),
        ("|x|^(-1/2)", lambda t: 1 / mp.sqrt(t), 2),
        ("x*|x|^(1/2)", lambda t: mp.mpf(0), 1),
        ("sqrt(relu(3x))", lambda t: mp.sqrt(3 * t), 1),
        ("sqrt(relu(-3x))*x", lambda t: -t * mp.sqrt(3 * t), 1),
        ("log(|x|)", lambda t: mp.log(t), 2),
        ("log(2|x|)^2*x^2", lambda t: mp.log(2 * t) ** 2 * t**2, 2),
        ("x^3*sqrt(|x|)*1[x < 0]", lambda t: -(t**3.5), 1),
        ("log(|x|)*exp(-x^2)", lambda t: mp.log(t) * mp.exp(-t * t), 2),
        ("relu_k(x, 5/2)^2", lambda t: t**5, 1),
    ],
)
def test_roots_and_logarithms(text: str, f: Any, both: int) -> None:
    found = moment(text)
    assert found.exact is not None
    with mp.workdps(20):
        value = mp.mpf(found.digits(15).digits)
        assert abs(value - both * half_line(f)) < 1e-13
    assert read(str(found)) == found.exact


def test_known_logarithmic_moments() -> None:
    """E log|Z| = -(gamma + log 2)/2, Var log|Z| = pi^2/8 (Abramowitz and Stegun 6.3, 6.4)."""
    first, second = moment("log(|x|)").exact, moment("log(|x|)^2").exact
    assert abs(first.evalf(30) + (mp.euler + mp.log(2)) / 2) < 1e-14
    assert (second - first**2 - pi**2 / 8).expand() == 0


@pytest.mark.parametrize("text", ["1/x", "|x|^(-1)", "|x|^(-3/2)", "log(x)", "sqrt(x)", "x^(1/3)"])
def test_undefined_or_infinite(text: str) -> None:
    with pytest.raises(NoMoment):
        moment(text)


def test_powers_of_unknown_sign_are_refused() -> None:
    with pytest.raises(NoMoment, match="larger than -1"):
        moment("relu(x)^p")
    with pytest.raises(NoMoment, match="sign of"):
        moment("sqrt(a*relu(x))")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exp(x^2/2 - x)*step(x)", 1 / sqrt(2 * pi)),
        ("exp(x^2/2 + x)*1[x < 0]", 1 / sqrt(2 * pi)),
        ("x^2*exp(x^2/2 - x/3)*step(x)", 54 / sqrt(2 * pi)),
        ("exp(x^2/2)*1[0 < x < 3]", 3 / sqrt(2 * pi)),
        ("x^3*exp(x^2/2)*1[1 < x < 2]", Rational(15, 4) / sqrt(2 * pi)),
        ("exp(49*x^2/100)", sqrt(50)),
    ],
)
def test_at_the_limit_of_convergence(text: str, expected: Any) -> None:
    assert (moment(text).exact - expected).simplify() == 0


@pytest.mark.parametrize(
    "text", ["exp(x^2/2)", "exp(x^2/2 + x)*step(x)", "exp(x^2/2)*step(x)", "x*exp(3*x^2)*1[x > 9]"]
)
def test_beyond_the_limit(text: str) -> None:
    with pytest.raises(Divergent, match="grows too fast for the variance 1"):
        moment(text)


def test_the_limit_with_symbols() -> None:
    a = Symbol("a", positive=True)
    with pytest.raises(Divergent, match=r"exp\(a\*x\^2\) grows too fast"):
        closed_form(exp(a * x**2), x, Integer(0), 1 / (2 * a))
    assert closed_form(exp(a * x**2), x, Integer(0), 1 / (4 * a)) == sqrt(2)
    with pytest.raises(Divergent):
        closed_form(exp(a * x**2), x, Integer(0), 1 / a)
    with pytest.raises(NotClosed, match="not known"):
        closed_form(exp(a * x**2), x, Integer(0), s)
    assert closed_form(exp(n * x**2), x, Integer(0), s) is not None


def test_fast_terms_that_cancel_are_not_called_infinite() -> None:
    found = moment(exp(x**2 / 2) * erfc(x) * step(x))
    assert found.exact is None
    with mp.workdps(20):
        expected = mp.quad(lambda t: mp.erfc(t), [0, 1, 3, 7]) / mp.sqrt(2 * mp.pi)
        assert abs(mp.mpf(found.digits(15).digits) - expected) < 1e-14


def test_symbols_declared_negative_or_of_unknown_sign() -> None:
    """Each is the formula at a number, or refused; SymPy's own integrals err on such symbols."""
    for f in (relu(n * x), leaky_relu(x, n), elu(x, n), exp(n * x**2), step(n * x + 1)):
        general = closed_form(f**2, x, Integer(0), one)
        special = closed_form(f.subs(n, -2) ** 2, x, Integer(0), one)
        assert abs((general.subs(n, -2) - special).evalf(20)) < 1e-15
    for f in (leaky_relu(x, r), elu(x, r)):
        general = closed_form(f**2, x, Integer(0), one)
        for value in (-2, Rational(1, 3)):
            special = closed_form(f.subs(r, value) ** 2, x, Integer(0), one)
            assert abs((general.subs(r, value) - special).evalf(20)) < 1e-15
    for f in (relu(r * x), step(x - r) * step(x)):
        with pytest.raises(NotClosed, match="not known"):
            closed_form(f, x, Integer(0), one)
    for variance in (n, r, Integer(-1), -s):
        with pytest.raises(ValueError, match="not known to be positive"):
            closed_form(x**2, x, Integer(0), variance)
    assert closed_form(celu(x, 2) ** 2, x, Integer(3), Integer(0)) == celu(3, 2) ** 2


@pytest.mark.parametrize(
    ("condition", "digits"),
    [
        ("x > 40", "40.02496884720726"),
        ("40 < x < 41", None),
        ("-41 < x < -40", None),
        ("300 < x < 301", None),
        ("x < -40", "-40.02496884720726"),
    ],
)
def test_far_tails(condition: str, digits: str | None) -> None:
    found = moment("x", given=condition).digits(16).digits
    if digits:
        assert found.startswith(digits[:-1])
        return
    ends = [mp.mpf(w) for w in condition.replace("x", "").split("<") if w.strip()]
    with mp.workdps(40):
        points = [ends[0] + (ends[1] - ends[0]) * j / 64 for j in range(65)]
        weight = lambda t: mp.exp(-(t - ends[0]) * (t + ends[0]) / 2)  # noqa: E731
        expected = mp.quad(lambda t: t * weight(t), points) / mp.quad(weight, points)
    assert abs(mp.mpf(found) / expected - 1) < 1e-15


def test_truncation_with_symbols() -> None:
    found = moment("x^2", given="a < x < b", mean="m", variance="v").exact
    at = {"a": Integer(-1), "b": Integer(2), "m": Rational(1, 2), "v": Rational(9, 4)}
    value = read(str(found), names=at).evalf(25)
    with mp.workdps(25):
        p = lambda t: mp.npdf(t, 0.5, 1.5)  # noqa: E731
        expected = mp.quad(lambda t: t * t * p(t), [-1, 0, 1, 2]) / mp.quad(p, [-1, 0, 1, 2])
        assert abs(mp.mpf(str(value)) - expected) < 1e-18
    with pytest.raises(NoMoment, match="probability zero"):
        moment("x", given="2 < x < 1")


def test_log_is_in_the_text() -> None:
    assert str(moment("log(|x|)")) == "-log(2)/2 - EulerGamma/2"
    assert read("-log(2)/2 - EulerGamma/2") == moment("log(|x|)").exact
    assert read("Gamma(1/2)") == sqrt(pi)
    assert log(2) == read("log(2)")
