"""Equations of random matrices; expected moments by hand, from sums over independent entries."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.links.verdict import Judgement
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
        ("E[u u^T] = (s + 1) I", "refuted"),  # away from the diagonal each entry is 1
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


def fourth_moment(m: int, n: int) -> Fraction:
    """E[tr((W^T W)^2)] for m x n normal entries of variance 1/n, term by term."""
    total = Fraction(0)
    for k, b in product(range(m), repeat=2):
        for i, a in product(range(n), repeat=2):
            powers = Counter([(k, i), (k, a), (b, a), (b, i)]).values()
            if all(power % 2 == 0 for power in powers):
                total += Fraction(3 if 4 in powers else 1, n**2)
    return total


NORMAL = "W[i,j] ~ N(0, 1/n) for i = 1..m, j = 1..n"
SQUARE = "W[i,j] ~ N(0, 1/n) for i = 1..n, j = 1..n"


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 3), (4, 2)])
def test_a_fourth_moment_against_all_its_terms(m: int, n: int) -> None:
    value = fourth_moment(m, n)
    assert value == Fraction(m * m + m * n + m, n)
    declared = NORMAL.replace("1..m", f"1..{m}").replace("n", str(n), 1).replace("1..n", f"1..{n}")
    assert str(judged(f"E[tr((W^T W)^2)] = {value}", declared).verdict) == "verified"
    assert str(judged(f"E[tr((W^T W)^2)] = {value} + 1/{n}", declared).verdict) == "refuted"


@pytest.mark.parametrize(
    ("claim", "declared", "verdict"),
    [
        ("E[tr((W^T W)^2)] = m^2/n + m + m/n", NORMAL, "verified"),
        ("E[tr((W^T W)^2)] = m^2/n + m", NORMAL, "refuted"),
        ("E[(W W^T)^2] = (1 + (m + 1)/n) I", NORMAL, "verified"),
        ("E[W^T W W^T W] = (2 + 1/n) I", SQUARE, "verified"),
        ("E[W^T W W^T W] = 2 I", SQUARE, "refuted"),
        ("E[tr(W^T W)^2] = n^2 + 2", SQUARE, "verified"),
        ("E[W[1,2] W W^T W] = 0", SQUARE, "undecided"),  # not alike away from the diagonal
    ],
)
def test_fourth_moments(claim: str, declared: str, verdict: str) -> None:
    assert str(judged(claim, declared).verdict) == verdict
