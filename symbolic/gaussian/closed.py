"""Closed forms of E[f(Z)] for Gaussian Z, by an algorithm on terms.

A function is split at its kinks, each piece becomes a sum of terms on an interval, and each term is
integrated as in `integrals`. What is no such sum may still be a rational function on a half line,
or lose what has no closed form by symmetry.
"""

from itertools import chain

from sympy import (
    ComplexRootOf,
    Expr,
    I,
    Integer,
    Symbol,
    cos,
    exp,
    preorder_traversal,
    sin,
)

from varlaw.symbolic.abbreviations import Abbreviation, unabbreviated
from varlaw.symbolic.gaussian.balls import Located
from varlaw.symbolic.gaussian.integrals import integral, is_positive
from varlaw.symbolic.gaussian.pieces import NotClosed, Piece, pieces_of
from varlaw.symbolic.gaussian.rational import half_line_mean
from varlaw.symbolic.gaussian.sums import Shape, Terms, terms_of
from varlaw.symbolic.gaussian.symmetry import even_part
from varlaw.symbolic.language_text import typed
from varlaw.symbolic.occurrences import free_symbols

MOST_WORK = 100_000


class Divergent(ValueError):
    """The moment is infinite or undefined."""


def closed_form(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    """E[f(Z)] for Z ~ N(mean, variance), where there is a closed form.

    `mean` and `variance` may hold symbols (the variance a positive one). Raises NotClosed where no
    closed form is known, Divergent where the integral does not converge, ValueError for a variance
    that is not positive.
    """
    if variance.is_zero:
        return f.subs(x, mean)
    if not variance.is_positive:
        raise ValueError(f"the variance {variance} is not known to be positive")
    try:
        found = _by_terms(f, x, mean, variance)
    except NotClosed as why:
        even = even_part(f, x) if mean.is_zero else None
        if even is None:
            raise
        try:
            found = _by_terms(even, x, mean, variance)
        except NotClosed:
            raise why from None
    return unabbreviated(found)


def _by_terms(f: Expr, x: Symbol, mean: Expr, variance: Expr) -> Expr:
    total: Expr = Integer(0)
    work, numeric = 0, not (free_symbols(f) - {x} or mean.free_symbols or variance.free_symbols)
    for piece in pieces_of(f, x):
        try:
            terms = terms_of(piece.expression, x)
        except NotClosed as why:
            try:
                total += half_line_mean(piece, x, mean, variance)
            except NotClosed:
                raise why from None
            continue
        _look_at_growth(piece, terms, x, mean, variance)
        work += sum(_work(shape, piece) for shape in terms)
        if numeric and work > MOST_WORK:  # with parameters there is no other answer
            raise NotClosed("the closed form would be too long")
        for shape, coefficient in terms.items():
            total += coefficient * integral(shape, piece.lower, piece.upper, mean, variance)
    if any(not isinstance(v, Abbreviation) for v in total.atoms(ComplexRootOf, Located)):
        raise NotClosed("the kinks of {} are roots without a closed form", f)
    total = _real(total)
    if total.has(I):
        raise NotClosed("no closed form in real functions is known for {}", f)
    return total


def _work(shape: Shape, piece: Piece) -> int:
    """About how much there is to do for a term: sizes count twice, as they come in products."""
    parts = (shape.quadratic, shape.linear, piece.lower, piece.upper, *chain(*shape.erfs))
    size = sum(1 for part in parts for _ in preorder_traversal(part))
    return int(size**2 * (shape.power + 1) * 3 ** len(shape.erfs))


def _look_at_growth(piece: Piece, terms: Terms, x: Symbol, mean: Expr, variance: Expr) -> None:
    """Raise Divergent if terms outgrow the density; terms with error functions may cancel."""
    far = [
        shape for shape in terms if not _converges(shape, piece.lower, piece.upper, mean, variance)
    ]
    if not far:
        return
    fastest = typed(exp(far[0].quadratic * x**2 + far[0].linear * x))
    if any(shape.erfs for shape in far):
        raise NotClosed(f"no closed form is known where {fastest} alone grows too fast")
    raise Divergent(f"{fastest} grows too fast for the variance {typed(variance)}")


def _converges(shape: Shape, lower: Expr, upper: Expr, mean: Expr, variance: Expr) -> bool:
    """Whether a term, but for its error functions, does not outgrow the density at infinite ends.

    Raises NotClosed where that is not known.
    """
    precision = 1 / variance - 2 * shape.quadratic
    if is_positive(precision) or (lower.is_finite and upper.is_finite):
        return True
    if precision.is_negative:
        return False
    if not precision.expand().is_zero:
        raise NotClosed(f"whether {precision} is positive is not known")
    rate = (shape.linear + mean / variance).expand()
    for end, falls in ((upper, rate.is_negative), (lower, rate.is_positive)):
        if not end.is_finite and not falls:
            if not rate.is_zero and rate.is_real and falls is None:
                raise NotClosed(f"the sign of {rate} is not known")
            return False
    return True


def _real(total: Expr) -> Expr:
    """Pairs of complex exponentials written as waves."""
    if not total.has(I):
        return total

    def wave(argument: Expr) -> Expr:
        argument = argument.expand()
        turn = argument.coeff(I)
        flat = argument - I * turn
        return exp(flat) * (cos(turn) + I * sin(turn))

    return total.expand().replace(exp, wave).expand()
