"""How wide characters are on a terminal: two columns, one, or none of their own."""

from unicodedata import category, combining, east_asian_width

NONE = ("Mn", "Me", "Cf")  # marks on the character before, and characters that nobody sees
MEDIALS = range(0x1160, 0x1200)  # Hangul vowels and finals, which join the letter before


def columns(text: str) -> int:
    """The columns that a text without control characters takes."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if character.isascii():
        return 1
    if combining(character) or category(character) in NONE or ord(character) in MEDIALS:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def printable(line: str) -> str:
    """A line with what would move a terminal's cursor replaced, one character for each."""
    return "".join(" " if c == "\t" else "�" if category(c) == "Cc" else c for c in line)
