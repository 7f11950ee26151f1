"""Limits in documents, and what is no claim about one."""

import pytest

from varlaw.checks.claims.declarations.language import read_statements
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.symbolic.formulas import read_formula


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (r"\lim_{n\to\infty} \left(1+\frac1n\right)^n = e", "verified"),
        (r"\lim_{n\to\infty} \left(1+\frac1n\right)^n \approx 2.718", "verified"),
        (r"\lim_{n\to\infty} \left(1+\frac1n\right)^{2n} = e", "refuted"),
        (r"\lim_{n\to\infty} n \log(1 + 2/n) = 2", "verified"),
        (r"\lim_{L\to\infty} 2^{-L} = 1", "refuted"),
        (r"\lim_{n\to\infty} a_n = 0", None),  # nobody knows what a is
        (r"\lim_{x\to 0} \frac1x = 3", "refuted"),
        (r"\lim_{x\to 0} \frac1x = \infty", "refuted"),  # not from below
        (r"\lim_{x\to 0^+} \frac1x = \infty", "verified"),
        (r"\lim_{x\to 0^{-}} \frac1x = -\infty", "verified"),
        (r"\lim_{x\to 0} \frac{\sin x}{x} = 1", "verified"),
        (r"\lim_{x\to 0} \frac{\sin x}{x} = 0", "refuted"),
        (r"\lim_{x\to 0} \frac{1 - \cos x}{x^2} \approx 0.5", "verified"),
        (r"\lim_{x\to 0} (1 + x)^{1/x} = e", "verified"),
        (r"\lim_{x\to 1} \frac{x^2 - 1}{x - 1} = 2", "verified"),
        (r"\lim_{x\to 1} \frac{x^2 - 1}{x - 1} = 1", "refuted"),
        (r"\lim_{x\to 0} \frac{|x|}{x} = 1", "refuted"),
        (r"\lim_{x\to 0} \sqrt{x} = 0", "undecided"),  # nothing is below
        (r"\lim_{x\to 0} x\sin(1/x) = 1", "undecided"),
        (r"\lim_{n\to\infty} \sin(\pi n) = 0", "undecided"),  # so for whole numbers
        (r"\lim_{x\to -\infty} \tanh x = 1", "refuted"),
        (r"\lim_{x\to\infty} \arctan x = \pi/2", "verified"),
        (r"\lim_{n\to\infty} \sqrt[n]{n} = 1", "verified"),
        (r"\lim_{x\to 0} \frac{x}{x + 10^{-100}} = 1", "undecided"),  # it is 0 at last
        (r"x_n \to 0", None),
        (r"S \sim n^2", None),
    ],
)
def test_limits_in_documents(text: str, verdict: str | None) -> None:
    (judgement,) = judge_chain(read_formula(text).chains[0])
    assert (judgement.verdict and str(judgement.verdict)) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("sqrt(n^2 + 2 n) - n -> 1", "verified"),
        ("1 + 10^(-40) + 1/n -> 1", "refuted"),  # of which enclosures alone would be close
        ("e^(n/10^100) -> 1", "undecided"),  # at 10^64 it is 1 in 36 digits, and it grows
        ("1/(1 + e^(10^80 - n)) -> 0", "undecided"),
        ("1/log(log(n)) -> 0", "undecided"),  # true, and neared too slowly
        ("(a/100)^n -> 0", "undecided"),  # so for a < 100
        ("n^(a - 100) -> 0", "undecided"),
        ("(1 + a)^(-n) -> 0", "verified"),
    ],
)
def test_limits_are_proved_and_confirmed(text: str, verdict: str) -> None:
    (claim,) = read_statements(f"a > 0\nclaim {text} as n -> oo").claims
    (judgement,) = judge_chain(claim.chains[0], claim.context)
    assert str(judgement.verdict) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("2 n ~ n", "verified"),  # as growth
        ("2 n ~ n + 5", "verified"),
        ("2/n ~ 1/n", "verified"),
        ("2 n ~ 1*n", "refuted"),  # a number is written: equivalence
        ("2/n ~ 1/(1 n)", "refuted"),
        ("2 n ~ pi n", "refuted"),
        ("2 n ~ c n", "verified"),  # c is 2
        ("3 n ~ c n", "refuted"),
        ("c - 1/n -> 2", "verified"),
        ("c - 1/n -> 3", "refuted"),
        ("log(2) n ~ 0.693 n", "verified"),  # by its digits
        ("log(2) n ~ 0.72 n", "refuted"),
    ],
)
def test_growth_without_and_with_its_factor(text: str, verdict: str) -> None:
    (claim,) = read_statements(f"c = 2\nclaim {text} as n -> oo").claims
    (judgement,) = judge_chain(claim.chains[0], claim.context)
    assert str(judgement.verdict) == verdict
