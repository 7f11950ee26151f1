"""Sums and products up to a name: true ones proved by the last term, their neighbours refuted."""

import pytest
from judging import judged

ROWS = [
    (r"\prod_{l=1}^{L} (1 + \alpha)", r"(1+\alpha)^L", r"1 + \alpha L"),
    (r"\prod_{l=1}^{L} \frac{l + 1}{l}", "L + 1", "L + 2"),  # telescopes
    (r"\prod_{k=1}^{n} k", "n!", "(n - 1)!"),
    (r"\prod_{k=2}^{n} (1 - 1/k^2)", r"\frac{n+1}{2n}", r"\frac{n-1}{2n}"),
    (r"\prod_{k=0}^{n-1} 2", "2^n", "2^{n-1}"),
    (r"1 + \prod_{k=1}^{n} 3", "3^n + 1", "3^n - 1"),
    (r"\sum_{k=1}^{n} k \cdot k!", "(n+1)! - 1", "(n+1)! + 1"),
    (r"\sum_{k=1}^{n} \frac{1}{k(k+1)}", r"\frac{n}{n+1}", r"\frac{n+1}{n+2}"),
]


@pytest.mark.parametrize(("side", "right", "wrong"), ROWS)
def test_by_the_last_term(side: str, right: str, wrong: str) -> None:
    (found,) = judged(f"{side} = {right}")
    assert str(found.verdict) == "verified"
    assert "induction" in found.reason or "sum_" in side
    (found,) = judged(f"{side} = {wrong}")
    assert str(found.verdict) == "refuted"


def test_of_a_product_of_indexed_names_nothing_is_proved() -> None:
    (found,) = judged(r"\prod_{l=1}^{L} (1 + a_l) = (1 + a_1)^L")
    assert str(found.verdict) != "verified"
