"""The rule of compound growth: many small factors make an exponential."""

from sympy import Expr, Pow, Symbol, exp, limit, oo

from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule


@rule("compound", "compound growth tends to the exponential", checker="compounding")
def compound(state: Expr, used: Used, variable: Symbol) -> Outcome:
    """(1 + a/n)^n -> e^a as n grows, for a > 0 free of n; the error is O(1/n).

    n log(1 + a/n) lies between a - a^2/(2 n) and a (Taylor, alternating).
    """
    powers = [p for p in state.atoms(Pow) if p.exp.has(variable)]
    found = {p: exp(limit(variable * (p.base - 1), variable, oo)) for p in powers}
    if len(found) != 1 or state.xreplace(found).has(variable):
        raise RuleError(f"not covered: {state} is not made of one power (1 + a/{variable})")
    (power,) = found
    if power.exp != variable or ((power.base - 1) * variable).simplify().has(variable):
        raise RuleError(f"not covered: {power} is not of the form (1 + a/{variable})^{variable}")
    reason = f"(1 + a/{variable})^{variable} -> e^a, with an error of order 1/{variable}"
    return Outcome(state.xreplace(found), "->", {"power": power, "variable": variable}, reason)
