"""How wide characters are on a terminal: two columns, one, or none of their own."""

import re
from unicodedata import bidirectional, category, combining, east_asian_width

NONE = ("Mn", "Me", "Cf")  # marks on the character before, and characters that nobody sees
UNSAFE = ("Cc", "Zl", "Zp")  # move the cursor
TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")  # show another order
COMMAND = re.compile(r"^(\s*):(?=:)|(#)(?=#\[)")  # of GitHub's workflows, on any line of a log
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
    """A line with what would act on a terminal or a log replaced, one character for each."""
    line = COMMAND.sub(r"\1�", line)
    return "".join(" " if c == "\t" else "�" if _acts(c) else c for c in line)


def _acts(character: str) -> bool:
    return category(character) in UNSAFE or bidirectional(character) in TURNS
