"""The rule of orthonormal rows: Sum_j w[i, j] w[k, j] is 1 for i = k and else 0, in every draw."""

from collections.abc import Callable

from sympy import Add, Expr

from varlaw.symbolic.arrays import Entry, RandomArray, arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.declarations import random_array
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.terms import Delta, IndexSum, factors, terms

Put = Callable[[Expr, Expr], Expr]


@rule("orthonormal", "orthonormal rows, in every draw: W W^T = I", checker="orthonormal")
def orthonormal(state: Expr, used: Used) -> Outcome:
    """Sums over the columns of two entries of an array with orthonormal rows as Kronecker deltas.

    The certificate is the state with the entries of the Gram matrix G = W W^T in their place, and
    the range of the columns: all that is left to use is G = 1.
    """
    marked = [a for a in arrays_in(state).values() if a.has(Kind.ORTHONORMAL)]
    if len(marked) != 1:
        raise RuleError(f"not covered: {state} has {len(marked)} arrays with orthonormal rows")
    (array,) = marked
    gram = random_array("G", independent=False, identical=False)
    spans: set[tuple[Expr, Expr]] = set()

    def contracted(put: Put) -> Expr:
        def change(part: Expr, scope: Scope) -> Expr:
            if not isinstance(part, IndexSum):
                return part
            return Add(*(_contract(t, part.ranges, array, put, spans) for t in terms(part.summand)))

        return rewrite(state, change, into_expectations=True)

    after = contracted(Delta)
    if len(spans) > 1:
        raise RuleError(f"not covered: the columns of {array.name} run over different ranges")
    if spans:
        used.add(array.assumption(Kind.ORTHONORMAL))
    written = contracted(lambda left, right: gram[left, right])
    return Outcome(after, certificate={"written": written, "columns": spans, "array": array})


def _contract(
    term: Expr,
    ranges: tuple[Range, ...],
    array: RandomArray,
    put: Put,
    spans: set[tuple[Expr, Expr]],
) -> Expr:
    """A term under its sums, those over the columns of two entries worked out."""
    left: list[Range] = []
    for r in ranges:
        pair = _pair(term, r, array)
        if pair is None:
            left.append(r)
            continue
        first, second = pair
        spans.add(r.bounds)
        term = term / (first * second) * put(first.indices[0], second.indices[0])
    return IndexSum(term, *left)


def _pair(term: Expr, r: Range, array: RandomArray) -> tuple[Entry, Entry] | None:
    """The two entries that an index stands in as a column, if it stands nowhere else."""
    if len(r.indices) > 1 or r.excluded:
        return None
    (column,) = r.indices
    holding = [f.as_base_exp() for f in factors(term) if column in f.free_symbols]
    entries = [
        base for base, power in holding for _ in range(int(power) if power.is_Integer else 3)
    ]
    if len(entries) != 2 or not all(isinstance(e, Entry) and e.array == array for e in entries):
        return None
    first, second = entries
    at_end = all(len(e.indices) == 2 and e.indices[1] == column != e.indices[0] for e in entries)
    return (first, second) if at_end else None
