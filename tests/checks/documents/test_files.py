"""Files, bytes and notebooks."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from varlaw.checks.documents.files import find_files, read_bytes
from varlaw.checks.documents.reading import read_document
from varlaw.checks.documents.span import Document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    for name in ("b.md", "a.tex", "c.TXT", "code.py", "sub/d.ipynb", "sub/old/e.varlaw"):
        path = inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for name in (".git/f.md", ".hidden.md"):
        (inside / name).parent.mkdir(exist_ok=True)
        (inside / name).write_text("x")
    (tmp_path / "outside.md").write_text("x")
    (inside / "out.md").symlink_to(tmp_path / "outside.md")
    (inside / "in.md").symlink_to(inside / "b.md")
    (inside / "loop").symlink_to(inside)
    (inside / "broken.md").symlink_to(inside / "nothing")
    return inside


def names(folder: Path, **patterns: list[str]) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in find_files([folder], **patterns)]


def test_folders_are_walked(folder: Path) -> None:
    every = ["a.tex", "b.md", "c.TXT", "in.md", "sub/d.ipynb", "sub/old/e.varlaw"]
    assert names(folder) == every
    assert names(folder, files=["*.md"]) == ["b.md", "in.md"]
    assert names(folder, exclude=["sub/old/", "*.md"]) == ["a.tex", "c.TXT", "sub/d.ipynb"]
    assert names(folder, exclude=["sub"]) == every[:4]


def test_patterns_count_from_where_we_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    found = find_files(["inside"], files=["inside/sub/*"], exclude=["inside/sub/old"])
    assert found == [Path("inside/sub/d.ipynb")]
    assert names(folder, exclude=[folder.parent.name, "inside"])[0] == "a.tex"


def test_named_files_count_once_and_always(folder: Path) -> None:
    hidden = folder / ".hidden.md"
    assert find_files([hidden, hidden], exclude=["*"]) == [hidden]
    assert find_files(["-"]) == [Path("-")]
    assert find_files([]) == []


@pytest.mark.parametrize(("name", "message"), [("code.py", "no document"), ("none.md", "no such")])
def test_wrong_paths(folder: Path, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_files([folder / name])


def _read(path: Path, suffix: str = "") -> tuple[Document, ...]:
    return read_document(path, read_bytes(path), suffix=suffix)


def test_a_file_and_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "b.md").write_text("`$x$` $y$")
    assert [span.text for span in _read(folder / "b.md")[0].spans] == ["y"]
    for suffix, found in ((".md", ["y"]), (".tex", ["x", "y"])):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"`$x$` $y$")))
        (document,) = _read(Path("-"), suffix)
        assert [span.text for span in document.spans] == found
    with pytest.raises(ValueError, match=r"none\.md: No such file"):
        read_bytes(folder / "none.md")


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a\.py: no format of documents: known are \.md"):
        read_document("a.py", b"")


def test_bytes_that_are_no_text_are_reported_where_they_stand() -> None:
    (document,) = read_document("a.md", "ä $x$\nb \xff $y$".encode("latin-1"))
    (problem,) = document.problems
    assert problem.message == "byte 0xe4 is no UTF-8 text"
    (document,) = read_document("a.md", "ä $x$\nb ".encode() + b"\xff $y$")
    (problem,) = document.problems
    assert str(document.place(problem.start, problem.start)) == "a.md:2:3"
    assert [span.text for span in document.spans] == ["x", "y"]


def test_large_files_are_refused() -> None:
    (document,) = read_document("a.md", b"$x$" * 10, most_bytes=29)
    assert not document.spans
    assert "larger than" in document.problems[0].message


def notebook(*cells: tuple[str, str | list[str]]) -> bytes:
    listed = [{"cell_type": kind, "source": source} for kind, source in cells]
    return json.dumps({"cells": listed, "nbformat": 4}).encode()


def test_notebooks() -> None:
    data = notebook(
        ("markdown", ["a\n", "$x$"]), ("code", "$y$"), ("markdown", "% varlaw: ignore\n $z$")
    )
    first, second = read_document("n.ipynb", data)
    (x,), (z,) = first.spans, second.spans
    assert str(first.place(*x.offsets)) == "n.ipynb:cell 1:2:2"
    assert str(second.place(*z.offsets)) == "n.ipynb:cell 3:2:3"
    assert [remark.text for remark in second.remarks] == ["ignore"]


def test_notebooks_before_format_4() -> None:
    cells = [{"cell_type": "markdown", "source": ["$x$"]}]
    data = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}).encode()
    assert [span.text for span in read_document("n.ipynb", data)[0].spans] == ["x"]


@pytest.mark.parametrize(
    ("data", "message", "at"),
    [
        (b'{"cells": [}', "no notebook: Expecting value", 11),
        (b"[" * 100_000, "nested too deep", 0),
        (b"[]", "no list of cells", 0),
        (b'{"cells": 1}', "no list of cells", 0),
        (b'{"cells": [{"cell_type": "markdown", "source": [null]}]}', "cell 1 is no text", 0),
    ],
)
def test_wrong_notebooks_are_problems(data: bytes, message: str, at: int) -> None:
    (document,) = read_document("n.ipynb", data)
    (problem,) = document.problems
    assert message in problem.message and problem.start == at


def test_notebooks_with_strange_contents() -> None:
    data = notebook(("markdown", "\ud800 $x$"))[:-1] + b', "n": ' + b"9" * 10_000 + b"}"
    (document,) = read_document("n.ipynb", data)
    assert document.text == "\ufffd $x$"
