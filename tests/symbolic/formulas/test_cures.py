"""What is not read is told with what to write instead, and that is read."""

import pytest

from varlaw.symbolic.formulas import NotRead, cured, read_formula
from varlaw.symbolic.formulas.cures import CURES


@pytest.mark.parametrize(
    ("refused", "cure", "instead"),
    [
        ("5 % 2", r"\%", r"5\%"),
        ("100,200", "{,}", "100{,}200"),
        ("abc", r"\mathrm", r"\mathrm{abc}"),
        ("m(n + 1)", r"\cdot", r"m\cdot(n + 1)"),
        ("x 2", r"\cdot", r"x\cdot 2"),
        (r"3\frac12", r"\cdot", r"3 + \frac12"),
        ("1/2L", "in brackets", "1/(2L)"),
        ("1 + \\dots + n", r"\sum_{i=1}^{n}", r"\sum_{i=1}^{n} i"),
        (r"x = \pm b", r"|x - a| \le b", r"|x - a| \le b"),
        (r"\mathbb{E} x", r"\mathbb{E}[..]", r"\mathbb{E}[x]"),
        (r"\tan^{-1} x", r"\arctan x", r"\arctan x"),
        (r"\int x", "dx", r"\int x dx"),
        (r"\int_0 x dx", "both ends", r"\int_0^1 x dx"),
        ("x^a^b", "(x^a)^b", "(x^a)^b"),
        ("x_i_j", "x_{i,j}", "x_{i,j}"),
        ("a &= 2 \\\\ - b &= 3", "= before it", "a &= 2 \\\\ &= - b"),
        (r"\sqrt(2)", "{..}", r"\sqrt{(2)}"),
        (r"\foo", r"\newcommand", "x"),
    ],
)
def test_the_cure_is_read(refused: str, cure: str, instead: str) -> None:
    with pytest.raises(NotRead) as caught:
        read_formula(refused)
    assert cure in cured(caught.value.reason)
    read_formula(instead)


def test_a_reason_without_a_cure_stays_as_it_is() -> None:
    assert cured("a matrix") == "a matrix"
    assert all(part and cure for part, cure in CURES)
