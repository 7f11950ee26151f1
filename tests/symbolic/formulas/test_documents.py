"""Real documents, where they are at hand: how much is read, and that no claim is refused."""

import re
from pathlib import Path

import pytest

from varlaw.symbolic.formulas import NotRead, read_formula

DOCUMENTS = Path(__file__).parents[3].parent / "shared" / "seeds"
SPAN = re.compile(
    r"\$([^$\n]+)\$|\\\((.+?)\\\)|\\\[(?![A-Z][a-z]+\])(.+?)\\\]"
    r"|\\begin\{equation\}(.+?)\\end\{equation\}",
    re.DOTALL,
)
CLAIMS = [
    r"0.02/1.1368472\approx 0.0176",
    r"1/\sqrt{768}\approx 0.0361",
    r"0.7737413\dots",
    r"1.1368472\dots\sigma",
    r"0.2933790\dots",
    r"\alpha=1.6732\dots",
    r"(m+n)^2/4 \geq mn",
    "t = (m+n)/(m^2+n^2)",
    r"\geq \sqrt{mn}",
    r"0.9^{50} \approx 0.005",
    r"1.1^{50} \approx 117",
    r"2^{-20} \approx 10^{-6}",
    r"a^2/3 = \mathrm{gain}^2/n_{in}",
    r"a^2/3 = 6/(3(n_{in}+n_{out}))",
    r"\log_2 10 \approx 252",
    r"\approx 0.066",
    r"\approx 0.0625",
]

pytestmark = pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the documents are not here")


def spans() -> list[str]:
    texts = [path.read_text("utf-8") for path in sorted(DOCUMENTS.glob("*.txt"))]
    matches = [match for text in texts for match in SPAN.finditer(text)]
    return [next(group for group in match.groups() if group is not None) for match in matches]


def test_nearly_all_spans_are_read_and_every_claim() -> None:
    found, refused = spans(), []
    for text in found:
        try:
            read_formula(text)
        except NotRead:
            refused.append(text)
    assert len(found) == 438
    assert len(refused) <= 22
    for claim in CLAIMS:
        assert any(claim in text for text in found), claim
        assert not any(claim in text for text in refused), claim
