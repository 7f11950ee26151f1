"""Dollars that are money, names of variables or prices, and dollars that delimit mathematics."""

import re

# What mathematics holds and prose does not.
_MARKS = re.compile(r"[\\^_=<>＝＜＞≈≤≥≠∼→]")
_GROUP = re.compile(r"\\[A-Za-z]+\*?(?:\s*\{[^{}$]*\})?|\{[^{}]*\}")
_WORD = re.compile(
    r"(?<!\S)\(?([^\W\d_]{3,}|or|to|in|is|of|at|by|it|on|an|as|we|be|if|no|so|vs)(?![^\W\d_])"
    "|([\u3040-\u30ff\u4e00-\u9fff])"
)
_FUNCTION = re.compile(
    "log|ln|exp|sin|cos|tan|max|min|mod|gcd|det|erf|tanh|sigmoid|relu|gelu|var|std|cov",
    re.IGNORECASE,
)
_BEGINS_AS_MATHS = re.compile(r"\\[A-Za-z]|[^\W\d_]\s*[_^=]")


def is_maths(content: str, after: str = "", *, display: bool = False) -> bool:
    """Whether what stands between two dollars is mathematics, not "5 and later ".

    `after` is the character behind the closing dollar. As in pandoc there is no blank inside the
    dollars and no digit behind them; a text that breaks this, begins as an amount does, or has no
    mark of mathematics, is mathematics only without prose in it.
    """
    if not content.strip():
        return False
    marked = _MARKS.search(content) is not None
    if display:
        return marked or not _has_prose(content)
    if after.isdecimal():
        return "\\" in content and not _has_prose(content)
    tight = not content[0].isspace() and not content[-1].isspace()
    if tight and marked and not content[0].isdecimal():
        return True
    return (tight or marked or len(content.strip()) == 1) and not _has_prose(content)


def is_worth_reporting(line: str) -> bool:
    """Whether an unclosed dollar before this text seems to open mathematics."""
    return _BEGINS_AS_MATHS.match(line) is not None


def _has_prose(content: str) -> bool:
    """Whether words stand outside commands and braces; one alone may be a name."""
    bare = _GROUP.sub(" ", content).strip()
    words = [word[1] or word[2] for word in _WORD.finditer(bare) if word[0] != bare]
    return not all(_FUNCTION.fullmatch(word) for word in words)
