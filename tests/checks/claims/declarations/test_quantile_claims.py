"""Medians and quantiles of laws, and the inverse of the normal distribution function."""

import pytest
from judging import verdict

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.links.decide import judge_chain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\Phi^{-1}(0.975) = 1.96", "verified"),
        (r"\Phi^{-1}(0.975) \approx 1.95996\dots", "verified"),
        (r"\Phi^{-1}(0.975) \approx 1.97", "refuted"),
        (r"\Phi^{-1}(\Phi(2)) = 2", "verified"),
        (r"\Phi^{-1}(1-p) = -\Phi^{-1}(p)", "verified"),
        (r"\Phi^{-1}(1-p) = \Phi^{-1}(p)", "refuted"),
        (r"\Phi^{-1}(1.5) = 1 + 1", "undecided"),
        (r"\Phi^{-2}(0.5) = 1 + 1", "not read"),
    ],
)
def test_the_inverse_of_phi(text: str, expected: str) -> None:
    from varlaw.symbolic.formulas import NotRead

    try:
        assert verdict(text) == expected
    except NotRead:
        assert expected == "not read"


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("x ~ Exponential(rate = r)", "median(x) = log(2)/r", "verified"),
        ("x ~ Exponential(rate = r)", "median(x) = 1/r", "refuted"),  # this is the mean
        ("x ~ N(mu, v), mu real", "median(x) = mu", "verified"),
        ("x ~ N(0, 4)", "quantile(x, 0.975) ~= 3.92", "verified"),
        ("x ~ N(0, 4)", "quantile(x, 0.975) ~= 1.96", "refuted"),  # that of the variance 1
        ("x ~ N(0, 4)", "median(1 - 2 x) = 1", "verified"),
        ("x ~ Exponential(rate = 1)", "quantile(-x, 1/4) = -2 log(2)", "verified"),
        ("x ~ Exponential(rate = 1)", "quantile(-x, 1/4) = log(3/4)", "refuted"),
        ("u ~ U(a, b)", "quantile(u, 1/4) = (3 a + b)/4", "verified"),
        ("x ~ LogNormal(mu, v), mu real", "median(x) = e^mu", "verified"),
        ("x ~ LogNormal(mu, v), mu real", "median(x) = e^(mu + v/2)", "refuted"),
        ("x ~ Laplace(2, scale = 3)", "quantile(x, 3/4) = 2 + 3 log(2)", "verified"),
        ("x ~ truncated(0, 1, -2, 2)", "median(x) = 0", "verified"),
        ("x ~ t(5)", "median(x) = 0", "verified"),
        ("x ~ t(5)", "quantile(x, 0.9) = 1", "undecided"),
        ("x ~ N(0, 1)", "median(x^2) = 1", "undecided"),
        ("x ~ Bernoulli(1/2)", "median(x) = 1/2", "undecided"),
        ("x ~ N(0, 1)", "quantile(x, 1) = 1", "undecided"),
        ("x real", "median(x) = 1", "undecided"),
    ],
)
def test_medians_and_quantiles(declared: str, text: str, expected: str) -> None:
    (claim,) = read_statements(f"{declared}\nclaim {text}").claims
    assert str(judge_chain(claim.chains[0], claim.context)[-1].verdict) == expected
