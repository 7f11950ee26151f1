"""What is refused before anything is read, and the refusal itself."""

import unicodedata

from lark import Token

MAX_CHARACTERS = 20_000
MAX_TOKENS = 5_000
MAX_DEPTH = 100
MAX_DIGITS = 400
MAX_NAME = 60
MAX_MACRO_DEPTH = 20
FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn"}  # controls, directions, surrogates, private, unassigned


class NotRead(ValueError):
    """A text that is not read: why, and where in it."""

    def __init__(self, reason: str, start: int = 0, end: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.start = start
        self.end = start + 1 if end is None else end


def begin(token: Token) -> int:
    """Where a token begins."""
    return token.start_pos or 0


def finish(token: Token) -> int:
    """Where a token ends."""
    return token.end_pos or 0


def check_text(text: str) -> None:
    """Refuse a text that is too long or holds characters that hide what is written."""
    if len(text) > MAX_CHARACTERS:
        raise NotRead(f"{len(text)} characters; at most {MAX_CHARACTERS}", 0, len(text))
    for place, character in enumerate(text):
        if " " <= character <= "~" or character in "\n\t\r":
            continue
        category = unicodedata.category(character)
        if category in FORBIDDEN:
            raise NotRead(f"a hidden character, U+{ord(character):04X}", place)
        if category == "Nd":
            raise NotRead(f"a digit that is not ASCII, U+{ord(character):04X}", place)


def check_digits(text: str, start: int, end: int) -> None:
    """Refuse a number with too many digits."""
    if len(text) > MAX_DIGITS:
        raise NotRead(f"a number of {len(text)} digits; at most {MAX_DIGITS}", start, end)
