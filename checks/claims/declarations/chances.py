"""Probabilities of x > c, x < c and x = c for laws of which the raw moments are known.

Johnson, Kotz, Kemp: Univariate Discrete Distributions, chapters 3 and 4; Johnson, Kotz,
Balakrishnan: Continuous Univariate Distributions, chapters 19 and 24.
"""

from collections.abc import Mapping

from sympy import Add, Expr, Integer, Symbol, exp, factorial, floor

from varlaw.checks.claims.declarations.raw_moments import falling
from varlaw.checks.claims.values.functions import NoValue
from varlaw.symbolic.terms import Indicator

Given = Mapping[str, Expr]

MOST_TERMS = 40
WHOLE = ("poisson", "binomial")


def chance(kind: str, given: Given, event: Indicator, x: Symbol) -> Expr:
    """P(event), where the event is about x alone. Raises NoValue where it is not known."""
    argument, relation = event.args[0], event.relation
    slope = argument.diff(x)
    if not slope.is_number or not slope.is_nonzero:
        raise NoValue("the probability of an event that is no bound on one variable")
    place = -argument.subs(x, 0) / slope
    if kind in WHOLE:
        return _of_whole_numbers(kind, given, relation, slope, place)
    if relation == "=":
        return Integer(0)
    above = _above(kind, given, place)
    return above if (relation == ">") == bool(slope.is_positive) else 1 - above


def _above(kind: str, given: Given, place: Expr) -> Expr:
    """P(x > place) for a law with a density."""
    if kind == "exponential":
        if place.is_nonnegative:
            return exp(-given["rate"] * place)
        if place.is_negative:
            return Integer(1)
    if kind == "laplace":
        far = (place - given["mean"]) / given["scale"]
        if far.is_nonnegative:
            return exp(-far) / 2
        if far.is_negative:
            return 1 - exp(far) / 2
    raise NoValue(f"such a probability is not known of the {kind} law")


def _of_whole_numbers(kind: str, given: Given, relation: str, slope: Expr, place: Expr) -> Expr:
    if not place.is_Rational or not place < MOST_TERMS:
        raise NoValue(f"of the {kind} law probabilities are known for small numbers only")
    last = int(floor(place))
    at = _mass(kind, given, last) if place.is_Integer and last >= 0 else Integer(0)
    if relation == "=":
        return at
    up_to = Add(*(_mass(kind, given, k) for k in range(last + 1)))
    return 1 - up_to if (relation == ">") == bool(slope.is_positive) else up_to - at


def _mass(kind: str, given: Given, k: int) -> Expr:
    """P(x = k)."""
    if kind == "poisson":
        return exp(-given["rate"]) * given["rate"] ** k / factorial(k)
    n, p = given["n"], given["p"]
    if (k - n).is_positive:
        return Integer(0)
    return falling(n, k) / factorial(k) * p**k * (1 - p) ** (n - k)
