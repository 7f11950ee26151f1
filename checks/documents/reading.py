"""Reading a document of any format: a table of formats, bytes to text, size limits."""

import json
import re
from collections.abc import Callable
from pathlib import PurePath

from varlaw.checks.documents.latex import read_latex
from varlaw.checks.documents.markdown import read_markdown
from varlaw.checks.documents.notebook import markdown_cells
from varlaw.checks.documents.pairs import find_pairs
from varlaw.checks.documents.scanning import Found, Syntax, add_span, scan
from varlaw.checks.documents.span import Document, Kind, Problem
from varlaw.checks.documents.stretch import Stretch

MOST_BYTES = 10_000_000
NOTEBOOK = ".ipynb"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _markdown(text: Stretch, found: Found) -> None:
    read_markdown(text, found)
    find_pairs(found)


def _plain(text: Stretch, found: Found) -> None:
    scan(text, Syntax(code="text"), found)
    find_pairs(found)


def _claims(text: Stretch, found: Found) -> None:
    add_span(found, text, Kind.BLOCK, text, (0, len(text.text)))


READERS: dict[str, Callable[[Stretch, Found], None]] = {
    ".md": _markdown,
    ".tex": read_latex,
    ".txt": _plain,
    ".varlaw": _claims,
}
SUFFIXES = (*READERS, NOTEBOOK)


def read_document(
    path: str | PurePath, data: bytes, *, suffix: str = "", most_bytes: int = MOST_BYTES
) -> tuple[Document, ...]:
    """Read a document; of a notebook, each Markdown cell.

    The format is that of `suffix`, else of the path's own; standard input, "-", is Markdown. What
    cannot be read is a problem of the document. Raise ValueError for an unknown format.
    """
    name = str(path)
    suffix = suffix or (".md" if name == "-" else PurePath(name).suffix.lower())
    if suffix not in SUFFIXES:
        raise ValueError(f"{name}: no format of documents: known are {', '.join(SUFFIXES)}")
    if len(data) > most_bytes:
        message = f"larger than {most_bytes / 1e6:g} MB: not read"
        return (Document(name, "", (), (), (Problem(message, 0),)),)
    text, problems = _decoded(data)
    if suffix == NOTEBOOK:
        return _notebook(name, text, problems)
    return (_document(name, text, READERS[suffix], problems),)


def _notebook(path: str, text: str, problems: list[Problem]) -> tuple[Document, ...]:
    try:
        cells = list(markdown_cells(text))
    except json.JSONDecodeError as error:
        problems.append(Problem(f"no notebook: {error.msg}", error.pos))
    except ValueError as error:
        problems.append(Problem(str(error), 0))
    else:
        documents = [
            _document(path, _SURROGATE.sub("\ufffd", source), _markdown, [], number)
            for number, source in cells
        ]
        if not problems:
            return tuple(documents)
        return (Document(path, text, (), (), tuple(problems)), *documents)
    return (Document(path, text, (), (), tuple(problems)),)


def _document(
    path: str,
    text: str,
    reader: Callable[[Stretch, Found], None],
    problems: list[Problem],
    cell: int | None = None,
) -> Document:
    found = Found(problems=problems)
    reader(Stretch.of(text), found)
    spans = sorted(found.spans, key=lambda span: span.start)
    remarks = sorted(found.remarks, key=lambda remark: remark.start)
    reported = sorted(found.problems, key=lambda problem: problem.start)
    if found.unreported:
        reported.append(Problem(f"{found.unreported} more problems", reported[-1].start))
    macros = tuple(dict.fromkeys(found.macros))
    return Document(path, text, tuple(spans), tuple(remarks), tuple(reported), macros, cell)


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    """The text of UTF-8, a byte order mark left out; other bytes are replaced and reported."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode(), []
    except UnicodeDecodeError as error:
        at = len(data[: error.start].decode())
        message = f"byte 0x{data[error.start]:02x} is no UTF-8 text"
        return data.decode(errors="replace"), [Problem(message, at)]
