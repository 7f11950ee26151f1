"""Infinite sums, sums to n - 1, binomials, and numbers inside of expectations."""

import pytest

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.symbolic.formulas import NotRead, read_formula


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (r"\sum_{k=0}^\infty 2^{-k} = 2", "verified"),
        (r"\sum_{k=0}^\infty 2^{-k} = 3", "refuted"),
        (r"\sum_{k=0}^\infty 0.9^k = 10", "verified"),
        (r"\sum_{k=0}^\infty 1.1^k = -10", "undecided"),  # the formula, but it does not converge
        (r"\sum_{k=0}^\infty r^k = \frac{1}{1-r}", "verified"),
        (r"\sum_{k=1}^\infty r^k = \frac{1}{1-r}", "refuted"),
        (r"\sum_{t=0}^\infty \beta^{2t} = \frac{1}{1-\beta^2}", "verified"),
        (r"\sum_{k=1}^\infty \frac{1}{k^2} = \frac{\pi^2}{6}", "verified"),
        (r"\sum_{k=1}^\infty \frac{1}{k^2} \approx 1.647", "refuted"),
        (r"\sum_{k=2}^\infty \frac{1}{k^2} \approx 1.645", "refuted"),
        (r"\sum_{k=2}^\infty \frac{1}{k^2} = \frac{\pi^2}{6} - 1", "verified"),
        (r"\sum_{k=0}^\infty \frac{1}{k!} = e", "verified"),
        (r"\sum_{k=1}^\infty \frac{1}{k!} = e", "refuted"),  # the first term is missing
        (r"\sum_{k=0}^\infty \frac{x^k}{k!} = e^x", "verified"),
        (r"\sum_{k=0}^\infty \frac{k^3}{k!} = 5e", "verified"),  # the third Bell number is 5
        (r"\sum_{k=1}^\infty k r^k = \frac{r}{(1-r)^2}", "verified"),
        (r"\sum_{k=1}^\infty k r^k = \frac{1}{(1-r)^2}", "refuted"),
        (r"\sum_{k=0}^\infty k 2^k = 1 + 1", "undecided"),  # it does not converge
        (r"\sum_{k=1}^\infty \frac{(-1)^{k+1}}{k} = \ln 2", "verified"),
        (r"\sum_{k=1}^\infty \frac{1}{k 2^k} = \ln 2", "verified"),
        (r"\sum_{k=2}^\infty \frac{1}{k^2 - 1} = \frac34", "verified"),  # it telescopes
        (r"\sum_{k=1}^\infty \frac{1}{k(k-3)} = 0", "undecided"),  # a term has no value
        (r"\sum_{k=0}^\infty 0^k = 0", "refuted"),  # 0^0 is 1 there
        (r"\sum_{k=1}^\infty \frac{1}{k} = 3 + 1", "undecided"),
        (r"\sum_{k=0}^{n-1} r^k = \frac{1-r^n}{1-r}", "verified"),
        (r"\sum_{k=0}^{n-1} 2^k = 2^n - 1", "verified"),
        (r"\sum_{k=1}^{n-1} k = n(n+1)/2", "refuted"),
        (r"\sum_{k=1}^{n+1} k = (n+1)(n+2)/2", "verified"),
        (r"\binom{10}{3} = 120", "verified"),
        (r"\binom{10}{3} = 122", "refuted"),
        (r"\binom52 = 10", "verified"),
        (r"\binom n2 = n(n-1)/2", "verified"),
        (r"\binom n2 = n(n+1)/2", "refuted"),
        (r"\binom{n+1}{k} = \binom{n}{k} + \binom{n}{k-1}", "verified"),  # Pascal
        (r"\frac1n\sum_{i=1}^n i = \frac{n+1}{2}", "verified"),
        (r"\frac1n\sum_{i=1}^n i = \frac{n}{2}", "refuted"),
        (r"(\sum_{i=1}^n i) + 1 = n(n+1)/2 + 1", "verified"),
        (r"x\sum_{k=1}^n k = x n(n+1)/2", "verified"),  # x may be 0
        (r"x\sum_{k=1}^n k = x n^2/2", "refuted"),
        (r"\frac{1}{n}\sum_{i=1}^n 1 = 1", "verified"),
        ("2006!/2004! = 4022030", "verified"),  # 2005 * 2006
        ("2006!/2004! = 4022031", "refuted"),
        ("3!/5! = 1/20", "verified"),
        ("(1/2)!/(3/2)! = 2/3", "undecided"),
        ("n!/(n-1)! = n", "verified"),
        ("n!/(n-1)! = n - 1", "refuted"),
        (r"\Gamma(n+1) = n!", "verified"),
        (r"\Gamma(5) = 120", "refuted"),  # it is 4!
        (r"\zeta(2) = \pi^2/6", "verified"),  # Euler
        (r"\zeta(4) = \pi^4/80", "refuted"),
        (r"\zeta(3) \approx 1.2021", "verified"),  # Apery's constant, 1.2020569
        (r"\left. x^2 + 1 \right|_{x=2} = 5", "verified"),
        (r"\left. x^2 + 1 \right|_{x=2} = 6", "refuted"),
        (r"\left.\frac{x^3}{3}\right|_1^2 = \frac73", "verified"),
        (r"\left.\frac{x^3}{3}\right|_1^2 = \frac83", "refuted"),
        (r"\left. (x+y)^2 \right|_{y=0} = x^2", "verified"),
    ],
)
def test_sums_and_binomials(text: str, verdict: str) -> None:
    (judgement,) = judge_chain(read_formula(text).chains[0])
    assert str(judgement.verdict) == verdict, judgement.reason


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (r"\mathbb{E}[e^{tz}] = e^{t^2/2}", "verified"),
        (r"\mathbb{E}[e^{tz}] = e^{t^2}", "refuted"),
        (r"\mathbb{E}[(z + c)^2] = 1 + c^2", "verified"),
        (r"\mathbb{E}[z^2] = q", "undecided"),  # q may be what it is called
        (r"\mathbb{E}[z x] = 2", "undecided"),  # x may be random
    ],
)
def test_names_outside_of_expectations_are_numbers(text: str, verdict: str) -> None:
    (judgement,) = judge_chain(read_formula(text).chains[0], read_context(["z ~ N(0, 1)"]))
    assert str(judgement.verdict) == verdict, judgement.reason


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (r"{a \over b} = c", r"\over"),
        (r"{n \choose k} = c", r"\choose"),
        (r"\binom{\binom{n}{2}}{2} = c", "inside a binomial"),
    ],
)
def test_what_is_not_read(text: str, why: str) -> None:
    with pytest.raises(NotRead) as error:
        read_formula(text)
    assert why in error.value.reason
