"""Rules of gradients: derivatives by single weights, and the sums that come of them."""

from sympy import Add, Expr, Mul

from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.derivation import RuleError, Used, rule
from varlaw.symbolic.gradients import NoGradient, gradient
from varlaw.symbolic.rules.expectation import tidy
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.terms import IndexSum, Slope, factors, terms


@rule("partial", "chain rule, term by term", checker="written-out")
def partial(state: Expr, used: Used) -> Expr:
    """Derivatives by an entry of an array: d y_j/d w_ij = x_i for y_j = Sum_i x_i w_ij."""
    found = {}
    for part in state.atoms(Slope):
        of, by = part.args
        if isinstance(by, Entry):
            try:
                found[part] = gradient(of, by)
            except NoGradient as error:
                raise RuleError(str(error)) from error
    return state.xreplace(found)


@rule("sums", "sums term by term, what does not depend on the index outside", "written-out")
def sums(state: Expr, used: Used) -> Expr:
    """Sum_i (a f_i + b g_i) = a Sum_i f_i + b Sum_i g_i, outside expectations."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, IndexSum):
            return part
        bound, pieces = set(part.bound), []
        for term in terms(part.summand.expand()):
            out = [f for f in factors(term) if not f.free_symbols & bound]
            kept = [f for f in factors(term) if f.free_symbols & bound]
            pieces.append(Mul(*out) * tidy(IndexSum(Mul(*kept), *part.ranges)))
        return Add(*pieces)

    return rewrite(state, change)
