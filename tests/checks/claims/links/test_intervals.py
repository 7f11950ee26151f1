r"""Intervals by a \pm b: both ends count, and nothing else is made of the sign."""

import pytest
from judging import in_document, verdict

from varlaw.symbolic.formulas import NotRead, read_formula
from varlaw.symbolic.formulas.written import show


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"80 \pm 3.4 = (76.6, 83.4)", "verified"),
        (r"80 \pm 3.4 = [76.6, 83.4]", "verified"),
        (r"80 \pm 3.4 = (76.6, 83.5)", "refuted"),
        (r"80 \pm 3.4 = (76.5, 83.4)", "refuted"),
        (r"80 \pm 3.4 = (83.4, 76.6)", "refuted"),
        (r"0.5 \pm 1.96\sqrt{\frac{0.25}{100}} \approx (0.402, 0.598)", "verified"),
        (r"0.5 \pm 1.96\sqrt{\frac{0.25}{100}} \approx (0.402, 0.600)", "refuted"),
        (r"70 \pm 1.96 \times 2 = 70 \pm 3.92", "verified"),
        (r"70 \pm 1.96 \times 2 = 70 \pm 3.29", "refuted"),
        (r"\mu \pm 2\sigma = (\mu - 2\sigma, \mu + 2\sigma)", "verified"),
        (r"\mu \pm 2\sigma = (\mu - \sigma, \mu + 2\sigma)", "refuted"),
        (r"x = 3 \pm 0.1", "None"),
        (r"3 \pm 0.1 \approx 3", "None"),
        (r"(1, 2) = (3, 4)", "None"),
    ],
)
def test_both_ends_count(text: str, expected: str) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize(
    "text", [r"x = \pm 1", r"x = \frac{-b \pm d}{2a}", r"a \pm b \pm c = 3", r"5 \pm 0.1 + 0.1 = 2"]
)
def test_two_values_or_an_open_reach_are_not_read(text: str) -> None:
    with pytest.raises(NotRead):
        read_formula(text)


def test_the_ends_take_part_in_definitions() -> None:
    text = (
        r"With $m = 80$ and $s = 2$ we get $m \pm 1.96 s = (76.08, 83.92)$ and $m \pm s = (78, 83)$"
    )
    assert in_document(text) == ["verified", "refuted"]


def test_it_is_shown_as_it_is_written() -> None:
    (chain,) = read_formula(r"80 \pm 3.4 = (76.6, 83.4)").chains
    assert show(chain.sides[0]) == "80 ± 3.4"
