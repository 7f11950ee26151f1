"""Claims about named laws, measured: true ones confirmed, false ones refuted."""

import pytest
from sympy import Rational

from varlaw.checks.claims.declarations.distributions import distribution
from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.evidence import gather
from varlaw.checks.claims.expectations.sampled_laws import SAMPLERS, Named
from varlaw.checks.claims.measured import Settings
from varlaw.checks.statistics.sampling import stream

THIRD = Rational(1, 3)
LAWS = [
    ("N", (1, 4)),
    ("truncated", (0, 1, -2, 1)),
    ("U", (-1, 3)),
    ("Bernoulli", (THIRD,)),
    ("Rademacher", ()),
    ("Laplace", (1, 2)),
    ("Poisson", (3,)),
    ("Binomial", (6, THIRD)),
    ("Gamma", (3, 1)),
    ("Exponential", (1,)),
    ("ChiSquared", (4,)),
    ("Beta", (2, 3)),
    ("LogNormal", (0, THIRD)),
    ("StudentT", (12,)),
]


def test_every_sampler_is_tested() -> None:
    assert {distribution(n, [("", Rational(v)) for v in g]).kind for n, g in LAWS} == set(SAMPLERS)


@pytest.mark.parametrize(("name", "given"), LAWS)
def test_draws_have_the_moments_of_their_law(name: str, given: tuple[Rational, ...]) -> None:
    law = distribution(name, [("", Rational(value)) for value in given])
    numbers = {key: float(value) for key, value in law.given.items()}
    drawn = Named(law.kind, given=numbers).sample(stream(0, name), 200_000)
    for order in (1, 2, 3):
        powers = drawn**order
        error = powers.std() / len(powers) ** 0.5
        assert abs(powers.mean() - float(law.moment(order).evalf())) <= 5 * error, order


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Var[b] = p (1 - p) where b ~ Bernoulli(p)", "verified"),
        ("Var[b] = p where b ~ Bernoulli(p)", "refuted"),
        ("Var[t] = 0.7737413 where t ~ truncated(0, 1, -2, 2)", "verified"),
        ("E[x^2] = 2 where x ~ Laplace(0, 1)", "verified"),
        ("E[x] = n p where x ~ Binomial(n, p)", "verified"),  # n = 5, and no fraction
    ],
)
def test_claims_are_measured_under_the_law_that_is_declared(text: str, verdict: str) -> None:
    (found,) = gather(read_statements(text), text, Settings())
    (measured,) = found.measured
    assert str(measured.verdict) == verdict
    assert measured.weights == "as declared"


def test_what_is_no_expectation_is_not_measured() -> None:
    text = "median(x) = log(2)/r where x ~ Exponential(rate = r)"
    (found,) = gather(read_statements(text), text, Settings())
    assert not found.measured
    assert "no expectation" in found.unmeasured


def test_a_measurement_over_its_budget_says_so() -> None:
    text = "E[b] = 0.3 where b ~ Bernoulli(0.3)"
    (found,) = gather(read_statements(text), text, Settings(budget=10))
    assert found.measured[0].estimate is None
    assert "over the budget" in found.measured[0].why
