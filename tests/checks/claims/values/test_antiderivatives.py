"""Means over a range, against quadrature."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from judging import verdict
from mpmath import exp, log, mpf, quad, sqrt, workdps
from sympy import Expr, Integer, Rational, Symbol
from sympy import exp as e_to
from sympy import log as ln
from sympy import sqrt as root

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.values.antiderivatives import integral_over
from varlaw.symbolic.formulas.reader import read_plain

X = Symbol("x", real=True)


@pytest.mark.parametrize(
    ("f", "number", "low", "high"),
    [
        (X**2 - 3 * X + 1, lambda x: x**2 - 3 * x + 1, -1, 2),
        (root(X) + 1 / root(X), lambda x: sqrt(x) + 1 / sqrt(x), 0, 3),
        (X ** Rational(1, 3), lambda x: x ** mpf("0.333333333333333333333"), 0, 2),
        (ln(X), log, 0, 2),
        (3 * ln(X) ** 2 - ln(X), lambda x: 3 * log(x) ** 2 - log(x), 1, 4),
        (2 / X, lambda x: 2 / x, 1, 5),
        (e_to(2 * X - 1) + X, lambda x: exp(2 * x - 1) + x, -1, 1),
    ],
)
def test_integrals(f: Expr, number: Callable[[mpf], mpf], low: int, high: int) -> None:
    found = integral_over(f, X, Integer(low), Integer(high))
    with workdps(20):
        wanted = quad(number, [low, (low + high) / mpf(2), high])
        assert abs(float(found.evalf()) - wanted) < 1e-8


@pytest.mark.parametrize(
    ("f", "low"),
    [(ln(X), -1), (root(X), -1), (1 / X, 0), (X**-2, 0), (e_to(X**2), 0), (ln(X + 1), 0)],
)
def test_what_has_no_such_integral(f: Expr, low: int) -> None:
    assert integral_over(f, X, Integer(low), Integer(1)) is None


@pytest.mark.parametrize(
    ("lines", "text", "expected"),
    [
        (["u ~ U(0, 1)"], "Var[log(u)] = 1", "verified"),
        (["u ~ U(0, 1)"], "E[log(u)] = 1", "refuted"),
        (["u ~ U(0, 1)", "n > 0"], "E[u^n] = 1/(n + 1)", "verified"),
        (["u ~ U(0, 1)", "n > 0"], "E[u^n] = 1/n", "refuted"),
        (["u ~ U(0, 1)"], "E[e^(t u)] = (e^t - 1)/t", "verified"),
        (["u ~ U(0, 1)", "n real"], "E[u^n] = 1/(n + 1)", "undecided"),  # so for n > -1
        (["u ~ U(-1, 1)"], "E[sqrt(u)] = 1/3", "undecided"),
        (["u ~ U(0, 1)"], "E[1/u] = 2", "undecided"),
    ],
)
def test_means_over_a_range(lines: list[str], text: str, expected: str) -> None:
    (judgement,) = judge_chain(read_plain(text).chains[0], read_context(lines))
    assert str(judgement.verdict) == expected


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("n > 0", "int_0^1 x^n dx = 1/(n + 1)", "verified"),
        ("n > 0", "int_0^1 x^n dx = 1/n", "refuted"),
        ("n real", "int_0^1 x^n dx = 1/(n + 1)", "undecided"),  # so for n > -1
        ("a > 0", "int_{-oo}^{oo} e^(-a x^2) dx = sqrt(pi/a)", "verified"),
        ("a > 0", "int_{-oo}^{oo} e^(-a x^2) dx = sqrt(pi/(2 a))", "refuted"),
        ("a > 0", "int_{oo}^{oo} e^(-a x^2) dx = sqrt(pi/a)", "undecided"),
        ("a real", "int_{-oo}^{oo} e^(-a x^2) dx = sqrt(pi/a)", "undecided"),
        # github.com/sympy/sympy/issues/28485
        ("a < 0", "int_{-oo}^{oo} e^(a (x^2 + 2 x)) dx = sqrt(pi/(-a)) e^(-a)", "verified"),
        ("a < 0", "int_{-oo}^{oo} e^(a (x^2 + 2 x)) dx = sqrt(pi/(-a)) e^a", "refuted"),
        ("a > 0", "int_0^{oo} x e^(-a x) dx = 1/a^2", "verified"),
        ("a > 0", "int_1^{oo} x^(-a - 1) dx = 1/a", "verified"),
        ("a > 0", "int_1^{oo} x^(-a) dx = 1/(a - 1)", "undecided"),  # so for a > 1
    ],
)
def test_integrals_with_declared_names(declared: str, text: str, expected: str) -> None:
    (judgement,) = judge_chain(
        read_plain(text).chains[0], replace(read_context([declared]), stated=True)
    )
    assert str(judgement.verdict) == expected


@pytest.mark.parametrize(
    ("integral", "right", "wrong"),
    [  # from tables of integrals: Gradshteyn and Ryzhik 2.1, 2.32
        (r"\int_0^1 \frac{dx}{1 + x}", r"\ln 2", r"\ln 3"),
        (r"\int_{-3}^{-1} \frac{dx}{x}", r"-\ln 3", r"\ln 3"),
        (r"\int_0^1 \frac{dx}{1 + x^2}", r"\frac{\pi}{4}", r"\frac{\pi}{2}"),
        (r"\int_{-1}^{1} \frac{4}{x^2 + 2x + 5} dx", r"\frac{\pi}{2}", r"\pi"),
        (r"\int_0^1 x e^x dx", "1", "e"),
        (r"\int_0^1 x^2 e^{-x} dx", "2 - 5/e", "2 - 4/e"),
    ],
)
def test_of_reciprocals_and_by_parts(integral: str, right: str, wrong: str) -> None:
    assert verdict(f"{integral} = {right}") == "verified"
    assert verdict(f"{integral} = {wrong}") == "refuted"


@pytest.mark.parametrize("ends", ["_{-1}^{1}", "_{-2}^{1}", "_{0}^{1}"])
def test_over_a_pole_nothing_is_verified(ends: str) -> None:
    for value in ("0", r"-\ln 2", r"\ln 2"):
        assert verdict(rf"\int{ends} \frac{{dx}}{{x}} = {value}") == "undecided"
