"""Closed links, identities and inequalities: true ones, false ones, and what is open."""

import pytest
from judging import judged, verdict

from varlaw.checks.claims.declarations.context import read_context
from varlaw.checks.claims.links.decide import judge_chain
from varlaw.symbolic.formulas.reader import read_formula, read_plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\sqrt{8} = 2\sqrt{2}", "verified"),
        (r"\sqrt{8} = 2\sqrt{3}", "refuted"),
        (r"\log 8 = 3 \log 2", "verified"),
        (r"\int_0^1 x^2 dx = 1/3", "verified"),
        (r"\int_0^\pi \sin x\,dx = 2", "verified"),
        (r"\int_1^e \frac{dx}{x} = 1", "verified"),
        (r"\int_1^e \frac{dx}{x} = e", "refuted"),
        (r"\int_0^a e^{kx} dx = \frac{e^{ka} - 1}{k}", "verified"),
        (r"\int_0^1 (x + \cos(\pi x)) dx = \frac12 + \frac{2}{\pi}", "refuted"),
        (r"\mathrm{relu}(x) - \mathrm{relu}(-x) = x", "verified"),
        (r"\max(x, 0) = (x + |x|)/2", "verified"),
        (r"|xy| = |x||y|", "verified"),
        (r"\max(x, 0)^2 - \min(x, 0)^2 = x^2", "undecided"),  # for positive x only
        (r"\int_0^{\infty} x e^{-x} dx = 1", "verified"),
        (r"\int_{-\infty}^{\infty} e^{-a x^2} dx = \sqrt{\pi/a}", "verified"),  # for a > 0
        (r"\int_{-\infty}^{\infty} e^{-a x^2} dx = \sqrt{\pi/(2a)}", "refuted"),
        (r"\int_0^1 \ln x\,dx = -1", "verified"),
        (r"\int_1^\infty \frac{1}{x^2} dx = 1", "verified"),
        (r"\int_{-\infty}^{\infty} e^{-x^2/2} dx = \sqrt{2\pi}", "verified"),
        (r"\int_{-\infty}^{\infty} e^{-x^2/2} dx = \sqrt{\pi}", "refuted"),
        (r"\sum_{k=1}^{10} k^2 = 385", "verified"),
        (r"\sum_{k=1}^{10} k^2 = 386", "refuted"),
        (r"\prod_{l=1}^{4}\left(1+\frac1l\right) = 5", "verified"),
        (r"\prod_{l=1}^{4}\left(1+\frac1l\right) = 6", "refuted"),
        (r"\sum_{k=-1}^{2} \frac{k}{3} = \frac23", "verified"),
        (r"\sum_{k=-1}^{2} \frac1k = 1", "undecided"),
        (r"\sum_{k=1}^{n} k = n(n+1)/2", "verified"),
        (r"\sum_{k=1}^{n} k^2 = n(n+1)(2n+1)/6", "verified"),
        (r"\sum_{k=1}^{n} k = n(n-1)/2", "refuted"),
        (r"\sum_{k=0}^{n} r^k = (1 - r^{n+1})/(1 - r)", "verified"),
        (r"\sum_{k=0}^{n} r^k = (1 - r^n)/(1 - r)", "refuted"),
        (r"5! = 120", "verified"),
        (r"\sqrt[3]{-8} = -2", "verified"),
        (r"\sqrt[3]{9}^3 = 9", "verified"),
        (r"\pi = 3", "refuted"),
        (r"\pi = 3.14", "verified"),
        (r"\sin^2 x + \cos^2 x = 1", "verified"),
        (r"\tanh(x) = 2\,\text{sigmoid}(2x) - 1", "verified"),
        (r"\sqrt{m^2+n^2} \le m+n", "verified"),
        (r"\sqrt{m^2+n^2} \ge m+n", "refuted"),
        (r"\log 1000 = 3", "undecided"),  # to base 10
        (r"\sin 30 = 1/2", "undecided"),  # in degrees
        (r"\arctan 1 = 45", "undecided"),
        (r"\tan 45 = 2", "refuted"),
        (r"100 - 10\% = 90", "undecided"),  # a tenth less
        (r"50 + 20\% + 10\% = 66", "undecided"),
        (r"100 - 10\% = 91", "refuted"),
        (r"1 - 10\% = 90\%", "verified"),
        (r"\log 1000 = 4", "refuted"),
        (r"\prod_{k=1}^{5} k = 121", "refuted"),
        (r"1/2^{99} = 1/2^{98}", "refuted"),
        (r"\frac{1}{2004!} = \frac{1}{2006!}", "refuted"),
        (r"\sqrt{x^2} = |x|", "verified"),
        (r"\frac{m^2-n^2}{m-n} = m+n", "verified"),
        (r"(m+n)^2 = m^2 + 2mn + n^2", "verified"),
        (r"(m+n)^2 = m^2 + 3mn + n^2", "refuted"),
        (r"\int_{-1}^{1} \frac{1}{x} dx = 0", "undecided"),
        (r"\sqrt{-1} = 1", "undecided"),
        (r"n! > 2^n", "undecided"),  # so from 4 on
        (r"n! < 2^n", "refuted"),
        (r"\sum_{k=m}^{n} 1 = n - m + 1", "verified"),
        (r"\sum_{k=m}^{n} 1 = n - m", "refuted"),
        (r"\sqrt{5 - 2\sqrt6} = \sqrt3 - \sqrt2", "verified"),
        (r"\sqrt{5 - 2\sqrt6} = \sqrt2 - \sqrt3", "refuted"),
        (r"\mathrm{erfc}(x) = 1 - \mathrm{erf}(x)", "verified"),
        (r"\frac{1}{0} = \frac{2}{0}", "undecided"),
        (r"\max(2, 3) = 3", "verified"),
        (r"\lfloor 7/2 \rfloor = 3", "verified"),
        (r"\left\lceil 768/60 \right\rceil = 12", "refuted"),
        (r"\lfloor \sqrt{643} \rfloor = 25", "verified"),
        (r"\lfloor -7/2 \rfloor = -4", "verified"),
        (r"\lfloor b/2 \rfloor + \lceil b/2 \rceil = b", "undecided"),  # so for whole numbers
        (r"\lfloor x + 1 \rfloor = \lfloor x \rfloor + 2", "refuted"),
        (r"\max(0.95, 0.5) \cdot 3 = 2.85", "verified"),
        (r"5/3 = 1.\overline{6}", "verified"),
        (r"0.1\overline{6} = 1/6", "verified"),
        (r"0.\overline{3} = 1/4", "refuted"),
        (r"\num{1.5e-3} \cdot 2 = \num{0,003}", "verified"),
        (r"\sqrt{2/512} = 0{,}0625", "verified"),
        (r"\sqrt{2/512} = 0{,}0645", "refuted"),
        (r"0{,}02/1{,}137 \approx 0{,}0176", "undecided"),  # with both as decimal commas
        (r"12 \div 4 = 3", "verified"),
        (r"\text{gelu}(1) \approx 0.841", "verified"),
        (r"\text{selu}(-1) \approx -1.1113", "verified"),
    ],
)
def test_closed_links_and_identities(text: str, expected: str) -> None:
    assert verdict(text) == expected


def test_an_identity_that_needs_a_sign_says_so() -> None:
    found = judged(r"\sqrt{x^2} = 1 x")[-1]
    assert str(found.verdict) == "undecided"
    assert "positive" in found.reason
    declared = read_context(["x > 0"])
    assert verdict(r"\sqrt{x^2} = 1 x", context=declared) == "verified"


@pytest.mark.parametrize("text", ["E[z^2] = 1", "P(z > 0) = 1/2"])
def test_without_a_context_it_is_said_what_is_missing(text: str) -> None:
    (found,) = judge_chain(read_plain(text).chains[0])
    assert str(found.verdict) == "undecided"
    assert "z ~ N(0, 1)" in found.reason


@pytest.mark.parametrize(
    ("text", "real"),
    [
        (r"\sqrt{x}\sqrt{y} + 1 = 1 + \sqrt{y}\sqrt{x}", True),
        (r"\sqrt{x^2 + 1}^2 = (x^2 + 1)", False),
        (r"\sqrt{n}\sqrt{m} + 1 = 1 + \sqrt{mn}", False),
    ],
)
def test_identities_of_roots_say_where_they_hold(text: str, real: bool) -> None:
    (judgement,) = judge_chain(read_formula(text).chains[0])
    assert str(judgement.verdict) == "verified"
    assert ("where both sides are real" in judgement.reason) is real


@pytest.mark.parametrize(("factor", "told"), [("n-3", True), ("n+3", False)])
def test_what_may_be_divided_by_zero_is_said(factor: str, told: bool) -> None:
    (judgement,) = judged(rf"\frac{{1}}{{{factor}}}\sum_{{i=1}}^n 1 = \frac{{n}}{{{factor}}}")
    assert str(judgement.verdict) == "verified"
    assert ("divided by zero" in judgement.reason) is told
