"""Plain mathematics into the tokens of the grammar: E[gelu(z)^2] = 1/3 + sqrt(3)/(6 pi).

Names are words, with subscripts behind underscores or in square brackets: n_in, w[i,j], x_{t+1}.
"""

import re
from dataclasses import dataclass

from lark import Token

from varlaw.symbolic.formulas.limits import MAX_DEPTH, MAX_TOKENS, NotRead, check_digits
from varlaw.symbolic.formulas.vocabulary import (
    GREEK,
    MOMENTS,
    RAISED,
    RELATIONS,
    STYLES,
    TIMES,
    UNICODE,
    function,
    words,
)

LEXEME = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)"
    r"|(?P<sign>\.\.\.|\.\.|===|<=>|:=|<=|>=|!=|~=|==|->|=>|<<|>>|\*\*|\|\||.)",
    re.DOTALL,
)
CONDITION = re.compile(r"\s*\[[^\[\]]*[<>]")
NEXT = re.compile(r"\s*(.?)", re.DOTALL)
ENDS = words(
    "NUMBER DIGITS NAME WORD INFINITY FUNCTION RBRACE CLOSE BAR_CLOSE NORM_CLOSE PRIME BANG "
    "PERCENT MARK CASES_CLOSE DIFFERENTIAL"
)
SIMPLE = {
    "+": "PLUS", "-": "MINUS", "/": "SLASH", "!": "BANG", "'": "PRIME", "%": "PERCENT",
    "..": "RANGE", "_": "SUB", r"\sum": "SUM", r"\prod": "PRODUCT", r"\infty": "INFINITY",
}  # fmt: skip
BIG = {"sum": "SUM", "prod": "PRODUCT", "lim": "LIMIT", "int": "INTEGRAL"}
KEYWORDS = {
    "oo": ("INFINITY", "oo"), "inf": ("INFINITY", "oo"), "infinity": ("INFINITY", "oo"),
    "in": ("RELATION", "in"), "prop": ("RELATION", "prop"), "if": ("CASE_SEP", "if"),
    "and": ("COMMA", ","), "otherwise": ("OTHERWISE", "otherwise"),
}  # fmt: skip
CLOSERS = {")": "([", "]": "[(", "}": "{"}


@dataclass(slots=True)
class Open:
    """A bracket that is not closed yet."""

    sign: str
    kind: str  # the token that closes it
    start: int
    first: int  # the index of its token
    words: bool = False
    conditional: bool = False
    integrals: int = 0


class Plain:
    """One reading of a text; `tokens` is the result."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.stack = [Open("", "", 0, 0)]
        self.closed = -1  # the index of the token that opened the bracket closed last

    def read(self) -> list[Token]:
        """All tokens. Raises NotRead."""
        for match in LEXEME.finditer(self.text):
            kind, start, end = match.lastgroup or "", match.start(), match.end()
            text = match.group()
            if kind == "number":
                self.number(text, start, end)
            elif kind == "name":
                self.name(text, start, end)
            elif kind == "sign":
                self.sign(UNICODE.get(text, text), start, end)
            if len(self.tokens) > MAX_TOKENS:
                raise NotRead(f"more than {MAX_TOKENS} tokens", start, end)
        if len(self.stack) > 1:
            raise NotRead(f"{self.stack[-1].sign} is not closed", self.stack[-1].start)
        return self.tokens

    @property
    def top(self) -> Open:
        return self.stack[-1]

    def last(self, back: int = 1) -> str:
        """The kind of the token read last, or of one before."""
        return self.tokens[-back].type if len(self.tokens) >= back else ""

    def emit(self, kind: str, text: str, start: int, end: int) -> None:
        self.tokens.append(Token(kind, text, start_pos=start, end_pos=end))

    def number(self, text: str, start: int, end: int) -> None:
        check_digits(text, start, end)
        self.emit("NUMBER", text.replace("E", "e"), start, end)

    def name(self, text: str, start: int, end: int) -> None:
        core, *below = text.split("_")
        if text in KEYWORDS:
            return self.keyword(text, start, end)
        if core in BIG:
            kind = BIG[core]
            self.top.integrals += kind == "INTEGRAL"
            self.emit(kind, core, start, start + len(core))
        elif text == "cases" and self.text[end : end + 1] == "(":
            return None
        elif self.top.integrals and core[0] == "d" and (core[1:] in GREEK or len(core) == 2):
            self.top.integrals -= 1
            return self.emit("DIFFERENTIAL", core[1:], start, end)
        elif (named := function(text) or function(core)) and not (
            self.in_subscript and self.following(end) != "("
        ):
            below = [] if function(text) else below
            self.emit("FUNCTION", named, start, start + len(core) if below else end)
        elif self.is_moment(core, end):
            self.emit("MOMENT", core, start, start + len(core))
        else:
            while core.split("_")[-1] in STYLES and below:
                core = f"{core}_{below.pop(0)}"
            if self.in_subscript and core.isalnum() and not below and is_word(core):
                return self.emit("WORD", core, start, end)
            self.emit("NAME", core, start, start + len(core))
        if below:
            self.subscripts(below, start + len(core) + 1, end)
        return None

    @property
    def in_subscript(self) -> bool:
        return self.top.words or self.last() == "SUB"

    def following(self, place: int) -> str:
        """The next character that is no space, "" at the end."""
        match = NEXT.match(self.text, place)
        return match.group(1) if match else ""

    def is_moment(self, word: str, end: int) -> bool:
        """Whether a word is a variance, an E before square brackets, or a P before a condition."""
        if word == "P":
            return CONDITION.match(self.text, end) is not None
        if word == "E":
            return self.following(end) in ("[", "_")
        return word in MOMENTS and len(word) > 1

    def subscripts(self, below: list[str], start: int, end: int) -> None:
        self.emit("SUB", "_", start - 1, start)
        self.emit("LBRACE", "{", start, start)
        for place, word in enumerate(below):
            if place:
                self.emit("COMMA", ",", start - 1, start)
            if word.isdecimal():
                kind = "NUMBER"
            elif word == "oo":
                kind = "INFINITY"
            else:
                kind = "WORD" if is_word(word) else "NAME"
            self.emit(kind, word, start, start + len(word))
            start += len(word) + 1
        self.emit("RBRACE", "}", end, end)

    def keyword(self, text: str, start: int, end: int) -> None:
        kind, value = KEYWORDS[text]
        if self.in_subscript and kind != "INFINITY":
            kind, value = "WORD", text
        elif kind == "OTHERWISE":
            self.emit("CASE_SEP", "if", start, start)
        self.emit(kind, value, start, end)

    def sign(self, text: str, start: int, end: int) -> None:
        if text in "([{" and len(text) == 1:
            return self.open(text, start, end)
        if text in ")]}" and len(text) == 1:
            return self.close(text, start, end)
        if text in ("|", "||", r"\|"):
            return self.bar(text, start, end)
        if text in ("^", "**"):
            return self.emit("SUP", "^", start, end)
        if text in TIMES:
            return self.emit("TIMES", text, start, end)
        if text in ("...", r"\dots"):
            return self.dots(start, end)
        if text in SIMPLE:
            return self.emit(SIMPLE[text], text, start, end)
        if text == "!=" and self.tokens and self.tokens[-1].end_pos == start:
            raise NotRead("a factorial or an inequality? spaces", start, end)
        if text in RELATIONS:
            return self.emit("RELATION", RELATIONS[text], start, end)
        if text in ",;":
            return self.comma(text, start, end)
        return self.other(text, start, end)

    def other(self, text: str, start: int, end: int) -> None:
        name = text[1:]
        if name in GREEK and text[0] == "\\":
            self.emit("NAME", name, start, end)
        elif text in (r"\E", r"\Pr"):
            self.emit("MOMENT", name, start, end)
        elif text == r"\sqrt":
            self.emit("FUNCTION", "sqrt", start, end)
        elif text == r"\int":
            self.top.integrals += 1
            self.emit("INTEGRAL", text, start, end)
        elif text in RAISED and RAISED[text].isdecimal():
            self.emit("SUP", "^", start, start)
            self.emit("NUMBER", RAISED[text], start, end)
        elif text == "." and len(self.stack) == 1:
            self.emit("SEPARATOR", ".", start, end)
        elif text == "\\":
            raise NotRead("LaTeX in plain mathematics", start, end)
        else:
            raise NotRead(f"an unknown sign, {self.text[start:end]!r}", start, end)

    def dots(self, start: int, end: int) -> None:
        last = self.tokens[-1] if self.tokens else None
        if last is None or last.type != "NUMBER" or "." not in last or "e" in last:
            raise NotRead("an ellipsis", start, end)
        self.tokens[-1] = Token("DIGITS", str(last), start_pos=last.start_pos, end_pos=end)

    def comma(self, text: str, start: int, end: int) -> None:
        if len(self.stack) == 1:
            return self.emit("SEPARATOR", ",", start, end)
        return self.emit("CASE_ROW" if self.top.sign == "cases" else "COMMA", text, start, end)

    # ---- brackets ------------------------------------------------------------------------------

    def open(self, text: str, start: int, end: int) -> None:
        last = self.last()
        words = self.top.words and text in "{("
        if text == "{" and last in ("SUB", "SUP"):
            words = words or (last == "SUB" and self.last(2) in ("NAME", "RBRACE", "PRIME"))
            level = Open(text, "RBRACE", start, len(self.tokens), words)
            self.emit("LBRACE", text, start, end)
        elif text == "[" and last == "NAME" and start == self.tokens[-1].end_pos:
            self.emit("SUB", "_", start, start)
            level = Open(text, "RBRACE", start, len(self.tokens))
            self.emit("LBRACE", "{", start, end)
        elif text == "(" and self.text.startswith("cases", max(start - 5, 0)) and last != "NAME":
            level = Open("cases", "CASES_CLOSE", start, len(self.tokens))
            self.emit("CASES_OPEN", "cases", start - 5, end)
        else:
            conditional = last in ("MOMENT", "NAME", "RBRACE")
            level = Open(text, "CLOSE", start, len(self.tokens), words, conditional)
            self.emit("OPEN", text, start, end)
        if len(self.stack) > MAX_DEPTH:
            raise NotRead(f"brackets nested deeper than {MAX_DEPTH}", start, end)
        self.stack.append(level)

    def close(self, text: str, start: int, end: int) -> None:
        level = self.top
        opener = "(" if level.sign == "cases" else level.sign
        if not opener or opener not in CLOSERS[text]:
            raise NotRead(f"{text} closes nothing", start, end)
        if level.integrals:
            raise NotRead("an integral without its differential", level.start, end)
        self.stack.pop()
        if level.kind == "RBRACE" and self.last() == "CLOSE" and self.closed == level.first + 1:
            before = self.tokens[level.first - 1]
            if before.type == "SUP":
                self.tokens[level.first - 1] = before.update(type="LABEL")
        self.closed = level.first
        self.emit(level.kind, "}" if level.kind == "RBRACE" else text, start, end)

    def bar(self, text: str, start: int, end: int) -> None:
        sign, kind = ("|", "BAR") if text == "|" else ("||", "NORM")
        ended = self.last() in ENDS
        if ended and self.top.sign == sign:
            if self.top.integrals:
                raise NotRead("an integral without its differential", start, end)
            self.stack.pop()
            return self.emit(f"{kind}_CLOSE", text, start, end)
        if ended and self.top.conditional and kind == "BAR":
            return self.emit("MID", text, start, end)
        if len(self.stack) > MAX_DEPTH:
            raise NotRead(f"brackets nested deeper than {MAX_DEPTH}", start, end)
        self.stack.append(Open(sign, "", start, len(self.tokens)))
        return self.emit(f"{kind}_OPEN", text, start, end)


def is_word(name: str) -> bool:
    """Whether a subscript is a word: more than a letter."""
    return len(name) > 1 and name not in GREEK


def plain_tokens(text: str) -> list[Token]:
    """The tokens of plain mathematics; exponents in brackets or braces, or one name or number."""
    return _exponents(Plain(text).read())


def _exponents(tokens: list[Token]) -> list[Token]:
    """Braces around what a ^ raises to: a sign, a name with subscripts, a bracket."""
    closing: list[int] = []
    done: list[Token] = []
    depth = 0
    place = 0
    while place < len(tokens):
        token = tokens[place]
        done.append(token)
        depth += (token.type in ("LBRACE", "OPEN")) - (token.type in ("RBRACE", "CLOSE"))
        while closing and depth == closing[-1] and not _goes_on(tokens, place):
            closing.pop()
            end = token.end_pos
            done.append(Token("RBRACE", "}", start_pos=end, end_pos=end))
        if token.type == "SUP" and place + 1 < len(tokens):
            following = tokens[place + 1]
            if following.type != "LBRACE":
                start = following.start_pos
                done.append(Token("LBRACE", "{", start_pos=start, end_pos=start))
                closing.append(depth)
        place += 1
    return done


def _goes_on(tokens: list[Token], place: int) -> bool:
    """Whether an exponent that is open goes on behind this token."""
    kind = tokens[place].type
    if kind in ("SUP", "SUB", "MINUS", "LBRACE", "OPEN"):
        return True
    following = tokens[place + 1].type if place + 1 < len(tokens) else ""
    if following == "SUB":
        return True
    touches = following == "OPEN" and tokens[place + 1].start_pos == tokens[place].end_pos
    if kind == "FUNCTION" or (kind in ("NAME", "RBRACE") and touches):
        raise NotRead("a call in an exponent without brackets", tokens[place].start_pos or 0)
    return False
