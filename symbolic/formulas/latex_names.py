r"""Names in LaTeX: letters against words, fonts, prose, and the d of an integral."""

import re

from lark import Token

from varlaw.symbolic.formulas.latex_scanner import Open, Scanner
from varlaw.symbolic.formulas.limits import NotRead
from varlaw.symbolic.formulas.macros import Piece
from varlaw.symbolic.formulas.vocabulary import (
    CONDITIONS_IN_WORDS,
    CONNECTIVES,
    CONTINENTAL,
    FONTS,
    GREEK,
    MOMENTS,
    PROSE,
    REFUSED,
    RELATIONS,
    UNICODE,
    UPRIGHT,
    function,
    words,
)

INDICES = frozenset("ijkl")
WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9-]|\\_(?=[A-Za-z0-9]{2}))*")
ABBREVIATIONS = words("in th st nd rd up")
BOLD = (r"\mathbf", r"\boldsymbol", r"\bm", r"\textbf")
REASON = re.compile(r"\([A-Za-z0-9*]{1,4}\)|\\(?:eq)?ref[A-Za-z0-9:_.-]+")
DEFINING = ("def", "def.", r"\triangle", r"\Delta")
RESERVED = words("sum prod lim int oo inf infinity in prop if and otherwise cases")


class Names(Scanner):
    """Reads names."""

    def letters(self, piece: Piece) -> None:
        """Letters side by side: factors, or a word where only a word can stand."""
        run = [piece]
        if not self.wants:
            while len(ahead := self.ahead()) == 1 and ahead.isascii() and ahead.isalpha():
                run.append(self.source[self.place])
                self.place += 1
        word = "".join(letter.text for letter in run)
        end = run[-1].end
        if len(run) > 1 and self.top.words:
            if set(word) <= INDICES:
                return self.factors(run, comma=True)
            return self.emit("WORD", piece, word, end)
        if not self.wants and self.differential(run):
            return None
        if len(run) > 1 and word in self.variables:
            return self.emit("NAME", piece, word, end)
        if len(run) > 1 and (kind := kind_of(word)):
            return self.emit(kind[0], piece, kind[1], end)
        if word in ABBREVIATIONS and self.top.sign == "{" and self.superscript_open():
            raise NotRead(f"{word}: a word or a product", piece.start, end)
        if len(run) > 2 and not all(letter in self.variables for letter in word):
            raise NotRead(f"{word}: a word or a product", piece.start, end)
        return self.factors(run)

    def superscript_open(self) -> bool:
        """Whether the innermost brace is that of a superscript."""
        place = self.top.first
        return place > 0 and self.tokens[place - 1].type == "SUP"

    def factors(self, run: list[Piece], comma: bool = False) -> None:
        for letter in run:
            if comma and letter is not run[0]:
                self.emit("COMMA", letter, ",")
            if letter.text == "E" and letter is run[-1] and self.opens("["):
                self.emit("MOMENT", letter, "E")
            else:
                self.emit("NAME", letter)
        self.used()

    def differential(self, run: list[Piece]) -> bool:
        """The d x that ends an integral, also behind other letters or in a numerator."""
        home = self.integral()
        if home is None:
            return False
        letters = [letter.text for letter in run]
        if "d" not in letters:
            return False
        place = letters.index("d")
        if place == len(run) - 1:
            self.skip_spaces()
            following = self.source[self.place] if self.place < len(self.source) else None
            text = UNICODE.get(following.text, following.text) if following else ""
            name = text.lstrip("\\")
            if following is None or (name not in GREEK and not (name.isalpha() and len(name) == 1)):
                return False
            self.place += 1
            variable = following._replace(text=name)
        else:
            variable = run[place + 1]
        if place:
            self.factors(run[:place])
        token = Token(
            "DIFFERENTIAL", variable.text, start_pos=run[place].start, end_pos=variable.end
        )
        if home is self.top:
            home.integrals -= 1
            self.tokens.append(token)
        else:
            home.late = token
            if self.last() == "LBRACE":
                self.tokens.append(
                    Token("NUMBER", "1", start_pos=token.start_pos, end_pos=token.end_pos)
                )
        if (rest := run[place + 2 :]) and not self.differential(rest):
            self.factors(rest)
        return True

    def integral(self) -> Open | None:
        """The level whose integral a differential here would end."""
        if self.top.integrals:
            return self.top
        if self.top.numerator and self.stack[-2].integrals and self.stack[-2].late is None:
            return self.stack[-2]
        return None

    def font(self, piece: Piece) -> None:
        """A word or a letter in a font of its own."""
        content = self.argument(piece)
        if content and content[0].text in FONTS and piece.text in UPRIGHT:
            piece, inside = content[0], content[1:]  # \operatorname{\mathbb{E}}
            braced = len(inside) > 2 and inside[0].text == "{" and inside[-1].text == "}"
            content = inside[1:-1] if braced else inside
        text = "".join(item.text for item in content).replace("~", " ")
        end = self.source[self.place - 1].end
        word = text.strip()
        below = self.words or self.top.words
        one = text == word and WORD.fullmatch(word) is not None
        one = one and word.lower() not in CONNECTIVES | CONDITIONS_IN_WORDS
        if piece.text in PROSE and not below and not one:
            return self.prose(piece, text, end)
        if word == "1" and piece.text in (*FONTS, r"\mathrm"):
            self.emit("ONE", piece, "1", end)
            return self.used()
        if word == "d" and piece.text in UPRIGHT and self.integral():
            return self.upright_d(piece._replace(text="d", end=end))
        if below:
            word = word.replace(" ", "").replace("-", "")
            if not (word.isascii() and word.isalnum()):
                raise NotRead(f"a formula inside {piece.text}", piece.start, end)
            kind = "NAME" if len(word) == 1 or word in GREEK else "WORD"
            self.emit("NUMBER" if word.isdecimal() else kind, piece, word, end)
            return self.used()
        return self.styled(piece, word, end)

    def upright_d(self, piece: Piece) -> None:
        if not self.differential([piece]):
            raise NotRead("a differential without its variable", piece.start, piece.end)

    def styled(self, piece: Piece, word: str, end: int) -> None:
        letter = word.lstrip("\\")
        prefix = FONTS.get(piece.text, "")
        if piece.text in BOLD and word in ("E", "P", "Var", "Cov") and self.brackets_follow():
            prefix = ""
        if piece.text in (r"\mathbb", r"\mathds") and word in ("E", "P", "V", "I"):
            self.emit("ONE" if word == "I" else "MOMENT", piece, word, end)
        elif word == "T" and piece.text in UPRIGHT and self.last() == "SUP":
            raise NotRead("a transpose", piece.start, end)
        elif not prefix and word == "E":
            self.emit("MOMENT", piece, "E", end)
        elif not prefix and (kind_ := kind_of(word)):
            self.emit(kind_[0], piece, kind_[1], end)
        elif piece.text.startswith(r"\operatorname") and word in CONTINENTAL:
            self.emit("FUNCTION", piece, CONTINENTAL[word], end)
        elif letter in GREEK or (len(word) == 1 and word.isascii() and word.isalpha()):
            self.emit("NAME", piece, prefix + letter, end)
        elif not prefix and WORD.fullmatch(word):
            self.word(piece, word.replace("-", ""), end)
        else:
            raise NotRead(f"a formula inside {piece.text}", piece.start, end)
        return self.used()

    def brackets_follow(self) -> bool:
        """Whether square brackets come next, perhaps behind a subscript."""
        place = self.place
        if self.ahead() == "_":
            self.place += 1
            self.argument(self.source[self.place - 1])
        found, self.place = self.opens("["), place
        return found

    def word(self, piece: Piece, word: str, end: int) -> None:
        """A word that is a name; an underscore in it begins a subscript."""
        core, *below = word.split(r"\_")
        if core in RESERVED:
            raise NotRead(f"{core} as a name", piece.start, end)
        self.emit("NAME", piece, core, end)
        if below:
            self.emit("SUB", piece, "_", end)
            self.emit("LBRACE", piece, "{", end)
            self.emit("WORD", piece, "".join(below), end)
            self.emit("RBRACE", piece, "}", end)

    def prose(self, piece: Piece, text: str, end: int) -> None:
        words = {word.strip(".,;:()").lower() for word in text.split()}
        if self.top.sign == "cases":
            if words & {"otherwise", "else"}:
                return self.emit("OTHERWISE", piece, text, end)
            if words <= {"if", "for", "when", "where", "and", ""} and "and" not in words:
                return self.case_separator(piece)
            raise NotRead(f"words in a case: {text.strip()}", piece.start, end)
        if not self.outer:
            raise NotRead(f"words inside a formula: {text.strip()}", piece.start, end)
        if found := words & CONDITIONS_IN_WORDS:
            raise NotRead(f"a condition in words ({min(found)})", piece.start, end)
        linking = words & CONNECTIVES or not any(map(str.isalpha, words))
        return self.separator(piece, "text" if linking else "words")

    def between_rows(self, piece: Piece) -> None:
        r"""The words of \intertext, which stand in a row of their own."""
        content = "".join(item.text for item in self.argument(piece))
        if self.last() not in ("", "SEPARATOR"):
            self.separator(piece, "row")
        self.prose(piece, content, self.source[self.place - 1].end)

    def reasoned(self, piece: Piece) -> None:
        """A relation with its reason above, as in (a), or a definition by "def" above it."""
        above = self.argument(piece)
        told = "".join(item.text for item in above if item.text not in UPRIGHT and item.text != " ")
        told = told.replace("{", "").replace("}", "")
        sign = "".join(item.text for item in self.argument(piece))
        sign = RELATIONS.get(UNICODE.get(sign, sign), "")
        defines = sign == "=" and told in DEFINING
        if not defines and not (sign and REASON.fullmatch(told)):
            raise NotRead(f"{REFUSED[piece.text]}, {piece.text}", piece.start, piece.end)
        self.emit("RELATION", piece, ":=" if defines else sign, self.source[self.place - 1].end)

    def plain_delta(self, text: str) -> bool:
        """Whether a Delta is a letter of its own: no name is behind it."""
        if text != r"\Delta":
            return False
        self.skip_spaces()
        ahead = UNICODE.get(self.ahead(), self.ahead())
        named = ahead.isalpha() or ahead.lstrip("\\") in GREEK or ahead in FONTS
        return not named and ahead not in UPRIGHT

    def named(self, piece: Piece) -> None:
        """A command that is a name: a Greek letter, a function, an operator."""
        name = piece.text[1:] if piece.text.startswith("\\") else ""
        if name in GREEK:
            self.emit("NAME", piece, name)
        elif name in MOMENTS and name not in ("var", "sd", "P", "V"):
            self.emit("MOMENT", piece, name)
        elif named := function(name) or CONTINENTAL.get(name, ""):
            below = (self.words or self.top.words) and not self.opens("(")
            self.emit("WORD" if below else "FUNCTION", piece, named)
        elif piece.text in REFUSED:
            raise NotRead(f"{REFUSED[piece.text]}, {piece.text}", piece.start, piece.end)
        elif name.isalpha():
            raise NotRead(f"an unknown command, {piece.text}", piece.start, piece.end)
        else:
            raise NotRead(f"an unknown sign, {piece.text}", piece.start, piece.end)
        return self.used()


def kind_of(word: str) -> tuple[str, str] | None:
    """The token of a word that is a function or a moment, if it is one."""
    if word in MOMENTS and len(word) > 1:
        return "MOMENT", word
    named = function(word)
    return ("FUNCTION", named) if named else None
