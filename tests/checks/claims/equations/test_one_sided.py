"""Names that only one side has: v = w r, m = 5, m u = p."""

import pytest
from judging import in_document

R, U = "refuted", "undecided"
ROWS: list[tuple[str, list[str]]] = [
    (r"$a = v^2/r = \omega^2 r$", [U]),
    (r"With $q = h \nu$ it is $s = N q = N h c/\lambda$", [U]),
    (r"By $a = \sqrt{6/(m + n)}$ or $a = g\sqrt{3/m}$ we get $a^2/3 = g^2/n$", [R]),
    (r"$F = m a = 5 a$", [U]),
    (r"$p = m v + M w = (m + M) u$", [U]),
    (r"$s = n \sigma^2 = m \sigma^2$", [R]),
    (r"$s = (a + b)^2 = a^2 + b^2$", [R]),
    (r"$AB = \sqrt{OA^2 - OB^2} = \sqrt{10^2 - 6^2} = 9$", [R]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_a_name_on_one_side_may_be_told_by_the_link(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected
