"""LaTeX: comments and verbatim text are cut out, then the same scanner reads the rest."""

import re

from varlaw.checks.documents.found import Found
from varlaw.checks.documents.macros import Definitions
from varlaw.checks.documents.scanning import Syntax, scan
from varlaw.checks.documents.stretch import Stretch

_SYNTAX = Syntax(latex=True, code="none", comments=False)
_CUT = re.compile(
    r"\\begin\{(verbatim\*?|[BL]?Verbatim\*?|lstlisting|minted|comment|alltt|filecontents\*?)\}"
    r"|\\(?:verb\*?|lstinline(?:\[[^\]\n]*\])?|url|nolinkurl|href)(?![A-Za-z])([^\s\w])"
    r"|(\\iffalse)(?![A-Za-z])|\\end\{(document)\}|\\.|%([^\r\n]*)",
    re.DOTALL,
)
_BODY = re.compile(r"\\begin\{document\}")


def read_latex(stretch: Stretch, found: Found) -> None:
    """Find what a LaTeX text holds; before its body there are only macros."""
    stretch = stretch.without(_holes(stretch, found))
    body = _BODY.search(stretch.text)
    if body:
        definitions = Definitions(stretch.text).within(0, body.start())
        found.macros += [stretch.text[start:end] for start, end in definitions]
        stretch = stretch.cut([(body.end(), len(stretch.text))])
    scan(stretch, _SYNTAX, found)


def _holes(stretch: Stretch, found: Found) -> list[tuple[int, int]]:
    """What TeX does not read, in order; comments for us are noted."""
    text, holes, position = stretch.text, list[tuple[int, int]](), 0
    missing: set[str] = set()  # closers that do not come any more
    while token := _CUT.search(text, position):
        start, position = token.span()
        verbatim, delimiter, skipped, last, comment = token.groups()
        if last:
            return [*holes, (start, len(text))]
        if comment is not None:
            holes.append((_begin_of_comment(text, start, position), position))
            found.remark(comment.lstrip("%"), stretch.at(start), stretch.after(position))
        elif delimiter:
            closer = "}" if delimiter == "{" else delimiter
            end = text.find(closer, position, position + 1000)
            if end >= 0 and "\n" not in text[position:end]:
                position = end + 1
                holes.append((start, position))
        elif verbatim or skipped:
            closer = rf"\end{{{verbatim}}}" if verbatim else r"\fi"
            end = -1 if closer in missing else text.find(closer, position)
            if end < 0:
                missing.add(closer)
                message = f"{token[0]} is not closed by {closer}"
                found.problem(message, stretch.at(start))
            else:
                position = end + len(closer)
                holes.append((start, position))
    return holes


def _begin_of_comment(text: str, start: int, end: int) -> int:
    """A comment that has its line for itself takes the line's end along: it parts no paragraphs."""
    nearest = max(start - 200, 0)
    line = max(text.rfind("\n", nearest, start), text.rfind("\r", nearest, start))
    return line if line >= 0 and not text[line + 1 : start].strip() else start
