"""docs/laws.md lists the catalogue. Run as a script, this writes it."""

from itertools import groupby
from pathlib import Path

from varlaw.derivations.catalogue import entries

PAGE = Path(__file__).parents[2] / "docs" / "laws.md"
HEAD = """# The laws

All laws of the catalogue by family. `varlaw show NAME` prints a law's statement, regime,
assumptions, pitfalls, sources and derivation. The page is written by
`python tests/derivations/test_laws_page.py`.
"""


def page() -> str:
    """The page that the catalogue has now."""
    by_family = sorted(entries().values(), key=lambda entry: entry.family)
    parts = [HEAD]
    for family, laws in groupby(by_family, key=lambda entry: entry.family):
        rows = "\n".join(
            f"| `{law.name}` | {law.title.replace('|', chr(92) + '|')} |" for law in laws
        )
        parts.append(f"## {family}\n\n| law | title |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def test_the_page_lists_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run this file as a script"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
