"""Rules of recurrences: iterated maps, geometric sums, telescoping products."""

from sympy import (
    Add,
    Expr,
    Integer,
    Poly,
    Symbol,
    Tuple,
    bernoulli,
    expand_power_base,
    factor,
    fraction,
    powdenest,
    simplify,
    together,
)

from varlaw.symbolic.derivation import Outcome, RuleError, Used, relation, rule
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import Branch, IndexProduct
from varlaw.symbolic.terms import IndexSum


@rule("iterate", "by induction over the layers", checker="recurrence", equations=True)
def iterate(
    state: Expr, used: Used, previous: Expr, index: Symbol, steps: Symbol, initial: Expr
) -> Outcome:
    """u(t+1) = a(t) u(t) + b(t), u(0) = initial, solved for u(steps).

    `previous` is u(t) as it stands on the right-hand side, `index` is t. The solution is
    initial Prod a + Sum_k b(k) Prod_{j>k} a(j); a constant factor gives powers, a = 1 plain sums.
    """
    slope = (
        state.rhs.expand().coeff(previous, 1)
        if previous in state.rhs.atoms(type(previous))
        else Integer(0)
    )
    slope = together(slope)
    added = (state.rhs - slope * previous).expand()
    added = together(added) if added != 0 else added
    opaque = {part: Integer(1) for part in added.atoms(Branch)}
    if added.xreplace(opaque).has(previous) or slope.has(previous):
        raise RuleError(f"not covered: {state.rhs} is not linear in {previous}")
    constant = index not in slope.free_symbols
    k = Symbol("k", integer=True, nonnegative=True)
    whole = slope**steps if constant else IndexProduct(slope, index, Integer(0), steps - 1)
    later = slope ** (steps - 1 - k) if constant else IndexProduct(slope, index, k + 1, steps - 1)
    total = whole * initial + IndexSum(
        later * added.subs(index, k), Range(Tuple(k), Integer(0), steps - 1, Tuple())
    )
    if slope == 1 and index not in added.free_symbols:
        total = initial + steps * added
    head = state.lhs.xreplace({index: steps - 1})
    facts = {
        "previous": previous,
        "index": index,
        "steps": steps,
        "initial": initial,
        "step": state.rhs,
        "value": total,
    }
    return Outcome(relation(head, total, "="), certificate=facts)


@rule("geometric-sum", "geometric series", checker="telescoping-sum")
def geometric_sum(state: Expr, used: Used) -> Outcome:
    """Sum over k of terms with a constant ratio r != 1: (term(end + 1) - term(start)) / (r - 1)."""
    found = {}
    for total in state.atoms(IndexSum):
        if len(total.ranges) != 1 or len(total.bound) != 1 or total.ranges[0].excluded:
            continue
        (k,), (span,) = total.bound, total.ranges
        following = total.summand.subs(k, k + 1)
        ratio = simplify(following / total.summand)
        if k in ratio.free_symbols or factor(ratio - 1).is_nonzero is not True:
            continue
        partial = total.summand / (ratio - 1)
        found[total] = (partial, partial.subs(k, span.upper + 1) - partial.subs(k, span.lower))
    after = state.xreplace({total: value for total, (_, value) in found.items()})
    return Outcome(after, certificate={"partial": {t: p for t, (p, _) in found.items()}})


@rule("power-sum", "sums of powers (Faulhaber)", checker="telescoping-sum")
def power_sum(state: Expr, used: Used) -> Outcome:
    """Sum over k of a polynomial in k: its partial sums are a polynomial of one degree more."""
    partial, sums = {}, {}
    for total in state.atoms(IndexSum):
        if len(total.ranges) != 1 or len(total.bound) != 1 or total.ranges[0].excluded:
            continue
        (k,), (span,) = total.bound, total.ranges
        if not total.summand.is_polynomial(k):
            continue
        coefficients = Poly(total.summand, k).all_coeffs()[::-1]
        below = Add(*(c * _powers_below(k, power) for power, c in enumerate(coefficients)))
        partial[total] = below
        sums[total] = factor(below.subs(k, span.upper + 1) - below.subs(k, span.lower))
    return Outcome(state.xreplace(sums), certificate={"partial": partial})


def _powers_below(k: Symbol, power: int) -> Expr:
    """Sum of j^power over 0 <= j < k."""
    return (bernoulli(power + 1, k) - bernoulli(power + 1, 0)).expand() / (power + 1)


@rule("telescope", "the product telescopes", checker="telescoping-product")
def telescope(state: Expr, used: Used) -> Outcome:
    """Prod_i f(i+1)/f(i) = f(end + 1)/f(start), and the other way round."""
    found = {}
    for product in state.atoms(IndexProduct):
        top, bottom = fraction(together(product.term))
        k = product.index
        for part in (bottom, 1 / top):
            if simplify(part.subs(k, k + 1) / part - product.term) == 0:
                found[product] = part.subs(k, product.upper + 1) / part.subs(k, product.lower)
    return Outcome(state.xreplace(found))


@rule("constant-product", "equal factors", checker="telescoping-product")
def constant_product(state: Expr, used: Used) -> Outcome:
    """A product of factors that do not depend on the index is a power."""
    found = {
        p: powdenest(expand_power_base(p.term ** (p.upper - p.lower + 1)))
        for p in state.atoms(IndexProduct)
        if p.index not in p.term.free_symbols
    }
    return Outcome(state.xreplace(found))
