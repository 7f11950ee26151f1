"""Quantiles of laws whose distribution function has an inverse in closed form.

Johnson, Kotz, Balakrishnan: Continuous Univariate Distributions, chapters 13, 14, 19, 24 and 26.
"""

from sympy import Expr, Integer, Rational, Symbol, erf, exp, log, sqrt

from varlaw.checks.claims.declarations.distributions import Distribution
from varlaw.checks.claims.values.algebra import inverse_erf, probit
from varlaw.checks.claims.values.functions import NoValue

HALF = Rational(1, 2)


def quantile(law: Distribution, p: Expr) -> Expr:
    """The q with P(x <= q) = p, for 0 < p < 1. Raises NoValue where none is known."""
    if p.is_number and not (p.is_positive and (1 - p).is_positive):
        raise NoValue("a quantile of a probability that is not between 0 and 1")
    match law.kind:
        case "normal":
            return law["mean"] + sqrt(law["var"]) * probit(p)
        case "truncated":
            mean, std = law["mean"], sqrt(law["var"])
            low, high = (erf((law[end] - mean) / std / sqrt(2)) for end in ("low", "high"))
            return mean + std * sqrt(2) * inverse_erf(low + (high - low) * p)
        case "uniform":
            return law["low"] + (law["high"] - law["low"]) * p
        case "exponential":
            return -log(1 - p) / law["rate"]
        case "log-normal":
            return exp(law["log_mean"] + sqrt(law["log_var"]) * probit(p))
        case "laplace" if p.is_number:
            below = p <= HALF
            part = law["scale"] * log(2 * p if below else 2 * (1 - p))
            return law["mean"] + (part if below else -part)
        case "student" if p == HALF:
            return Integer(0)
    raise NoValue(f"no quantile of the {law.kind} law is known")


def of_multiple(f: Expr, x: Symbol, law: Distribution, p: Expr) -> Expr:
    """The quantile of a x + b for a number a. Raises NoValue for another function of x."""
    slope = f.diff(x)
    if slope.has(x) or not (slope.is_positive or slope.is_negative):
        raise NoValue("the quantile of something that does not grow evenly with one variable")
    return slope * quantile(law, p if slope.is_positive else 1 - p) + f.subs(x, 0)
