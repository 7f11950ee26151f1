"""Sentences with mathematics in plain letters, such as titles and reasons, set as LaTeX.

`keeps E[y_j^2] = q at 2/m` becomes `keeps $\\operatorname{E}[y_j^2] = q$ at $2/m$`. What is
mathematics is found by its signs, its brackets and its single letters.
"""

import re

from varlaw.symbolic.notation import PLAIN, Notation, script

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}"}
_HEADS = {
    "E": r"\operatorname{E}",
    "Var": r"\operatorname{Var}",
    "Cov": r"\operatorname{Cov}",
    "Sum": r"\sum",
    "Prod": r"\prod",
    "delta": r"\delta",
    "oo": r"\infty",
}
_FUNCTIONS = "relu|gelu|elu|selu|silu|sigmoid|softmax|tanh|erf|exp|log|ln|sin|cos|max|min"
_CALLED = re.compile(rf"(?:{_FUNCTIONS})(?=['2]?\()")
_GREEK = ("alpha", "beta", "gamma", "lambda", "chi", "eta", "mu", "pi", "rho", "sigma")
_SIGNS = {
    "->": r"\to",
    ">=": r"\ge",
    "<=": r"\le",
    "!=": r"\neq",
    "~=": r"\approx",
    "~": r"\sim",
    "**": "^",
    "*": r"\,",
}
_PIECE = re.compile(
    r"->|>=|<=|!=|~=|\*\*|[A-Za-z]{2,}(?:-[A-Za-z]{2,})+|[A-Za-z]+\d*|\d+(?:\.\d+)?|\s+|.",
    re.DOTALL,
)
_SIGN = re.compile(r"[=^_\[\]<>*/+\d~]|->|sqrt|[a-z]\.[a-z]")
_OPEN, _SHUT = "([{", ")]}"


def escaped(text: str) -> str:
    """Plain text with LaTeX's special characters made harmless."""
    return "".join(_SPECIAL.get(c, rf"\{c}" if c in "#$%&_{}" else c) for c in text)


def prose(text: str, notation: Notation = PLAIN) -> str:
    """A sentence as LaTeX text, its mathematics between dollars."""
    found, words = [], text.split(" ")
    while words:
        taken = _mathematics(words)
        if taken:
            fragment, words = " ".join(words[:taken]), words[taken:]
            core = fragment.rstrip(".,;:")
            found.append(f"${mathematics(core, notation)}${fragment[len(core) :]}")
        else:
            found.append(escaped(words.pop(0)))
    return " ".join(found)


def _mathematics(words: list[str]) -> int:
    """How many words from the start on are one formula."""
    taken, depth = 0, 0
    for word in words:
        core = word.rstrip(".,;:")
        if not depth and not (_is_formula(word) or (taken and core in "+-=<>~/*" and core)):
            break
        taken += 1
        depth += sum(word.count(c) for c in _OPEN) - sum(word.count(c) for c in _SHUT)
        if not depth and core != word:
            break
    while taken and words[taken - 1] in ("-", "a", ":"):
        taken -= 1
    signs = any(map(_SIGN.search, words[:taken]))
    alone = taken == 1 and re.fullmatch(r"[b-zB-HJ-Z][.,;:]*", words[0])
    return taken if depth == 0 and (signs or alone) else 0


def _is_formula(word: str) -> bool:
    core = word.rstrip(".,;:")
    if not core or re.search(r"[%&$#\\]|[A-Za-z]-[A-Za-z]{2}", core):
        return False
    words = re.findall(r"[A-Za-z]+", re.sub(r"_[A-Za-z]+", "", _CALLED.sub("", core)))
    greek = _GREEK if re.search(r"[=^/*()]", core) else ()
    letters = [word for word in words if word not in (*_HEADS, "sqrt", *greek)]
    return core[-1] != "-" and all(len(w) == 1 for w in letters) and core not in ("A", "I", "'")


def mathematics(text: str, notation: Notation = PLAIN) -> str:
    """A formula in plain letters as LaTeX: E[x_i^2] = 2/m, (1 + s2)^(-l/2), sqrt(m n)."""
    pieces = _PIECE.findall(text)
    written, _ = _set(pieces, 0, "", notation)
    return written.strip()


def _set(pieces: list[str], place: int, until: str, notation: Notation) -> tuple[str, int]:
    """The pieces up to a closing bracket, and the place behind it."""
    out: list[str] = []
    while place < len(pieces) and pieces[place] != until:
        piece = pieces[place]
        place += 1
        after = pieces[place] if place < len(pieces) else ""
        if piece == "sqrt" and after == "(":
            inner, place = _set(pieces, place + 1, ")", notation)
            out.append(rf"\sqrt{{{inner}}}")
        elif piece in ("^", "**", "_"):
            inner, place = _script(pieces, place, notation)
            out.append(script("_" if piece == "_" else "^", inner))
        elif piece in _OPEN:
            shut = _SHUT[_OPEN.index(piece)]
            inner, place = _set(pieces, place, shut, notation)
            out.append(rf"\{{{inner}\}}" if piece == "{" else f"{piece}{inner}{shut}")
        elif piece == "pi":
            out.append(r"\pi ")
        elif piece in _GREEK or (
            re.fullmatch(r"[A-Za-z]+\d*", piece) and piece not in _HEADS and len(piece) < 3
        ):
            label, power, indices = notation.label(piece), "", ""
            if label.square and after in ("^", "**"):
                inner, place = _script(pieces, place + 1, notation)
                power = str(2 * int(inner)) if inner.isdigit() else f"2({inner})"
            if after == "[":
                indices, place = _set(pieces, place + 1, "]", notation)
            out.append(label.written(indices, power))
        else:
            out.append(_sign(piece, after))
    return "".join(out), place + 1


def _sign(piece: str, after: str) -> str:
    """One sign, head or word of a formula."""
    if piece == "1" and after == "[":
        return r"\mathbf{1}"
    if piece in _HEADS:
        return _HEADS[piece] + (" " if after[:1].isalpha() else "")
    if piece in _SIGNS:
        return f"{_SIGNS[piece]} "
    if _CALLED.match(piece + after):
        return rf"\operatorname{{{piece}}}"
    if piece[:1].isalpha():
        return rf"\text{{{piece}}}" if "-" in piece else rf"\mathrm{{{piece}}}"
    return {"\\": r"\backslash ", ".": r"\cdot "}.get(
        piece, rf"\{piece}" if piece in "{}%#&$" else piece
    )


def _script(pieces: list[str], place: int, notation: Notation) -> tuple[str, int]:
    if place >= len(pieces):
        return "", place
    if pieces[place] in _OPEN:
        return _set(pieces, place + 1, _SHUT[_OPEN.index(pieces[place])], notation)
    if pieces[place] == "-" and place + 1 < len(pieces):
        return "-" + pieces[place + 1], place + 2
    piece = pieces[place]
    return (
        notation.label(piece).written()
        if len(piece) == 1 and piece.isalpha()
        else rf"\mathrm{{{piece}}}"
        if piece.isalpha() and len(piece) > 2
        else piece
    ), place + 1
