"""Comments for us, and what they ignore."""

import pytest

from varlaw.checks.documents.ignoring import ignores, ignoring
from varlaw.checks.documents.reading import read_document
from varlaw.checks.documents.span import Document


def read(text: str, suffix: str = ".md") -> Document:
    (document,) = read_document("x", text.encode(), suffix=suffix)
    return document


@pytest.mark.parametrize(
    ("text", "suffix", "remarks"),
    [
        ("<!-- varlaw: z ~ N(0, 1) -->", ".md", ["z ~ N(0, 1)"]),
        ("a <!-- varlaw: ignore --> b", ".md", ["ignore"]),
        ("<!-- varlaw:\nx > 0\n\ny > 0\n-->", ".md", ["x > 0\n\ny > 0"]),
        ("<!-- other: x -->", ".md", []),
        ("`<!-- varlaw: x -->`", ".md", []),
        ("% varlaw: x > 0\n$x$", ".md", ["x > 0"]),
        ("50% varlaw: x > 0", ".md", []),
        ("% varlaw: x > 0", ".txt", ["x > 0"]),
        ("<!-- varlaw: x > 0 -->", ".txt", ["x > 0"]),
        ("a %% varlaw: x > 0", ".tex", ["x > 0"]),
        ("\\% varlaw: x > 0", ".tex", []),
        ("> <!-- varlaw: x\n> y -->", ".md", ["x\ny"]),
    ],
)
def test_remarks(text: str, suffix: str, remarks: list[str]) -> None:
    found = read(text, suffix).remarks
    assert [remark.text for remark in found] == remarks


def test_a_remark_has_a_place() -> None:
    document = read("a\n\nb <!-- varlaw: ignore -->")
    (remark,) = document.remarks
    assert document.text[remark.start : remark.end] == "<!-- varlaw: ignore -->"
    assert str(document.place(remark.start, remark.end)) == "x:3:3"


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        ("$a$ <!-- varlaw: ignore --> $b$\n$c$", ["a", "b"]),
        ("<!-- varlaw: ignore rounded in the source --> $a$", ["a"]),
        ("$a$\n<!-- varlaw: ignore-next-line -->\n$b$\n$c$", ["b"]),
        ("<!-- varlaw: ignore-next-line -->\n\n$b$\n\n$c$", ["b"]),
        ("<!-- varlaw: ignore-next-line -->\n\n$$\nb\n$$\n\n$c$", ["\nb\n"]),
        ("<!-- varlaw: ignore-next-line -->\n\n```math\nb\n```", ["b"]),
        ("$$\na\n$$ <!-- varlaw: ignore -->", ["\na\n"]),
        (
            "$a$\n<!-- varlaw: ignore-start -->\n$b$\n\n$c$\n<!-- varlaw: ignore-end -->$d$",
            ["b", "c"],
        ),
        ("a <!-- varlaw: z ~ N(0, 1) --> $a$", []),
    ],
)
def test_what_is_ignored(text: str, ignored: list[str]) -> None:
    document = read(text)
    found = ignoring(document)
    assert [span.text for span in document.spans if span in found.spans] == ignored
    assert not found.unused and not found.problems


def test_in_latex() -> None:
    document = read("$a$ % varlaw: ignore\n% varlaw: ignore-next-line\n$b$\n$c$", ".tex")
    assert sorted(span.text for span in ignoring(document).spans) == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["<!-- varlaw: ignore -->\n\n$a$", "<!-- varlaw: ignore-next-line -->"]
)
def test_unused(text: str) -> None:
    document = read(text)
    assert ignoring(document).unused == document.remarks


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- varlaw: ignore-start -->\n\n$a$", "without its ignore-end"),
        ("$a$\n\n<!-- varlaw: ignore-end -->", "without its ignore-start"),
        ("% varlaw: ignore-start\n% varlaw: ignore-start\n% varlaw: ignore-end", "inside another"),
        ("% varlaw: ignore-nextline\n$a$", "known are"),
    ],
)
def test_remarks_that_are_wrong_are_reported(text: str, message: str) -> None:
    document = read(text)
    found = ignoring(document)
    assert [message in problem.message for problem in found.problems] == [True]
    assert not found.spans


def test_context_is_no_ignoring() -> None:
    (remark,) = read("<!-- varlaw: z ~ N(0, 1) -->").remarks
    assert not ignores(remark)
