"""Rules of analysis: integrals, minima, inequalities, limits."""

from sympy import (
    Dummy,
    Expr,
    Integer,
    Integral,
    Mul,
    Poly,
    Pow,
    Symbol,
    diff,
    factor,
    limit,
    oo,
    sqrt,
    together,
)
from sympy import integrate as antiderivative

from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, WrongLimit, relation, rule
from varlaw.symbolic.sequences import IndexProduct
from varlaw.symbolic.terms import Expectation, Variance


@rule("integrate", "antiderivative of a polynomial", checker="antiderivative")
def integrate(state: Expr, used: Used) -> Outcome:
    """Integrals of polynomials between finite bounds."""
    found, parts = {}, {}
    for whole in state.atoms(Integral):
        ((x, lower, upper),) = whole.limits
        if not whole.function.is_polynomial(x):
            raise RuleError(f"not covered: {whole.function} is not a polynomial in {x}")
        primitive = antiderivative(whole.function, x)
        parts[whole] = primitive
        found[whole] = primitive.subs(x, upper) - primitive.subs(x, lower)
    return Outcome(state.xreplace(found), certificate={"primitive": parts})


@rule(
    "minimise",
    "the unique minimum: the derivative vanishes, the second is positive",
    checker="minimum",
    equations=True,
)
def minimise(state: Expr, used: Used, over: Symbol) -> Outcome:
    """The point where a quadratic in `over` with positive curvature is least."""
    polynomial = Poly(state.rhs, over)
    if polynomial.degree() != 2:
        raise RuleError(f"not covered: {state.rhs} is not quadratic in {over}")
    slope, curvature = diff(state.rhs, over), diff(state.rhs, over, 2)
    point = factor(-slope.subs(over, 0) / curvature)
    return Outcome(
        relation(over, point, "="),
        certificate={"objective": state.rhs, "over": over, "point": point},
    )


@rule("bound", "the difference is a square over something positive", checker="inequality")
def bound(state: Expr, used: Used, by: Expr) -> Outcome:
    """`state >= by`, where the difference factors into squares and positive things."""
    roots = {
        symbol: Dummy(positive=True) for symbol in (state - by).free_symbols if symbol.is_positive
    }
    squares = together((state - by).subs({symbol: root**2 for symbol, root in roots.items()}))
    difference = factor(squares).subs({root: sqrt(symbol) for symbol, root in roots.items()})
    if not is_square_over_positive(difference):
        raise RuleError(
            f"no certificate: {state} - {by} = {difference} is not a square over a positive"
        )
    return Outcome(
        by,
        ">=",
        {"difference": difference},
        f"the difference is {difference}, at least 0 and 0 only where its square vanishes",
    )


def is_square_over_positive(expression: Expr) -> bool:
    """Whether every factor is positive or an even power of something real."""
    return all(
        factor_.is_positive
        or (isinstance(factor_, Pow) and factor_.exp.is_even and factor_.base.is_real)
        for factor_ in expression.as_ordered_factors()
    )


@rule(
    "concentrate",
    "law of large numbers (Chebyshev): the variance tends to 0",
    checker="concentration",
)
def concentrate(state: Expr, used: Used, mean: Expr, width: Symbol) -> Outcome:
    """A mean over `width` units, replaced by its limit as the width grows, in probability.

    Expectation and variance are derived by the calculus. The variance is O(1/width), so that the
    mean departs from its limit by O(1/sqrt(width)) in probability. The state may hold the mean only
    in powers and products, which are continuous at a positive limit.
    """
    from varlaw.symbolic.strategy import normal_form

    held = Mul(*(part for part in Mul.make_args(state) if part.has(mean)))
    if continuous_in(held, mean, width):
        grown(state / held, held, width)
    if not continuous_in(state, mean, width):
        raise RuleError(f"not covered: {state} is not made of powers and products of {mean}")
    centre, spread = normal_form(Expectation(mean)), normal_form(Variance(mean))
    value = limit(centre.end, width, oo)
    if not value.is_positive or limit(spread.end, width, oo) != 0:
        raise RuleError(f"{mean} does not concentrate at a positive value as {width} grows")
    used.update(centre.assumptions | spread.assumptions | {Assumption(Kind.WIDE, (str(width),))})
    certificate = {"centre": centre, "spread": spread, "width": width, "mean": mean, "limit": value}
    reason = f"in probability: E[{mean}] -> {value}, Var[{mean}] = O(1/{width}) (Chebyshev)"
    return Outcome(state.xreplace({mean: value}), "->", certificate, reason)


def grown(front: Expr, core: Expr, variable: Symbol) -> None:
    """Raises WrongLimit where a front factor grows or vanishes beside what tends to a constant."""
    if front.has(variable):
        end = "0" if limit(front, variable, oo) == 0 else "no positive number"
        raise WrongLimit(
            f"{front * core} tends to {end} as {variable} grows, since {core} has a limit"
        )


def continuous_in(state: Expr, mean: Expr, width: Symbol) -> bool:
    """Whether a state holds the mean in powers and products alone, and the width only in it."""
    if state == mean:
        return True
    if width in state.xreplace({mean: Integer(1)}).free_symbols:
        return False
    if not state.has(mean):
        return True
    if isinstance(state, Pow):
        return not state.exp.has(mean) and continuous_in(state.base, mean, width)
    if isinstance(state, (Mul, IndexProduct)):
        return all(
            continuous_in(part, mean, width) for part in state.args if isinstance(part, Expr)
        )
    return False


@rule("asymptotic", "the quotient tends to 1", checker="asymptotic")
def asymptotic(state: Expr, used: Used, to: Expr, variable: Symbol) -> Outcome:
    """`state ~ to` as the variable grows: their quotient tends to 1."""
    if limit(state / to, variable, oo) != 1:
        raise WrongLimit(f"({state})/({to}) does not tend to 1 as {variable} grows")
    return Outcome(to, "~", {"variable": variable}, f"the quotient tends to 1 as {variable} -> oo")
