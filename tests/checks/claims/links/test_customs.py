"""Angles in degrees and percentages of what stands before: right by custom, so not refuted."""

import pytest
from judging import in_document

V, R, U = "verified", "refuted", "undecided"
ROWS: list[tuple[str, list[str]]] = [
    (r"$\sin 30 = 1/2$, $\sin 30 = 1/3$, $\arctan 1 = 45$", [U, R, U]),
    (r"$\cos 60 = 0.5$, $\cos 60 = 0.6$, $\arcsin(1/2) = 31$", [U, R, R]),
    (r"$100 - 10\% = 90$, $100 - 10\% = 89$, $100 - 10\% = 99.9$", [U, R, V]),
    (r"$200 + 5\% - 10\% = 189$, $200 + 5\% - 10\% = 190$", [U, R]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_customs_are_no_mistakes(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected
