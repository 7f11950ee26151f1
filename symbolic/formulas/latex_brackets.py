r"""Brackets in LaTeX: which bar opens and which closes, cases, displays and boxes."""

from varlaw.symbolic.formulas.latex_scanner import Open, Scanner
from varlaw.symbolic.formulas.limits import NotRead, begin
from varlaw.symbolic.formulas.macros import Piece
from varlaw.symbolic.formulas.vocabulary import (
    BARS,
    RELATIONS,
    ROWS,
    TIMES,
    UNICODE,
    words,
)

ENDS = words(
    "NUMBER DIGITS NAME VARIABLE WORD INFINITY FUNCTION MOMENT ONE RBRACE CLOSE BAR_CLOSE "
    "NORM_CLOSE PRIME TRANSPOSE BANG PERCENT MARK CASES_CLOSE DIFFERENTIAL"
)
CLOSERS = {
    ")": "(", "]": "[", r"\}": r"\{", "|": "|", r"\|": r"\|", r"\rfloor": r"\lfloor",
    r"\rceil": r"\lceil",
}  # fmt: skip
OPENERS = words(r"( [ \{ \lbrace \lbrack \lfloor \lceil")
CLOSING = words(r") ] \} \rbrace \rbrack \rfloor \rceil")
TIGHT = frozenset({*RELATIONS, *UNICODE, *TIMES, "+", "-", "/", ":"})
ROUNDED = {r"\lfloor": "floor", r"\lceil": "ceil"}


class Brackets(Scanner):
    """Reads brackets of all kinds."""

    def open_brace(self, piece: Piece) -> None:
        if self.ahead() == "}" and not self.wants:  # {} = 1 in a table of equations
            self.place += 1
            return
        if not self.wants and self.ahead() in TIGHT and self.closes(1):  # a{=}b, without gaps
            self.source[self.place + 1 : self.place + 2] = []
            return
        numerator = self.last() == "FRAC"
        level = Open("{", piece.start, words=self.words, wants=self.wants, numerator=numerator)
        self.push(level)
        self.emit("LBRACE", piece)

    def closes(self, further: int) -> bool:
        """Whether a brace closes so many pieces further."""
        place = self.place + further
        return place < len(self.source) and self.source[place].text == "}"

    def open_bracket(self, piece: Piece) -> None:
        sign = {r"\lbrace": r"\{", r"\lbrack": "["}.get(piece.text, piece.text)
        if self.ahead() == r"\#":  # (\#eq:label) of R Markdown
            return self.skip_label(piece)
        conditional = self.last() in ("MOMENT", "NAME", "RBRACE", "NUMBER")
        wants, self.wants = self.wants, 0
        if wants:
            raise NotRead(f"{piece.text} as an argument without braces", piece.start, piece.end)
        if sign in ROUNDED:
            self.emit("FUNCTION", piece, ROUNDED[sign])
        self.push(Open(sign, piece.start, conditional=conditional))
        self.emit("OPEN", piece, "(" if sign in ROUNDED else sign)

    def skip_label(self, piece: Piece) -> None:
        while self.ahead() not in ("", ")"):
            self.place += 1
        if not self.ahead():
            raise NotRead("( is not closed", piece.start, piece.end)
        self.place += 1

    def close_bracket(self, piece: Piece) -> None:
        sign = {r"\rbrace": r"\}", r"\rbrack": "]"}.get(piece.text, piece.text)
        opener = CLOSERS[sign]
        if self.top.sign == "[" and sign == "]" and self.top.wants:
            return self.close(piece, "[", "RBRACE")
        if {self.top.sign, opener} == {"(", "["}:
            opener = self.top.sign  # an interval that is open at one end
        return self.close(piece, opener, "CLOSE", ")" if opener in ROUNDED else sign)

    def close(self, piece: Piece, opener: str, kind: str, value: str | None = None) -> None:
        if self.top.sign != opener:
            raise NotRead(f"{piece.text} closes nothing", piece.start, piece.end)
        level = self.stack.pop()
        if level.sign == "cases":
            self.end_case()
        if level.integrals:
            raise NotRead("an integral without its differential", level.start, piece.end)
        whole = kind == "RBRACE" and self.last() == "CLOSE" and self.closed == level.first + 1
        before = self.tokens[level.first - 1].type if whole else ""
        self.closed = level.first
        if whole and not level.wants and not level.silent and level.sign == "{":
            del self.tokens[level.first]
        elif not level.silent:
            self.emit(kind, piece, "}" if kind == "RBRACE" else value)
        if before in ("SUB", "SUP"):
            self.label(level.first - 1)
        self.wants = level.wants
        if kind == "RBRACE" and level.sign == "{":
            self.used()
        if level.annotated:
            self.annotation()

    def label(self, place: int) -> None:
        """A superscript in brackets, as in W^{(l)}, names a layer."""
        if self.tokens[place].type == "SUB" and self.tokens[place + 2] == "(":
            raise NotRead("a subscript in brackets", begin(self.tokens[place]))
        if self.tokens[place].type == "SUP" and self.tokens[place + 2] in ("(", "["):
            self.tokens[place] = self.tokens[place].update(type="LABEL")

    def bar(self, piece: Piece, side: str = "") -> None:
        text = piece.text
        double = text in (r"\|", r"\Vert", r"\lVert", r"\rVert")
        sign, kind = (r"\|", "NORM") if double else ("|", "BAR")
        side = side or {r"\lv": "left", r"\lV": "left", r"\rv": "right", r"\rV": "right"}.get(
            text[:3], ""
        )
        ended = self.last() in ENDS
        if (
            text == "|"
            and not side
            and self.ahead() == "|"
            and not (ended and self.top.sign == "|")
        ):
            self.place += 1
            if self.ahead() == "|":
                raise NotRead("three bars", piece.start, piece.end + 2)
            piece, double, sign, kind = piece._replace(end=piece.end + 1), True, r"\|", "NORM"
        if not side and self.top.sign == sign and ended:
            side = "right"
        if not side and ended and self.top.conditional and not (double and self.pairs_up()):
            return self.emit("MID", piece)
        if side == "right":
            return self.close(piece, sign, f"{kind}_CLOSE")
        self.push(Open(sign, piece.start))
        return self.emit(f"{kind}_OPEN", piece)

    def pairs_up(self) -> bool:
        """Whether another double bar stands before the bracket closes: this one is of a norm."""
        depth = 0
        for item in self.source[self.place :]:
            depth += (item.text in OPENERS or item.text == "{") - (
                item.text in CLOSING or item.text == "}"
            )
            if depth < 0:
                return False
            if item.text in (r"\|", r"\Vert"):
                return True
        return False

    def sized(self, piece: Piece) -> None:
        self.skip_spaces()
        if self.place >= len(self.source):
            raise NotRead(f"{piece.text} without a bracket", piece.start, piece.end)
        bracket = self.source[self.place]
        self.place += 1
        side = piece.text[1:]
        if side == "middle" and bracket.text in ("|", r"\vert", r"\|", r"\Vert"):
            return self.emit("MID", bracket)
        if side == "left" and bracket.text in (r"\{", r"\lbrace") and self.array_follows():
            return self.open_cases(piece)
        if side == "left" and bracket.text == ".":
            self.push(Open("at", piece.start))
            return self.emit("AT_OPEN", piece)
        if side == "right" and bracket.text in ("|", r"\vert", r"\rvert") and self.top.sign == "at":
            return self.close(bracket, "at", "AT_CLOSE")
        if side == "right" and bracket.text == "." and self.top.sign == "cases":
            return self.close(piece, "cases", "CASES_CLOSE")
        start = piece.start if side == "left" else bracket.start
        bracket = bracket._replace(text=UNICODE.get(bracket.text, bracket.text), start=start)
        if bracket.text in OPENERS and side == "left":
            return self.open_bracket(bracket)
        if bracket.text in CLOSING and side == "right":
            return self.close_bracket(bracket)
        if bracket.text in BARS:
            return self.bar(bracket, side)
        raise NotRead(f"{piece.text}{bracket.text}", piece.start, bracket.end)

    def array_follows(self) -> bool:
        self.skip_spaces()
        return self.ahead() == r"\begin"

    def open_cases(self, piece: Piece) -> None:
        self.push(Open("cases", piece.start))
        self.emit("CASES_OPEN", piece)

    def end_case(self) -> None:
        """A case may end with a comma."""
        if self.last() == "CASE_SEP":
            self.tokens.pop()

    def environment(self, piece: Piece) -> None:
        name = "".join(item.text for item in self.argument(piece)).rstrip("*")
        end = self.source[self.place - 1].end
        if name in ("cases", "dcases"):
            if piece.text == r"\begin":
                return self.open_cases(piece)
            return self.close(piece, "cases", "CASES_CLOSE")
        alone = len(self.stack) == 1 and (piece.text == r"\end" or self.last() in ("", "SEPARATOR"))
        if name == "array" and (self.top.sign == "cases" or alone):
            if piece.text == r"\begin":
                self.argument(piece)
            return None
        if name in ("alignat", "alignedat") and piece.text == r"\begin":
            self.argument(piece)
        if "matrix" in name or name == "array":
            raise NotRead("a matrix", piece.start, end)
        if name not in ROWS or (len(self.stack) > 1 and self.top.sign != "cases"):
            raise NotRead(f"an environment, {name}", piece.start, end)
        self.joined = self.joined or name == "multline"
        return None

    def row(self, piece: Piece) -> None:
        self.skip_spaces_and_gap()
        if self.top.sign == "cases":
            self.end_case()
            return self.emit("CASE_ROW", piece)
        if not self.outer:
            raise NotRead("a new row inside brackets", piece.start, piece.end)
        return None if self.joined else self.separator(piece, "row")

    def skip_spaces_and_gap(self) -> None:
        """The optional star or [2pt] after a row."""
        if self.ahead() == "*":
            self.place += 1
        if self.ahead() == "[":
            gap = [item.text for item in self.source[self.place : self.place + 6]]
            if "]" in gap and any(unit in "".join(gap) for unit in ("pt", "em", "ex", "mm", "cm")):
                self.place += gap.index("]") + 1

    def boxed(self, piece: Piece) -> None:
        """A box around a whole formula is left out; around a part it is a pair of braces."""
        self.skip_spaces()
        if self.ahead() != "{":
            raise NotRead(f"{piece.text} without braces", piece.start, piece.end)
        whole = len(self.stack) == 1 and self.last() in ("", "SEPARATOR", "RELATION")
        brace = self.source[self.place]
        if whole and self.relation_inside():
            self.place += 1
            return self.push(Open("{", brace.start, silent=True))
        return None

    def coloured(self, piece: Piece) -> None:
        """What a colour is given to: braces, or all that follows."""
        self.skip_spaces()
        return self.boxed(piece) if self.ahead() == "{" else None

    def formula_follows(self) -> bool:
        """Whether braces come next with a number, other than 0 and 1, or a relation in them."""
        self.skip_spaces()
        if self.ahead() != "{":
            return False
        after = [item.text for item in self.source[self.place + 1 : self.place + 3]]
        number = (
            after[:1] and after[0].isdecimal() and not (after[0] in "01" and after[1:] == ["}"])
        )
        return bool(number) or self.relation_inside()

    def relation_inside(self) -> bool:
        depth = 0
        for item in self.source[self.place :]:
            depth += (item.text == "{") - (item.text == "}")
            if depth == 0:
                return False
            if depth == 1 and (item.text in RELATIONS or item.text in UNICODE):
                return True
        return False

    def underbrace(self, piece: Piece) -> None:
        """The formula above the brace; what is written below it is left out."""
        self.skip_spaces()
        if self.ahead() != "{":
            raise NotRead(f"{piece.text} without braces", piece.start, piece.end)
        self.place += 1
        self.open_brace(self.source[self.place - 1])
        self.top.annotated = True

    def annotation(self) -> None:
        """The script of an underbrace."""
        self.skip_spaces()
        if self.ahead() in ("_", "^"):
            self.place += 1
            self.argument(self.source[self.place - 1])
