"""How names are written in LaTeX: labels, their defaults, and the renames of an author."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_GREEK = (
    "alpha|beta|gamma|delta|epsilon|varepsilon|zeta|eta|theta|vartheta|iota|kappa|lambda|mu|nu|xi|"
    "rho|varrho|sigma|tau|upsilon|phi|varphi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Upsilon|Phi|"
    "Psi|Omega|ell|hbar"
)
_FONTS = "mathrm|mathbf|mathcal|mathbb|mathsf|mathit|boldsymbol|text"
_ACCENTS = "bar|hat|tilde|vec|dot|overline"
GREEK = frozenset(_GREEK.split("|"))

_LETTER = rf"[A-Za-z]|\\(?:{_GREEK})(?![A-Za-z])"
_WORD = rf"\\(?:{_FONTS})\{{(?:[A-Za-z0-9]+|\\(?:{_GREEK}))\}}"
CORE = rf"(?:\\(?:{_ACCENTS})\{{(?:{_LETTER}|{_WORD})\}}|{_WORD}|{_LETTER})"
MARK = r"\\(?:prime|top|ast|star|dagger)(?![A-Za-z])"
_INSIDE = rf"(?:{_WORD}|{_LETTER}|{MARK}|[0-9,()+* -])+"
_SCRIPT = rf"(?:\{{(?P<%s>{_INSIDE})\}}|(?P<%s>[A-Za-z0-9*]|{_LETTER}|{MARK}))"
_SUB, _SUP = (mark + _SCRIPT % (name, name + "1") for mark, name in (("_", "sub"), (r"\^", "sup")))
_LABEL = rf"(?P<core>{CORE})\s*(?:{_SUB})?\s*(?:{_SUP})?"
_SWAPPED = rf"(?P<core>{CORE})\s*(?:{_SUP})\s*(?:{_SUB})"

SQUARES = {"s2": r"\sigma"}  # symbols that are written as the square of something


TAKEN = {  # what formulas print already
    "E": "the expectation",
    "Var": "the variance",
    "Cov": "the covariance",
    "1": "an indicator",
}


class NotationError(ValueError):
    """A name cannot be written as asked for."""


@dataclass(frozen=True)
class Label:
    """The LaTeX of a name in its parts; with `square` the name stands for the square of `core`."""

    core: str
    sub: str = ""
    sup: str = ""
    square: bool = False

    def written(self, indices: str = "", power: str = "") -> str:
        r"""The label with indices and a power: `w_{i j}^{2}`, `\left(w^{(1)}_{i}\right)^{2}`."""
        sub = ", ".join(filter(None, (self.sub, indices)))
        if self.square:
            power = "" if power == "1" else power or "2"
        body = self.core + script("^", self.sup) + script("_", sub)
        if not power:
            return body
        return (
            body + script("^", power)
            if not self.sup
            else rf"\left({body}\right)" + script("^", power)
        )


def script(mark: str, content: str) -> str:
    """A sub- or superscript, with braces where they are needed; nothing for nothing."""
    if not content:
        return ""
    return f"{mark}{content}" if len(content) == 1 else f"{mark}{{{content}}}"


def read_label(text: str) -> Label:
    r"""Read a label such as `n_{in}`, `\sigma_w^2` or `W^{(1)}`. Raises NotationError.

    Only letters, digits, Greek and font commands pass, so that nothing in it can run or break out.
    """
    found = re.fullmatch(_LABEL, text.strip()) or re.fullmatch(_SWAPPED, text.strip())
    if not found:
        raise NotationError(
            f"{text!r} is not a name in LaTeX: one letter, a Greek letter or \\mathrm{{word}}, "
            "with a subscript and a superscript in braces if need be"
        )
    part = found.groupdict()
    sub, sup = ((part[name] or part[name + "1"] or "").strip() for name in ("sub", "sup"))
    if any(content.count("(") != content.count(")") for content in (sub, sup)):
        raise NotationError(f"{text!r} has a bracket without its partner")
    if sup != "2" and re.fullmatch(r"[0-9 +-]+", sup):
        raise NotationError(
            f"{text!r} would read as a power; put the number in brackets: ^{{({sup})}}"
        )
    return Label(part["core"], sub, "" if sup == "2" else sup, sup == "2")


def default_label(name: str, indexed: bool = False) -> Label:
    r"""The label of an identifier: `i1` is i_1, `t_in` t_{\mathrm{in}}, an array `w1` w^{(1)}."""
    if name in SQUARES and not indexed:
        return Label(SQUARES[name], square=True)
    letters, digits, rest = re.fullmatch(r"([A-Za-z]*)(\d*)_?(.*)", name).groups()  # type: ignore[union-attr]
    sub = [digits] if digits and not indexed else []
    sub += [_word(part) for part in rest.split("_") if part]
    return Label(_word(letters or "x"), ", ".join(sub), f"({digits})" if digits and indexed else "")


def _word(text: str) -> str:
    if len(text) == 1 or text.isdigit():
        return text
    return rf"\{text}" if text in GREEK else rf"\mathrm{{{text}}}"


@dataclass(frozen=True)
class Notation:
    r"""The labels of names: an author's renames {identifier: LaTeX}, and defaults for the rest.

    Built by `notation`, which checks the renames.
    """

    renames: Mapping[str, Label] = field(default_factory=dict)

    def label(self, name: str, indexed: bool = False) -> Label:
        """The label of a symbol, or of an indexed name; copies i1, i2 of an index i follow it."""
        if name in self.renames:
            return self.renames[name]
        letters, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
        if not indexed and digits and name not in SQUARES and letters in self.renames:
            base = self.renames[letters]
            return replace(base, sub=", ".join(filter(None, (base.sub, digits))))
        return default_label(name, indexed)


def notation(renames: Mapping[str, str] | None = None) -> Notation:
    """The notation with an author's renames. Raises NotationError if one is not a plain name."""
    return Notation({name: _own(text) for name, text in (renames or {}).items()})


def _own(text: str) -> Label:
    """A label that is a name of its own, and not one that formulas use. Raises NotationError."""
    label = read_label(text)
    word = re.sub(r"^\\[a-z]+\{(.*)\}$", r"\1", label.core)
    if word in TAKEN or word.isdigit():
        raise NotationError(f"{text!r} reads as {TAKEN.get(word, 'a number')}; take another name")
    if re.fullmatch(r"T|\\top|\\[a-z]+\{T\}", label.sup):
        raise NotationError(f"{text!r} reads as a transposed matrix; take another name")
    return label


PLAIN = Notation()


def written(name: str, indices: Iterable[Any], printer: Any, exp: str | None = None) -> str:
    """An indexed name in the notation of the printer; plain names in SymPy's own printers."""
    labels: Notation = getattr(printer, "notation", PLAIN)
    return labels.label(name, indexed=True).written(joined(indices, printer), exp or "")


def joined(indices: Iterable[Any], printer: Any) -> str:
    """Indices side by side where each is one letter, with commas otherwise."""
    texts = [printer.doprint(k) for k in indices]
    return (" " if all(len(t) == 1 for t in texts) else ", ").join(texts)


def raised(body: str, exp: str | None) -> str:
    """A closed piece of LaTeX to a power, if there is one."""
    return body + script("^", exp or "")
