"""Reading a document of any format: a table of formats, bytes to text, size limits."""

import json
import re
from collections.abc import Callable
from pathlib import PurePath

from varlaw.checks.documents.clock import Clock
from varlaw.checks.documents.found import Found, add_span
from varlaw.checks.documents.latex import read_latex
from varlaw.checks.documents.markdown import read_markdown
from varlaw.checks.documents.notebook import markdown_cells
from varlaw.checks.documents.pairs import find_pairs
from varlaw.checks.documents.scanning import Syntax, scan
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
    path: str | PurePath,
    data: bytes,
    *,
    suffix: str = "",
    most_bytes: int = MOST_BYTES,
    clock: Clock | None = None,
) -> tuple[Document, ...]:
    """Read a document; of a notebook, each Markdown cell.

    The format is that of `suffix`, else of the path's own; standard input, "-", is Markdown. What
    cannot be read, also for want of time, is a problem of the document. Raise ValueError for an
    unknown format.
    """
    clock = clock or Clock()
    name = str(path)
    suffix = suffix or (".md" if name == "-" else PurePath(name).suffix.lower())
    if suffix not in SUFFIXES:
        raise ValueError(f"{name}: no format of documents: known are {', '.join(SUFFIXES)}")
    if len(data) > most_bytes:
        message = f"larger than {most_bytes / 1e6:g} MB: not read"
        return (Document(name, "", (), (), (Problem(message, 0),)),)
    text, problems = _decoded(data)
    if suffix == NOTEBOOK:
        return _notebook(name, text, problems, clock)
    return (_document(name, text, READERS[suffix], Found(problems=problems, clock=clock)),)


def _notebook(path: str, text: str, problems: list[Problem], clock: Clock) -> tuple[Document, ...]:
    documents: list[Document] = []
    found = Found(clock=clock)
    try:
        for number, source in markdown_cells(text):
            if found.full or found.late:
                break
            if source is None:
                problems.append(Problem(f"the source of cell {number} is no text: not read", 0))
                continue
            room = found.room - len(found.spans)
            found = Found(clock=clock, room=room, until=found.until)
            source = _SURROGATE.sub("\ufffd", source)
            documents.append(_document(path, source, _markdown, found, number))
    except json.JSONDecodeError as error:
        problems.append(Problem(f"no notebook: {error.msg}", error.pos))
    except ValueError as error:
        problems.append(Problem(str(error), 0))
    if not problems:
        return tuple(documents)
    return (Document(path, text, (), (), tuple(problems)), *documents)


def _document(
    path: str,
    text: str,
    reader: Callable[[Stretch, Found], None],
    found: Found,
    cell: int | None = None,
) -> Document:
    reader(Stretch.of(text), found)
    spans = sorted(found.spans, key=lambda span: span.start)
    remarks = sorted(found.remarks, key=lambda remark: remark.start)
    reported = sorted(found.problems, key=lambda problem: problem.start)
    if found.unreported:
        reported.append(Problem(f"{found.unreported} more problems", reported[-1].start))
    macros = tuple(dict.fromkeys(found.macros))
    parts = tuple(spans), tuple(remarks), tuple(reported), macros, cell, found.clock.spent
    return Document(path, text, *parts)


def _decoded(data: bytes) -> tuple[str, list[Problem]]:
    """The text of UTF-8, a byte order mark left out; other bytes are replaced and reported."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data.decode(), []
    except UnicodeDecodeError as error:
        at = len(data[: error.start].decode())
        message = f"byte 0x{data[error.start]:02x} is no UTF-8 text"
        return data.decode(errors="replace"), [Problem(message, at)]
