"""Functions of several normal variables, against closed forms and an integral."""

import pytest
from mpmath import linspace, mpf, ncdf, npdf, quad, workdps

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.checks.claims.links.verdict import Judgement
from varlaw.symbolic.formulas.reader import read_plain

STANDARD = "x ~ N(0, 1); y ~ N(0, 1)"


def judged(text: str, lines: str = STANDARD) -> Judgement:
    context = read_context([lines])
    assert not context.problems
    return judge_chain(read_plain(text).chains[0], context)[-1]


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("P[x > y]", "1/2", "1/4"),
        ("E[max(x, y)]", "1/sqrt(pi)", "1/sqrt(2 pi)"),
        ("E[min(x, y)]", "-1/sqrt(pi)", "1/sqrt(pi)"),
        ("Var[max(x, y)]", "1 - 1/pi", "1"),
        ("E[abs(x + y)]", "2/sqrt(pi)", "sqrt(2/pi)"),
        ("E[relu(x + 2 y)]", "sqrt(5/(2 pi))", "sqrt(5/pi)"),
        ("E[x^2 relu(x + y)^2]", "2", "3/2"),
        ("E[x | x > y]", "1/sqrt(pi)", "sqrt(2/pi)"),
        ("Corr[x, x + y]", "1/sqrt(2)", "1/2"),
        ("Corr[x, x^2]", "0", "1"),
    ],
)
def test_through_one_sum(text: str, right: str, wrong: str) -> None:
    assert str(judged(f"{text} = {right}").verdict) == "verified"
    assert str(judged(f"{text} = {wrong}").verdict) == "refuted"


def test_means_and_variances_that_differ_against_an_integral() -> None:
    with workdps(15):

        def inner(x: mpf) -> mpf:  # over y by parts: E[relu(c - y)] for c = 2 x, y of N(1, 9)
            c = (2 * x - 1) / 3
            below = 3 * (c * ncdf(c) + npdf(c))
            return x**2 * below * npdf(x, 0, 2)

        wanted = float(quad(inner, linspace(-18, 18, 13)))
    found = judged(f"E[x^2 relu(2 x - y)] = {wanted:.6f}", "x ~ N(0, 4); y ~ N(1, 9)")
    assert str(found.verdict) == "verified", found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("E[max(x, y, z)] = 1", f"{STANDARD}; z ~ N(0, 1)"),
        ("E[x^2 abs(x + y + z)] = 3", f"{STANDARD}; z ~ N(0, 1)"),
        ("E[abs(x + y)] = 1", "x ~ N(0, 1); y ~ U(0, 1)"),
        ("E[abs(x[i] - x[j])] = 2/sqrt(pi)", "x[i] ~ N(0, 1) for i = 1..n"),  # i may be j
        ("E[relu(x) relu(x + y)] = 1/2", STANDARD),
        ("E[exp(x y)] = 5", STANDARD),
    ],
)
def test_what_one_sum_is_not_enough_for_is_undecided(text: str, lines: str) -> None:
    found = judged(text, lines)
    assert str(found.verdict) == "undecided"
    assert "v0" not in found.reason


def test_of_three_variables_a_function_of_their_sum() -> None:
    lines = f"{STANDARD}; z ~ N(0, 1)"
    assert str(judged("E[abs(x + y + z)] = sqrt(6/pi)", lines).verdict) == "verified"
    assert str(judged("E[abs(x + y + z)] = sqrt(3/pi)", lines).verdict) == "refuted"
