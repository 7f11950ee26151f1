"""Displays that begin with a relation go on with the one right before, and with no other."""

import pytest
from judging import in_document

from varlaw.checks.claims.checking import check
from varlaw.checks.documents.reading import read_document

ROWS = [
    ("$$\n2 + 2 \\times 3\n$$\n\n$$\n= 8\n$$\n", ["verified"]),
    ("$$\n2 + 2 \\times 3\n$$\n\n$$\n= 9\n$$\n", ["refuted"]),
    ("$$4 \\cdot 3 = 12$$\n$$= 2 \\cdot 6$$\n$$= 13$$\n", ["verified", "verified", "refuted"]),
    ("$$(a+b)^2 - b^2$$\n\n$$= a^2 + 2ab$$\n", ["verified"]),
    ("\\begin{equation} 2^5 = 32 \\end{equation}\n\\[ \\approx 31 \\]", ["verified", "refuted"]),
    ("$$2 + 3$$\n\nwhich is, for another number,\n\n$$= 8$$\n", []),  # words between them
    ("$$2 + 3$$ $= 8$", []),  # no display
    ("$2 + 3$\n\n$$= 8$$", []),
    ("$$2 + 3$$\n\n$$\\det A$$\n\n$$= 8$$\n", []),  # one between that is not read
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_a_display_goes_on(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected


def test_the_link_stands_where_its_sign_does() -> None:
    (findings,) = check([read_document("a.md", b"$$\n2 + 2\n$$\n\n$$\n= 5\n$$\n")])
    (link,) = findings.links
    assert (link.spot.line, link.spot.column, link.text) == (6, 1, "= 5")
