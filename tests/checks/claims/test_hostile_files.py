"""Hostile files: what can be read in the time for a file is judged, and the rest is reported."""

import json
from time import process_time

import pytest

from varlaw.checks.claims.checking import check
from varlaw.checks.claims.findings import Findings
from varlaw.checks.documents.clock import Clock
from varlaw.checks.documents.configuration import Configuration
from varlaw.checks.documents.reading import read_document

SECONDS = 2.0
TRUE = r"$1/\sqrt{768} \approx 0.0361$"
SLOW = r"$\sum_{j=1}^{10000} \sum_{k=1}^{10000} \sin(jk) = %d + 1$"
BOMBS = (
    r"$9^{9^{9^9}} = 1 + 1$",
    r"$(10^9)! = 1 + 1$",
    r"$\sum_{k=1}^{10^{12}} k^2 = 1 + 1$",
    r"$\int_0^1 \sin(1/x) dx = 1 + 1$",
    r"$(a + b + c + f + g)^{400} = (a + b + c + g + f)^{400}$",
)
FILES = {
    "list items": ".md " + f"{TRUE}\n\n" + "- item $x = 1$\n" * 100_000,
    "formulas": ".md " + TRUE + "$x=1$\n\n" * 100_000,
    "formulas of LaTeX": ".tex " + TRUE + r"\(\frac{a}{b}\) " * 100_000,
    "quotes": ".md " + f"{TRUE}\n\n" + "> a $b$\n\n" * 100_000,
    "one long formula": ".md " + TRUE + "$" + "1+" * 500_000 + "1 = 2$",
    "one long line": ".txt " + TRUE + " and $x$" * 100_000,
    "null bytes": ".md " + TRUE + "\0" * 1_000_000,
}


def findings(suffix: str, text: str) -> Findings:
    settings = Configuration(seconds=SECONDS)
    clock = Clock(settings.reading)
    document = read_document("x", text.encode(), suffix=suffix, clock=clock)
    (found,) = check([document], settings, jobs=2)
    return found


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_what_can_be_read_is_judged(content: str) -> None:
    suffix, text = content.split(" ", 1)
    begin = process_time()
    found = findings(suffix, text)
    assert process_time() - begin < 3 * SECONDS
    assert found.links[0].verdict == "verified"
    if "\0" not in text:
        assert any("read" in note.message for note in found.problems)


@pytest.mark.parametrize(
    "hostile",
    [
        *("$" * 300_000, r"\[" * 60_000, r"\begin{align}" * 20_000, "<div " * 60_000),
        *("[a](" * 50_000, "[a](b 'c " * 30_000, "{/* $a$ " * 3_000, "+++\n" * 5_000),
        *("|" + "a|" * 5_000 + "\n|" + "-|" * 5_000, "- " * 50_000 + "x", ">" * 100_000 + " x"),
        "".join("`" * length + " " for length in range(1, 500)),
        "$" + r"\frac " * 3_000 + "$ $" + "(" * 5_000 + "$ $" + r"\sqrt{" * 2_000 + "$",
        r"$\input{/etc/passwd} = 1$ $\text{__import__('os')} = 1$ $\mathrm{eval}(x) = 1$",
        "$" + r"\begin{cases}" * 90 + "1" + r"\end{cases}" * 90 + " = 2$",
        "$" + "1{+}" * 6_000 + "1 = 2$ $" + "√" * 5_000 + "2 = 1$ $" + "½" * 5_000 + "= 1$",
        "$"
        + r"\mathbf{a} \cdot " * 300
        + "b = 1$ $"
        + "(" * 90
        + "x"
        + ")" * 90
        + r"\times y = z$",
    ],
    ids=lambda text: text[:12],
)
def test_claims_beside_hostile_text_are_judged(hostile: str) -> None:
    begin = process_time()
    found = findings(".md", f"{TRUE}\n\n{hostile}\n\n{TRUE}\n")
    assert process_time() - begin < 3 * SECONDS
    assert [link.text for link in found.links if link.verdict == "verified"] == [TRUE[1:-1]] * 2


def test_cells_that_there_is_no_time_for() -> None:
    cells = [{"cell_type": "markdown", "source": TRUE}] * 20_000
    found = findings(".ipynb", json.dumps({"cells": cells}))
    assert {link.verdict for link in found.links} == {"verified"}
    assert len(found.links) > 100
    assert any("takes too long: " in note.message for note in found.problems)


def test_true_claims_among_slow_ones() -> None:
    text = "\n\n".join(f"{SLOW % k} {TRUE} {bomb}" for k, bomb in enumerate(BOMBS * 2))
    found = findings(".md", text)
    slow, true, bombs = (found.links[k::3] for k in range(3))
    assert {link.verdict for link in true} == {"verified"}
    assert {link.verdict for link in slow} == {"undecided"}
    assert not {link.verdict for link in bombs} & {"loose"}
    assert all(link.reason.startswith("took longer than") for link in slow)


def test_a_cell_that_is_no_text_is_reported_and_the_others_are_judged() -> None:
    cells = [{"cell_type": "markdown", "source": source} for source in (TRUE, [None], TRUE)]
    found = findings(".ipynb", json.dumps({"cells": cells}))
    assert [link.verdict for link in found.links] == ["verified"] * 2
    assert [note.message for note in found.problems] == [
        "the source of cell 2 is no text: not read"
    ]
