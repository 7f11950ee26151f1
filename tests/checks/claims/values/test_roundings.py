"""Decimals that are roundings themselves: Phi(1.2) = 0.884930.., Phi(-1.2) = 0.115069.."""

import pytest
from judging import in_document

V, R, L, U = "verified", "refuted", "loose", "undecided"
ROWS: list[tuple[str, list[str]]] = [
    (r"$0.88493 - 0.11507 = 0.76987$", [L]),
    (r"$0.88493 - 0.11507 = 0.76990$", [R]),
    (r"$1 - \Phi(1.2) = 1 - 0.8849$ and $1 - \Phi(1.2) = 1 - 0.8840$", [L, R]),
    (r"$\frac{\pi}{4}\ln 2 \approx 0.785398 \times 0.693147$", [V]),
    (r"$\frac{\pi}{4}\ln 2 \approx 0.785398 \times 0.693547$", [U]),
    (r"$0.5 \times 768 = 390$, $1 - 0.9992 = 0.0007$", [R, R]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_decimals_inside_may_be_roundings(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected
