"""Equations of random matrices; expected moments by hand, from sums over independent entries."""

import pytest

from varlaw.checks.claims.decide import judge_chain
from varlaw.checks.claims.language import read_statements
from varlaw.checks.claims.verdict import Judgement
from varlaw.symbolic.formulas import read_formula

DECLARED = """
W[i,j] ~ iid(mean = 0, var = 1/m) for i = 1..m, j = 1..n
x[j] ~ iid(mean = 0, var = s)
u[j] ~ iid(mean = 1, var = s)
"""


def judged(claim: str, declared: str = DECLARED) -> Judgement:
    statements = read_statements(f"{declared}\nclaim {claim}")
    assert not statements.mistakes
    ((chain,), context) = statements.claims[0].chains, statements.claims[0].context
    return judge_chain(chain, context)[0]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("E[W^T W] = I", "verified"),
        ("E[WᵀW - I_n] = 0", "verified"),
        ("E[W W^T] = (n/m) I", "verified"),
        ("E[W W^T] = (m/n) I", "refuted"),
        ("E[W^T W] = 0", "refuted"),  # on the diagonal only
        ("E[x x^T] = s I", "verified"),
        ("E[x x^T] = I", "undecided"),  # a condition on s
        ("E[W x x^T W^T] = (n s/m) I", "verified"),
        ("E[W x x^T W^T] = s I", "refuted"),
        ("E[tr(W^T W)] = n", "verified"),
        ("tr(E[W^T W]) = n", "verified"),
        ("E[||W||_F^2] = m", "refuted"),
        ("E[||W x||^2] = n s", "verified"),
        ("E[x^T W^T W x] = m s", "refuted"),
        ("E[W] = 0", "verified"),
        ("E[u] = 0", "refuted"),
        ("E[u u^T] = (s + 1) I", "undecided"),  # false away from the diagonal: each entry is 1
        ("E[u u^T] = s I", "refuted"),
        ("E[W^T W] = I_m", "undecided"),
        ("E[W W] = I", "undecided"),
        ("E[W] = 1", "undecided"),
        ("E[||W||^2] = n", "undecided"),
        ("E[W^T W W^T W] = I", "undecided"),
        ("E[W^T W] <= I", "undecided"),
        ("W^T W = I", "undecided"),
        ("E[W^T W] = W^T W", "undecided"),
    ],
)
def test_matrices(claim: str, verdict: str) -> None:
    found = judged(claim)
    assert str(found.verdict) == verdict, found
    assert found.reason or found.value


def test_an_index_with_two_ranges_has_none() -> None:
    found = judged("E[W^T W] = I", f"{DECLARED}\nv[i] ~ N(0, 1) for i = 1..n")
    assert (str(found.verdict), found.reason) == ("undecided", "i has two ranges")


def test_latex() -> None:
    context = read_statements(DECLARED).context
    for text, verdict in (
        (r"\mathbb{E}[W^\top W] = I", "verified"),
        (r"\mathbb{E}[W^\top W] = \frac{m}{n} I", "refuted"),
        (r"W^\top W = I", "None"),
        (r"x_1^T x_2 = x_2^T x_1", "None"),
    ):
        (chain,) = read_formula(text).chains
        assert str(judge_chain(chain, context)[0].verdict) == verdict
