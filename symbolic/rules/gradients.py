"""Rules of gradients: the chain rule, the sums that come of it, and weights that are zero."""

from sympy import Add, Expr, Integer, Mul

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.gradients import NoGradient, gradient
from varlaw.symbolic.rules.expectation import tidy
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Expectation, IndexSum, Slope, factors, terms


@rule("chain-rule", "chain rule", checker="gradient")
def chain_rule(state: Expr, used: Used) -> Outcome:
    """Derivatives by an entry of an array or by a symbol, worked out: d y_j/d w_ij = x_i.

    The derivative of an activation at its kink is taken to be 0, as libraries do for ReLU.
    Derivatives of expectations are left: they are those of `slope`.
    """
    try:
        found = {
            part: gradient(part.of, part.by)
            for part in state.atoms(Slope)
            if not isinstance(part.of, Expectation)
        }
    except NoGradient as error:
        raise RuleError(str(error)) from error
    return Outcome(state.xreplace(found), certificate={"gradients": found})


@rule("sums", "sums term by term, what does not depend on the index outside", "scale-out")
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


@rule("vanish", "an array of second moment 0 is 0", checker="vanishing")
def vanish(state: Expr, used: Used) -> Expr:
    """Entries of arrays that were declared with second moment 0 are put to 0."""
    zero = {e: Integer(0) for e in state.atoms(Entry) if e.array.moment(2) == 0}
    used.update(Assumption(Kind.IDENTICAL, (e.array.name,)) for e in zero)

    def change(part: Expr) -> Expr:
        if isinstance(part, Entry):
            return zero.get(part, part)
        if isinstance(part, Named) and set(part.definition.atoms(Entry)) & set(zero):
            return change(part.definition)
        if not part.args or isinstance(part, Named):
            return part
        return rebuilt(part.func(*(change(p) if isinstance(p, Expr) else p for p in part.args)))

    return change(state)


def rebuilt(part: Expr) -> Expr:
    """An activation at 0 as its value there."""
    if isinstance(part, Activation) and part.args[0] == 0:
        return part.written_out[-1][1]
    return part
