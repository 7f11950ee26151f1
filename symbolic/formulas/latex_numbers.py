"""Numbers in LaTeX as they are written: thousands, decimals, single digits as arguments."""

import re

from lark import Token

from varlaw.symbolic.formulas.latex_scanner import Scanner
from varlaw.symbolic.formulas.limits import NotRead, check_digits
from varlaw.symbolic.formulas.macros import Piece
from varlaw.symbolic.formulas.vocabulary import (
    LOWERED,
    RAISED,
    ROOTS,
)

SIUNITX = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?")
SCIENTIFIC = 10  # pieces of {e}{-04} and the like
EXPONENT = re.compile(r"\{[eE](?:([+-]?\d+)\}|([+-]?)\}(?:\{([+-]?\d+)\}|([+-]?\d+)(?!\.)))", re.A)
CALCULATING = frozenset({"PLUS", "MINUS", "TIMES", "SLASH", "SUP", "FRAC", "BINOM", "BANG"})
THIN = (r"\,", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", "\N{THIN SPACE}")


class Numbers(Scanner):
    """Reads numbers."""

    after_points = False  # the number that is read has points between its thousands

    def number(self, piece: Piece) -> None:
        if self.wants:
            return self.digit(piece)
        text, end = piece.text, piece.end
        if text != ".":
            text, end = self.thousands(text, end)
        if text != "." and "." in text:
            if self.ahead() == "." and self.fraction_follows():
                raise NotRead("a number with a comma and a point", piece.start, end)
        elif text == "." or (self.ahead() == "." and self.fraction_follows()):
            if text != ".":
                self.place += 1
            text, end = self.take(text.rstrip(".") + ".")
        elif self.ahead() == "." and self.recurring(after=1):
            text, end = self.take(text)
        if "." in text and not self.after_points:
            text, end = self.decimal_groups(text, end)
        if recurring := self.recurring():
            return self.repeated(text, recurring, piece)
        if self.ahead() in ("e", "E") and (scientific := self.exponent(text, piece)):
            text, end = scientific
        check_digits(text, piece.start, end)
        self.emit("NUMBER", piece, text, end)
        return None

    def fraction_follows(self) -> bool:
        after = self.place + 1
        return after < len(self.source) and self.source[after].text.isdecimal()

    def thousands(self, text: str, end: int) -> tuple[str, int]:
        """1{,}356 and 1,356 and 1\\,356, without the separators; 0{,}05 and 1{,}5 are decimals."""
        first = len(text) <= 3 and text[0] != "0"
        self.after_points = False
        text, end = self.points(text, end) if first else (text, end)
        while True:
            ahead = [item.text for item in self.source[self.place : self.place + 4]]
            comma = ahead[:1] == [","] and all(level.sign == "{" for level in self.stack[1:])
            if comma or (ahead and ahead[0] in THIN):
                skip = 1
            elif ahead[:3] == ["{", ",", "}"]:
                skip = 3
            else:
                return text, end
            group = ahead[skip] if len(ahead) > skip else ""
            if not first or not group.isdecimal() or len(group) != 3 or self.after_points:
                if skip == 3 and self.recurring(after=3):
                    self.place += 3
                    return f"{text}.", end
                if skip == 3 and group.isdecimal():
                    self.place += 4
                    return f"{text}.{group}", self.source[self.place - 1].end
                return text, end
            if ahead[0] == "," and len(text) == 3 and not self.computed():
                raise NotRead(f"{text},{group}: a number or a list", end - 3, end + 4)
            end = self.source[self.place + skip].end
            self.place += skip + 1
            text += group

    def computed(self) -> bool:
        """Whether a number comes next in a calculation, in which no list can stand."""
        kinds = [token.type for token in self.tokens]
        if kinds[-1:] == ["RELATION"]:
            start = len(kinds) - kinds[::-1].index("SEPARATOR") if "SEPARATOR" in kinds else 0
            return not CALCULATING.isdisjoint(kinds[start:])
        return kinds[-1:] in (["PLUS"], ["TIMES"])

    def decimal_groups(self, text: str, end: int) -> tuple[str, int]:
        """3.141\\,592\\,65: decimals in groups of three."""
        while self.ahead() in THIN and (len(text) - text.index(".")) % 3 == 1 and text[-1] != ".":
            group = self.source[self.place + 1] if self.place + 1 < len(self.source) else None
            if group is None or not group.text.isdecimal() or len(group.text) > 3:
                break
            text, end, self.place = text + group.text, group.end, self.place + 2
        return text, end

    def points(self, text: str, end: int) -> tuple[str, int]:
        """7.077.888 and 1.234{,}5, whose points can only set thousands apart."""
        place, groups = self.place, [text]
        while (ahead := [item.text for item in self.source[place : place + 2]])[:1] == ["."]:
            if not ahead[-1].isdecimal() or len(ahead[-1]) != 3:
                break
            groups.append(ahead[-1])
            place += 2
        braces = [item.text for item in self.source[place : place + 3]] == ["{", ",", "}"]
        self.after_points = len(groups) > 1 and (braces or len(groups) > 2)
        if not self.after_points:
            return text, end
        self.place = place
        return "".join(groups), self.source[place - 1].end

    def recurring(self, after: int = 0) -> str:
        r"""The digits of \overline{6} that comes next, or after some pieces; else empty."""
        place = self.place + after
        ahead = [item.text for item in self.source[place : place + 4]]
        bar = ahead[:2] in ([r"\overline", "{"], [r"\bar", "{"]) and ahead[3:] == ["}"]
        return ahead[2] if bar and ahead[2].isdecimal() else ""

    def repeated(self, text: str, digits: str, piece: Piece) -> None:
        r"""1.\overline{6} as the fraction that it is."""
        if "." not in text:
            raise NotRead("a bar over digits", piece.start, piece.end)
        end = self.source[self.place + 3].end
        self.place += 4
        check_digits(text + digits, piece.start, end)
        whole, _, places = text.partition(".")
        above = int(whole + places + digits) - int(whole + places)
        self.emit("FRAC", piece, r"\frac", end)
        self.emit("NUMBER", piece, str(above), end)
        self.emit("NUMBER", piece, "9" * len(digits) + "0" * len(places), end)

    def fraction_sign(self, piece: Piece, above: str, below: str) -> None:
        """A fraction that is one character, such as a half."""
        self.emit("FRAC", piece)
        self.emit("NUMBER", piece, above)
        self.emit("NUMBER", piece, below)
        self.used()

    def root_sign(self, piece: Piece) -> None:
        """A root as one character goes over a whole number or a bracket: √16 and √(a + b)."""
        self.skip_spaces()
        if piece.text == "√" and self.ahead() == "(":
            return self.emit("FUNCTION", piece, "sqrt")
        self.emit("ROOT" if piece.text == "√" else "ROOT_OF", piece)
        if piece.text != "√":
            self.emit("NUMBER", piece, ROOTS[piece.text])
        if not self.ahead().isdecimal():
            self.wants = 1
            return None
        number = self.source[self.place]
        self.place += 1
        self.emit("LBRACE", number, "{")
        self.number(number)
        return self.emit("RBRACE", number, "}")

    def siunitx(self, piece: Piece) -> None:
        r"""\num{1.5e-3}, whose comma is a decimal one."""
        text = "".join(item.text for item in self.argument(piece) if not item.is_space)
        end = self.source[self.place - 1].end
        text = text.replace(r"\,", "").replace(",", ".").replace("E", "e")
        if not SIUNITX.fullmatch(text):
            raise NotRead(r"what \num holds is no plain number", piece.start, end)
        check_digits(text, piece.start, end)
        if text[0] in "+-":
            self.emit("MINUS" if text[0] == "-" else "PLUS", piece)
        self.emit("NUMBER", piece, text.lstrip("+-"), end)
        self.used()

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

    def upright_exponent(self, piece: Piece) -> bool:
        r"""Whether an upright e makes the number before it scientific, as in 1\text{e-}3."""
        number = self.tokens[-1] if self.last() == "NUMBER" and not self.wants else None
        bare = self.last(2) in ("SUP", "SUB", "FRAC", "ROOT", "NUMBER")  # the 2 of x^2
        if number is None or bare or number.end_pos != piece.start or "e" in number:
            return False
        window = "".join(item.text for item in self.source[self.place : self.place + SCIENTIFIC])
        if not (found := EXPONENT.match(window)):
            return False
        exponent = found[1] or found[2] + (found[3] or found[4])
        try:
            power = int(exponent)
        except ValueError:  # two signs
            return False
        signed = found[4] and found[4][0] in "+-" and abs(power) < 10
        if signed and number != "1" and "." not in number:
            raise NotRead(f"{number}e{exponent}: scientific or e?", piece.start, piece.end)
        end, length = self.place, 0
        while length < found.end():
            length, end = length + len(self.source[end].text), end + 1
        self.place = end
        text, last = f"{number}e{exponent}", self.source[end - 1].end
        check_digits(text, piece.start, last)
        self.tokens[-1] = number.update(value=text)
        self.tokens[-1].end_pos = last
        return True

    def digit(self, piece: Piece) -> None:
        """One digit as an argument, as TeX takes it: \\tfrac12."""
        if piece.text == ".":
            raise NotRead("a decimal without braces", piece.start, piece.end)
        whole = len(piece.text) == 1
        end = piece.end if whole else piece.start + 1
        self.emit("NUMBER", Piece(piece.text[0], piece.start, end))
        self.used()
        if rest := piece.text[1:]:
            if not self.wants:
                raise NotRead(f"{piece.text} without braces", piece.start, piece.end)
            return self.number(Piece(rest, min(piece.start + 1, piece.end), piece.end))
        if not self.wants and self.ahead() == "." and self.fraction_follows():
            raise NotRead("a decimal without braces", piece.start, piece.end)
        return None

    def dots(self, piece: Piece) -> None:
        """Digits that go on; any other ellipsis is refused."""
        last = self.tokens[-1] if self.tokens else None
        if last is None or last.type != "NUMBER" or "." not in last or "e" in last:
            raise NotRead("an ellipsis", piece.start, piece.end)
        end = self.source[self.place - 1].end
        self.tokens[-1] = Token("DIGITS", str(last), start_pos=last.start_pos, end_pos=end)

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
