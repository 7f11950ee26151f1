"""Where a smooth function crosses a value: the kinks of what has a part on each side of it.

`crossings(g, c, x, span)` is a list of points between which the sign of g(x) - c does not change
on the span; it may hold more points than needed. Polynomials go by exact roots, monotone functions
by inversion, waves by the periods in the span, products by their factors. Whatever is not covered
raises NotClosed: no crossing is ever guessed.
"""

from functools import reduce
from itertools import chain
from math import floor, inf

from flint import arb, ctx
from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Poly,
    PolynomialError,
    Pow,
    Symbol,
    acos,
    asin,
    asinh,
    atan,
    cos,
    cosh,
    erf,
    erfc,
    exp,
    factor_terms,
    log,
    pi,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    together,
)

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball

MAX_DEGREE = 12
MOST_OPERATIONS = 40
PRECISIONS = (53, 400)
ZERO = Integer(0)
INVERSES = {
    log: exp,
    sinh: asinh,
    asinh: sinh,
    tanh: lambda c: log((1 + c) / (1 - c)) / 2,
    atan: tan,
}
RANGES = {
    exp: (ZERO, None),
    tanh: (Integer(-1), Integer(1)),
    erf: (Integer(-1), Integer(1)),
    erfc: (ZERO, Integer(2)),
    atan: (-pi / 2, pi / 2),
    sin: (Integer(-1), Integer(1)),
    cos: (Integer(-1), Integer(1)),
    cosh: (Integer(1), None),
}
CENTRES = {erf: ZERO, erfc: Integer(1)}  # the values at 0
WAVES = {sin: lambda c: (asin(c), pi - asin(c)), cos: lambda c: (acos(c), -acos(c))}
MOST_WAVES = 4000  # periods in a span
CELLS = 64


class NotClosed(ValueError):
    """A function or a moment is outside what the closed forms cover; the message says why.

    Expressions are put into the places of a message when it is read: to print them takes long.
    """

    def __str__(self) -> str:
        message, *parts = self.args
        return str(message).format(*map(_named, parts)) if parts else str(message)


def _named(part: object) -> object:
    """An expression with variables of ours under their plain names."""
    if not isinstance(part, Expr):
        return part
    return part.xreplace({d: Symbol(d.name) for d in part.atoms(Dummy)})


Span = tuple[float, float]
LINE: Span = (-inf, inf)


def crossings(g: Expr, c: Expr, x: Symbol, span: Span = LINE) -> list[Expr]:
    """Points of a span between which the sign of g(x) - c does not change.

    Where g is not real, nothing is said. Raises NotClosed where they are not known.
    """
    if not g.has_free(x):
        return []
    slope = g.diff(x)
    if not slope.has_free(x):
        sign_of(slope)
        return [(c - g.subs(x, 0)) / slope]
    if g.is_polynomial(x):
        return _roots(Poly(g - c, x))
    if g.is_rational_function(x):  # changes its sign at zeros and at poles
        return [
            p for part in together(g - c).as_numer_denom() for p in crossings(part, ZERO, x, span)
        ]
    constant, rest = g.as_independent(x, as_Add=True)
    if isinstance(g, Add) and constant != 0:
        return crossings(rest, c - constant, x, span)
    factor, rest = g.as_independent(x, as_Add=False)
    if isinstance(g, Mul) and factor != 1:
        if sign_of(factor) == 0:
            raise NotClosed(f"whether {factor} is zero is not known")
        return crossings(rest, c / factor, x, span)
    if isinstance(g, Mul) and c == 0:
        return list(chain.from_iterable(crossings(part, c, x, span) for part in g.args))
    if isinstance(g, Pow):
        return _power(g.base, g.exp, c, x, span)
    if type(g) in RANGES or type(g) in INVERSES:
        return _function(g, c, x, span)
    return _of_one_part(g - c, x, span)


def sign_of(value: Expr) -> int:
    """1, -1, or 0 for zero. Raises NotClosed where the sign is not known."""
    if value.is_Rational:
        return int(value.p > 0) - int(value.p < 0)
    if value.is_number:
        for precision in PRECISIONS:
            number = _ball(value, precision)
            if not number.contains(0):
                return 1 if number > 0 else -1
    else:
        value = factor_terms(value.expand())
        if value.is_positive or value.is_negative:
            return 1 if value.is_positive else -1
    if value.expand().is_zero:
        return 0
    raise NotClosed(f"the sign of {value} is not known")


def _ball(number: Expr, precision: int) -> arb:
    try:
        with ctx.workprec(precision):
            return ball(number)
    except NoEnclosure as error:
        raise NotClosed(f"the sign of {number} is not known: {error}") from None


def _roots(polynomial: Poly) -> list[Expr]:
    """The real roots: exact for degree 2 and below, algebraic numbers for rational coefficients."""
    if polynomial.degree() > MAX_DEGREE:
        raise NotClosed(f"a kink where a polynomial of degree {polynomial.degree()} has a root")
    if polynomial.degree() > 2:
        _, factors = polynomial.factor_list()
        if all(p.domain.is_ZZ or p.domain.is_QQ for p, _ in factors):
            return list(
                chain.from_iterable(
                    _roots(p) if p.degree() <= 2 else p.real_roots() for p, _ in factors
                )
            )
        if any(p.degree() > 2 for p, _ in factors):
            return _isolated(polynomial.as_expr(), polynomial.gen, LINE)
        return list(chain.from_iterable(_roots(p) for p, _ in factors))
    if polynomial.degree() < 1:
        return []
    *square, slope, offset = polynomial.all_coeffs()
    if not square:
        sign_of(slope)
        return [-offset / slope]
    discriminant = (slope**2 - 4 * square[0] * offset).expand()
    if sign_of(discriminant) < 0:
        return []
    ends = (-slope - sqrt(discriminant), -slope + sqrt(discriminant))
    return [end / (2 * square[0]) for end in ends[: 1 + (discriminant != 0)]]


def _power(base: Expr, exponent: Expr, c: Expr, x: Symbol, span: Span) -> list[Expr]:
    """base^exponent = c for a rational exponent, or one on a constant."""
    if not base.has_free(x):
        if sign_of(base) <= 0:
            raise NotClosed(f"{base**exponent} is not real")
        return [] if sign_of(c) <= 0 else crossings(exponent, log(c) / log(base), x, span)
    if not exponent.is_Rational:
        raise NotClosed(f"a kink where {base**exponent} has the value {c}")
    if exponent < 0:
        inner = [] if sign_of(c) == 0 else _power(base, -exponent, 1 / c, x, span)
        return crossings(base, ZERO, x, span) + inner
    sign = sign_of(c)
    if exponent.p % 2 == 0 or exponent.q != 1:
        if sign < 0:
            return []
        if sign == 0:
            return crossings(base, ZERO, x, span)
    root = sign * (sign * c) ** (1 / exponent)
    found = crossings(base, root, x, span)
    return found + (crossings(base, -root, x, span) if exponent.p % 2 == 0 else [])


def _function(g: Expr, c: Expr, x: Symbol, span: Span) -> list[Expr]:
    kind, argument = type(g), g.args[0]
    low, high = RANGES.get(kind, (None, None))
    if (low is not None and sign_of(c - low) <= 0) or (high is not None and sign_of(c - high) >= 0):
        return []  # never, or at an extreme value only
    if kind is exp:
        return crossings(argument, log(c), x, span)
    if kind in INVERSES:
        return crossings(argument, INVERSES[kind](c), x, span)
    if kind is cosh:
        end = log(c + sqrt(c**2 - 1))
        return crossings(argument, end, x, span) + crossings(argument, -end, x, span)
    if CENTRES.get(kind) == c:
        return crossings(argument, ZERO, x, span)
    return _waves(g, c, x, span) if kind in WAVES else _isolated(g - c, x, span)


def _waves(g: Expr, c: Expr, x: Symbol, span: Span) -> list[Expr]:
    """sin(u) = c or cos(u) = c, a period after the other for all values that u has."""
    u, ends = g.args[0], RANGES.get(type(g.args[0]), (None, None))
    if None not in ends:
        values = _ball(ends[0], PRECISIONS[0]).union(_ball(ends[1], PRECISIONS[0]))
    elif inf not in map(abs, span):
        values = _values(u, x, span)
    else:
        return _isolated(g - c, x, span)
    turns = values / (2 * arb.pi())
    if not turns.is_finite() or turns.rad() > MOST_WAVES:
        raise NotClosed(f"the kinks where {g} is {c} are too many")
    low, high = (floor(float(end)) for end in (turns.lower(), turns.upper()))
    return [
        point
        for start in WAVES[type(g)](c)
        for turn in range(low - 1, high + 2)
        for point in crossings(u, start + 2 * turn * pi, x, span)
    ]


def _values(u: Expr, x: Symbol, span: Span) -> arb:
    """A ball of all values of a function on a finite span."""
    from varlaw.symbolic.gaussian.programs import program

    try:
        value = program(u, x).on_reals()
    except NoEnclosure as error:
        raise NotClosed(f"the values of {u} are not known: {error}") from None
    width = (span[1] - span[0]) / CELLS
    cells = (value(arb(span[0] + width * (k + 0.5), width)) for k in range(CELLS))
    return reduce(lambda one, other: one.union(other), cells)


def _of_one_part(difference: Expr, x: Symbol, span: Span) -> list[Expr]:
    """The zeros of a polynomial in one other function of x, such as exp(2 x) - 3 exp(x)."""
    try:
        if difference.count_ops() > MOST_OPERATIONS:
            return _isolated(difference, x, span)
        parts = [part for part in Poly(difference).gens if part.has_free(x)]
        if len(parts) == 1 and parts[0] not in (x, difference):
            zeros = _roots(Poly(difference, parts[0]))
            return list(chain.from_iterable(crossings(parts[0], zero, x, span) for zero in zeros))
        above, below = together(difference).as_numer_denom()
        parts = [p for p in Poly(above).gens if p.has_free(x)] if above.has_free(x) else []
        if below.has_free(x) and len(parts) <= 1:
            return crossings(above, ZERO, x, span) + crossings(below, ZERO, x, span)
    except PolynomialError:
        pass
    product = factor_terms(difference)
    if isinstance(product, Mul):
        return crossings(product, ZERO, x, span)
    return _isolated(difference, x, span)


def _isolated(difference: Expr, x: Symbol, span: Span) -> list[Expr]:
    """The zeros as numbers without a formula, where there are no parameters."""
    from varlaw.symbolic.gaussian.zeros import zeros  # which needs what closed forms do not

    _, difference = difference.as_content_primitive()
    if difference.could_extract_minus_sign():
        difference = -difference
    try:
        return list(zeros(difference, x, *span))
    except NoEnclosure as error:
        raise NotClosed(f"a kink where {difference} is zero: {error}") from None
