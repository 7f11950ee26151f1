"""Gated units, maxout and dropout against quadrature, orthant formulas and enumeration."""

import mpmath as mp
import pytest
from sympy import Rational, Symbol, pi, sqrt

from varlaw.symbolic.activations import ACTIVATIONS, named_activation
from varlaw.symbolic.gates import GATES, UnknownGate, dropout, maxout, named_gate

s2 = Symbol("s2", positive=True)


def mean(f: mp.mpf) -> mp.mpf:
    return mp.quad(lambda t: f(t) * mp.npdf(t), [-12, -6, -3, -1, -0.5, 0, 1, 3, 6, 12])


FUNCTIONS = {
    "bilinear": lambda t: t,
    "glu": lambda t: 1 / (1 + mp.exp(-t)),
    "reglu": lambda t: max(t, 0),
    "geglu": lambda t: t * mp.ncdf(t),
    "swiglu": lambda t: t / (1 + mp.exp(-t)),
}


@pytest.mark.parametrize("name", GATES)
def test_gated_units(name: str) -> None:
    f = FUNCTIONS[name]
    with mp.workdps(20):
        second = mean(lambda t: f(t) ** 2) * (4 + mp.mpf(1) / 9)
        found = mp.mpf(GATES[name].moment(2, value=(Rational(1, 3), 4)).digits(15).digits)
        assert abs(found - second) < 1e-13
        assert GATES[name].moment(1).digits(15).digits == "0"
        spread = mean(lambda t: f(1 + 2 * t) ** 2) * 3
        found = mp.mpf(GATES[name].moment(2, gate=(1, 4), value=(0, 3)).digits(15).digits)
        assert abs(found - spread) < 1e-12


def test_gates_with_parameters() -> None:
    assert GATES["reglu"].moment(2, gate=(0, "q"), value=(0, "v")).text.startswith("E[")
    exact = GATES["reglu"].moment(2, gate=(0, "q"), value=(0, "v")).exact
    q, v = Symbol("q", positive=True), Symbol("v", positive=True)
    assert (exact - q * v / 2).expand() == 0
    assert named_gate("SwiGLU") is GATES["swiglu"]
    with pytest.raises(UnknownGate, match="did you mean 'swiglu'"):
        named_gate("swigul")


def test_maxout_by_orthants() -> None:
    """David and Nagaraja, Order Statistics: 1/sqrt(pi), 3/(2 sqrt(pi)); published 1.0293753730."""
    assert (maxout(2).exact - 1 / sqrt(pi)).simplify() == 0
    assert (maxout(3).exact - 3 / (2 * sqrt(pi))).simplify() == 0
    assert (maxout(3, 2).exact - 1 - sqrt(3) / (2 * pi)).simplify() == 0
    assert maxout(2, 2, 0, "s2").exact == s2
    assert maxout(4).exact is not None and maxout(4, 2).exact is not None
    assert maxout(4).digits(11).digits == "1.0293753730"
    assert maxout(5).digits(11).digits == "1.1629644736"
    assert (maxout(2, 1, "m", "s2").exact - Symbol("m", real=True) - sqrt(s2 / pi)).expand() == 0


@pytest.mark.parametrize("units", [2, 4, 7, 30])
def test_maxout_by_quadrature(units: int) -> None:
    with mp.workdps(20):
        for power in (1, 2, 3):
            expected = mean(lambda t: units * (1 + 2 * t) ** power * mp.ncdf(t) ** (units - 1))  # noqa: B023
            found = mp.mpf(maxout(units, power, 1, 4).digits(15).digits)
            assert abs(found / expected - 1) < 1e-13


@pytest.mark.parametrize("rate", [Rational(0), Rational(1, 10), Rational(1, 2)])
def test_dropout(rate: Rational) -> None:
    for power in (1, 2, 3):
        assert dropout(rate, power) == (1 - rate) * (1 / (1 - rate)) ** power
    p = Symbol("p", positive=True)
    assert dropout(p, 2) == 1 / (1 - p)


def test_out_of_range() -> None:
    for bad in (Rational(1), Rational(-1, 2), Rational(3, 2)):
        with pytest.raises(ValueError, match="rate of dropout"):
            dropout(bad, 2)
    for arguments in ((0, 1), (2, 0), (10**6, 1)):
        with pytest.raises(ValueError, match="not between"):
            maxout(*arguments)
    with pytest.raises(ValueError, match="may not depend on x"):
        maxout(2, 1, "x")


@pytest.mark.parametrize("name", ["tanh", "erf", "sin", "cos", "exp"])
def test_elementary_functions_are_rows(name: str) -> None:
    row = named_activation(name)
    assert row is ACTIVATIONS[name]
    ((_, value),) = row.parts(Symbol("x"))
    assert value.func.__name__ == name
    for alias in row.known.values():
        assert named_activation(alias) is row
