"""Rules of gradients: the chain rule, and weights that are zero."""

from sympy import Add, Dummy, Expr, Integer, Mul, Pow, tanh

from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.partials import Gradient
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Delta, IndexSum, indicator


@rule("chain-rule", "chain rule", checker="gradient")
def chain_rule(state: Expr, used: Used) -> Outcome:
    """Partial derivatives by an entry, worked out: sums, products, powers, activations.

    The derivative of an activation at its kink is taken to be 0, as libraries do for ReLU.
    """
    found = {part: gradient(part.of, part.by) for part in state.atoms(Gradient)}
    return Outcome(state.xreplace(found), certificate={"gradients": found})


def gradient(of: Expr, by: Entry) -> Expr:
    """d of/d by. Raises RuleError for what is not made of sums, products and activations."""
    if isinstance(of, Entry):
        if of.array != by.array:
            return Integer(0)
        return Mul(*(Delta(a, b) for a, b in zip(of.indices, by.indices, strict=True)))
    if not any(entry.array == by.array for entry in of.atoms(Entry)):
        return Integer(0)
    if isinstance(of, Named):
        return gradient(of.definition, by)
    if isinstance(of, IndexSum):
        safe = of.avoiding(by.free_symbols)
        return collapsed(IndexSum(gradient(safe.summand, by), *safe.ranges))
    if isinstance(of, Add):
        return Add(*(gradient(part, by) for part in of.args))
    if isinstance(of, Mul):
        parts = of.args
        return Add(
            *(Mul(*parts[:k], gradient(p, by), *parts[k + 1 :]) for k, p in enumerate(parts))
        )
    if isinstance(of, Pow) and of.exp.is_Integer:
        return of.exp * of.base ** (of.exp - 1) * gradient(of.base, by)
    if isinstance(of, tanh):
        return (1 - of**2) * gradient(of.args[0], by)
    if isinstance(of, Activation):
        return slope(of) * gradient(of.args[0], by)
    raise RuleError(f"not covered: the derivative of {of}")


def slope(of: Activation) -> Expr:
    """f'(z) of an activation without a kink, or with one at 0 alone."""
    parts, z, x = of.written_out, of.args[0], Dummy("x", real=True)
    if len(parts) == 1 or of.kinks == (0,):
        slopes = [expression.xreplace({z: x}).diff(x).xreplace({x: z}) for _, expression in parts]
        if len(parts) == 1:
            return slopes[0]
        return slopes[0] * indicator(z, "<") + slopes[1] * indicator(z, ">")
    raise RuleError(f"not covered: the derivative of {type(of).__name__}, with its kinks")


def collapsed(total: Expr) -> Expr:
    """A sum over deltas with outer indices: only the terms where they are equal."""
    number, total = total.as_coeff_Mul()
    if not isinstance(total, IndexSum):
        return number * total
    summand, ranges = total.summand.expand(), list(total.ranges)
    if isinstance(summand, Add):
        return number * Add(*(collapsed(IndexSum(part, *ranges)) for part in summand.args))
    for delta in [f for f in Mul.make_args(summand) if isinstance(f, Delta)]:
        for place, r in enumerate(ranges):
            if len(r.indices) == 1 and not r.excluded and r.indices[0] in delta.args:
                (kept,) = set(delta.args) - set(r.indices)
                rest = ranges[:place] + ranges[place + 1 :]
                one = IndexSum(summand.xreplace({r.indices[0]: kept}), *rest)
                return number * collapsed(one)
    return number * total


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
