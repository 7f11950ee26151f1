"""The rule of harmonic sums: they grow like a logarithm."""

from sympy import Expr, Integral, Symbol, limit, oo

from varlaw.symbolic.derivation import Outcome, RuleError, Used, WrongLimit, rule
from varlaw.symbolic.terms import IndexSum


@rule("integral-test", "sums between integrals: the quotient tends to 1", checker="integral-test")
def integral_test(state: Expr, used: Used, to: Expr, variable: Symbol) -> Outcome:
    """`state ~ to` as the variable grows, for a power of a sum of 1/(k + c) over k.

    The terms fall, so that the sum lies between two integrals, both of them logarithms.
    """
    sums = state.atoms(IndexSum)
    if len(sums) != 1 or len((total := sums.pop()).bound) != 1:
        raise RuleError(f"not covered: {state} does not hold one sum over one index")
    (k,), (span,) = total.bound, total.ranges
    primitive = Integral(total.summand, k).doit()
    least = primitive.subs(k, span.upper + 1) - primitive.subs(k, span.lower)
    if limit(state.xreplace({total: least}) / to, variable, oo) != 1:
        raise WrongLimit(f"({state})/({to}) does not tend to 1 as {variable} grows")
    facts = {"variable": variable, "sum": total, "primitive": primitive}
    reason = f"the sum lies between two integrals; the quotient tends to 1 as {variable} -> oo"
    return Outcome(to, "~", facts, reason)
