"""Values of another example, in another unit, or of what comes later."""

import pytest
from judging import in_document

R, U = "refuted", "undecided"
ROWS: list[tuple[str, list[str]]] = [
    (r"$s = 15$, $n = 10$. Now $s\sqrt{2/n} = 0.3\sqrt{2/7}$", [U]),
    (r"$t = 4 + 0.65$ ns, so $\frac{1}{t} = 2.1505 \times 10^{8}$", [U]),
    (r"$t = 4 + 0.65$, so $\frac{1}{t} = 2.1605$", [R]),
    (r"At $x = -1$ it is, and $\int_0^2 x \, d\alpha = 2 + 2$", [U]),
    (r"We find $(7 - 3)/s = 1.96$. Here $s = 8$.", [U]),
    (r"$a = 3$, $b = 4$. If $a + b^2 = 6 a$ holds", []),
    (r"Since $(a + b)^2/4 \ge 3 a b$ it shrinks", [R]),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_values_that_may_not_be_meant_refute_nothing(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected
