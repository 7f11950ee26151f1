"""Jensen's inequality, for the logarithm and for the logarithm of a sum of exponentials."""

from sympy import Expr, Integer, Symbol, exp, log, sqrt

from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.rules.averages import positive
from varlaw.symbolic.terms import Expectation, IndexSum


@rule("jensen", "Jensen: the logarithm is concave", checker="jensen")
def jensen(state: Expr, used: Used) -> Outcome:
    """E[log X] <= log E[X] for a positive X."""
    (head,) = [e for e in state.atoms(Expectation) if isinstance(e.args[0], log)] or [None]
    if head is None or not positive(head.args[0].args[0]):
        raise RuleError(f"not covered: {state} holds no expectation of a positive logarithm")
    after = state.xreplace({head: log(Expectation(head.args[0].args[0]))})
    return Outcome(after, "<=", {"head": head})


@rule("jensen-convex", "Jensen: log Sum exp is convex", checker="jensen-convex")
def jensen_convex(state: Expr, used: Used) -> Outcome:
    """E[log Sum_k exp(z_k)] >= log Sum_k exp(E[z_k])."""
    (head,) = [e for e in state.atoms(Expectation) if isinstance(e.args[0], log)] or [None]
    total = None if head is None else head.args[0].args[0]
    if not (isinstance(total, IndexSum) and isinstance(total.summand, exp)):
        raise RuleError(f"not covered: {state} holds no E[log Sum exp(z)]")
    inner = log(IndexSum(exp(Expectation(total.summand.args[0])), *total.ranges))
    return Outcome(state.xreplace({head: inner}), ">=", {"head": head})


@rule("jensen-weighted", "Jensen for weights of mean 1", checker="jensen-weighted")
def jensen_weighted(
    state: Expr, used: Used, rate: Symbol, weight: Expr, primitive: Expr
) -> Outcome:
    """E[W z] <= log(E[W exp(c z)])/c for weights W >= 0 with E[W] = 1.

    `primitive` is the antiderivative of W times the density; it rises from 0 to 1.
    """
    if not isinstance(state, Expectation) or (variable := variable_of(state)) is None:
        raise RuleError(
            f"not covered: {state} is not the expectation of a function of one variable"
        )
    z = variable.entry
    if state != Expectation(weight * z):
        raise RuleError(f"{state} is not E[W z] with W = {weight}")
    used.update(variable.assumptions)
    after = log(Expectation(weight * exp(rate * z))) / rate
    return Outcome(after, "<=", {"weight": weight, "rate": rate, "primitive": primitive})


@rule("at-most-one", "a probability is at most 1", checker="at-most-one")
def at_most_one(state: Expr, used: Used, of: Expr) -> Outcome:
    """log(E[P X])/c <= log(E[X])/c for a power P of a distribution function and a positive X."""
    (head,) = state.atoms(Expectation)
    used.update(variable.assumptions if (variable := variable_of(head)) else ())
    return Outcome(
        state.xreplace({head: Expectation(head.args[0].xreplace({of: Integer(1)}))}),
        "<=",
        {"of": of},
    )


@rule("best-rate", "the bound holds at any rate: at the best one", checker="best-rate")
def best_rate(state: Expr, used: Used, rate: Symbol) -> Outcome:
    """The least value of A/c + B c over positive c is 2 sqrt(A B), at c = sqrt(A/B)."""
    expanded = state.expand()
    over, times = (expanded * rate).expand().subs(rate, 0), expanded.coeff(rate, 1)
    if (expanded - over / rate - times * rate).expand() != 0:
        raise RuleError(f"not covered: {state} is not of the form A/{rate} + B {rate}")
    value = 2 * sqrt(over * times)
    return Outcome(value, "<=", {"over": over, "times": times, "rate": rate})
