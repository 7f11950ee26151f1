"""Markdown and MyST: blocks by markdown-it, the mathematics in them by our own scanner.

markdown-it knows lines but no columns, so its blocks are laid back upon the text line by line.
"""

import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from varlaw.checks.documents.displays import DISPLAY, paragraph_with_display
from varlaw.checks.documents.found import Found, add_span
from varlaw.checks.documents.scanning import Syntax, scan
from varlaw.checks.documents.span import Kind
from varlaw.checks.documents.stretch import Stretch

DEEPEST = 40  # quotes and lists in one another; markdown-it leaves out what is deeper
_DEEPEST_DIRECTIVES = 8
_SYNTAX = Syntax(markdown=True)

_FRONT_MATTER = re.compile(r"---[ \t]*[\r\n]|\+\+\+[ \t]*[\r\n]+(?=[\w.-]+[ \t]*=|\[)")
_FRONT_MATTER_END = re.compile(r"[\r\n](?:---|\.\.\.|\+\+\+)[ \t]*(?=[\r\n]|\Z)")
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}")
_OPTIONS = re.compile(
    r"(?:[ \t]*:[\w-]+:[^\r\n]*(?:[\r\n]|\Z))+|---[\r\n].*?[\r\n]---[ \t]*[\r\n]", re.DOTALL
)
_COLON_MATHS = re.compile(r":{3,}[ \t]*\{math\}[^\r\n]*[\r\n](.*?)[\r\n]:{3,}", re.DOTALL)
# Directives of MyST that hold Markdown; the others hold code or data.
_PROSE = re.compile(
    "note|warning|tip|important|caution|attention|hint|seealso|danger|error|admonition|dropdown|"
    "margin|sidebar|topic|epigraph|pull-quote|card|grid|tab-item|tab-set|figure|exercise|solution|"
    "proof|prf:.*"
)
# Paragraphs whose indented continuation is prose, not code: footnotes, admonitions of MkDocs.
_INDENTS_PROSE = re.compile(r"\[\^[^\]\s]+\]:|!!! |\?\?\?\+? |=== ")
_OUTSIDE = re.compile(r"\n[ \t]*\n(?=[^\s>*+\d-])")  # a paragraph that is in no list or quote
_CODE_IN_HTML = re.compile(r"\s*<(?:script|style|pre|textarea)\b", re.IGNORECASE)
_CELL_END = re.compile(r"\\.|(\|)", re.DOTALL)
_DOLLAR = re.compile(r"\\.|(\$)", re.DOTALL)


def read_markdown(stretch: Stretch, found: Found) -> None:
    """Find what a Markdown text holds."""
    if _FRONT_MATTER.match(stretch.text) and (end := _FRONT_MATTER_END.search(stretch.text, 3)):
        stretch = stretch.cut([(end.end(), len(stretch.text))])
    _Reader(stretch, found).run()


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table")
    parser.block.ruler.disable("reference")  # a footnote of one word looks like one
    parser.block.ruler.before("lheading", "display", paragraph_with_display)
    parser.block.ruler.before("table", "clock", _unless_over)
    return parser


def _unless_over(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Leave the rest of the text to be read without blocks where there is no more time for them."""
    found: Found = state.env["found"]
    if silent or not found.is_late(state.env["at"](start)):
        return False
    state.env.setdefault("rest", start)
    state.line = end
    return True


_PARSER = _parser()


class _Reader:
    def __init__(self, stretch: Stretch, found: Found, depth: int = 0) -> None:
        self.stretch, self.found, self.depth = stretch, found, depth
        # As long as the stretch, so that places hold: lines end with \n, no character is null.
        self.text = stretch.text.replace("\r", "\n").replace("\0", "\ufffd")
        self.starts = [0, *(end.end() for end in re.finditer("\n", self.text)), len(self.text) + 1]
        self.previous = ""  # the paragraph before

    def run(self) -> None:
        tokens: list[Token] = []
        displays = DISPLAY.search(self.text) is not None
        told: dict[str, Any] = {"displays": displays, "found": self.found, "at": self._at}
        _PARSER.block.parse(self.text, _PARSER, told, tokens)
        in_row = False
        for token in tokens:
            if self.found.full:
                break
            if token.type in {"tr_open", "tr_close"}:
                in_row = token.type == "tr_open"
                if in_row and token.map:
                    self._row(*self._line(token.map[0]))
            elif token.map and not in_row:
                self._read(token, *token.map)
        if "rest" in told:
            rest = self.stretch.cut([(self.starts[told["rest"]], len(self.text))])
            scan(rest, _SYNTAX, self.found)

    def _read(self, token: Token, first: int, last: int) -> None:
        match token.type:
            case "inline":
                self._paragraph(self._content(token, first))
            case "fence":
                self._fence(token, first, last)
                self._is_closed(token, first, last)
            case "code_block" if _INDENTS_PROSE.match(self.previous):
                self._again(self._content(token, first))
            case "html_block" if not _CODE_IN_HTML.match(token.content):
                scan(self._content(token, first), _SYNTAX, self.found)
            case "blockquote_open" | "list_item_open" if token.level == DEEPEST - 1:
                self._problem(f"nested more than {DEEPEST} deep: what is deeper is not read", first)
                # markdown-it takes all that follows for a part of a list that is too deep
                end = min(self.starts[last], len(self.text))
                if outside := _OUTSIDE.search(self.text, self.starts[first], end):
                    self._again(self.stretch.cut([(outside.end(), end)]))

    def _line(self, number: int) -> tuple[int, int]:
        """Where a line begins and ends."""
        return self.starts[number], self.starts[number + 1] - 1

    def _content(self, token: Token, first: int) -> Stretch:
        """The content of a block that begins in this line, without the marks around it."""
        pieces: list[tuple[int, int]] = []
        for number, content in enumerate(token.content.removesuffix("\n").split("\n"), first):
            if number >= len(self.starts) - 1:
                break
            start, end = self._line(number)
            if number > first:
                pieces.append((start - 1, start))
            at = self.text.rfind(content, start, end)
            if at < 0:  # a tab was opened into blanks, of which some belong to the marks
                content = content.strip(" \t")
                at = self.text.rfind(content, start, end)
            if at >= 0:
                pieces.append((at, at + len(content)))
        return self.stretch.cut(pieces)

    def _paragraph(self, content: Stretch) -> None:
        self.previous = content.text
        if maths := _COLON_MATHS.match(content.text):
            inner = _without_options(content.cut([maths.span(1)]))
            add_span(self.found, inner, Kind.DISPLAY, content, (0, len(content.text)))
        else:
            scan(content, _SYNTAX, self.found)

    def _fence(self, token: Token, first: int, last: int) -> None:
        content = self._content(token, first + 1)
        whole = self.starts[first], self._line(last - 1)[1]
        directive = _DIRECTIVE.match(token.info.strip())
        language = (token.info.split() or [""])[0]
        if language == "varlaw":
            add_span(self.found, content, Kind.BLOCK, self.stretch, whole)
        elif language == "math" or (directive and directive[1] == "math"):
            add_span(self.found, _without_options(content), Kind.DISPLAY, self.stretch, whole)
        elif directive and _PROSE.fullmatch(directive[1]):
            self._again(content)

    def _is_closed(self, token: Token, first: int, last: int) -> None:
        """A fence that is not closed takes the rest of the text: that is reported."""
        marks = self.text[slice(*self._line(last - 1))].strip(" \t>")
        if last >= len(self.starts) - 2 and (
            last - 1 == first or set(marks) != {token.markup[0]} or len(marks) < len(token.markup)
        ):
            self._problem("fence is not closed: the rest of the text belongs to it", first)

    def _row(self, start: int, end: int) -> None:
        """A row of a table: cell by cell, unless a bar stands inside of mathematics."""
        bars = [bar.start() for bar in _CELL_END.finditer(self.text, start, end) if bar[1]]
        cells = list(zip([start, *(bar + 1 for bar in bars)], [*bars, end], strict=True))
        if any(
            sum(bool(mark[1]) for mark in _DOLLAR.finditer(self.text, *cell)) % 2 for cell in cells
        ):
            cells = [(start, end)]
        for cell in cells:
            scan(self.stretch.cut([cell]), _SYNTAX, self.found)

    def _again(self, content: Stretch) -> None:
        """Markdown inside of Markdown."""
        if self.depth < _DEEPEST_DIRECTIVES:
            _Reader(content, self.found, self.depth + 1).run()

    def _problem(self, message: str, line: int) -> None:
        self.found.problem(message, self._at(line))

    def _at(self, line: int) -> int:
        """Where a line stands in the document."""
        return self.stretch.at(min(self.starts[line], len(self.text)))


def _without_options(content: Stretch) -> Stretch:
    """The body of a directive, behind its options."""
    options = _OPTIONS.match(content.text)
    return content.cut([(options.end() if options else 0, len(content.text))])
