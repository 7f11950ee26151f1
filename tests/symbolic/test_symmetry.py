"""Moments at mean 0 by symmetry, and functions that are odd but have no mean."""

import pytest
from sympy import Integer, Rational, S, Symbol, exp, log, sin, sinh, tan, tanh

from varlaw.symbolic.activations import (
    ACTIVATIONS,
    gelu_tanh,
    hardshrink,
    hardtanh,
    sigmoid,
    silu,
    softsign,
)
from varlaw.symbolic.gaussian.closed import closed_form
from varlaw.symbolic.gaussian.functions import NoMoment
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.symmetry import even_part, keeps_a_pole

x, a = Symbol("x", real=True), Symbol("a", real=True)


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (tanh(a * x), 0),
        (softsign(x) ** 3, 0),
        (sigmoid(x), Rational(1, 2)),
        (sigmoid(a * x) * x**2, Rational(1, 2)),
        (sigmoid(x) - sigmoid(-x), 0),
        ((sigmoid(x) - Rational(1, 2)) ** 3, 0),
        (x * tanh(x) ** 2 + 1, 1),
        (hardtanh(x) * tanh(x) * x, 0),
        (x / (1 + x**2), 0),
        (silu(x) - silu(-x), 0),
    ],
    ids=str,
)
def test_by_symmetry(f: object, value: object) -> None:
    assert closed_form(f, x, S(0), Integer(1)) == value


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_odd_rows_have_mean_zero(name: str) -> None:
    row = ACTIVATIONS[name]
    f = row(x, *row.defaults)
    if row.parity == "odd":
        assert closed_form(f, x, S(0), S(2)).evalf(30) == 0


@pytest.mark.parametrize("f", [1 / x, 1 / x**3, tan(x), sinh(x**3), x / (x**2 - 1), log(x)])
def test_odd_functions_without_a_mean(f: object) -> None:
    assert even_part(f, x) is None
    with pytest.raises(NoMoment):
        moment(f)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("f", "kept"),
    [
        (silu(x), True),  # x tanh(x/2)
        (sigmoid(x) ** 2, True),
        (gelu_tanh(x), True),
        (1 / (1 + x**2), True),
        (sigmoid(x), False),  # 1
        (sigmoid(x) * (2 + exp(x) + exp(-x)), False),  # 2 + e^x + e^-x: it cancels in f
        (sigmoid(x) ** 3 - 3 * sigmoid(x) ** 2 / 2, False),  # -1/2
        (x / (1 + exp(x)) + x / (1 + exp(-x)), False),
        (log(1 + exp(x)), False),  # no pole, but a branch point
        (exp(x), False),
    ],
    ids=str,
)
def test_poles_of_the_even_part(f: object, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pole of f(x) + f(-x) is seen without algebra, which then finds no even part either."""
    assert keeps_a_pole(f, x) == kept
    monkeypatch.setattr("varlaw.symbolic.gaussian.symmetry.keeps_a_pole", lambda f, x: False)
    assert not kept or even_part(f, x) is None


def test_no_symmetry_is_claimed() -> None:
    for f in (silu(x), exp(x), sin(x) + x**2, gelu_tanh(x)):
        half = even_part(f, x)
        assert half is None or half.subs(x, 1) == (f.subs(x, 1) + f.subs(x, -1)) / 2
    with pytest.raises(NotClosed):
        closed_form(tanh(x), x, Rational(1, 3), S(1))  # not at mean 0
    with pytest.raises(NotClosed):
        closed_form(hardshrink(x, a), x, S(0), S(1))
    assert len(pieces_of(softsign(x), x)) == 2
