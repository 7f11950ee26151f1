"""Rules of bounds, small quantities and changes of variable."""

from sympy import Basic, Expr, Symbol, cancel, factor, fraction, limit, powsimp, together

from varlaw.symbolic.derivation import Outcome, RuleError, Used, WrongLimit, relation, rule, sign_of


@rule("at-most", "the square of the bound exceeds the square by something positive", "upper-bound")
def at_most(state: Expr, used: Used, bound: Expr) -> Outcome:
    """`state <= bound` for two positive things: the difference of their squares is not negative."""
    if not (state.is_positive and bound.is_positive):
        raise RuleError(f"not covered: {state} and {bound} are not known to be positive")
    difference = factor(together(bound**2 - state**2))
    if not difference.is_nonnegative:
        raise RuleError(f"no certificate: {bound}^2 - ({state})^2 = {difference}")
    reason = f"the squares differ by {difference}, which is positive"
    return Outcome(bound, "<=", {"difference": difference}, reason)


@rule("small", "the quotient tends to 1", checker="small")
def small(state: Expr, used: Used, to: Expr, variable: Symbol) -> Outcome:
    """`state ~ to` as the variable tends to 0: their quotient tends to 1."""
    if limit(state / to, variable, 0, "+") != 1:
        raise WrongLimit(f"({state})/({to}) does not tend to 1 as {variable} tends to 0")
    return Outcome(to, "~", {"variable": variable}, f"the quotient tends to 1 as {variable} -> 0")


@rule("variable", "a change of variable", checker="change-of-variable", equations=True)
def variable(
    state: Basic, used: Used, old: Symbol, value: Expr, new: Symbol, inverse: Expr
) -> Outcome:
    """A positive symbol in terms of another one: old = value(new), new = inverse(old).

    The inverse takes every positive `old` to a `new` where `value` is positive, and only those: for
    old = b/(1 - b), b = old/(1 + old), the positive numbers are what 0 < b < 1 is.
    """
    left, right = (_tidied(side.subs(old, value)) for side in (state.lhs, state.rhs))
    facts = {"old": old, "value": value, "new": new, "inverse": inverse}
    reason = f"with {new} = {inverse}"
    return Outcome(relation(left, right, sign_of(state)), certificate=facts, reason=reason)


def _tidied(e: Expr) -> Expr:
    """The expression over one denominator, with powers of one base as one power, in factors."""
    top, bottom = fraction(together(e))
    found = factor(cancel(powsimp(top.expand()) / bottom))
    for part in found.args if found.could_extract_minus_sign() else ():
        base, power = part.as_base_exp()
        if base.is_Add and power.is_odd and any(a.could_extract_minus_sign() for a in base.args):
            return (-found / part) * (-base) ** power
    return found
