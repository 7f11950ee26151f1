"""`varlaw explain`: how a place of a document was read, judged, and what would help."""

import json
from pathlib import Path

import pytest
from conftest import Run

DOCUMENT = r"""<!-- varlaw: z ~ N(0, 1) -->
$\gamma = 1 - 1/4$ and $\mathbb{E}[z^2] = 2$.

Then $\sqrt\gamma \cdot 2 = 1.7320508\dots$, $x \oplus y = 3$, $E[u^2] = 1$ and $m$.

$1 + 1 = 3$ <!-- varlaw: ignore as a joke -->
"""


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text(DOCUMENT, encoding="utf-8")
    return "a.md"


def found(varlaw: Run, *arguments: str) -> list[tuple[str, dict[str, str]]]:
    """What is found, each with its status and facts."""
    result = varlaw("explain", *arguments, "--json")
    assert result.code == 0, result
    return [
        (one["status"], {fact["title"]: fact["text"] for fact in one["facts"]})
        for one in json.loads(result.out)["found"]
    ]


def test_a_line_with_everything(varlaw: Run, document: str) -> None:
    link, unread, undecided, bare = found(varlaw, f"{document}:4")
    assert link[0] == "verified"
    assert link[1]["defined"] == "gamma = 1 - 1/4"
    assert link[1]["read as"] == "sqrt(gamma)*2 = 1.7320508..."
    assert unread[0] == "not read"
    assert r"\oplus" in unread[1]["why"]
    assert undecided[0] == "undecided"
    assert undecided[1]["to decide it"].endswith("<!-- varlaw: u ~ N(0, 1) -->")
    assert bare == ("no claim", {"read as": "m", "why": "it has no relation"})


def test_an_implication_ends_where_another_link_begins(varlaw: Run, tmp_path: Path) -> None:
    path = tmp_path / "i.md"
    path.write_text(r"$2^{-L/2} < 10^{-38} \Rightarrow L > 76\log_2 10 \approx 254$")
    found = json.loads(varlaw("explain", f"{path}:1", "--json").out)["found"]
    implied, rounded = found[1], found[3]
    assert (implied["status"], rounded["status"]) == ("verified", "refuted")
    assert implied["text"].endswith(r"L > 76\log_2 10")
    assert implied["facts"][0]["text"] == "2^(-L/2) < 10^(-38) => L > 76*log(10, 2)"


def test_the_comment_to_write_is_that_of_the_format(varlaw: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.tex"
    path.write_text(r"$\mathrm{Var}(w) = 1/n$, $2^{31} = 2.1$ GB")
    (random, facts), (unit, why) = found(varlaw, f"{path}:1")
    assert (random, facts["to decide it"]) == (
        "undecided",
        "say what is random: % varlaw: w ~ N(0, 1)",
    )
    assert (unit, why["why"].split(",")[0]) == (
        "no claim",
        "its last number goes on in what follows",
    )


def test_a_column(varlaw: Run, document: str) -> None:
    ((status, facts),) = found(varlaw, f"{document}:2:25")
    assert (status, facts["declared"]) == ("refuted", "z ~ N(0, 1)")
    assert facts["value"].startswith("1.000")


def test_a_definition_is_no_claim(varlaw: Run, document: str) -> None:
    status, facts = found(varlaw, f"{document}:2:3")[0]
    assert (status, facts["why"]) == ("no claim", "a definition or an assumption")


def test_what_is_ignored(varlaw: Run, document: str) -> None:
    assert found(varlaw, f"{document}:6") == [("ignored", {"why": "ignore as a joke"})]


def test_a_declaration(varlaw: Run, document: str) -> None:
    assert found(varlaw, f"{document}:1") == [("declaration", {})]


def test_the_context_decides(varlaw: Run, document: str) -> None:
    Path("more.txt").write_text("u ~ N(0, 1)\n", encoding="utf-8")
    statuses = [status for status, _ in found(varlaw, f"{document}:4", "--context", "more.txt")]
    assert statuses == ["verified", "not read", "verified", "no claim"]


def test_the_text(varlaw: Run, document: str) -> None:
    shown = varlaw("explain", f"{document}:2:25:").out.splitlines()
    assert shown[0] == r"a.md:2:25: refuted: \mathbb{E}[z^2] = 2"
    assert "  read as: E[z^2] = 2" in shown


def test_a_notebook(varlaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [
        {"cell_type": "code", "source": "1", "metadata": {}},
        {"cell_type": "markdown", "source": ["text\n", "$1/8 = 0.125$"], "metadata": {}},
        {"cell_type": "markdown", "source": "<!-- varlaw: z ~ N(0, 4) -->", "metadata": {}},
        {"cell_type": "markdown", "source": "$E[z^2] = 4$", "metadata": {}},
    ]
    Path("n.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    ((status, _),) = found(varlaw, "n.ipynb:cell 2:2")
    assert status == "verified"
    ((status, _),) = found(varlaw, "n.ipynb:cell 4:1")
    assert status == "verified"  # by what another cell declares
    assert "give a cell, of 2, 3, 4" in varlaw("explain", "n.ipynb:2").refused()


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("a.md", "is no place: give FILE:LINE"),
        ("b.md:3", "no such file"),
        ("a.md:5", "nothing was found there; the nearest is on line 4"),
        ("a.md:400", "the nearest is on line 6"),
        ("a.md:cell 2:1", "it has no cells"),
    ],
)
def test_refusals(varlaw: Run, document: str, place: str, message: str) -> None:
    assert message in varlaw("explain", place).refused()


def test_declarations_in_fences(varlaw: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("```varlaw\nz ~ N(0, 1)\nclaim E[z^2] = 1\n```\n", encoding="utf-8")
    assert varlaw("explain", f"{path}:2").out.startswith(f"{path}:2:1: declaration: z ~ N(0, 1)")
