"""Breaking a formula that is too wide into lines, at its terms and then at its factors."""

import math
from collections.abc import Iterable

from sympy import Add, Basic, Expr, Mul, Pow, Rational
from sympy.core.relational import Relational

from varlaw.symbolic.derivation import sign_of
from varlaw.symbolic.printers.mathematics import SIGNS, LatexMath
from varlaw.symbolic.printers.order import LARGE, quotient
from varlaw.symbolic.printers.widths import width
from varlaw.symbolic.terms import Expectation, IndexSum

DOT = r"\cdot "


def broken(expression: Expr, printer: LatexMath, most: float) -> list[str]:
    """The LaTeX of an expression in lines of at most `most` em, where it can be broken so far.

    The lines joined are the expression again: a line that goes on with a factor begins with a dot.
    """
    return _packed(_pieces(expression, printer, most), most)


def inline(statement: Basic, printer: LatexMath, most: float = math.inf) -> str:
    """An expression or a relation in running text; lines may end within a wide one."""
    whole = str(printer.doprint(statement))
    if width(whole) <= most:
        return f"${whole}$"
    sides = statement.args if isinstance(statement, Relational) else (statement,)
    *left, right = (broken(side, printer, most) for side in sides)
    sign = [f"{SIGNS[sign_of(statement)]} {right[0]}"] if left else right[:1]
    first, *others = [*(piece for side in left for piece in side), *sign, *right[1:]]
    return " ".join([f"${first}$", *(f"${{}} {piece}$" for piece in others)])


def _pieces(expression: Expr, printer: LatexMath, most: float) -> list[str]:
    """The largest parts that fit on a line: the whole, its terms, its factors, or their insides."""
    whole = str(printer.doprint(expression))
    if width(whole) <= most:
        return [whole]
    match expression:
        case Add():
            return [
                piece
                for text, term in printer.signed_terms(expression)
                for piece in _term(text, term, printer, most)
            ]
        case Expectation():
            return _around(r"\operatorname{E}\Bigl[", expression.args[0], r"\Bigr]", printer, most)
        case IndexSum():
            sign, inner = expression.latex_sign(printer), expression.summand
            if isinstance(inner, Add):
                return _around(rf"{sign} \Bigl(", inner, r"\Bigr)", printer, most)
            first, *others = _pieces(inner, printer, most - width(sign))
            return [f"{sign} {first}", *others]
        case Mul():
            return _factors(expression, printer, most)
        case Pow(base=Add() | Pow() as base, exp=Rational() as exponent):
            closing = rf"\Bigr)^{{{printer.exponent(exponent)}}}"
            return _around(r"\Bigl(", base, closing, printer, most)
        case _:
            return [whole]


def _term(text: str, term: Expr, printer: LatexMath, most: float) -> list[str]:
    """One term of a sum with its sign, in pieces if it is too wide."""
    if width(text) <= most:
        return [text]
    sign = text[:2] if text[:2] in ("+ ", "- ") else ""
    first, *others = _pieces(-term if sign == "- " else term, printer, most - 1.5)
    return [f"{sign}{first}", *others]


def _factors(expression: Mul, printer: LatexMath, most: float) -> list[str]:
    """The factors of a product; the last one in pieces if it is too wide by itself.

    A fraction that is too wide becomes a number over what is below, and the sum that was above.
    """
    product = quotient(expression)
    open_end = any(isinstance(f, LARGE) for f in product.above)  # would take in what comes after
    sums = not open_end and any(isinstance(f, Add) for f in product.above)
    if sums and width(printer.parts(product)[0]) > most:
        (total, *_) = (f for f in product.above if isinstance(f, Add))
        rest = expression / total
        pieces = _around(r"\Bigl(", total, r"\Bigr)", printer, most - 1.5)
        if isinstance(rest, Add):
            front = _around(r"\Bigl(", rest, r"\Bigr)", printer, most)
        else:
            front = _pieces(rest, printer, most)
        return [*front, DOT + pieces[0], *pieces[1:]]
    *texts, last = (text.removeprefix(DOT) for text in printer.parts(product))
    pieces = [last]
    if width(last) > most - 1.5 and product.above:
        factor = product.above[-1]
        plain = printer.doprint(factor)
        if last == plain:
            pieces = _pieces(factor, printer, most - 1.5)
        elif last == rf"\left({plain}\right)":
            pieces = _around(r"\Bigl(", factor, r"\Bigr)", printer, most - 1.5)
    texts = [*texts, pieces[0]]
    if texts[0].isdigit() and len(texts) > 1:
        texts[:2] = [f"{texts[0]} {DOT if texts[1][:1].isdigit() else ''}{texts[1]}"]
    sign = "-" if product.negative else ""
    return [sign + texts[0], *(DOT + text for text in texts[1:]), *pieces[1:]]


def _around(opening: str, inner: Expr, closing: str, printer: LatexMath, most: float) -> list[str]:
    pieces = _pieces(inner, printer, most - width(opening) - 0.5)
    pieces[0] = f"{opening}{pieces[0]}"
    pieces[-1] += closing
    return pieces


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
    plain = piece.removeprefix(DOT)
    return f"{line} {piece if plain[:1].isdigit() else plain}"
