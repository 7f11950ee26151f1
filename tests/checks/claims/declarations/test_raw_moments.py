"""Moments of named laws, against integrals and sums over their densities."""

from collections.abc import Callable

import pytest
from mpmath import binomial, exp, factorial, gamma, inf, log, mpf, nsum, pi, quad, sqrt, workdps
from sympy import Integer, Rational

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.declarations.distributions import distribution
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.symbolic.formulas.reader import read_plain

Density = Callable[[mpf], mpf]
HALF = [0, 1, 5, 20, inf]

CONTINUOUS: list[tuple[str, list[tuple[str, int]], Density, list[object]]] = [
    ("Exponential", [("rate", 3)], lambda x: 3 * exp(-3 * x), HALF),
    ("Exponential", [("scale", 3)], lambda x: exp(-x / 3) / 3, [0, 1, 10, 60, inf]),
    ("Laplace", [("", 1), ("", 2)], lambda x: exp(-abs(x - 1) / 2) / 4, [-inf, -30, 1, 30, inf]),
    ("Gamma", [("", 3), ("rate", 2)], lambda x: 4 * x**2 * exp(-2 * x), HALF),
    ("Gamma", [("", 3), ("scale", 2)], lambda x: x**2 * exp(-x / 2) / 16, [0, 5, 50, inf]),
    ("ChiSquared", [("", 5)], lambda x: x**1.5 * exp(-x / 2) / (2**2.5 * gamma(2.5)), HALF),
    ("Beta", [("", 2), ("", 3)], lambda x: 12 * x * (1 - x) ** 2, [0, 1]),
    (
        "LogNormal",
        [("", 0), ("", 1)],
        lambda x: exp(-(log(x) ** 2) / 2) / (x * sqrt(2 * pi)) if x else mpf(0),
        [0, 1, 10, 1000, 10**6, inf],
    ),
    (
        "StudentT",
        [("", 9)],
        lambda x: gamma(5) / (sqrt(9 * pi) * gamma(4.5)) * (1 + x**2 / 9) ** -5,
        [-inf, -10, 0, 10, inf],
    ),
]
DISCRETE: list[tuple[str, list[tuple[str, Rational]], Density, list[object]]] = [
    ("Poisson", [("", Integer(3))], lambda k: exp(-3) * mpf(3) ** k / factorial(k), [0, inf]),
    (
        "Binomial",
        [("", Integer(5)), ("", Rational(1, 4))],
        lambda k: binomial(5, k) * mpf(1) ** k * mpf(3) ** (5 - k) / 4**5,
        [0, 5],
    ),
]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize(("name", "given", "density", "range_"), CONTINUOUS)
def test_moments_are_integrals_over_the_density(
    name: str, given: list[tuple[str, int]], density: Density, range_: list[object], order: int
) -> None:
    law = distribution(name, [(key, Integer(value)) for key, value in given])
    with workdps(15):
        wanted = quad(lambda x: x**order * density(x), range_)
        assert abs(float(law.moment(order)) - wanted) < 1e-8 * max(1, abs(wanted))


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("name", "given", "density", "range_"), DISCRETE)
def test_moments_are_sums_over_the_values(
    name: str, given: list[tuple[str, Rational]], density: Density, range_: list[object], order: int
) -> None:
    law = distribution(name, given)
    with workdps(15):
        wanted = nsum(lambda k: k**order * density(k), range_)
        assert abs(float(law.moment(order)) - wanted) < 1e-8 * wanted


def judged(text: str, *lines: str) -> Judgement:
    context = read_context(lines)
    assert not context.problems
    return judge_chain(read_plain(text).chains[0], context)[-1]


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        ("x ~ Laplace(mu, b)", "Var[x] = 2 b^2", "verified"),
        ("x ~ Laplace(mu, b)", "Var[x] = b^2", "refuted"),
        ("x ~ Exponential(rate = r)", "E[x] = 1/r", "verified"),
        ("x ~ Exponential(scale = r)", "E[x] = 1/r", "refuted"),
        ("x ~ Exponential(r)", "E[x] = 1/r", "undecided"),  # a rate, or a scale
        ("x ~ Exponential(1)", "E[x^2] = 2", "verified"),
        ("x ~ Gamma(k, b)", "E[x] = k b", "undecided"),
        ("x ~ Binomial(n, p)", "Var[x] = n p (1 - p)", "verified"),
        ("x ~ Binomial(n, p)", "Var[x] = n p", "refuted"),
        ("x ~ Binomial(n, 2)", "E[x] = 2 n", "undecided"),
        ("x ~ Binomial(5/2, 1/2)", "E[x] = 5/4", "undecided"),
        ("x ~ Poisson(a)", "Var[x] = a", "verified"),
        ("x ~ Poisson(-1)", "E[x] = -1", "undecided"),
        ("x ~ StudentT(5)", "Var[x] = 5/3", "verified"),
        ("x ~ StudentT(2)", "Var[x] = 2", "undecided"),  # infinite
        ("x ~ Beta(a, b)", "E[x] = a/(a + b)", "verified"),
        ("x ~ LogNormal(mu, s2)", "E[x] = e^(mu + s2/2)", "verified"),
        ("x ~ LogNormal(mu, s2)", "E[x] = e^mu", "refuted"),
        ("x ~ ChiSquared(k)", "Var[x] = 2 k", "verified"),
        ("x ~ Laplace(0, 1)", "P[x > 1] = 1/2", "refuted"),
        ("x[i] ~ Exponential(1) for i = 1..n", "Var[sum_{i=1}^n x[i]] = n", "verified"),
        ("x[i] ~ Exponential(1) for i = 1..n", "Var[sum_{i=1}^n x[i]] = n^2", "refuted"),
    ],
)
def test_claims_about_named_laws(line: str, text: str, expected: str) -> None:
    assert str(judged(text, line).verdict) == expected
