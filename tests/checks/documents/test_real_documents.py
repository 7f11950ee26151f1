"""Real documents, kept beside a checkout: each formula is found, nothing else, where it stands."""

from pathlib import Path

import pytest

from varlaw.checks.documents.reading import read_document

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "seeds"
FILES = sorted(FOLDER.glob("*.txt"))
# Counted by the delimiters in the files ($ halved, \( and \[ and \begin); in 001 by hand.
COUNTS = {"000": 35, "001": 20, "002": 117, "003": 50, "004": 236}


@pytest.mark.skipif(not FILES, reason="the documents are not beside this checkout")
@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_every_formula_is_found_where_it_stands(suffix: str) -> None:
    for path in FILES:
        (document,) = read_document(path, path.read_bytes(), suffix=suffix)
        assert len(document.spans) == COUNTS[path.name[:3]], path.name
        assert not document.problems, path.name
        for span in document.spans:
            assert [document.text[spot] for spot in span.offsets[:-1]] == list(span.text)
