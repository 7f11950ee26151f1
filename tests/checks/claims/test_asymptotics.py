"""Limits in documents, and what is no claim about one."""

import pytest

from varlaw.checks.claims.decide import judge_chain
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
        (r"\lim_{x\to 0} \frac1x = 3", None),
        (r"x_n \to 0", None),
        (r"S \sim n^2", None),
    ],
)
def test_limits_in_documents(text: str, verdict: str | None) -> None:
    (judgement,) = judge_chain(read_formula(text).chains[0])
    assert (judgement.verdict and str(judgement.verdict)) == verdict
