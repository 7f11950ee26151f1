"""Units on both sides: prefixes of 1000 and of 1024 (IEC 80000-13), and what is left open."""

import pytest
from judging import in_document

from varlaw.checks.claims.links.units import DIMENSIONS

V, R, U = "verified", "refuted", "undecided"
ROWS = [
    (r"$1\,\mathrm{GB} = 1000\,\mathrm{MB}$, $1\,\mathrm{GB} = 100\,\mathrm{MB}$", [V, R]),
    (r"$3\,\mathrm{GB} = 3072\,\mathrm{MB}$, $3\,\mathrm{GB} = 3172\,\mathrm{MB}$", [U, R]),
    (r"$3\,\mathrm{GiB} = 3072\,\mathrm{MiB}$, $3\,\mathrm{GiB} = 3000\,\mathrm{MiB}$", [V, R]),
    (r"$1\,\mathrm{GiB} \approx 1.07\,\mathrm{GB}$", [V]),  # 1.0737..
    (r"$1\,\mathrm{GiB} \approx 1.02\,\mathrm{GB}$", [R]),
    (r"$7 \times 10^9 \times 2\,\mathrm{B} = 14\,\mathrm{GB}$", [V]),
    (r"$7 \times 10^9 \times 4\,\mathrm{B} = 14\,\mathrm{GB}$", [R]),
    (r"$100\,\mathrm{Mbit} = 12.5\,\mathrm{MB}$, $100\,\mathrm{Mbit} = 100\,\mathrm{MB}$", [V, R]),
    (r"$12\,\mathrm{ms} = 0.012\,\mathrm{s}$, $12\,\mathrm{ms} = 0.12\,\mathrm{s}$", [V, R]),
    (r"$2.5\,\mathrm{GHz} = 2500\,\mathrm{MHz}$, $2.5\,\mathrm{GHz} = 250\,\mathrm{MHz}$", [V, R]),
    (r"$3\,\mathrm{s} = 0.003\,\mathrm{GB}$", []),  # no units of one kind
    (r"$2\,\mathrm{h} = 7200\,\mathrm{s}$", []),  # letters that may be names
    ("<!-- varlaw: GB = 1024 MB -->\n" r"$3\,\mathrm{GB} = 3072\,\mathrm{MB}$", [V]),
    (
        r"$\mathrm{MB} = 2^{20}$, $\mathrm{GB} = 2^{30}$, so $3\,\mathrm{GB} = 3072\,\mathrm{MB}$",
        [V],
    ),
]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_quantities(text: str, expected: list[str]) -> None:
    assert in_document(text) == expected


def test_no_unit_is_of_two_kinds() -> None:
    names = [unit for units in DIMENSIONS for unit in units]
    assert len(names) == len(set(names))
