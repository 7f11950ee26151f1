"""Any text is read without an error, in time linear in its length, and spans are where they say."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from varlaw.checks.documents.ignoring import ignoring
from varlaw.checks.documents.reading import SUFFIXES, read_document

PIECES = st.sampled_from(
    [
        *("$", "$$", "\\(", "\\)", "\\[", "\\]", "\\", "\\$", "`", "```", "```math\n", "~~~", "|"),
        *("\\begin{align}", "\\end{align}", "\\begin{verbatim}", "\\end{verbatim}", "\\verb|"),
        *("\\newcommand{\\a}{", "\\def\\a", "{", "}", "%", "% varlaw: ignore\n", "<!--", "-->"),
        *("<!-- varlaw: ignore-start -->", "\n", "\n\n", "\r\n", "\r", "\t", "    ", "> ", "- "),
        *(
            "1. ",
            "# ",
            "---\n",
            "|---|\n",
            "{/*",
            "*/}",
            "+++\n",
            "``",
            "''",
            "[^1]: ",
            "```{note}\n",
            ":::{math}\n",
            "<div>",
            "<pre>",
            "</pre>",
            "<code a='",
            "</code>",
            "% ",
            "| a |\n|--|\n| $x|y$ |\n",
            ":::",
            "!!! a\n    ",
            "[a](b$",
            "{math}`x`",
            "\\let\\a\\b ",
            "\\DeclarePairedDelimiter{\\n}{|}{|}",
            "\r\n",
            "\r",
            "\t",
            "\u202e",
            "👩\u200d👧",
        ),
        *(
            "x",
            "x1x_1",
            "σ\\sigma",
            "σ2\\sigma^2",
            "\\frac{1}{n}",
            "=",
            "5",
            " and ",
            "\0",
            "\ufeff",
        ),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join)


@settings(max_examples=300, deadline=None)
@example(text="\\```", suffix=".md")  # a run of backquotes of which one is escaped
@given(text=TEXTS, suffix=st.sampled_from(SUFFIXES))
def test_any_text(text: str, suffix: str) -> None:
    for document in read_document("x", text.encode(errors="replace"), suffix=suffix):
        ends = [0]
        for span in document.spans:
            assert [document.text[spot] for spot in span.offsets[:-1]] == list(span.text)
            assert ends[-1] <= span.start <= span.offsets[0] <= span.offsets[-1] <= span.end
            assert list(span.offsets) == sorted(set(span.offsets))
            assert document.place(span.start, span.end).line >= 1
            ends.append(span.end)
        assert all(0 <= problem.start <= len(document.text) for problem in document.problems)
        ignoring(document)


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200), suffix=st.sampled_from(SUFFIXES))
def test_any_bytes(data: bytes, suffix: str) -> None:
    assert all(document.path == "x" for document in read_document("x", data, suffix=suffix))


HOSTILE = {
    "one line": "x" * 50,
    "dollars": "$" * 50,
    "dollars apart": "$ ",
    "brackets": "\\[",
    "parentheses": "\\(",
    "unclosed environments": "\\begin{equation} x = 1\n",
    "unclosed paragraphs": "\\begin{equation} x = 1\n\n",
    "texts": "$\\text{ a",
    "all openers": "\\[ $$ \\( \\begin{align} $\\x\n",
    "openers in items": "- \\[ x\n",
    "quotes": ">",
    "deep quotes": "> " * 60 + "x\n",
    "lists in lists": "- ",
    "backquotes": "` `` ``` ",
    "comments": "<!--",
    "remarks": "<!-- varlaw: ignore-next-line -->\n",
    "percents": "%",
    "definitions": "\\newcommand{\\x}{",
    "short definitions": "\\def\\x{",
    "verbatim": "\\begin{verbatim}",
    "verb": "\\verb|",
    "blank lines": "\n" * 20,
    "blanks": " " * 20,
    "underlinings": "a\n=\n",
    "footnotes": "[^1]: a\n\n    b $x$\n",
    "null": "\0",
    "tables": "| a |\n|---|\n| $x |\n",
    "copies": "σ\\sigma ",
    "near copies": "a" * 90 + "\\sqrt{ a ",
    "relations": "σ\\sigma a = a",
}


@pytest.mark.parametrize("suffix", [".md", ".tex", ".txt"])
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_time_is_linear(piece: str, suffix: str) -> None:
    """Four times the text takes about four times as long; a square would take sixteen.

    One of three tries counts: other work on the machine spoils some.
    """

    def seconds(length: int) -> float:
        data = (piece * (length // len(piece) + 1)).encode()
        start = time.process_time()
        read_document("x", data, suffix=suffix)
        return time.process_time() - start

    def linear() -> bool:
        return seconds(40_000) < max(9 * seconds(10_000), 0.2)

    assert linear() or linear() or linear()


def test_what_follows_a_list_that_is_too_deep_is_read() -> None:
    deep = "".join("  " * k + f"- $a_{{{k}}}$\n" for k in range(60))
    (document,) = read_document("x.md", (deep + "\nlast $x$\n\n- $y$\n").encode())
    assert [span.text for span in document.spans][-2:] == ["x", "y"]
    assert len(document.problems) == 1
