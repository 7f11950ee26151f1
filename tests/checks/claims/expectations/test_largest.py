"""The mean of the largest of n normal variables."""

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.symbolic.formulas import read_formula, read_plain, show

CENTRED = "x[i] ~ N(0, s^2) for i = 1..n"


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        (CENTRED, "E[max_i x[i]] <= s sqrt(2 log(n))", "verified"),
        (CENTRED, "s sqrt(2 log(n)) >= E[max_i x[i]]", "verified"),
        (CENTRED, "E[max_i x[i]] < s sqrt(2 log(n))", "undecided"),  # equal for n = 1
        (CENTRED, "E[max_i x[i]] <= s sqrt(log(n))", "undecided"),
        (CENTRED, "E[max_i x[i]] >= s sqrt(2 log(n))", "undecided"),
        (CENTRED, "E[max_i x[i]] = s sqrt(2 log(n))", "undecided"),
        (CENTRED, "E[max_i abs(x[i])] <= s sqrt(2 log(n))", "undecided"),
        (CENTRED, "E[max_j x[i]] <= s sqrt(2 log(n))", "undecided"),
        (CENTRED, "Var[max_i x[i]] <= s sqrt(2 log(n))", "undecided"),
        ("x[i] ~ N(mu, s^2) for i = 1..n", "E[max_i x[i]] <= mu + s sqrt(2 log(n))", "verified"),
        ("x[i] ~ N(mu, s^2) for i = 1..n", "E[max_i x[i]] <= s sqrt(2 log(n))", "undecided"),
        ("x[i] ~ U(0, 1) for i = 1..n", "E[max_i x[i]] <= sqrt(2 log(n))", "undecided"),
        (CENTRED, "E[max_i x[i]] ~ 1*s sqrt(2 log(n)) as n -> oo", "verified"),
        (CENTRED, "E[max_i x[i]] ~ 1*s sqrt(log(n)) as n -> oo", "refuted"),
        ("x[i] ~ N(n, 1) for i = 1..n", "E[max_i x[i]] ~ 1*n as n -> oo", "undecided"),
        # the first order statistics of two and of three, in closed form
        ("x[i] ~ N(0, 1) for i = 1..2", "E[max_i x[i]] = 1/sqrt(pi)", "verified"),
        ("x[i] ~ N(0, 1) for i = 1..3", "E[max_i x[i]] ~= 0.8463", "verified"),
        ("x[i] ~ N(0, 1) for i = 1..3", "E[max_i x[i]] = 1/sqrt(pi)", "refuted"),
    ],
)
def test_bounds_and_growth(declared: str, text: str, expected: str) -> None:
    (claim,) = read_statements(f"{declared}\nclaim {text}").claims
    assert str(judge_chain(claim.chains[0], claim.context)[-1].verdict) == expected


def test_it_is_read_back() -> None:
    (side,) = read_formula(r"\max_i x_i").expressions
    assert show(side) == "max_i(x_i)"
    assert show(read_plain(show(side)).expressions[0]) == show(side)
