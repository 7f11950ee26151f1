r"""Of a chain with a side that is not read the others are, unless something ties it together."""

import pytest

from varlaw.symbolic.formulas import Chain, NotRead, read_formula, read_partly
from varlaw.symbolic.formulas.written import show

PARTS = [
    (r"P(A \cap B) = 0.3\cdot 0.4 = 0.12", ["0.3*0.4 = 0.12"]),
    (r"\sum p_i \ell_i = 0.5\times 1 + 0.5\times 2 = 1.5", ["0.5*1 + 0.5*2 = 1.5"]),
    (r"2\cdot 3 = 6 \le \langle u, v \rangle < 8 < 9", ["2*3 = 6", "8 < 9"]),
    (r"x &= \det A \\ &= 2\cdot 5 - 3 \\ &= 7", ["2*5 - 3 = 7"]),
    (r"\begin{aligned} V &= |A \cup B| \\ &= 3 + 4 = 7 \end{aligned}", ["3 + 4 = 7"]),
    (r"\det A = 1,000 + 1 = 1,001,\quad 2 + 2 = 4", ["1000 + 1 = 1001", "2 + 2 = 4"]),
    (r"A \cap B = \emptyset", []),
    (r"\det A = 5", []),
]
TIED = [
    r"2\cdot 4 = 8 = 1 \pmod 7",
    r"A \cap B \Rightarrow 3 = 4",
    r"\det A = 1 + 1 = 3 \text{ is false}",
    r"\det A = 1 + 1 \stackrel{?}{=} 3",
    r"\forall x: \det A = 1 + 1 = 3",
    r"\det A = 1 + 1 = 2, 3, 4",
    r"\det A \sim 1 + 1 = 3",
]


@pytest.mark.parametrize(("text", "expected"), PARTS)
def test_the_sides_that_are_read_make_chains(text: str, expected: list[str]) -> None:
    with pytest.raises(NotRead):
        read_formula(text)
    assert [shown(c) for _, part in read_partly(text) for c in part.chains] == expected


def shown(chain: Chain) -> str:
    first, *others = (show(side) for side in chain.sides)
    return first + "".join(f" {s} {o}" for s, o in zip(chain.signs, others, strict=True))


def test_the_places_count_from_where_the_part_begins() -> None:
    text = r"\det A = 0.3\cdot 0.4 = 0.12"
    ((first, part),) = read_partly(text)
    (found,) = part.chains
    assert text[first + found.sides[1].start : first + found.sides[1].end] == "0.12"


@pytest.mark.parametrize("text", TIED)
def test_what_ties_a_chain_together_leaves_all_of_it_unread(text: str) -> None:
    assert read_partly(text) == []
