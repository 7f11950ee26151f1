"""Rules of numbers: E[log Sum exp(z)] of many Gaussian logits, and the first integer beyond."""

from math import ceil, log, pi, sqrt

import numpy as np
from sympy import Eq, Expr, Integer, Symbol
from sympy import exp as exponential
from sympy import log as logarithm
from sympy import sqrt as root

from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, relation, rule
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.terms import Expectation, IndexSum


@rule("log-sum", "Frullani's integral, in digits", checker="log-sum")
def log_sum(state: Expr, used: Used, places: int = 6) -> Expr:
    """E[log Sum_k exp(z_k)] for K iid z_k ~ N(0, v) by its digits, K and v numbers."""
    count, variance = head_of(state, used)
    return _digits(approximate(count, sqrt(float(variance))), places)


@rule("log-sum-root", "a root of Frullani's integral", checker="log-sum-root", equations=True)
def log_sum_root(state: Eq, used: Used, unknown: Symbol, places: int = 6) -> Outcome:
    """The std s of iid logits at which E[log Sum_k exp(z_k)] - c takes a value."""
    (head,) = state.lhs.atoms(Expectation)
    count, variance = head_of(head, used)
    if variance != unknown**2:
        raise RuleError(f"the variance of the logits is {variance}, not the square of {unknown}")
    target = float(state.rhs - state.lhs.xreplace({head: Integer(0)}))
    low, high = 1e-3, 20.0
    while high - low > 1e-14:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if approximate(count, middle) < target else (low, middle)
    return Outcome(relation(unknown, _digits(low, places), "="))


def head_of(head: Expr, used: Used) -> tuple[int, Expr]:
    """The number of the logits and their variance. Raises RuleError for anything else."""
    inside = head.args[0].args[0] if isinstance(head, Expectation) else None
    if not isinstance(inside, IndexSum) or not isinstance(inside.summand, exponential):
        raise RuleError(f"not covered: {head} is not E[log Sum exp(z)]")
    entry, (r, *_) = inside.summand.args[0], inside.ranges
    variable = variable_of(Expectation(entry)) if isinstance(entry, Entry) else None
    if head.args[0].func != logarithm or variable is None or variable.mean != 0:
        raise RuleError(f"not covered: {head} is not about centred Gaussian logits")
    if not r.size().is_Integer:
        raise RuleError(f"not covered: the number {r.size()} of logits is no number")
    used.update(variable.assumptions)
    used.add(entry.array.assumption(Kind.INDEPENDENT_ENTRIES))
    return int(r.size()), variable.variance


def approximate(count: int, std: float) -> float:
    """E[log Sum exp] by the trapezoidal rule, in double precision and without a proof.

    log S = int (exp(-t) - exp(-t S)) dt/t; with t = exp(u), M(u) = E[exp(-exp(u + s z))]:
    E[log S] is the integral of exp(-exp(u)) - M(u)^K over all u.
    """
    step = min(0.1, 0.3 * std)  # on this grid lie u, s z and u + s z
    half = ceil(9.5 * std / step)
    z = np.arange(-half, half + 1) * step / std
    bell = np.exp(-z * z / 2) * step / (std * sqrt(2 * pi))
    first = -ceil((log(count) + 40 + min(std * std / 2, 9 * std)) / step)
    last = ceil((10 + std) / step)
    u = np.arange(first - half, last + half + 1) * step
    short = -np.expm1(-np.exp(np.minimum(u, 700.0)))  # 1 - F
    missing = np.minimum(np.convolve(short, bell, "valid"), 1.0)  # 1 - M
    inner = short[half:-half]
    with np.errstate(divide="ignore"):
        powers = np.exp(count * np.log1p(-missing))
    return float(step * np.sum(1 - inner - powers))


def _digits(value: float, places: int) -> Digits:
    """The digits of a positive number."""
    whole = str(int(value * 10**places)).rjust(places + 1, "0")
    return Digits(f"{whole[:-places]}.{whole[-places:]}")


@rule("first-integer", "the first integer beyond, by its neighbour", checker="first-integer",
      equations=True)  # fmt: skip
def first_integer(state: Eq, used: Used, unknown: Symbol) -> Outcome:
    """The least positive integer at which a side exp(c sqrt(d)) exceeds the other, a number."""
    if not isinstance(state.lhs, exponential):
        raise RuleError(f"not covered: {state.lhs} is not exp(c sqrt({unknown}))")
    rate = state.lhs.args[0] / root(unknown)
    bound = float(logarithm(state.rhs).evalf(30)) / float(rate)
    return Outcome(relation(unknown, Integer(ceil(bound**2)), "="))
