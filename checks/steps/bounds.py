"""Proofs of steps about bounds, small quantities and changes of variable."""

from collections.abc import Mapping

from sympy import Poly, PolynomialError, Symbol, cancel, fraction, together

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import equal, is_zero, opened
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step, sign_of

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]


def prove_upper_bound(step: Step, arrays: Arrays) -> Finding:
    """Both sides are positive, and the squares differ by a quotient with positive coefficients."""
    if not (step.before.is_positive and step.after.is_positive):
        return Proof.REFUTED, "the two sides are not known to be positive"
    gap = cancel(together(opened(step.after) ** 2 - opened(step.before) ** 2))
    if not is_zero(gap - step.certificate["difference"]):
        return Proof.REFUTED, f"the squares differ by {gap}"
    symbols = sorted(gap.free_symbols, key=str)
    if not all(symbol.is_positive for symbol in symbols):
        return Proof.UNCHECKED, f"the signs of {symbols} are not known"
    for part in fraction(gap):
        coefficients = Poly(part, *symbols).coeffs() if symbols else [part]
        if not all(c.is_nonnegative for c in coefficients):
            return Proof.REFUTED, f"{part} is not a sum of positive terms"
    return Proof.PROVED, f"the squares differ by {gap}, a quotient of sums of positive terms"


def prove_small(step: Step, arrays: Arrays) -> Finding:
    """The quotient is one of polynomials in the variable, with equal lowest terms."""
    variable = step.certificate["variable"]
    if not variable.is_positive:
        return Proof.UNCHECKED, f"{variable} is not declared positive"
    quotient = cancel(together(opened(step.before) / opened(step.after)))
    try:
        top, bottom = (min(Poly(part, variable).terms()) for part in fraction(quotient))
    except PolynomialError:
        return Proof.UNCHECKED, f"{quotient} is no quotient of polynomials in {variable}"
    if top[0] == bottom[0] and is_zero(top[1] - bottom[1]):
        return Proof.PROVED, "the lowest terms of the quotient agree"
    return Proof.REFUTED, f"the quotient {quotient} does not tend to 1"


def prove_change_of_variable(step: Step, arrays: Arrays) -> Finding:
    """Putting the inverse back gives the relation as it was; the two maps undo one another."""
    old, value, new, inverse = (step.certificate[k] for k in ("old", "value", "new", "inverse"))
    if not (isinstance(old, Symbol) and isinstance(new, Symbol) and old.is_positive):
        return Proof.REFUTED, f"{old} is not a positive symbol"
    if not is_zero(value.xreplace({new: inverse}) - old):
        return Proof.REFUTED, f"{old} = {value} and {new} = {inverse} do not undo one another"
    if not is_zero(inverse.xreplace({old: value}) - new):
        return Proof.REFUTED, f"{new} = {inverse} and {old} = {value} do not undo one another"
    if new.is_positive and not inverse.is_positive:
        return Proof.REFUTED, f"{inverse} is not known to be positive"
    if sign_of(step.before) != "=":
        return Proof.UNCHECKED, "a change of variable in something else than an equation"
    for side in ("lhs", "rhs"):
        before, after = opened(getattr(step.before, side)), opened(getattr(step.after, side))
        if before.has(new) or after.has(old):
            return Proof.REFUTED, f"{old} and {new} stand beside one another"
        if not equal(after.xreplace({new: inverse}), before):
            return Proof.REFUTED, f"{after} is not {before} in the other variable"
    return Proof.PROVED, f"{new} = {inverse} put back gives the relation as it was"
