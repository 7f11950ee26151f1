"""docs/compiled.md says which laws have no compiled experiment. Run as a script, this writes it."""

from pathlib import Path

import pytest

from varlaw.checks.experiments.run import Settings, not_compiled
from varlaw.derivations.catalogue import entries

PAGE = Path(__file__).parents[3] / "docs" / "compiled.md"
HEAD = """# Laws without a compiled experiment

`varlaw verify --backend NAME` measures a law a second time, by an experiment compiled from its
derivation, on the array library NAME. These {without} of the {laws} laws have none, for the reasons
given; each has an experiment written for it, on the real operation, like all others. The page is
written by `python tests/checks/compiled/test_compiled_page.py`.

Three limits start from an expectation (`depth-he-drift`, `loss-delta`, `tanh-small`). What they
claim is a small difference of large numbers: without the control variates of the experiments
written for them it would take 10^10 to 10^12 random numbers to tell the order of the error, beyond
any budget.

| law | why |
|---|---|
"""


def page() -> str:
    """The page that the catalogue has now."""
    laws = entries()
    reasons = not_compiled(laws, Settings())
    rows = sorted(reasons.items(), key=lambda row: row[::-1])
    head = HEAD.format(without=len(reasons), laws=len(laws))
    return head + "".join(f"| `{law}` | {why.replace('|', chr(92) + '|')} |\n" for law, why in rows)


@pytest.mark.slow
def test_the_page_says_why_laws_are_not_compiled() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run this file as a script"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
