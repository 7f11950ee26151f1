r"""LaTeX into the tokens of the grammar: what TeX's spelling means, but not yet what is computed.

Done here, since only the spelling knows it: single digits as arguments (\tfrac12, x_1), words
against letters (n_{in}, \text{relu}), which bar opens and which closes, the d of an integral,
rows of a display, and what is layout. One pass over the pieces, with a stack of open brackets.
"""

import re
from unicodedata import normalize

from lark import Token

from varlaw.symbolic.formulas.latex_brackets import CLOSING, OPENERS, Brackets
from varlaw.symbolic.formulas.latex_names import BOLD, Names
from varlaw.symbolic.formulas.latex_numbers import Numbers
from varlaw.symbolic.formulas.latex_scanner import Open
from varlaw.symbolic.formulas.limits import MAX_TOKENS, NotRead
from varlaw.symbolic.formulas.macros import Piece
from varlaw.symbolic.formulas.vocabulary import (
    ACCENTS,
    BARS,
    DOTS,
    FONTS,
    LOWERED,
    QUADS,
    RAISED,
    REFUSED,
    RELATIONS,
    ROOTS,
    SPACES,
    TIMES,
    UNICODE,
    UNSEEN,
    UPRIGHT,
)

BASES = frozenset({"NAME", "VARIABLE", "WORD"})
POWERS = ("NUMBER", "DIGITS", "SUM", "PRODUCT", "INTEGRAL")  # ^T is no transpose behind these
FRACTIONS = (r"\frac", r"\tfrac", r"\dfrac", r"\cfrac", r"\nicefrac", r"\sfrac")
FRACTION_SIGN = re.compile(r"(\d+)\N{FRACTION SLASH}(\d+)")
SHORT = 8  # pieces of a superscript that is no power
SIMPLE = {
    "+": "PLUS", "-": "MINUS", r"\pm": "PLUS_MINUS", "/": "SLASH", r"\div": "SLASH",
    "!": "BANG", "'": "PRIME", r"\prime": "PRIME",
    r"\sum": "SUM", r"\prod": "PRODUCT", r"\lim": "LIMIT", r"\infty": "INFINITY", r"\%": "PERCENT",
}  # fmt: skip


class Latex(Numbers, Names, Brackets):
    """One reading of pieces."""

    def read(self) -> list[Token]:
        """All tokens. Raises NotRead."""
        while self.place < len(self.source):
            piece = self.source[self.place]
            self.place += 1
            self.piece(piece)
            if len(self.tokens) > MAX_TOKENS:
                raise NotRead(f"more than {MAX_TOKENS} tokens", piece.start, piece.end)
        if len(self.stack) > 1:
            top = self.stack[-1]
            raise NotRead(f"{top.sign} is not closed", top.start)
        if self.top.integrals:
            raise NotRead("an integral without its differential", 0, self.source[-1].end)
        return self.tokens

    def piece(self, piece: Piece) -> None:
        if piece.text in ROOTS and not self.wants:
            return self.root_sign(piece)
        text = UNICODE.get(piece.text, piece.text)
        if text != piece.text:
            piece = piece._replace(text=text)
        if piece.is_space or text in SPACES:
            return self.space(text)
        if text.isdecimal() or (text == "." and self.ahead().isdecimal()):
            return self.number(piece)
        if len(text) == 1 and text.isalpha() and text.isascii():
            return self.letters(piece)
        if text == "{":
            return self.open_brace(piece)
        if text == "}":
            return self.close(piece, "{", "RBRACE")
        if text in OPENERS:
            return self.open_bracket(piece)
        if text in CLOSING:
            return self.close_bracket(piece)
        if text in BARS:
            return self.bar(piece)
        if text in ("_", "^"):
            return self.script(piece)
        if text in RELATIONS or text in (":", r"\not"):
            return self.relation(piece)
        return self.command(piece)

    def command(self, piece: Piece) -> None:
        text = piece.text
        if text in SIMPLE:
            self.emit(SIMPLE[text], piece)
            return self.used() if text == r"\infty" else None
        if text in TIMES:
            return self.emit("TIMES", piece)
        if text in (",", ";"):
            return self.comma(piece)
        if text == ".":
            return self.dot(piece)
        if text in DOTS:
            return self.dots(piece)
        if text == r"\mid":
            return self.emit("MID", piece)
        if text in (r"\left", r"\right", r"\middle"):
            return self.sized(piece)
        if text == r"\\" or text == r"\newline":
            return self.row(piece)
        if text in QUADS:
            return self.separator(piece, "quad")
        if text == r"\int":
            self.top.integrals += 1
            return self.emit("INTEGRAL", piece)
        if text in FRACTIONS:
            self.emit("FRAC", piece)
            self.top.fractions += 1
            self.wants = max(self.wants - 1, 0) + 2
            return None
        if text in (r"\binom", r"\tbinom", r"\dbinom"):
            self.emit("BINOM", piece)
            self.wants = max(self.wants - 1, 0) + 2
            return None
        if text == r"\sqrt":
            return self.root(piece)
        if text == "''":
            self.emit("PRIME", piece)
            return self.emit("PRIME", piece)
        if text == r"\num":
            return self.siunitx(piece)
        if text in ACCENTS and not self.plain_delta(text):
            self.emit("ACCENT", piece, ACCENTS[text])
            self.wants = max(self.wants, 1)
            return None
        if text in BOLD and self.formula_follows():
            return self.boxed(piece)
        if text in UPRIGHT or text in FONTS:
            return None if self.upright_exponent(piece) else self.font(piece)
        if text in (r"\intertext", r"\shortintertext"):
            return self.between_rows(piece)
        if text in (r"\begin", r"\end"):
            return self.environment(piece)
        if text in (r"\boxed", r"\fbox", r"\ensuremath", r"\alert", r"\structure"):
            return self.boxed(piece)
        if text in (r"\underbrace", r"\overbrace"):
            return self.underbrace(piece)
        if text in UNSEEN:
            for _ in range(UNSEEN[text]):
                self.argument(piece)
            return None
        if text in (r"\color", r"\textcolor", r"\mathcolor"):
            self.argument(piece)
            return self.coloured(piece)
        if text in (r"\overset", r"\stackrel"):
            return self.reasoned(piece)
        if text == "ᵀ":
            return self.emit("TRANSPOSE", piece)
        if text in (r"\top", r"\intercal", r"\dagger"):
            raise NotRead(REFUSED[text], piece.start, piece.end)
        if text in (r"\gets", r"\leftarrow", r"\mapsto"):
            raise NotRead(f"an arrow, {text}", piece.start, piece.end)
        if text in RAISED or text in LOWERED:
            return self.raised(piece)
        if fraction := FRACTION_SIGN.fullmatch(normalize("NFKC", text)):
            return self.fraction_sign(piece, *fraction.groups())
        return self.named(piece)

    def script(self, piece: Piece) -> None:
        if self.last() in ("SUB", "SUP"):
            raise NotRead("a script of a script", piece.start, piece.end)
        kind = "SUB" if piece.text == "_" else "SUP"
        self.words = kind == "SUB" and self.named_before()
        self.emit(kind, piece)
        self.wants = max(self.wants, 1)
        if kind == "SUP":
            self.superscript(piece)

    def named_before(self) -> bool:
        """Whether what was read last is a name, perhaps with primes or a superscript."""
        place, depth = len(self.tokens) - 1, 0
        while place >= 0:
            kind = self.tokens[place].type
            depth += (kind in ("RBRACE", "CLOSE")) - (kind in ("LBRACE", "OPEN"))
            if depth == 0 and kind in BASES:
                before = self.tokens[place - 1].type if place else ""
                if before not in ("SUP", "SUB"):
                    return True
            elif depth <= 0 and kind not in ("PRIME", "SUP", "LBRACE", "NUMBER", "MARK"):
                return kind == "FUNCTION"
            place -= 1
        return False

    def superscript(self, piece: Piece) -> None:
        """Superscripts that are no powers: stars and transposes."""
        self.skip_spaces()
        window = [item.text for item in self.source[self.place : self.place + SHORT]]
        size = 1 if window[:1] != ["{"] else _closed(window)
        inside = [
            text
            for text in window[:size]
            if text not in UPRIGHT and text not in FONTS and text not in "{} "
        ]
        if inside in (["*"], [r"\ast"], [r"\star"]):
            self.place += size
            return self.marked(piece)
        if inside and set(inside) <= {"'", r"\prime"}:
            self.tokens.pop()
            for _ in inside:
                self.emit("PRIME", piece)
            self.place += size
            return self.used()
        if inside in (["+"], ["-"]) and self.approaches(inside[0]):
            self.place += size
            return
        power = "T" in self.variables or self.base() in POWERS
        if inside in ([r"\top"], [r"\intercal"]) or (inside == ["T"] and not power):
            self.place += size
            self.transposed(piece)

    def approaches(self, side: str) -> bool:
        r"""Whether the sign is that of a limit from one side, \lim_{x \to 0^+}: then it is read."""
        kinds = [token.type for token in self.tokens]
        start = len(kinds) - 1 - kinds[::-1].index("RELATION") if "RELATION" in kinds else 0
        if kinds[max(start - 4, 0) : start] != ["LIMIT", "SUB", "LBRACE", "NAME"]:
            return False
        arrow = self.tokens[start]
        if arrow != "->" or "LBRACE" in kinds[start:]:
            return False
        self.tokens.pop()
        self.tokens[start] = arrow.update(value=f"->{side}")
        self.used()
        return True

    def marked(self, piece: Piece) -> None:
        self.tokens.pop()
        self.emit("MARK", piece, "*", self.source[self.place - 1].end)
        self.used()

    def base(self) -> str:
        """The kind of the token that the script which was read last stands on."""
        place, depth = len(self.tokens) - 2, 0
        while place >= 0:
            kind = self.tokens[place].type
            depth += (kind in ("RBRACE", "CLOSE")) - (kind in ("LBRACE", "OPEN"))
            before = self.tokens[place - 1].type if place else ""
            if depth == 0 and before not in ("SUB", "SUP"):
                return kind
            place -= 1 if depth else 2
        return ""

    def transposed(self, piece: Piece) -> None:
        self.tokens.pop()
        self.emit("TRANSPOSE", piece, "ᵀ", self.source[self.place - 1].end)
        self.used()

    def root(self, piece: Piece) -> None:
        self.skip_spaces()
        if self.ahead() != "[":
            self.emit("ROOT", piece)
            self.wants = max(self.wants, 1)
            return
        self.emit("ROOT_OF", piece)
        bracket = self.source[self.place]
        self.place += 1
        self.emit("LBRACE", bracket, "{")
        self.push(Open("[", bracket.start, wants=max(self.wants, 1)))

    def space(self, text: str) -> None:
        if text != "&":
            return
        piece = self.source[self.place - 1]
        if self.top.sign == "cases":
            self.case_separator(piece)
        elif self.outer:
            self.emit("SEPARATOR", piece, "&")
        else:
            raise NotRead("an alignment inside brackets", piece.start, piece.end)

    def relation(self, piece: Piece) -> None:
        text, end = piece.text, piece.end
        if text == r"\not":
            self.skip_spaces()
            if RELATIONS.get(self.ahead()) != "=":
                raise NotRead(r"\not before something else than =", piece.start, piece.end)
            end = self.source[self.place].end
            self.place += 1
            return self.emit("RELATION", piece, "!=", end)
        while self.ahead() and text + self.ahead() in RELATIONS:
            text, end = self.take(text)
        ratio = self.last() == "NUMBER" and self.ahead().isdecimal()
        if text == ":" and ratio and len(self.ahead()) == 2:
            raise NotRead("a time or a ratio?", piece.start, piece.end)
        if text == ":" and ratio and ":" not in self.tokens[-2:]:
            return self.emit("SLASH", piece, ":")
        if text == ":":
            raise NotRead("a colon between formulas", piece.start, piece.end)
        return self.emit("RELATION", piece, RELATIONS[text], end)

    def comma(self, piece: Piece) -> None:
        if self.top.sign == "cases":
            return self.case_separator(piece)
        if self.outer:
            return self.separator(piece, ",")
        return self.emit("COMMA", piece)

    def dot(self, piece: Piece) -> None:
        if self.ahead() == "." and self.fraction_or_dots():
            return self.dots(piece)
        if not self.outer and self.top.sign != "cases":
            raise NotRead("a full stop inside a formula", piece.start, piece.end)
        if self.outer:
            self.emit("SEPARATOR", piece, ".")
        return None

    def fraction_or_dots(self) -> bool:
        if [item.text for item in self.source[self.place : self.place + 2]] != [".", "."]:
            return False
        self.place += 2
        return True


def _closed(texts: list[str]) -> int:
    """The number of texts up to the brace that closes the first one, 0 if it is not there."""
    depth = 0
    for place, text in enumerate(texts, 1):
        depth += (text == "{") - (text == "}")
        if depth == 0:
            return place
    return 0
