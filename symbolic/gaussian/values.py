"""Balls for expressions with expectations of Gaussian variables, or integrals, that are numbers."""

from collections.abc import Mapping

from flint import arb, ctx
from sympy import Add, Expr, Integral, Mul, Pow

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.programs import program
from varlaw.symbolic.gaussian.quadrature import integral
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Expectation

Heads = Mapping[Expr, arb]


def value_of(expression: Expr, digits: int) -> arb:
    """A ball for a number at the current precision, each expectation to so many digits.

    Raises NoEnclosure where it has parameters, or an expectation is of something else than a
    function of one Gaussian variable.
    """
    opened = expression.replace(lambda e: isinstance(e, Named), lambda e: e.definition)
    known = {e: _mean(e, digits) for e in opened.atoms(Expectation)}
    return combined(opened, known | {e: _area(e) for e in opened.atoms(Integral)})


def _mean(head: Expectation, digits: int) -> arb:
    variable = variable_of(head)
    if variable is None:
        raise NoEnclosure(f"{head} is no function of one Gaussian variable")
    x = variable.symbol
    try:
        pieces = pieces_of(variable.inside(head), x)
    except NotClosed as error:
        raise NoEnclosure(str(error)) from error
    found: arb = enclose(pieces, x, variable.mean, variable.variance, digits).value
    return found


def _area(whole: Integral) -> arb:
    """An integral between two numbers of a function without kinks between them."""
    ((x, low, high),) = whole.limits
    function, tolerance = program(whole.function, x).on_complexes(), arb(2) ** -ctx.prec
    found = integral(function, ball(low), ball(high), tolerance).real
    if not found.is_finite():
        raise NoEnclosure(f"no enclosure is known for {whole}")
    return found


def combined(e: Expr, known: Heads) -> arb:
    """A ball for an expression, given balls for some parts of it."""
    if e in known:
        return known[e]
    if not any(e.has(part) for part in known):
        return ball(e)
    if isinstance(e, (Add, Mul)):
        total = arb(0) if isinstance(e, Add) else arb(1)
        for part in e.args:
            value = combined(part, known)
            total = total + value if isinstance(e, Add) else total * value
        return total
    if isinstance(e, Pow) and not any(e.exp.has(part) for part in known):
        return _raised(combined(e.base, known), e.exp)
    raise NoEnclosure(f"no enclosure is known for {e}")


def _raised(base: arb, exponent: Expr) -> arb:
    if exponent.is_Integer:
        power, square = arb(1), base if exponent > 0 else 1 / base
        for _ in range(abs(int(exponent))):
            power *= square
        return power
    if exponent.is_Rational and exponent.q == 2:
        return _raised(base.sqrt(), 2 * exponent)
    return base ** ball(exponent)
