"""Plain mathematics into the tokens of the grammar: E[gelu(z)^2] = 1/3 + sqrt(3)/(6 pi).

Names are words, with subscripts behind underscores or in square brackets: n_in, w[i,j], x_{t+1}.
"""

import re

from lark import Token

from varlaw.symbolic.formulas.limits import MAX_TOKENS, NotRead, check_digits
from varlaw.symbolic.formulas.plain_brackets import Brackets
from varlaw.symbolic.formulas.vocabulary import (
    CONTINENTAL,
    GREEK,
    MOMENTS,
    RAISED,
    RELATIONS,
    STYLES,
    TIMES,
    UNICODE,
    function,
)

LEXEME = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*)"
    r"|(?P<sign>\.\.\.|\.\.|===|<=>|:=|<=|>=|!=|~=|==|->|=>|<<|>>|\^\s*⊤|\*\*|\|\||.)",
    re.DOTALL,
)
CONDITION = re.compile(r"\s*\[[^\[\]]*[<>=]")
NEXT = re.compile(r"\s*(.?)", re.DOTALL)
SIMPLE = {
    "+": "PLUS", "-": "MINUS", "/": "SLASH", "!": "BANG", "'": "PRIME", "%": "PERCENT",
    "..": "RANGE", "_": "SUB", r"\sum": "SUM", r"\prod": "PRODUCT", r"\infty": "INFINITY",
    "ᵀ": "TRANSPOSE",
}  # fmt: skip
BIG = {"sum": "SUM", "prod": "PRODUCT", "lim": "LIMIT", "int": "INTEGRAL"}
KEYWORDS = {
    "oo": ("INFINITY", "oo"), "inf": ("INFINITY", "oo"), "infinity": ("INFINITY", "oo"),
    "in": ("RELATION", "in"), "prop": ("RELATION", "prop"), "if": ("CASE_SEP", "if"),
    "and": ("COMMA", ","), "otherwise": ("OTHERWISE", "otherwise"),
}  # fmt: skip


class Plain(Brackets):
    """One reading of a text; `tokens` is the result."""

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

    def number(self, text: str, start: int, end: int) -> None:
        check_digits(text, start, end)
        self.emit("NUMBER", text.replace("E", "e"), start, end)

    def name(self, text: str, start: int, end: int) -> None:
        core, *below = text.split("_")
        if text in KEYWORDS:
            return self.keyword(text, start, end)
        if core in BIG:
            kind = BIG[core]
            if kind in ("SUM", "PRODUCT") and not below and self.following(end) == "(":
                raise NotRead(f"write {core}_{{i=1}}^n x[i]: the index before the terms", start)
            self.top.integrals += kind == "INTEGRAL"
            self.emit(kind, core, start, start + len(core))
        elif text == "cases" and self.text[end : end + 1] == "(":
            return None
        elif self.top.integrals and core[0] == "d" and (core[1:] in GREEK or len(core) == 2):
            self.top.integrals -= 1
            return self.emit("DIFFERENTIAL", core[1:], start, end)
        elif text in CONTINENTAL and self.text[end : end + 1] == "(":
            self.emit("FUNCTION", CONTINENTAL[text], start, end)
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
        if text[0] == "^" and text[-1] == "⊤":
            return self.emit("TRANSPOSE", text, start, end)
        if text in ("^", "**"):
            return self.emit("SUP", "^", start, end)
        if text in TIMES:
            return self.emit("TIMES", text, start, end)
        if text in ("...", r"\dots"):
            return self.dots(start, end)
        if text in SIMPLE:
            return self.emit(SIMPLE[text], text, start, end)
        if text == "!=" and self.tokens and self.tokens[-1].end_pos == start:
            raise NotRead("a factorial or an inequality?", start, end)
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
            raise NotRead(f"an unknown sign, {self.text[start:end]}", start, end)

    def dots(self, start: int, end: int) -> None:
        last = self.tokens[-1] if self.tokens else None
        if last is None or last.type != "NUMBER" or "." not in last or "e" in last:
            raise NotRead("an ellipsis", start, end)
        self.tokens[-1] = Token("DIGITS", str(last), start_pos=last.start_pos, end_pos=end)

    def comma(self, text: str, start: int, end: int) -> None:
        if len(self.stack) == 1:
            return self.emit("SEPARATOR", ",", start, end)
        return self.emit("CASE_ROW" if self.top.sign == "cases" else "COMMA", text, start, end)


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
