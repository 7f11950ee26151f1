"""Absolute values, maxima and minima: by the signs of two names, and by which of them is larger."""

import pytest

from varlaw.checks.claims.links.decide import judge_chain
from varlaw.symbolic.formulas import read_formula


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (r"|a+b| \le |a|+|b|", "verified"),
        (r"|a+b| \ge |a|+|b|", "undecided"),  # so for positive names
        (r"|a-b| \ge |a|-|b|", "verified"),
        (r"|a-b| \ge |a|+|b|", "refuted"),
        (r"|a+b| < |a|+|b|", "undecided"),  # equal where the signs agree, where no point is proof
        (r"\max(a,b) = (a+b+|a-b|)/2", "verified"),
        (r"\min(a,b) = (a+b-|a-b|)/2", "verified"),
        (r"\max(a,b) = (a+b-|a-b|)/2", "refuted"),
        (r"\max(a,b) + \min(a,b) = a+b", "verified"),
        (r"\max(a,b)\min(a,b) = ab", "verified"),
        (r"\max(a,b) \ge (a+b)/2", "verified"),
        (r"\min(a,b) \ge (a+b)/2", "refuted"),
    ],
)
def test_in_either_order(text, verdict):
    (judgement,) = judge_chain(read_formula(text).chains[0])
    assert str(judgement.verdict) == verdict, judgement.reason


def test_sums_over_what_is_not_said_claim_nothing():
    (judgement,) = judge_chain(read_formula(r"\sum_i p_i = 1").chains[0])
    assert judgement.verdict is None, judgement.reason
