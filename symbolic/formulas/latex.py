r"""LaTeX into the tokens of the grammar: what TeX's spelling means, but not yet what is computed.

Done here, since only the spelling knows it: single digits as arguments (\tfrac12, x_1), words
against letters (n_{in}, \text{relu}), which bar opens and which closes, the d of an integral,
rows of a display, and what is layout. One pass over the pieces, with a stack of open brackets.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from lark import Token

from varlaw.symbolic.formulas.limits import MAX_DEPTH, MAX_TOKENS, NotRead, check_digits
from varlaw.symbolic.formulas.macros import Piece
from varlaw.symbolic.formulas.vocabulary import (
    ACCENTS,
    CONDITIONS_IN_WORDS,
    CONNECTIVES,
    DOTS,
    FONTS,
    GREEK,
    LOWERED,
    MOMENTS,
    PROSE,
    QUADS,
    RAISED,
    REFUSED,
    RELATIONS,
    ROWS,
    SPACES,
    TIMES,
    UNICODE,
    UPRIGHT,
    function,
    words,
)

ENDS = words(
    "NUMBER DIGITS NAME VARIABLE WORD INFINITY FUNCTION MOMENT ONE RBRACE CLOSE BAR_CLOSE "
    "NORM_CLOSE PRIME BANG PERCENT MARK CASES_CLOSE DIFFERENTIAL"
)
BASES = frozenset({"NAME", "VARIABLE", "WORD"})
CLOSERS = {")": "(", "]": "[", r"\}": r"\{", "|": "|", r"\|": r"\|"}
INDICES = frozenset("ijkl")
WORD = re.compile(r"[A-Za-z](?:[A-Za-z0-9-]|\\_(?=[A-Za-z0-9]{2}))*")
RESERVED = words("sum prod lim int oo inf infinity in prop if and otherwise cases")
BARS = words(r"| \| \vert \Vert \lvert \rvert \lVert \rVert")
SIMPLE = {
    "+": "PLUS", "-": "MINUS", "/": "SLASH", "!": "BANG", "'": "PRIME", r"\prime": "PRIME",
    r"\sum": "SUM", r"\prod": "PRODUCT", r"\lim": "LIMIT", r"\infty": "INFINITY", r"\%": "PERCENT",
}  # fmt: skip


@dataclass(slots=True)
class Open:
    """A bracket that is not closed yet."""

    sign: str
    start: int
    words: bool = False  # letters side by side are a word: a subscript of a name
    wants: int = 0  # how many bare arguments are still wanted after it
    integrals: int = 0  # integrals inside whose differential is to come
    numerator: bool = False
    silent: bool = False  # nothing is written for it
    conditional: bool = False  # a bar inside may be "given"
    first: int = 0  # the index of its token
    late: Token | None = None  # the differential that stood in a numerator
    fractions: int = 0


class Latex:
    """One reading of pieces; `tokens` is the result."""

    def __init__(self, source: list[Piece], variables: Collection[str], environment: str) -> None:
        self.source = source
        self.variables = variables
        self.joined = environment.rstrip("*") == "multline"
        self.tokens: list[Token] = []
        self.stack = [Open("", 0)]
        self.wants = 0
        self.words = False  # the next argument is a subscript of a name
        self.place = 0
        self.closed = -1  # the index of the token that opened the bracket closed last

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

    @property
    def top(self) -> Open:
        return self.stack[-1]

    @property
    def outer(self) -> bool:
        """Whether no bracket is open but a box."""
        return all(level.silent for level in self.stack[1:])

    def last(self) -> str:
        return self.tokens[-1].type if self.tokens else ""

    def emit(self, kind: str, piece: Piece, value: str | None = None, end: int = 0) -> None:
        text = piece.text if value is None else value
        self.tokens.append(Token(kind, text, start_pos=piece.start, end_pos=max(end, piece.end)))

    def piece(self, piece: Piece) -> None:
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
        if text in ("(", "[", r"\{", r"\lbrace", r"\lbrack"):
            return self.open_bracket(piece)
        if text in (")", "]", r"\}", r"\rbrace", r"\rbrack"):
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
        if text in (r"\frac", r"\tfrac", r"\dfrac", r"\cfrac"):
            self.emit("FRAC", piece)
            self.top.fractions += 1
            self.wants = max(self.wants - 1, 0) + 2
            return None
        if text == r"\sqrt":
            return self.root(piece)
        if text in ACCENTS and not self.plain_delta(text):
            self.emit("ACCENT", piece, ACCENTS[text])
            self.wants = max(self.wants, 1)
            return None
        if text in UPRIGHT or text in FONTS:
            return self.font(piece)
        if text in (r"\begin", r"\end"):
            return self.environment(piece)
        if text in (r"\boxed", r"\fbox", r"\ensuremath"):
            return self.boxed(piece)
        if text in (r"\underbrace", r"\overbrace"):
            return self.underbrace(piece)
        if text in (r"\label", r"\tag", r"\hspace", r"\vspace"):
            self.argument(piece)
            return None
        if text in (r"\top", r"\intercal", r"\dagger"):
            raise NotRead(REFUSED[text], piece.start, piece.end)
        if text in (r"\gets", r"\leftarrow", r"\mapsto"):
            raise NotRead(f"an arrow, {text}", piece.start, piece.end)
        return self.named(piece)

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
        elif named := function(name):
            below = self.words or self.top.words
            self.emit("WORD" if below else "FUNCTION", piece, named)
        elif piece.text in RAISED or piece.text in LOWERED:
            return self.raised(piece)
        elif piece.text in REFUSED:
            raise NotRead(f"{REFUSED[piece.text]}, {piece.text}", piece.start, piece.end)
        elif name.isalpha():
            raise NotRead(f"an unknown command, {piece.text}", piece.start, piece.end)
        else:
            raise NotRead(f"an unknown sign, {piece.text!r}", piece.start, piece.end)
        return self.used()

    # ---- looking ahead -------------------------------------------------------------------------

    def ahead(self) -> str:
        """The text of the next piece, "" at the end."""
        return self.source[self.place].text if self.place < len(self.source) else ""

    def skip_spaces(self) -> None:
        while self.place < len(self.source) and (
            self.source[self.place].is_space or self.ahead() in SPACES
        ):
            self.place += 1

    def argument(self, call: Piece) -> list[Piece]:
        """The pieces of the next argument, in braces or a single one."""
        self.skip_spaces()
        if self.place >= len(self.source):
            raise NotRead(f"{call.text} without its argument", call.start, call.end)
        first = self.source[self.place]
        self.place += 1
        if first.text != "{":
            return [first]
        start, depth = self.place, 1
        while self.place < len(self.source):
            depth += (self.ahead() == "{") - (self.ahead() == "}")
            self.place += 1
            if depth == 0:
                return self.source[start : self.place - 1]
        raise NotRead("{ is not closed", first.start, first.end)

    # ---- arguments -----------------------------------------------------------------------------

    def used(self) -> None:
        """An argument that was wanted has been read."""
        if self.wants:
            self.wants -= 1
        self.words = False
        if not self.wants and self.top.fractions and self.top.late is not None:
            self.top.fractions, late, self.top.late = 0, self.top.late, None
            self.top.integrals -= 1
            self.tokens.append(late)

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
        place = self.place
        if place == len(self.source):
            return
        inside = [
            item.text
            for item in self.argument(piece)
            if item.text not in UPRIGHT and item.text not in FONTS and item.text not in "{} "
        ]
        if inside in (["*"], [r"\ast"], [r"\star"]):
            return self.marked(piece)
        before = self.tokens[-2].type if len(self.tokens) > 1 else ""
        number = before in ("NUMBER", "DIGITS")
        if inside == ["T"] and "T" not in self.variables and not number:
            raise NotRead("a transpose or a power, ^T", piece.start, self.source[place].end)
        self.place = place

    def marked(self, piece: Piece) -> None:
        self.tokens.pop()
        self.emit("MARK", piece, "*", self.source[self.place - 1].end)
        self.used()

    def raised(self, piece: Piece) -> None:
        """Unicode's small digits, as in x² and x₁."""
        table, sign = (RAISED, "SUP") if piece.text in RAISED else (LOWERED, "SUB")
        text, start = table[piece.text], piece
        while self.ahead() in table:
            text += table[self.ahead()]
            piece = self.source[self.place]
            self.place += 1
        self.emit(sign, start, "")
        self.emit("LBRACE", start, "{")
        if text.startswith("-"):
            self.emit("MINUS", start, "-")
        digits = text.removeprefix("-")
        if "-" in digits or not digits or (not digits.isdecimal() and len(digits) > 1):
            raise NotRead("small signs that are not one number or letter", start.start, piece.end)
        self.emit("NUMBER" if digits.isdecimal() else "NAME", start, digits, piece.end)
        self.emit("RBRACE", start, "}", piece.end)

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

    # ---- numbers and names ---------------------------------------------------------------------

    def number(self, piece: Piece) -> None:
        if self.wants:
            return self.digit(piece)
        text, end = piece.text, piece.end
        if text != ".":
            text, end = self.thousands(text, end)
        if text == "." or (self.ahead() == "." and self.fraction_follows()):
            if text != ".":
                self.place += 1
            text, end = self.take(text.rstrip(".") + ".")
        if self.ahead() == "e" and (scientific := self.exponent(text, piece)):
            text, end = scientific
        check_digits(text, piece.start, end)
        self.emit("NUMBER", piece, text, end)
        return None

    def fraction_follows(self) -> bool:
        after = self.place + 1
        return after < len(self.source) and self.source[after].text.isdecimal()

    def take(self, text: str) -> tuple[str, int]:
        """The text and the next piece, which is joined to it."""
        piece = self.source[self.place]
        self.place += 1
        return text + piece.text, piece.end

    def thousands(self, text: str, end: int) -> tuple[str, int]:
        """1{,}356 and 1,356 and 1\\,356, without the separators."""
        first = len(text) <= 3 and text[0] != "0"
        while True:
            ahead = [item.text for item in self.source[self.place : self.place + 4]]
            if (ahead[:1] == [","] and all(level.sign == "{" for level in self.stack[1:])) or ahead[
                :1
            ] == [r"\,"]:
                skip = 1
            elif ahead[:3] == ["{", ",", "}"]:
                skip = 3
            else:
                return text, end
            group = ahead[skip] if len(ahead) > skip else ""
            if not first or not group.isdecimal() or len(group) != 3:
                if skip == 3:
                    raise NotRead("a decimal comma", end, end + 3)
                return text, end
            if ahead[0] == "," and len(text) == 3:
                raise NotRead(f"{text},{group}: a number or a list", end - 3, end + 4)
            end = self.source[self.place + skip].end
            self.place += skip + 1
            text += group

    def exponent(self, text: str, piece: Piece) -> tuple[str, int] | None:
        """1e-6 is a number; 2e-3 may be 2 e - 3."""
        ahead = [item.text for item in self.source[self.place + 1 : self.place + 3]]
        sign = ahead[0] if ahead and ahead[0] in ("-", "+") else ""
        digits = ahead[1] if sign and len(ahead) > 1 else ahead[0] if ahead else ""
        if not digits.isdecimal():
            return None
        last = self.source[self.place + (2 if sign else 1)]
        if sign and len(digits) == 1 and text != "1" and "." not in text:
            raise NotRead(f"{text}e{sign}{digits}: scientific or e?", piece.start, last.end)
        self.place += 3 if sign else 2
        return f"{text}e{sign}{digits}", last.end

    def digit(self, piece: Piece) -> None:
        """One digit as an argument, as TeX takes it: \\tfrac12."""
        if piece.text == ".":
            raise NotRead("a decimal without braces", piece.start, piece.end)
        self.emit("NUMBER", Piece(piece.text[0], piece.start, piece.start + 1))
        self.used()
        if rest := piece.text[1:]:
            if not self.wants:
                raise NotRead(f"{piece.text} without braces", piece.start, piece.end)
            return self.number(Piece(rest, min(piece.start + 1, piece.end), piece.end))
        if not self.wants and self.ahead() == "." and self.fraction_follows():
            raise NotRead("a decimal without braces", piece.start, piece.end)
        return None

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
        if self.differential(run):
            return None
        if len(run) > 1 and (kind := kind_of(word)):
            return self.emit(kind[0], piece, kind[1], end)
        if len(run) > 2 and not all(letter in self.variables for letter in word):
            if word in self.variables:
                return self.emit("NAME", piece, word, end)
            raise NotRead(f"{word}: a word or a product", piece.start, end)
        return self.factors(run)

    def factors(self, run: list[Piece], comma: bool = False) -> None:
        for letter in run:
            if comma and letter is not run[0]:
                self.emit("COMMA", letter, ",")
            if letter.text == "E" and letter is run[-1] and self.opens("["):
                self.emit("MOMENT", letter, "E")
            else:
                self.emit("NAME", letter)
        self.used()

    def opens(self, bracket: str) -> bool:
        """Whether this bracket comes next."""
        for item in self.source[self.place : self.place + 4]:
            if item.text == bracket:
                return True
            if not (item.is_space or item.text in SPACES or item.text == r"\left"):
                return False
        return False

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
                raise NotRead(f"{piece.text} of a formula", piece.start, end)
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
        if piece.text in (r"\mathbb", r"\mathds") and word in ("E", "P", "V", "I"):
            self.emit("ONE" if word == "I" else "MOMENT", piece, word, end)
        elif word == "T" and piece.text in UPRIGHT and self.last() == "SUP":
            raise NotRead("a transpose", piece.start, end)
        elif not prefix and word == "E":
            self.emit("MOMENT", piece, "E", end)
        elif not prefix and (kind_ := kind_of(word)):
            self.emit(kind_[0], piece, kind_[1], end)
        elif letter in GREEK or (len(word) == 1 and word.isascii() and word.isalpha()):
            self.emit("NAME", piece, prefix + letter, end)
        elif not prefix and WORD.fullmatch(word):
            self.word(piece, word.replace("-", ""), end)
        else:
            raise NotRead(f"{piece.text} of a formula", piece.start, end)
        return self.used()

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
        return self.separator(piece, "text")

    # ---- brackets ------------------------------------------------------------------------------

    def push(self, level: Open) -> None:
        level.words = level.words or (self.top.words and level.sign in ("{", "("))
        if len(self.stack) > MAX_DEPTH:
            raise NotRead(f"brackets nested deeper than {MAX_DEPTH}", level.start)
        level.first = len(self.tokens)
        self.stack.append(level)
        self.wants, self.words = 0, False

    def open_brace(self, piece: Piece) -> None:
        numerator = self.last() == "FRAC"
        level = Open("{", piece.start, words=self.words, wants=self.wants, numerator=numerator)
        self.push(level)
        self.emit("LBRACE", piece)

    def open_bracket(self, piece: Piece) -> None:
        sign = {r"\lbrace": r"\{", r"\lbrack": "["}.get(piece.text, piece.text)
        conditional = self.last() in ("MOMENT", "NAME", "RBRACE", "NUMBER")
        wants, self.wants = self.wants, 0
        if wants:
            raise NotRead(f"{piece.text} as an argument without braces", piece.start, piece.end)
        self.push(Open(sign, piece.start, conditional=conditional))
        self.emit("OPEN", piece, sign)

    def close_bracket(self, piece: Piece) -> None:
        sign = {r"\rbrace": r"\}", r"\rbrack": "]"}.get(piece.text, piece.text)
        opener = CLOSERS[sign]
        if self.top.sign == "[" and sign == "]" and self.top.wants:
            return self.close(piece, "[", "RBRACE")
        if {self.top.sign, opener} == {"(", "["}:
            opener = self.top.sign  # an interval that is open at one end
        return self.close(piece, opener, "CLOSE", sign)

    def close(self, piece: Piece, opener: str, kind: str, value: str | None = None) -> None:
        if self.top.sign != opener:
            raise NotRead(f"{piece.text} closes nothing", piece.start, piece.end)
        level = self.stack.pop()
        if level.sign == "cases":
            self.end_case()
        if level.integrals:
            raise NotRead("an integral without its differential", level.start, piece.end)
        if kind == "RBRACE" and self.last() == "CLOSE" and self.closed == level.first + 1:
            self.label(level.first - 1)
        self.closed = level.first
        if not level.silent:
            self.emit(kind, piece, "}" if kind == "RBRACE" else value)
        self.wants = level.wants
        if kind == "RBRACE":
            if level.sign == "[":
                return
            self.used()

    def label(self, place: int) -> None:
        """A superscript in brackets, as in W^{(l)}, names a layer."""
        if self.tokens[place].type == "SUP" and self.tokens[place + 2] == "(":
            self.tokens[place] = self.tokens[place].update(type="LABEL")

    def bar(self, piece: Piece, side: str = "") -> None:
        text = piece.text
        double = text in (r"\|", r"\Vert", r"\lVert", r"\rVert")
        sign, kind = (r"\|", "NORM") if double else ("|", "BAR")
        side = side or {r"\lv": "left", r"\lV": "left", r"\rv": "right", r"\rV": "right"}.get(
            text[:3], ""
        )
        ended = self.last() in ENDS
        if not side and self.top.sign == sign and ended:
            side = "right"
        if not side and ended and self.top.conditional and not double:
            return self.emit("MID", piece)
        if side == "right":
            return self.close(piece, sign, f"{kind}_CLOSE")
        self.push(Open(sign, piece.start))
        return self.emit(f"{kind}_OPEN", piece)

    def sized(self, piece: Piece) -> None:
        self.skip_spaces()
        if self.place >= len(self.source):
            raise NotRead(f"{piece.text} without a bracket", piece.start, piece.end)
        bracket = self.source[self.place]
        self.place += 1
        side = piece.text[1:]
        if side == "middle" and bracket.text in ("|", r"\vert"):
            return self.emit("MID", bracket)
        if side == "left" and bracket.text in (r"\{", r"\lbrace") and self.array_follows():
            return self.open_cases(piece)
        if side == "right" and bracket.text == "." and self.top.sign == "cases":
            return self.close(piece, "cases", "CASES_CLOSE")
        if bracket.text in ("(", "[", r"\{", r"\lbrace", r"\lbrack") and side == "left":
            return self.open_bracket(bracket)
        if bracket.text in (")", "]", r"\}", r"\rbrace", r"\rbrack") and side == "right":
            return self.close_bracket(bracket)
        if bracket.text in BARS:
            return self.bar(bracket, side)
        raise NotRead(f"{piece.text}{bracket.text}", piece.start, bracket.end)

    # ---- rows, cases, environments -------------------------------------------------------------

    def array_follows(self) -> bool:
        self.skip_spaces()
        return self.ahead() == r"\begin"

    def open_cases(self, piece: Piece) -> None:
        self.push(Open("cases", piece.start))
        self.emit("CASES_OPEN", piece)

    def environment(self, piece: Piece) -> None:
        name = "".join(item.text for item in self.argument(piece)).rstrip("*")
        end = self.source[self.place - 1].end
        if name in ("cases", "dcases"):
            if piece.text == r"\begin":
                return self.open_cases(piece)
            return self.close(piece, "cases", "CASES_CLOSE")
        if name in ("array",) and self.top.sign == "cases":
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

    def case_separator(self, piece: Piece) -> None:
        if self.last() in ("CASES_OPEN", "CASE_ROW", "CASE_SEP"):
            return
        place = self.source[self.place - 1]
        self.emit("CASE_SEP", place, ",")

    def row(self, piece: Piece) -> None:
        self.skip_spaces_and_gap()
        if self.top.sign == "cases":
            self.end_case()
            return self.emit("CASE_ROW", piece)
        if not self.outer:
            raise NotRead("a new row inside brackets", piece.start, piece.end)
        return None if self.joined else self.separator(piece, "row")

    def end_case(self) -> None:
        """A case may end with a comma."""
        if self.last() == "CASE_SEP":
            self.tokens.pop()

    def skip_spaces_and_gap(self) -> None:
        """The optional [2pt] after a row."""
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
        start = self.place
        self.argument(piece)
        after = self.place
        self.skip_spaces()
        if self.ahead() in ("_", "^"):
            script = self.source[self.place]
            self.place += 1
            self.argument(script)
            del self.source[after : self.place]
        self.place = start

    # ---- relations and separators --------------------------------------------------------------

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
        if text == ":":
            raise NotRead("a colon", piece.start, piece.end)
        return self.emit("RELATION", piece, RELATIONS[text], end)

    def comma(self, piece: Piece) -> None:
        if self.top.sign == "cases":
            return self.case_separator(piece)
        if self.outer:
            return self.separator(piece, ",")
        return self.emit("COMMA", piece)

    def separator(self, piece: Piece, value: str) -> None:
        if self.outer:
            self.emit("SEPARATOR", piece, value)

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

    def dots(self, piece: Piece) -> None:
        """Digits that go on; any other ellipsis is refused."""
        last = self.tokens[-1] if self.tokens else None
        if last is None or last.type != "NUMBER" or "." not in last or "e" in last:
            raise NotRead("an ellipsis", piece.start, piece.end)
        end = self.source[self.place - 1].end
        self.tokens[-1] = Token("DIGITS", str(last), start_pos=last.start_pos, end_pos=end)


def kind_of(word: str) -> tuple[str, str] | None:
    """The token of a word that is a function or a moment, if it is one."""
    if word in MOMENTS and len(word) > 1:
        return "MOMENT", word
    named = function(word)
    return ("FUNCTION", named) if named else None
