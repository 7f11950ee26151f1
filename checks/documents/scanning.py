r"""Finding delimited mathematics in a stretch of text: $ $$ \( \[ and environments.

One pass from left to right. An opener without its closer ends at the next blank line, or where the
same opener stands again: it is reported and nothing else is lost. The time is linear in the length:
a search for a closer stops at the next opener of its kind.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from varlaw.checks.documents.dollars import is_maths, is_worth_reporting
from varlaw.checks.documents.found import Found, add_span
from varlaw.checks.documents.macros import Definitions
from varlaw.checks.documents.span import Kind
from varlaw.checks.documents.stretch import Stretch

ENVIRONMENTS = (
    *("equation", "align", "gather", "multline", "eqnarray", "alignat", "flalign"),
    *("displaymath", "math", "dmath", "IEEEeqnarray"),
)
BEGIN = rf"\\begin\{{((?:{'|'.join(ENVIRONMENTS)})\*?)\}}"
MATHEMATICA = r"\\\[[A-Z][A-Za-z]+\]"  # its names of letters, \[Lambda], open no display
BLANK = r"[\r\n][ \t]*[\r\n]"
_TITLE = r"""(?:[ \t]+(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?"""
_ADDRESS = rf"\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*{_TITLE}\)|https?://[^\s<>()\"']*"
_ATTRIBUTE = r"""\s+[A-Za-z_:@][\w:.-]*+(?:\s*=\s*(?:"[^"]{0,500}"|'[^']{0,500}'|[^\s"'<>=`]+))?"""
_TAG = rf"</?(?P<element>[A-Za-z][A-Za-z0-9-]*+)(?:{_ATTRIBUTE})*+\s*/?>"
_SKIPPED = r"\{/\*|^\+\+\+"  # comments of MDX, breaks between blocks of MyST
_TOKEN = re.compile(
    rf"{BEGIN}|{MATHEMATICA}|\\\\[(\[]|\\.|\$+|`+|<!--|%+|(?P<address>{_ADDRESS})|{_TAG}|{_SKIPPED}",
    re.DOTALL | re.MULTILINE,
)
_CODE_IN_HTML = {"code", "pre", "script", "style", "textarea"}
_OPEN_TEXT = re.compile(r"\\(?:text(?:rm|it|bf)?|mbox)\{[^{}$]*(?:\$[^{}$]*\$[^{}$]*)*\Z")
# Where Markdown eats a backslash, two are written.
_BRACKETED = {
    r"\[": (Kind.DISPLAY, r"\]"),
    r"\(": (Kind.INLINE, r"\)"),
    r"\\[": (Kind.DISPLAY, r"\\]"),
    r"\\(": (Kind.INLINE, r"\\)"),
}
_ARGUMENTS = re.compile(r"(?:\[[^\]\n]{0,9}\])?\{[^{}\n]{0,99}\}")  # {2} of alignat
_BRACKETS = re.compile(r"\\?[\[\]()]|[\r\n]")
_LINE_END = re.compile(r"[\r\n]")
_PERCENT = re.compile(r"[ \t]*varlaw[ \t]*:[^\r\n]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a format takes for mathematics, code and comments."""

    latex: bool = False  # a dollar is no money, \\\\ ends a line
    code: str = "any"  # how long runs of backquotes begin code: "any", "text" or "none"
    comments: bool = True  # <!-- --> and lines of "% varlaw:"
    markdown: bool = False  # tags of HTML, and lines of MyST's % comments


def scan(stretch: Stretch, syntax: Syntax, found: Found) -> None:
    """Find the mathematics, comments for us and macros of a stretch."""
    if stretch.text:
        _Scanner(stretch, syntax, found).run()


class _Scanner:
    def __init__(self, stretch: Stretch, syntax: Syntax, found: Found) -> None:
        self.stretch, self.syntax, self.found = stretch, syntax, found
        self.text = stretch.text
        self.definitions = Definitions(self.text)
        self.taken: list[tuple[int, int]] = []  # what is no prose: mathematics, code, comments

    def run(self) -> None:
        position = 0
        while token := _TOKEN.search(self.text, position):
            if self.found.is_full(self.stretch.at(token.start())):
                break
            position = self._read(token)
            if position > token.end() or token[0][0] in "$`":
                self.taken.append((token.start(), position))
        self.found.prose.append((self.stretch, _gaps(self.taken, len(self.text))))

    def _read(self, token: re.Match[str]) -> int:
        """Read what begins here; where to go on."""
        start, mark = token.start(), token[0]
        if token["address"]:
            return token.end()
        if token["element"]:
            return self._tag(token)
        if environment := token[1]:
            return self._environment(start, token.end(), environment)
        if mark in _BRACKETED and not (self.syntax.latex and len(mark) == 3):
            return self._bracketed(start, mark)
        if mark[0] == "\\":
            return self._definition(start)
        if mark[0] == "$":
            return self._dollars(start, len(mark))
        if mark[0] == "`":
            return self._code(start, len(mark))
        if mark[0] in "{+":
            return self._skipped(start, token.end())
        return self._comment(token) if self.syntax.comments else token.end()

    def _environment(self, start: int, inner: int, name: str) -> int:
        closer = rf"\end{{{name}}}"
        close = self._close(inner, closer, rf"\begin{{{name}}}")
        if close is None:
            self._unclosed(start, rf"\begin{{{name}}}", closer)
            return inner
        if name.startswith(("alignat", "IEEE")) and (
            argument := _ARGUMENTS.match(self.text, inner)
        ):
            inner = argument.end()
        end = close + len(closer)
        self._add(Kind.ENVIRONMENT, (inner, close), (start, end), name)
        return end

    def _bracketed(self, start: int, opener: str) -> int:
        kind, closer = _BRACKETED[opener]
        inner = start + len(opener)
        close = self._close(inner, closer, opener)
        if close is None:
            if len(opener) == 2 and (self.syntax.latex or start not in self._brackets):
                self._unclosed(start, opener, closer)
            return start + 2
        end = close + len(closer)
        self._add(kind, (inner, close), (start, end))
        return end

    @cached_property
    def _brackets(self) -> set[int]:
        """Escaped brackets that are no openers: a plain one closes them on the same line."""
        waiting: dict[str, list[int]] = {"]": [], ")": []}
        closed: set[int] = set()
        for bracket in _BRACKETS.finditer(self.text):
            mark = bracket[0][-1]
            if bracket[0] in {"]", ")"}:
                closed.update(waiting[mark][-1:])
                del waiting[mark][-1:]
            elif mark in "[(":
                waiting["]" if mark == "[" else ")"].append(bracket.start())
            elif mark in "\r\n":
                waiting = {"]": [], ")": []}
        return closed

    def _dollars(self, start: int, run: int) -> int:
        if run == 1:
            return self._dollar(start)
        if run > 2 and not self.syntax.latex:
            return start + run
        if run >= 4:
            return start + run // 4 * 4  # empty displays
        close = self._close(start + 2, "$$")
        if close is None:
            self._unclosed(start, "$$", "$$")
            return start + 2
        if self.syntax.latex or is_maths(self.text[start + 2 : close], display=True):
            self._add(Kind.DISPLAY, (start + 2, close), (start, close + 2))
            return close + 2
        return start + 2

    def _dollar(self, start: int) -> int:
        if self.text.startswith("`", start + 1) and self.syntax.code == "any":
            quoted = self.text.find("`$", start + 2, start + 1000)  # GitHub's $`x`$
            if quoted >= 0 and "\n" not in self.text[start:quoted]:
                self._add(Kind.INLINE, (start + 2, quoted), (start, quoted + 2))
                return quoted + 2
        close = self._close_of_dollar(start + 1)
        if close is None:
            following = self.text[start + 1 : start + 200]
            if self.syntax.latex or is_worth_reporting(following):
                self._unclosed(start, "$", "$")
            return start + 1
        after = self.text[close + 1 : close + 2]
        if self.syntax.latex or is_maths(self.text[start + 1 : close], after):
            self._add(Kind.INLINE, (start + 1, close), (start, close + 1))
            return close + 1
        return start + 1

    def _close_of_dollar(self, start: int) -> int | None:
        """The closing dollar; $x$ inside of an open \\text{ is passed over."""
        first = close = self._close(start, "$")
        for _ in range(3):  # more are not written, and would take time
            if close is None or not _OPEN_TEXT.search(self.text, max(start, close - 200), close):
                break
            inner = self._close(close + 1, "$")
            close = None if inner is None else self._close(inner + 1, "$")
        return first if close is None else close

    def _close(self, start: int, closer: str, opener: str = "") -> int | None:
        """Where the closer stands; None if the same opener or a blank line comes first."""
        for mark in _marks(closer, opener)(self.text, start):
            if mark[0] == closer:
                return mark.start()
            if mark[0] == opener or mark[0][0] in "\r\n":
                return None
        return None

    def _unclosed(self, start: int, opener: str, closer: str) -> None:
        message = f"{opener} is not closed by {closer} before the next blank line"
        self.found.problem(message, self.stretch.at(start))

    def _definition(self, start: int) -> int:
        end = start + 2
        if self.text[start + 1 : start + 2] not in {"n", "r", "p", "D", "d", "l"}:
            return end
        stop = self.definitions.end(start)
        if stop is None:
            return end
        self.found.macros.append(self.text[start:stop])
        return stop

    @cached_property
    def _backquotes(self) -> dict[int, list[int]]:
        """Where the runs of backquotes begin, by their length."""
        runs = defaultdict(list)
        for run in re.finditer("`+", self.text):
            runs[len(run[0])].append(run.start())
        return runs

    def _code(self, start: int, run: int) -> int:
        if self.syntax.code == "none":
            return start + run
        others = self._backquotes[run]
        following = bisect_right(others, start)
        if following == len(others):
            return start + run
        close = others[following]
        if self.text[max(start - 6, 0) : start] in {"{math}", ":math:"}:  # MyST's {math}`x`
            self._add(Kind.INLINE, (start + run, close), (start, close + run))
        if self.syntax.code == "text" and not self._is_code(self.text[start:close], run):
            return start + run
        return close + run

    def _is_code(self, text: str, run: int) -> bool:
        """Whether what backquotes in plain text hold is code, not a paragraph, or ``quoted''."""
        return run > 2 or ("\n" not in text and (run == 1 or "''" not in text))

    def _tag(self, token: re.Match[str]) -> int:
        """Pass over a tag of HTML, its attributes, and code in it."""
        name = token["element"].lower()
        if not self.syntax.markdown:
            return token.start() + 1
        if token[0][1] == "/" or name not in _CODE_IN_HTML:
            return token.end()
        ends = self._closing_tags[name]
        following = bisect_right(ends, token.end())
        return ends[following] if following < len(ends) else token.end()

    @cached_property
    def _closing_tags(self) -> dict[str, list[int]]:
        """Where the elements of code end, by their names."""
        closing = defaultdict(list)
        for tag in re.finditer(r"</([A-Za-z]+)\s*>", self.text):
            closing[tag[1].lower()].append(tag.end())
        return closing

    def _skipped(self, start: int, end: int) -> int:
        """Pass over what Markdown's dialects do not show."""
        if not self.syntax.markdown:
            return end
        if self.text[start] == "+":
            line = _LINE_END.search(self.text, start)
            return line.start() if line else len(self.text)
        return self.text.find("*/}", start) + 3 if start < self._last_closer else end

    @cached_property
    def _last_closer(self) -> int:
        return self.text.rfind("*/}")

    def _comment(self, token: re.Match[str]) -> int:
        start = token.start()
        if token[0][0] == "%":
            rest = _PERCENT.match(self.text, token.end())
            before = self.text[max(start - 200, 0) : start].rstrip(" \t")
            begins = not before or before[-1] in "\r\n"
            if rest is None and begins and self.syntax.markdown:
                line = _LINE_END.search(self.text, start)
                return line.start() if line else len(self.text)
            if rest is None or not begins:
                return token.end()
            self.found.remark(rest[0], self.stretch.at(start), self.stretch.after(rest.end()))
            return rest.end()
        close = self.text.find("-->", start + 4)
        if close < 0:
            message = "comment is not closed: what follows is not read"
            self.found.problem(message, self.stretch.at(start))
            return len(self.text)
        inside = self.text[start + 4 : close]
        self.found.remark(inside, self.stretch.at(start), self.stretch.after(close + 3))
        return close + 3

    def _add(
        self, kind: Kind, inside: tuple[int, int], whole: tuple[int, int], environment: str = ""
    ) -> None:
        definitions = self.definitions.within(*inside)
        self.found.macros += [self.text[start:end] for start, end in definitions]
        inner = self.stretch.cut(_gaps(definitions, inside[1], inside[0]))
        add_span(self.found, inner, kind, self.stretch, whole, environment)


def _gaps(taken: list[tuple[int, int]], end: int, start: int = 0) -> list[tuple[int, int]]:
    """What lies between pieces given in their order."""
    starts, ends = [start, *(last for _, last in taken)], [*(first for first, _ in taken), end]
    return [gap for gap in zip(starts, ends, strict=True) if gap[0] < gap[1]]


@cache
def _marks(closer: str, opener: str) -> Callable[[str, int], Iterator[re.Match[str]]]:
    """What a search for a closer must look at, from a position on."""
    wanted = "|".join(re.escape(mark) for mark in (closer, opener) if mark)
    return re.compile(rf"{wanted}|{BLANK}|\\.", re.DOTALL).finditer
