"""Dollars that are money, names of variables or prices, and dollars that delimit mathematics."""

import re

# What prose does not hold and mathematics does.
_MARKS = re.compile(r"[\\^_=<>≈≤≥≠∼→]")
_GROUP = re.compile(r"\\[A-Za-z]+\*?(?:\s*\{[^{}$]*\})?|\{[^{}]*\}")
_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}(?![^\W\d_])")
_FUNCTION = re.compile(
    "log|ln|exp|sin|cos|tan|max|min|mod|gcd|det|tr|erf|tanh|sigmoid|relu|gelu|var|std|cov", re.I
)
_BEGINS_AS_MATHS = re.compile(r"\\[A-Za-z]|[^\W\d_]\s*[_^=]")


def is_maths(content: str, after: str = "", *, display: bool = False) -> bool:
    """Whether what stands between two dollars is mathematics, not "5 and later ".

    `after` is the character behind the closing dollar. As in pandoc there is no blank inside the
    dollars and no digit behind them; a text that breaks this, or begins as an amount does, is
    mathematics only without prose in it.
    """
    if not content.strip():
        return False
    if display:
        return bool(_MARKS.search(content)) or not _has_prose(content)
    if after.isdecimal():
        return "\\" in content and not _has_prose(content)
    tight = not content[0].isspace() and not content[-1].isspace()
    if tight and not content[0].isdecimal():
        return True
    if tight:
        return not _has_prose(content)
    return bool(_MARKS.search(content) or len(content.strip()) == 1) and not _has_prose(content)


def is_worth_reporting(line: str) -> bool:
    """Whether an unclosed dollar before this text seems to open mathematics."""
    return _BEGINS_AS_MATHS.match(line) is not None


def _has_prose(content: str) -> bool:
    """Whether words stand outside commands and braces."""
    words = _WORD.findall(_GROUP.sub(" ", content))
    return not all(_FUNCTION.fullmatch(word) for word in words)
