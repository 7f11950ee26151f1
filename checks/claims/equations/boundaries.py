"""Where inequalities fail at single points, which random ones do not meet."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from random import Random
from typing import Any

from flint import ctx

from varlaw.checks.claims.declarations.between import Between, random_number
from varlaw.checks.claims.equations.compare import ORDERS, between, number
from varlaw.checks.claims.equations.identities import (
    SEED,
    fraction_by_custom,
    whole_by_custom,
    whole_names,
)
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.exact import as_node
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope, enclosure
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import substituted
from varlaw.symbolic.formulas.tree import Node

Point = Mapping[str, Fraction]

PLACES = (Fraction(0), Fraction(1), Fraction(2), Fraction(-1), Fraction(1, 2))
MOST = 200  # points that are tried
TRIES = 3  # values of the other names for each factor
BITS = 64


def failing(
    left: Node,
    sign: str,
    right: Node,
    positive: Mapping[str, bool],
    scope: Scope,
    ranges: Mapping[str, Between],
    counts: Iterable[str] = (),
) -> Point | None:
    """A point at which an inequality fails for certain, or None.

    Tried are small numbers, and zeros of the factors of left - right that are linear in a name.
    """
    whole = whole_names(left, right).union(counts)
    whole |= {n for n in positive if whole_by_custom(n) and not fraction_by_custom(n)}
    names = sorted(positive)
    grid = (dict(zip(names, values, strict=True)) for values in product(PLACES, repeat=len(names)))
    equal = ({**dict.fromkeys(names, place)} for place in PLACES)
    zeros = _zeros(left, right, positive, scope)
    points = (*equal, *islice(zeros, MOST), *islice(grid, MOST))
    for point in points:
        inside = all(
            _allowed(value, positive[name], name in whole, ranges.get(name))
            for name, value in point.items()
        )
        if inside and _fails(left, sign, right, point, scope):
            return point
    return None


def _allowed(value: Fraction, positive: bool, whole: bool, between: Between | None) -> bool:
    if (positive and value <= 0) or (whole and (value.denominator != 1 or value < 1)):
        return False
    if between is None:
        return True
    above = between.low is None or between.low < value
    return above and (between.high is None or value < between.high)


def _fails(left: Node, sign: str, right: Node, point: Point, scope: Scope) -> bool:
    values = {name: as_node(value) for name, value in point.items()}
    try:
        a, b = substituted(left, values), substituted(right, values)
        with ctx.workprec(BITS):
            gap = enclosure(a, scope) - enclosure(b, scope)
        if not gap.contains(0):
            return (1 if gap > 0 else -1) not in ORDERS[sign]
        return between(number(a, scope), sign, number(b, scope)).verdict is Verdict.REFUTED
    except (NoValue, ValueError):
        return False


def _zeros(left: Node, right: Node, positive: Mapping[str, bool], scope: Scope) -> Iterator[Point]:
    """Points at which a factor of left - right that is linear in a name is zero."""
    from sympy import PolynomialError, Rational, factor_list, fraction, together

    made: dict[str, Any] = {name: symbol(name, above) for name, above in positive.items()}
    algebra = Algebra(made, scope.log_base)
    try:
        top, _ = fraction(together(algebra.expression(left) - algebra.expression(right)))
        if algebra.hidden or not top.is_polynomial(*made.values()):
            return
        factors = [part for part, _ in factor_list(top)[1]]
    except (NoValue, PolynomialError):
        return
    random = Random(SEED)
    for part in factors:
        for name, x in sorted(made.items()):
            polynomial = part.as_poly(x)
            if polynomial is None or polynomial.degree() != 1:
                continue
            for _ in range(TRIES):
                others = {
                    other: random_number(random, positive[other]) for other in made if other != name
                }
                point = {made[n]: Rational(v.numerator, v.denominator) for n, v in others.items()}
                slope, rest = (c.subs(point) for c in polynomial.all_coeffs())
                root = -rest / slope if slope.is_Rational and slope else None
                if root is not None and root.is_Rational:
                    yield {**others, name: Fraction(int(root.p), int(root.q))}
