"""Breaking a formula that is too wide into lines, at its terms and then at its factors."""

from collections.abc import Iterable

from sympy import Add, Expr, Mul

from varlaw.symbolic.printers.mathematics import LatexMath
from varlaw.symbolic.printers.order import quotient
from varlaw.symbolic.printers.widths import width
from varlaw.symbolic.terms import Expectation, IndexSum


def broken(expression: Expr, printer: LatexMath, most: float) -> list[str]:
    """The LaTeX of an expression in lines of at most `most` em, where it can be broken so far.

    The lines joined are the expression again: a line that goes on with a factor begins with a dot.
    """
    whole = printer.doprint(expression)
    if width(whole) <= most:
        return [whole]
    if isinstance(expression, Add):
        return _terms(expression, printer, most)
    if isinstance(expression, Expectation):
        return _around(r"\operatorname{E}\Bigl[", expression.args[0], r"\Bigr]", printer, most)
    if isinstance(expression, IndexSum):
        inner = expression.summand
        if isinstance(inner, Add):
            return _around(printer_sign(expression, printer) + r" \Bigl(", inner, r"\Bigr)", printer, most)
        return _after(printer_sign(expression, printer), inner, printer, most)
    if isinstance(expression, Mul):
        return _factors(expression, printer, most)
    return [whole]


def printer_sign(expression: IndexSum, printer: LatexMath) -> str:
    return expression.latex_sign(printer)


def _terms(expression: Add, printer: LatexMath, most: float) -> list[str]:
    lines: list[str] = []
    for text, term in printer.signed_terms(expression):
        parts = [text]
        if width(text) > most:
            sign = text[:2] if text[:1] in "+-" and lines else ""
            positive = -term if sign == "- " else term
            parts = broken(positive, printer, most - 1.5)
            parts[0] = sign + parts[0]
        lines = _packed([*lines, *parts], most)
    return lines


def _factors(expression: Mul, printer: LatexMath, most: float) -> list[str]:
    """A product: its last factor broken, else a new line before one of the factors."""
    product = quotient(expression)
    texts = printer.parts(product)
    sign = "-" if product.negative else ""
    last = product.above[-1] if product.above else None
    front = sign + " ".join(texts[:-1])
    if last is not None and len(texts) > 1:
        if isinstance(last, Add) and texts[-1].startswith(r"\left("):
            return _around(rf"{front} \Bigl(", last, r"\Bigr)", printer, most)
        if isinstance(last, Expectation | IndexSum):
            return _after(front, last, printer, most)
    return _packed([sign + texts[0], *(rf"\cdot {t.removeprefix(r'\cdot ')}" for t in texts[1:])], most)


def _after(front: str, rest: Expr, printer: LatexMath, most: float) -> list[str]:
    first, *others = broken(rest, printer, most - width(front))
    return [f"{front} {first}", *others]


def _around(opening: str, inner: Expr, closing: str, printer: LatexMath, most: float) -> list[str]:
    lines = broken(inner, printer, most - width(opening) - 0.5)
    lines[0] = f"{opening}{lines[0]}"
    lines[-1] += closing
    return lines


def _packed(pieces: Iterable[str], most: float) -> list[str]:
    """Pieces put side by side as long as they fit."""
    lines: list[str] = []
    for piece in pieces:
        if lines and width(f"{lines[-1]} {piece}") <= most:
            lines[-1] = rejoined(lines[-1], piece)
        else:
            lines.append(piece)
    return lines


def rejoined(line: str, piece: str) -> str:
    """Two pieces on one line, where a dot between factors is not needed."""
    plain = piece.removeprefix(r"\cdot ")
    return f"{line} {piece if plain[:1].isdigit() else plain}"
