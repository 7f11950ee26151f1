"""Integrals of functions with kinks, in closed form: by hand, piece by piece between the kinks."""

import pytest
from judging import verdict

from varlaw.checks.claims.declarations.language import read_statements

ROWS = [
    (r"\int_0^{2\pi} |\sin x| dx", "4", "2"),  # 2 over each half
    (r"\frac{1}{2\pi}\int_0^{2\pi} |\cos x| dx", r"\frac{2}{\pi}", r"\frac{1}{\pi}"),
    (r"\int_0^{2\pi} |\sin(x) \cos(x)| dx", "2", "1"),  # |sin(2x)|/2 over four quarters
    (r"\int_{-1}^{2} |x^2 - 1| dx", "8/3", "0"),  # 4/3 and 4/3
    (r"\int_{-2}^{3} \max(x, 0) dx", "9/2", "5/2"),
    (r"\int_0^2 |e^x - 2| dx", r"e^2 - 7 + 4 \ln 2", r"e^2 - 5"),  # the kink at ln 2
    (r"\int_{-1}^{1} |x|^3 dx", "1/2", "0"),
    (r"\int_0^{2\pi} \sin^2 x \, dx", r"\pi", r"2\pi"),
]


@pytest.mark.parametrize(("integral", "right", "wrong"), ROWS)
def test_between_numbers(integral: str, right: str, wrong: str) -> None:
    assert verdict(f"{integral} = {right}") == "verified"
    assert verdict(f"{integral} = {wrong}") == "refuted"


def test_with_a_name_in_the_ends() -> None:
    link, context = r"\int_{-a}^{a} \frac{|x|}{2a} dx = ", read_statements("a > 0").context
    assert verdict(link + "a/2", context=context) == "verified"  # E|x| of U(-a, a)
    assert verdict(link + "a/4", context=context) == "refuted"


def test_a_kink_without_a_closed_form_is_no_proof() -> None:
    link = r"\int_0^{\pi} |\sin x - \cos x| dx"  # 2 sqrt(2), the kink at the zero of an equation
    assert verdict(link + r"\approx 2.8284") == "verified"
    assert verdict(link + r"= 2\sqrt{2}") == "undecided"
    assert verdict(link + r"= 3\sqrt{2}") == "refuted"
