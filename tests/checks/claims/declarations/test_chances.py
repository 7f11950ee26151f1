"""Probabilities of bounds on variables of named laws, against SciPy and by hand."""

from typing import Any

import pytest
from scipy import stats
from sympy import Integer, Rational, Symbol

from varlaw.checks.claims.declarations.chances import chance
from varlaw.checks.claims.declarations.distributions import distribution
from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.values.functions import NoValue
from varlaw.symbolic.terms import indicator

X = Symbol("x", real=True)
LAWS = [
    ("Exponential", (1,), stats.expon()),
    ("Laplace", (1, 1), stats.laplace(1, 1)),
    ("Poisson", (3,), stats.poisson(3)),
    ("Binomial", (5, Rational(1, 3)), stats.binom(5, 1 / 3)),
]


@pytest.mark.parametrize("place", [Rational(-1, 2), 0, Rational(1, 2), 1, 2, 5, 7])
@pytest.mark.parametrize(("name", "given", "known"), LAWS)
def test_bounds(name: str, given: tuple[Any, ...], known: Any, place: Any) -> None:
    law = distribution(name, [("", Integer(1) * value) for value in given])
    events = [indicator(X - place, sign) for sign in (">", "<", "=")]
    found = [float(chance(law.kind, law.given, event, X)) for event in events]
    below = known.cdf(float(place))
    at = known.pmf(float(place)) if hasattr(known.dist, "pmf") else 0.0
    assert found == pytest.approx([1 - below, below - at, at], abs=1e-12)


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("x ~ Exponential(rate = r); t > 0", "P[x > t] = e^(-r t)", "verified"),
        ("x ~ Exponential(rate = r); t > 0", "P[x < t] = e^(-r t)", "refuted"),
        ("x ~ Exponential(rate = r); t real", "P[x > t] = e^(-r t)", "undecided"),  # so for t > 0
        ("x ~ Exponential(rate = r)", "P[1 - x > 0] = 1 - e^(-r)", "verified"),
        ("x ~ Poisson(l)", "P[x >= 1] = 1 - e^(-l)", "verified"),
        ("x ~ Poisson(l)", "P[x > 1] = 1 - e^(-l)", "refuted"),  # x = 1 counts for >= only
        ("x ~ Binomial(n, p)", "P[x = 1] = n p (1 - p)^(n - 1)", "verified"),
        ("x ~ Binomial(n, p)", "P[x = 1] = p (1 - p)^(n - 1)", "refuted"),
        ("x ~ Gamma(2, scale = 1)", "P[x > 1] = 2/e", "undecided"),
        ("x ~ Poisson(l)", "P[x > t] = 1", "undecided"),
    ],
)
def test_claims(declared: str, text: str, expected: str) -> None:
    (claim,) = read_statements(declared.replace("; ", "\n") + f"\nclaim {text}").claims
    assert str(judge_chain(claim.chains[0], claim.context)[-1].verdict) == expected


def test_what_is_no_bound_has_no_probability() -> None:
    with pytest.raises(NoValue, match="no bound"):
        chance("poisson", {"rate": Integer(1)}, indicator(X**2 - 2, ">"), X)
