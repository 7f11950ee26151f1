"""LaTeX as people write it, brought to the form that the grammar reads."""

import re

from varlaw.symbolic.notation import CORE, MARK

MAX_CHARACTERS = 20_000

_END = "(?![A-Za-z])"
_SIZES = "left|right|[bB]ig[lr]?|[bB]igg[lr]?"
_SPACES = "quad|qquad|displaystyle|textstyle|limits|nonumber|notag"
_DROPPED = re.compile(
    rf"\\(?:{_SIZES}|{_SPACES}){_END}\.?|\\[,;:!> ]|\\\\(?:\[[^\]]*\])?|[&~]|\{{\s*\}}"
)
_SAME = {
    r"\\[dtc]frac": r"\\frac",
    r"\\(?:geq|geqslant)": r"\\ge",
    r"\\(?:leq|leqslant)": r"\\le",
    r"\\(?:rightarrow|longrightarrow)": r"\\to",
    r"\\ne": r"\\neq",
    r"\\(?:ldots|cdots)": r"\\dots",
    r"\\log": r"\\operatorname{log}",
    r"\\lt": "<",
    r"\\gt": ">",
    r"\\operatorname\*": r"\\operatorname",
}
_ONE = rf"(?:{CORE}|{MARK}|[0-9])"
_SCRIPT = re.compile(rf"([_^])\s*({_ONE})")
_FRACTION = re.compile(rf"\\frac\s*({_ONE})")
_SECOND = re.compile(rf"(\\frac\s*\{{[^{{}}]*\}})\s*({_ONE})")
_ROOT = re.compile(rf"\\sqrt\s*({_ONE})")


def plain_source(text: str) -> str:
    r"""LaTeX without spacing, sizes and line ends, and with braces around every argument.

    >>> plain_source(r"\left(x_i\right)^2 \,+ \tfrac12")
    '(x_{i} )^{2} + \\frac{1}{2}'
    """
    text = _DROPPED.sub(" ", text)
    for written, same in _SAME.items():
        text = re.sub(
            written + (_END if written[-1].isalpha() or written[-1] == ")" else ""), same, text
        )
    text = _SCRIPT.sub(r"\1{\2}", text)
    text = _SECOND.sub(r"\1{\2}", _FRACTION.sub(r"\\frac{\1}", text))
    return " ".join(_ROOT.sub(r"\\sqrt{\1}", text).split())


def flat(text: str) -> str:
    """A piece of source without spaces, for comparing names."""
    return re.sub(r"\s+", "", plain_source(text))
