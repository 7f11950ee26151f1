"""Derivations of the moments of blocks as LaTeX and Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sympy import Expr, Function, Symbol

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.derivation import Chapter, Derivation, Line
from varlaw.symbolic.language_text import in_decimals, typed
from varlaw.symbolic.notation import raised
from varlaw.symbolic.printers.lines import broken
from varlaw.symbolic.printers.mathematics import LatexMath
from varlaw.symbolic.printers.prose import escaped
from varlaw.symbolic.printers.widths import width

OURS, AUTHORS = 46.5, 34.0  # em: the lines of our own document, and of LaTeX's own article
WHAT = 0.36  # of them: the column that names the blocks
SMALL = 0.72  # the size of letters in a formula that is too wide for the page
MARKDOWN = 60.0  # em
SENTENCES = {
    "forward": "Second moments from the input on, each after the block that is named beside it.",
    "backward": (
        "Second moments of the gradient in one entry, from 1 at the output back, each before the "
        "block that is named beside it."
    ),
}
DOCUMENT = r"""\documentclass[10pt,a4paper]{article}
\usepackage{amsmath,amssymb}
\usepackage[hmargin=2.2cm,vmargin=2.4cm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 2pt}
\allowdisplaybreaks
\begin{document}
%s
\end{document}
"""


class BlockMath(LatexMath):
    """Formulas with the means and iterations of blocks."""

    def doprint(self, expr: Expr) -> str:
        return str(super().doprint(in_decimals(expr) if isinstance(expr, Expr) else expr))

    def _print_GaussianMean(self, expr: GaussianMean, exp: str | None = None) -> str:
        (x,), f = expr.args[0].variables, expr.args[0].expr
        law = (
            rf"{self.doprint(x)} \sim N({self.doprint(expr.args[1])}, {self.doprint(expr.args[2])})"
        )
        return raised(rf"\operatorname{{E}}_{{{law}}}\left[{self.doprint(f)}\right]", exp)

    def _print_Function(self, expr: Function, exp: str | None = None) -> str:
        if isinstance(expr, Activation) and expr.args[1:] == expr.defaults:
            body = rf"\operatorname{{{expr.label}}}\left({self.doprint(expr.args[0])}\right)"
            return raised(body, exp)
        return super()._print_Function(expr, exp)

    def _print_Iterated(self, expr: Function, exp: str | None = None) -> str:
        return raised(rf"\text{{\ttfamily {escaped(typed(expr))}}}", exp)

    _print_IteratedProduct = _print_Coupled = _print_CoupledBack = _print_Iterated
    _print_GaussianPair = _print_Iterated


@dataclass(frozen=True)
class Told:
    """A derivation with the sentences that go with it, a list of (name, text) for each side."""

    title: str
    derivation: Derivation
    facts: dict[str, list[tuple[str, str]]]


def latex(told: Told, *, standalone: bool = True) -> str:
    """A document that compiles as it stands, or a fragment for an author's own with amsmath."""
    head = "section*" if standalone else "paragraph"
    parts = [rf"\{head}{{\raggedright {_code(told.title)}}}"]
    for side, chapters in _sides(told.derivation):
        if side == "backward" and not chapters and not told.facts[side]:
            continue
        parts.append(rf"\textbf{{{side.capitalize()}.}} {SENTENCES[side]}")
        parts += [_chapter(chapter, OURS if standalone else AUTHORS) for chapter in chapters]
        facts = "".join(
            rf"\textbf{{{escaped(name)}:}} {_loose(text)}.\par" + "\n"
            for name, text in told.facts[side]
        )
        parts.append(f"{{\\raggedright\n{facts}}}")
    body = "\n".join(parts)
    return DOCUMENT % body if standalone else f"{{\\allowdisplaybreaks\\sloppy\n{body}\n}}\n"


def listing(parts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """A document with facts in the notation under a heading each."""
    bodies = []
    for name, facts in parts:
        lines = "".join(
            rf"\textbf{{{escaped(title)}:}} {_code(text)}\par" + "\n" for title, text in facts
        )
        bodies.append(f"\\section*{{\\raggedright {escaped(name)}}}\n{{\\raggedright\n{lines}}}")
    return DOCUMENT % "\n".join(bodies)


def markdown(told: Told) -> str:
    """Markdown with formulas between dollars, as GitHub and notebooks show them."""
    parts = [f"## `{told.title}`"]
    for side, chapters in _sides(told.derivation):
        if side == "backward" and not chapters and not told.facts[side]:
            continue
        parts.append(f"**{side.capitalize()}.** {SENTENCES[side]}")
        for chapter in chapters:
            if chapter.lead:
                parts.append(f"*{_sentence(chapter.lead)}:*")
            parts.append("\n".join(map(_item, chapter.lines)))
        if told.facts[side]:
            parts.append("\n".join(f"- **{name}:** {text}" for name, text in told.facts[side]))
    return "\n\n".join(parts) + "\n"


def formula(value: Expr) -> str:
    """The LaTeX of a value, without dollars."""
    return str(BlockMath(over=True).doprint(value))


def _sides(derivation: Derivation) -> list[tuple[str, list[Chapter]]]:
    """Both sides, with the means that stand inside longer values named below them."""
    named: dict[Expr, Expr] = {}
    both = []
    for side in ("forward", "backward"):
        before = len(named)
        chapters = [
            replace(chapter, lines=[_shorter(line, named) for line in chapter.lines])
            for chapter in getattr(derivation, side)
        ]
        where = [Line(name, mean, mean, "") for mean, name in [*named.items()][before:]]
        both.append((side, [*chapters, Chapter("where", where)] if where else chapters))
    return both


def _shorter(line: Line, named: dict[Expr, Expr]) -> Line:
    """A line with names for the means inside longer expressions."""

    def short(side: Expr | None) -> Expr | None:
        if side is None or isinstance(side, GaussianMean):
            return side
        for mean in sorted(side.atoms(GaussianMean), key=str):
            letter = "M" if any(s.name[0] == "E" for s in side.free_symbols) else "E"
            named.setdefault(mean, Symbol(f"{letter}{len(named) + 1}", positive=True))
        return side.xreplace(named)

    return replace(line, map=short(line.map), value=short(line.value))


def _chapter(chapter: Chapter, page: float) -> str:
    lines = [text for line in chapter.lines for text in _rows(line, page)]
    lead = f"{escaped(_sentence(chapter.lead))}:\n" if chapter.lead else ""
    inner = " \\\\\n".join(f"  {line}" for line in lines)
    return f"{lead}\\begin{{align*}}\n{inner}\n\\end{{align*}}"


def _rows(line: Line, page: float) -> Iterator[str]:
    printer, most = BlockMath(over=True), (1 - WHAT) * page - 6.5
    left = printer.doprint(line.left)
    what = _box(_named(line), page)
    sides = [broken(side, printer, most) for side in _equals(line)]
    fitting = [side for side in sides[1:] if max(map(width, side)) <= most]
    rows = [
        ("=" if place == 0 else r"\quad {}", piece)
        for side in [*sides[:1], *fitting]
        for place, piece in enumerate(side)
    ]
    if all(width(piece) <= most for _, piece in rows[:1]):
        sign, piece = rows[0] if rows else ("", "")
        yield f"{left} & {sign} {piece} && {what}"
    else:  # cannot be broken: the block is named above it
        yield f"{left} & && {what}"
        rows.insert(0, rows[0])
    for sign, piece in rows[1:]:
        yield f"& {_squeezed(sign, piece, most, page - 8)}"


def _squeezed(sign: str, piece: str, most: float, room: float) -> str:
    """A formula that may reach over the column of names, in small letters if need be."""
    if width(piece) <= most:
        return f"{sign} {piece}"
    if width(piece) <= room:
        return rf"\rlap{{$\displaystyle {sign} {piece}$}}"
    if SMALL * width(piece) <= room:
        return rf"\rlap{{$\scriptstyle {sign} {piece}$}}"
    return rf"{sign} \ldots"


def _item(line: Line) -> str:
    return f"- `{_cut(_named(line))}`: {_inline(line)}" if line.what else f"- {_inline(line)}"


def _named(line: Line) -> str:
    return line.what if line.map is not None else f"{line.what} (no closed form)"


def _equals(line: Line) -> Sequence[Expr]:
    """The map, and the value where it says more; nothing where there is no closed form."""
    return list(dict.fromkeys(s for s in (line.map, line.value) if s is not None))


def _inline(line: Line) -> str:
    printer = BlockMath(over=True)
    sides = " = ".join(printer.doprint(side) for side in (line.left, *_equals(line)))
    portable = sides.replace(r"\operatorname{", r"\mathrm{")  # GitHub refuses the former
    return f"${portable}$"


def _box(text: str, page: float) -> str:
    return (
        rf"\parbox[t]{{{WHAT * page:.1f}em}}{{\raggedright\footnotesize {_code(text)}}}"
        if text
        else ""
    )


def _code(text: str) -> str:
    r"""Notation in typewriter letters, whose lines may end at every sign."""
    broken_ = escaped(_cut(text)).replace("/", r"/\allowbreak{}").replace("*", r"*\allowbreak{}")
    return rf"\texttt{{{broken_}}}"


def _loose(text: str) -> str:
    """A sentence whose formulas may be broken at their signs."""
    return escaped(text).replace("*", r"*\allowbreak{}").replace("+", r"+\allowbreak{}")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cut(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:197]}..."
