"""Rules of indices: Kronecker deltas, coincidences, counting."""

from sympy import Add, Expr, Mul

from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import RuleError, Used, rule
from varlaw.symbolic.ranges import index_key
from varlaw.symbolic.rules.expectation import tidy
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.terms import Delta, Expectation, IndexSum, factors, terms


@rule("kronecker", "different entries are independent with zero mean: only equal indices remain")
def kronecker(state: Expr, used: Used, array: str | None = None) -> Expr:
    """E[w_a w_b] = delta_ab E[w_a^2] for a zero-mean array with independent entries."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        pair = factors(part.args[0])
        if len(pair) != 2 or not all(isinstance(entry, Entry) for entry in pair):
            return part
        left, right = sorted(pair, key=lambda entry: [index_key(k) for k in entry.indices])
        chosen: RandomArray = left.array
        if chosen != right.array or array not in (None, chosen.name):
            return part
        if not (chosen.zero_mean and chosen.has(Kind.INDEPENDENT_ENTRIES)):
            return part
        used.update((chosen.assumption(Kind.INDEPENDENT_ENTRIES), chosen.centred))
        deltas = [Delta(a, b) for a, b in zip(left.indices, right.indices, strict=True)]
        return Mul(*deltas) * Expectation(left**2)

    return rewrite(state, change)


@rule("collapse", "collapse the Kronecker delta")
def collapse(state: Expr, used: Used) -> Expr:
    """Sum_b delta_ab f_b = f_a, for indices of one range."""

    def change(part: Expr, scope: Scope) -> Expr:
        return Add(*(_collapsed(term, scope) for term in terms(part)))

    return rewrite(state, change) if state.has(Delta) else state


def _collapsed(term: Expr, scope: Scope) -> Expr:
    number, total = term.as_coeff_Mul()
    if not isinstance(total, IndexSum):
        return term
    summand, ranges = total.summand, list(total.ranges)
    single = {r.indices[0]: r for r in ranges if len(r.indices) == 1 and not r.excluded}
    while True:
        found = next(
            (f for f in factors(summand) if isinstance(f, Delta) and set(f.args) & set(single)),
            None,
        )
        if found is None:
            break
        gone, kept = (found.args[1], found.args[0]) if found.args[1] in single else found.args
        outer = single[kept].bounds if kept in single else scope.bounds(kept)
        if outer not in (None, single[gone].bounds) or below(kept, single[gone].lower):
            raise RuleError(f"not covered: the indices {kept} and {gone} run over different ranges")
        ranges.remove(single.pop(gone))
        summand = summand.xreplace({gone: kept})
    return number * tidy(IndexSum(summand, *ranges))


def below(index: Expr, lower: Expr) -> bool:
    """Whether a literal index is known to lie below a range."""
    return bool(index.is_Integer and lower.is_Integer and index < lower)


@rule("count", "count the equal terms")
def count(state: Expr, used: Used) -> Expr:
    """A sum of terms that do not depend on the index is their number times the term."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, IndexSum):
            return part
        present = part.summand.free_symbols
        idle = [r for r in part.ranges if not present & set(r.indices)]
        kept = [r for r in part.ranges if present & set(r.indices)]
        return Mul(*(r.size() for r in idle)) * IndexSum(part.summand, *kept)

    return rewrite(state, change)
