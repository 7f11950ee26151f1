"""Proofs by induction: recurrences, geometric sums, telescoping products."""

from collections.abc import Mapping

from sympy import Expr, Integer, Symbol

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import Finding, equal, is_zero
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import IndexProduct, Named
from varlaw.symbolic.terms import IndexSum

Arrays = Mapping[str, RandomArray]


def prove_recurrence(step: Step, arrays: Arrays) -> Finding:
    """The closed form has the initial value, and obeys the recurrence from l to l + 1."""
    facts = step.certificate
    steps: Symbol = facts["steps"]
    value: Expr = step.after.rhs
    if step.before.rhs != facts["step"]:
        return Proof.REFUTED, "the recurrence is not the relation that was found"
    head = step.before.lhs.xreplace({facts["index"]: steps - 1})
    if head != step.after.lhs:
        return Proof.REFUTED, "the closed form is not one of the sequence"
    previous = facts["previous"]
    if not precedes(previous, step.before.lhs, facts["index"]):
        return Proof.REFUTED, f"{previous} is not what comes before {step.before.lhs}"
    if facts["initial"] != previous.subs(facts["index"], 0):
        return Proof.REFUTED, f"{facts['initial']} is not {previous} at layer 0"
    base = _without_empty(value.subs(steps, 0))
    if not is_zero(base - facts["initial"]):
        return Proof.REFUTED, f"base: at {steps} = 0 the form gives {base}, not {facts['initial']}"
    expected = facts["step"].subs(facts["index"], steps)
    previous = facts["previous"].subs(facts["index"], steps)
    free = expected.coeff(previous) if not isinstance(expected, IndexSum) else Integer(0)
    slope = expected.expand().coeff(previous, 1) if free == 0 else free
    added = (expected - slope * previous).expand()
    following = _peeled(value.subs(steps, steps + 1))
    if equal(following, _spread_in(slope, value) + added):
        return Proof.PROVED, "base and induction step"
    return Proof.REFUTED, f"induction step: {following} is not {slope} times the form plus {added}"


def precedes(previous: Expr, head: Expr, index: Symbol) -> bool:
    """Whether two terms of a sequence have one name and follow one another."""
    return (
        hasattr(head, "name")
        and _name(previous) == head.name
        and _place(head) == _place(previous) + 1
        and _place(previous) == index
    )


def _name(term: Expr) -> str:
    return term.array.name if isinstance(term, Entry) else str(getattr(term, "name", ""))


def _place(term: Expr) -> Expr:
    return term.indices[0] if isinstance(term, (Entry, Named)) else term.args[1]


def _spread_in(slope: Expr, value: Expr) -> Expr:
    return (slope * value).expand()


def _without_empty(e: Expr) -> Expr:
    """Sums and products over nothing are 0 and 1."""
    return e.replace(
        lambda part: (
            isinstance(part, IndexSum) and any(r.upper - r.lower == -1 for r in part.ranges)
        ),
        lambda part: Integer(0),
    ).replace(
        lambda part: isinstance(part, IndexProduct) and part.upper - part.lower == -1,
        lambda part: Integer(1),
    )


def _peeled(e: Expr) -> Expr:
    """Sums to l written as sums to l - 1 and a last term; products likewise."""

    def last(total: IndexSum) -> Expr:
        (r,), (k,) = total.ranges, total.bound
        shorter = r.func(r.args[0], r.lower, r.upper - 1, r.args[3])
        return IndexSum(total.summand, shorter) + _without_empty(total.summand.subs(k, r.upper))

    e = e.replace(lambda part: isinstance(part, IndexSum), last)
    return e.replace(
        lambda part: isinstance(part, IndexProduct),
        lambda part: (
            part.func(part.term, part.index, part.lower, part.upper - 1)
            * part.term.subs(part.index, part.upper)
        ),
    )


def prove_telescoping_sum(step: Step, arrays: Arrays) -> Finding:
    """Each term is a difference T(k + 1) - T(k), so the sum is the difference at the ends."""
    after = step.before
    for total, partial in step.certificate["partial"].items():
        (r,), (k,) = total.ranges, total.bound
        if r.excluded:
            return Proof.UNCHECKED, "a sum that leaves indices out"
        if not is_zero(partial.subs(k, k + 1) - partial - total.summand):
            return Proof.REFUTED, f"{partial} does not have the differences {total.summand}"
        after = after.xreplace({total: partial.subs(k, r.upper + 1) - partial.subs(k, r.lower)})
    if is_zero(after - step.after):
        return Proof.PROVED, "the terms are differences of the partial sums given"
    return Proof.REFUTED, "the differences at the ends do not give the result"


def prove_telescoping_product(step: Step, arrays: Arrays) -> Finding:
    """The form is 1 for the empty product, and grows by the next factor from N to N + 1."""
    products = sorted(step.before.atoms(IndexProduct), key=str)
    if len(products) != 1:
        return Proof.UNCHECKED, "more than one product"
    (whole,) = products
    outside = step.before.subs(whole, Symbol("P", positive=True))
    factor = outside.coeff(Symbol("P", positive=True))
    if not is_zero(outside - factor * Symbol("P", positive=True)):
        return Proof.UNCHECKED, "something stands beside the product"
    closed = step.after / factor
    upper = whole.upper
    steps = next(iter(upper.free_symbols), None)
    if steps is None:
        return Proof.UNCHECKED, "a product over a fixed number of factors"
    offset = upper - steps
    empty = closed.subs(steps, whole.lower - 1 - offset)
    grown = closed.subs(steps, steps + 1) / closed
    if not is_zero(empty - 1):
        return Proof.REFUTED, f"the empty product is given as {empty}"
    if not is_zero(grown - whole.term.subs(whole.index, upper + 1)):
        return Proof.REFUTED, f"from one factor to the next it grows by {grown}"
    return Proof.PROVED, "base and induction step"
