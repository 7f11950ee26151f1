"""Jupyter notebooks: the Markdown cells, counted as editors do, each a document of its own."""

import json
from collections.abc import Iterator
from typing import Any


def markdown_cells(text: str) -> Iterator[tuple[int, str | None]]:
    """Yield the number of each Markdown cell, from 1 over all cells, and its source if it is text.

    Raise ValueError, with the position if there is one, for what is no notebook.
    """
    try:
        notebook = json.loads(text, parse_int=str, parse_float=str)
    except RecursionError:
        raise ValueError("no notebook: nested too deep") from None
    cells = _cells(notebook)
    if not isinstance(cells, list):
        raise ValueError("no notebook: no list of cells")
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            source = cell.get("source", "")
            lines = source if isinstance(source, list) else [source]
            yield number, "".join(lines) if all(isinstance(line, str) for line in lines) else None


def _cells(notebook: Any) -> Any:
    """The cells; before format 4 they stood in worksheets."""
    if not isinstance(notebook, dict):
        return None
    sheets = notebook.get("worksheets")
    if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict):
        return sheets[0].get("cells")
    return notebook.get("cells")
