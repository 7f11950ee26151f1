"""Estimates of how wide LaTeX comes out, in em; good to a few per cent on what we print."""

import re

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^]|.", re.DOTALL)
_WIDTHS = {
    "sum": 1.45,
    "prod": 1.3,
    "int": 1.0,
    "cdot": 0.75,
    "neq": 1.35,
    "ge": 1.35,
    "le": 1.35,
    "to": 1.55,
    "sim": 1.35,
    "Longleftrightarrow": 2.4,
    "quad": 1.0,
    "qquad": 2.0,
    "infty": 1.0,
}
_SIZES = {"left", "right", "Bigl", "Bigr", "biggl", "biggr", "displaystyle"}
_WORDS = {"operatorname", "mathrm", "mathbf", "mathbb", "mathcal", "text"}


def width(tex: str) -> float:
    """The width of a formula in display style, in em."""
    return _row(_TOKEN.findall(tex), 1.0)


def _row(tokens: list[str], size: float) -> float:
    total, place = 0.0, 0
    limits = 0.0  # of a big operator: its subscript stands below it
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if token in ("_", "^"):
            script, place = _argument(tokens, place)
            wide = _row(script, 0.72 * size)
            if limits:
                total += max(0.0, wide - limits)
                limits = max(limits, wide)
            else:
                after = tokens[place] if place < len(tokens) else ""
                other, end = (
                    _argument(tokens, place + 1) if after in "_^" and after else ([], place)
                )
                total, place = total + max(wide, _row(other, 0.72 * size)) + 0.05, end
            continue
        limits = 0.0
        name = token[1:] if token.startswith("\\") else ""
        if name == "frac":
            above, place = _argument(tokens, place)
            below, place = _argument(tokens, place)
            total += max(_row(above, size), _row(below, size)) + 0.3
        elif name == "sqrt":
            inner, place = _argument(tokens, place)
            total += _row(inner, size) + 0.9
        elif name in _WORDS:
            inner, place = _argument(tokens, place)
            total += 0.55 * size * len(inner) + 0.1
        elif name in _SIZES:
            total += 0.1
        elif name in ("sum", "prod", "int"):
            limits = _WIDTHS[name] * size
            total += limits + 0.17
        elif name:
            total += (_WIDTHS.get(name, 0.58) if name.isalpha() else 0.17) * size
        elif token == "{":
            inner, place = _argument(tokens, place - 1)
            total += _row(inner, size)
        else:
            total += _glyph(token, size)
    return total


def _glyph(token: str, size: float) -> float:
    if token.isspace() or token == "}":
        return 0.0
    if token in "=<>":
        return 1.35 * size if size == 1 else 0.78 * size
    if token in "+-":
        return 1.25 * size if size == 1 else 0.78 * size
    return {"(": 0.42, ")": 0.42, "[": 0.32, "]": 0.32, ",": 0.45, "m": 0.88, "w": 0.72}.get(
        token, 0.54
    ) * size


def _argument(tokens: list[str], place: int) -> tuple[list[str], int]:
    """The next argument: one token or a group without its braces; and the place behind it."""
    while place < len(tokens) and tokens[place].isspace():
        place += 1
    if place >= len(tokens) or tokens[place] != "{":
        return tokens[place : place + 1], place + 1
    depth, start = 0, place + 1
    while place < len(tokens):
        depth += {"{": 1, "}": -1}.get(tokens[place], 0)
        place += 1
        if depth == 0:
            break
    return tokens[start : place - 1], place
