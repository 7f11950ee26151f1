"""Sums of terms that hold the last index, or none."""

import pytest
from judging import in_document

V, R = "verified", "refuted"
ROWS: list[tuple[str, list[str]]] = [
    (r"$\sum_{i=1}^6 \frac{1}{6}\log_2 6 = \log_2 6$", [V]),
    (r"$\sum_{i=1}^n \frac{i}{n}\cdot\frac1n = \frac{n+1}{2n}$", [V]),
    (r"$\sum_{i=1}^n \frac{i}{n}\cdot\frac1n = \frac{n-1}{2n}$", [R]),
    (r"$\sum_{i=1}^{n-1} (n - i)^2 = \frac{n(n-1)(2n-1)}{6}$", [V]),
    (r"$\sum_{i=3}^{n-2} (n - i) = \frac{(n-3)(n-4)}{2} + n - 3 + n - 4$", [R]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_sums_of_polynomials_in_their_index(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected
