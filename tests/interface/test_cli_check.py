"""`varlaw check`: forms of output, exit codes, files and settings, refusals."""

import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import Run

TRUE = r"$1/\sqrt{768} \approx 0.0361$"
FALSE = r"$1/\sqrt{768} \approx 0.0371$"
LOOSE = r"$1/\sqrt{768} \approx 0.0360$"
OPEN = r"$E[z^2] = 4$"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "code", "strict"),
    [
        (TRUE, 0, 0),
        (LOOSE, 0, 3),
        (OPEN, 0, 3),
        (f"{FALSE} {OPEN}", 1, 1),
        ("nothing", 0, 0),
        (r"\( x", 0, 3),
    ],
)
def test_exit_codes(varlaw: Run, folder: Path, text: str, code: int, strict: int) -> None:
    (folder / "a.md").write_text(text)
    assert varlaw("check", "a.md").code == code
    assert varlaw("check", ".", "--strict").code == strict
    (folder / "varlaw.toml").write_text("[check]\nstrict = true\n")
    assert varlaw("check", ".").code == strict


def test_text(varlaw: Run, folder: Path) -> None:
    (folder / "a.md").write_text(f"{TRUE} and {FALSE} and {OPEN}\n")
    result = varlaw("check", ".")
    first, line, mark, last, hint = result.out.splitlines()
    assert first.startswith("a.md:1:36: refuted: it is 0.036084392")
    assert line[mark.index("^") : mark.rindex("^") + 1] == FALSE.strip("$")
    assert last == (
        "1 file, 3 spans, 3 links: 1 verified, 0 loose, 1 refuted, 1 undecided, 0 no claims"
    )
    assert not result.err
    assert hint.startswith("undecided: --verbose")
    assert "such as z ~ N(0, 1)" in (shown := varlaw("check", ".", "--verbose").out)
    assert hint not in shown


@pytest.mark.parametrize(
    "line", ["::error::x $1+1=3$", " ##[error]x $1+1=3$", "\u202e$1+1=3$ \x1b[m"]
)
def test_nothing_in_a_document_acts_on_a_terminal_or_a_log(
    varlaw: Run, folder: Path, line: str
) -> None:
    path = folder / "::a\n::b.md"
    path.write_text(line)
    out = varlaw("check", ".").out
    assert not any(one.lstrip().startswith(("::", "##[")) for one in out.splitlines())
    assert not set("\u202e\x1b") & set(out)
    (annotation, _) = varlaw("check", ".", "--format", "github").out.splitlines()
    assert annotation.startswith("::error file=%3A%3Aa%0A%3A%3Ab.md,")


@pytest.mark.parametrize(
    ("line", "columns"),
    [  # ideographs and emoji take two columns, marks on a letter none
        ("日本語 $2 + 2 = 5$", 7),
        ("한글 😀 $2 + 2 = 5$", 8),
        ("e\u0301t\u00e9 $2 + 2 = 5$", 4),
        ("\x1b[31m\t$2 + 2 = 5$", 6),
    ],
)
def test_marks_stand_below_their_place(varlaw: Run, folder: Path, line: str, columns: int) -> None:
    (folder / "wide.md").write_text(line, encoding="utf-8")
    out = varlaw("check", "wide.md").out
    assert out.splitlines()[2] == " " * (4 + columns + 1) + "^" * len("2 + 2 = 5")
    assert "\x1b" not in out


def test_json(varlaw: Run, folder: Path) -> None:
    (folder / "a.md").write_text(f"{FALSE} $x = 3$ $\\unknown$")
    found = json.loads(varlaw("check", "a.md", "--json").out)
    assert (found["schema"], found["version"]) == ("varlaw.check", 1)
    (link,) = found["links"]
    assert link["path"] == "a.md"
    assert [link[k] for k in ("line", "column", "end_line", "end_column")] == [1, 2, 1, 29]
    assert (link["relation"], link["verdict"]) == ("~=", "refuted")
    assert found["summary"] == {
        "files": 1,
        "spans": 3,
        "links": 2,
        "verified": 0,
        "refuted": 1,
        "loose": 0,
        "undecided": 0,
        "not_claims": 1,
        "not_read": 1,
        "ignored": 0,
        "problems": 0,
    }


def test_annotations(varlaw: Run, folder: Path) -> None:
    (folder / "a,b.md").write_text(f"{LOOSE}\n{FALSE}\n\\( x\n\n100% of {OPEN}")
    first, second, third, _ = varlaw("check", ".", "--format", "github").out.splitlines()
    assert first.startswith("::error file=a%2Cb.md,title=refuted,line=2,endLine=2,col=2,")
    assert second.startswith("::warning file=a%2Cb.md,title=loose,line=1,")
    assert third.startswith("::warning file=a%2Cb.md,title=problem,line=3,")
    strict = varlaw("check", ".", "--format", "github", "--strict").out
    assert strict.count("::error ") == 4 and "::warning" not in strict


def test_problems_are_told_in_their_order(varlaw: Run, folder: Path) -> None:
    (folder / "a.md").write_text("<!-- varlaw: ingore -->\n\\( x\n\n<!-- varlaw: ignore -->\n")
    told = [line for line in varlaw("check", ".").out.splitlines() if ": problem: " in line]
    assert [line.partition(": problem: ")[0] for line in told] == [
        "a.md:1:1",
        "a.md:2:1",
        "a.md:4:1",
    ]
    assert "it claims nothing, and declares nothing" in told[0]


def test_a_context_and_standard_input(
    varlaw: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "context.varlaw").write_text("z ~ N(0, 4)\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(OPEN.encode())))
    result = varlaw("check", "-", "--context", "context.varlaw", "--json")
    assert [link["verdict"] for link in json.loads(result.out)["links"]] == ["verified"]


def test_kept_findings_are_found_again(
    varlaw: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text(FALSE)
    first = varlaw("check", "a.md")
    monkeypatch.delattr("varlaw.checks.claims.checking.check")
    assert varlaw("check", "a.md") == first
    assert "internal error" in varlaw("check", "a.md", "--no-cache").refused()
    (folder / "a.md").write_text(TRUE)
    assert "internal error" in varlaw("check", "a.md").refused()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["."], "no document found: .md .tex .ipynb .txt .varlaw are read"),
        (["none.md"], "none.md: no such file or folder"),
        (["code.py"], "code.py: no document: known are .md, .tex, .txt, .varlaw, .ipynb"),
        (["-", "--context", "none"], "none: No such file or directory"),
        (["-", "--context", "bad.varlaw"], "context, line 2: "),
        (["sub"], "varlaw.toml: unknown key 'strikt'"),
    ],
)
def test_refusals(varlaw: Run, folder: Path, arguments: list[str], message: str) -> None:
    (folder / "code.py").write_text("")
    (folder / "bad.varlaw").write_text("n = 3\nz ~ N(0,\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "varlaw.toml").write_text("[check]\nstrikt = true\n")
    if "bad.varlaw" in arguments:
        (folder / "a.md").write_text(OPEN)
        arguments = ["a.md", *arguments[1:]]
    if arguments == ["."]:
        for path in folder.glob("*.varlaw"):
            path.unlink()
    assert message in varlaw("check", *arguments).refused()


@pytest.mark.parametrize("name", ["a.md", "b.TEX", "c.ipynb", "d.txt", "e.varlaw"])
@pytest.mark.parametrize("other", ["LICENSE", "README", "a.markdown", "x.sty", "md", "a.md.orig"])
def test_the_hook_takes_the_documents_that_are_read(name: str, other: str) -> None:
    hook = Path(__file__).parents[2].joinpath(".pre-commit-hooks.yaml").read_text("utf-8")
    pattern = hook.split("files: ")[1].split("\n")[0]
    assert re.search(pattern, name)
    assert not re.search(pattern, other)
    assert "types" not in hook
    assert "entry: varlaw check\n" in hook
