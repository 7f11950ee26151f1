"""The variance of a statistic, from the moments of what is drawn.

It comes from the expectation calculus for polynomials in sums of drawn arrays, and from moments of
one Gaussian variable for functions of them. Neither the draws nor the claim have a say in it.
"""

import math
from collections.abc import Mapping

from sympy import Expr, Integer, Mul, Pow, Symbol

from varlaw.checks.compiled.models import Affine, Model, replaced
from varlaw.checks.experiments.moments import evaluate, expected
from varlaw.checks.statistics.sampling import Normal
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.derivation import RuleError
from varlaw.symbolic.gaussian.moment import moment
from varlaw.symbolic.terms import IndexSum, factors, terms

HIGHEST = 8  # copies of sums in the square of a statistic, for the calculus to take seconds
MOST_TERMS = 200  # of a square that is multiplied out
MOST_POWER = 1000  # of a sum: with more it takes minutes
DIGITS = 15


def variance_of(statistic: Expr, values: Mapping[str, Expr], model: Model) -> float | None:
    """The variance of a statistic of drawn arrays; None where no rule gives it, or not soon."""
    if not in_reach(statistic):
        return None
    for find in (_by_calculus, _by_gaussian_moments):
        found = find(statistic, values, model.drawn)
        if found is not None and math.isfinite(found):
            return max(found, 0.0)
    return None


def in_reach(statistic: Expr) -> bool:
    """Whether so few sums are multiplied that the square is soon multiplied out."""
    powers = (p.exp for p in statistic.atoms(Pow) if p.base.is_Add and p.exp.is_Integer)
    return 2 * copies(statistic) <= HIGHEST and all(abs(k) <= MOST_POWER for k in powers)


def copies(e: Expr) -> int:
    """How many copies of a sum are multiplied in an expression that is multiplied out."""
    if isinstance(e, IndexSum):
        return len(e.bound) * max(1, copies(e.summand))
    if e.is_Mul:
        return sum(map(copies, e.args))
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return int(e.exp) * copies(e.base)
    return max((copies(part) for part in e.args if isinstance(part, Expr)), default=0)


def _by_calculus(
    statistic: Expr, values: Mapping[str, Expr], laws: Mapping[str, Affine]
) -> float | None:
    try:
        mean, square = (expected(s, values, laws) for s in (statistic, statistic**2))
    except (RuleError, LookupError, ValueError):
        return None
    return float(square - mean**2)


def _by_gaussian_moments(
    statistic: Expr, values: Mapping[str, Expr], laws: Mapping[str, Affine]
) -> float | None:
    """For products of functions of one normal variable each, and sums of such products."""
    entries = sorted(statistic.atoms(Entry), key=str)
    if any(e.indices or not isinstance(laws[e.array.name].base, Normal) for e in entries):
        return None
    names = {e: Symbol(f"x{k}", real=True) for k, e in enumerate(entries)}
    inside = replaced(statistic, names)
    known = {**values, **{x.name: x for x in names.values()}}
    variables = {x: laws[e.array.name] for e, x in names.items()}
    try:
        inside = evaluate(inside, known)
        mean, square = (_mean(s.expand(), variables) for s in (inside, inside**2))
    except (ValueError, LookupError, ArithmeticError):
        return None
    return square - mean**2


def _mean(expanded: Expr, variables: Mapping[Symbol, Affine]) -> float:
    """E of an expression that is multiplied out. Raises ValueError where it is out of reach."""
    if len(terms(expanded)) > MOST_TERMS:
        raise ValueError(f"more than {MOST_TERMS} terms")
    total = []
    for term in terms(expanded):
        number, functions = Integer(1), dict[Symbol, Expr]()
        for factor in factors(term):
            inside = sorted(factor.free_symbols & variables.keys(), key=str)
            if len(inside) > 1:
                raise ValueError(f"{factor} has two variables in it")
            if inside:
                functions[inside[0]] = Mul(functions.get(inside[0], Integer(1)), factor)
            else:
                number *= factor
        value = float(number)
        for x, function in functions.items():
            law = variables[x]
            found = moment(function, law.mean, law.variance, variable=x.name)
            value *= float(found.digits(DIGITS).digits)
        total.append(value)
    return math.fsum(total)
