"""Equations between sums of names with indices."""

import pytest
from judging import verdict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # github.com/sympy/sympy/issues/12418
        (r"\sum_{i=1}^n \sum_{j=1}^n \delta_{ij} a_i a_j = \sum_{i=1}^n a_i^2", "verified"),
        (r"\sum_{i=1}^n \sum_{j=1}^n \delta_{ij} a_i a_j = (\sum_{i=1}^n a_i)^2", "refuted"),
        (r"\sum_{i=1}^n \sum_{j=1}^n \delta_{ij} = n", "verified"),
        (r"\sum_{i=1}^n \sum_{j=1}^n \delta_{ij} = n^2", "refuted"),
        (r"\sum_{i=1}^n \sum_{j=1}^n a_i a_j = (\sum_{i=1}^n a_i)^2", "verified"),
        (r"\sum_{i=1}^n \sum_{j=1}^n a_i a_j = \sum_{i=1}^n a_i^2", "refuted"),
        (r"\sum_{i=1}^n (a_i + b_i) = \sum_{i=1}^n a_i + \sum_{i=1}^n b_i", "verified"),
        (r"\sum_{i=1}^n (x_i - c)^2 = \sum_{i=1}^n x_i^2 - 2c\sum_{i=1}^n x_i + nc^2", "verified"),
        (r"\sum_{i=1}^n (x_i - c)^2 = \sum_{i=1}^n x_i^2 - 2c\sum_{i=1}^n x_i + c^2", "refuted"),
        (
            r"\frac{1}{n^2}\sum_{i=1}^n\sum_{j=1}^n (x_i - x_j)^2 "
            r"= \frac2n\sum_{i=1}^n x_i^2 - \frac{2}{n^2}(\sum_{i=1}^n x_i)^2",
            "verified",
        ),
        (r"\sum_{i=1}^n\sum_{j=1}^n w_{ij} = \sum_{i=1}^n\sum_{j=1}^n w_{ji}", "verified"),
        (r"\sum_{i=1}^n\sum_{j=1}^n w_{ij} = \sum_{i=1}^n w_{ii}", "refuted"),
        # equal up to n = 2 only
        (
            r"(\sum_{i=1}^n a_i)^3 + 2\sum_{i=1}^n a_i^3 "
            r"= 3 \sum_{i=1}^n a_i \cdot \left(\sum_{j=1}^n a_j^2\right)",
            "refuted",
        ),
        # conditions, and what is no such polynomial
        (r"\sum_{i=1}^n p_i = 1", "undecided"),
        (r"\sum_{i=1}^n x_i = \sum_{i=1}^n y_i", "undecided"),
        (r"\sum_{i=1}^n i a_i = n \sum_{i=1}^n a_i", "undecided"),
        (r"\sum_{i=1}^n a_i + a_1 = \sum_{i=1}^n a_i + a_2", "undecided"),
        (r"\sum_{i=1}^n\sum_{j=1}^n A_i B_j = \sum_{i=1}^n\sum_{j=1}^n B_j A_i", "undecided"),
        (r"\sum_{i=1}^n\sum_{j=1}^n X_i X_j = (\sum_{i=1}^n X_i)^2", "verified"),
    ],
)
def test_sums_of_names_with_indices(text: str, expected: str) -> None:
    assert verdict(text) == expected


@pytest.mark.parametrize(("factor", "expected"), [("n ", "verified"), ("", "refuted")])
def test_a_mean_that_the_document_defines(factor: str, expected: str) -> None:
    mean = r"\bar x = \frac1n\sum_{i=1}^n x_i"
    text = rf"\sum_{{i=1}}^n (x_i - \bar x)^2 = (\sum_{{i=1}}^n x_i^2) - {factor}\bar x^2"
    assert verdict(mean, text) == expected
