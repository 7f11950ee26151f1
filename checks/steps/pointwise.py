"""Proofs of steps about indicators, activations and signs: equality case by case."""

from collections.abc import Mapping
from itertools import product

from sympy import Add, Basic, Expr, Function, Integer, Mul

from varlaw.checks.report import Proof
from varlaw.checks.steps.means import NotCovered
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.activations import leaky_relu, relu
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Expectation, IndexSum, Indicator, indicator, is_random

Finding = tuple[Proof, str]
SIGNS = (1, -1, 0)
MAX_ARGUMENTS = 4


def prove_pointwise(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """E[f] = E[g] because f = g wherever each argument is positive, negative or zero."""
    return _compared(step, [])


def prove_signs(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """E f(w) may become (E f(w) + E f(-w))/2: both sides agree once averaged over the sign of w."""
    turned = sorted(a.subjects[0] for a in step.assumptions if a.kind is Kind.SYMMETRIC)
    if not turned:
        return Proof.REFUTED, "no array was declared symmetric"
    for name in turned:
        if not arrays[name].has(Kind.SYMMETRIC):
            return Proof.REFUTED, f"{name} was not declared symmetric"
        others = {a for e in step.before.atoms(Expectation) for a in e.atoms(RandomArray)}
        near = [
            o.name
            for o in others - {arrays[name]}
            if ({o.name} | o.depends) & ({name} | arrays[name].depends)
        ]
        if near:
            return Proof.REFUTED, f"{name} depends on {near}"
    return _compared(step, turned)


def _compared(step: Step, turned: list[str]) -> Finding:
    """Both sides with every expectation split by the signs of all arguments, then compared.

    The expectations are then those of products without activations, each with one event for every
    argument; equal ones are equal terms, whatever the two sides are made of besides.
    """
    before, after = (_opened(side) if turned else side for side in (step.before, step.after))
    arguments = sorted(
        {
            _canonical(e.args[0])[0]
            for side in (before, after)
            for e in side.atoms(Indicator, Activation)
        },
        key=str,
    )
    if len(arguments) > MAX_ARGUMENTS:
        return Proof.UNCHECKED, f"more than {MAX_ARGUMENTS} arguments"
    try:
        left, right = (_split(side, arguments, turned) for side in (before, after))
    except NotCovered as error:
        return Proof.UNCHECKED, str(error)
    difference = _spread((left - right).expand()).expand()
    if difference != 0:
        return Proof.REFUTED, f"case by case the two sides differ by {difference}"
    return Proof.PROVED, "equal case by case: each argument positive, negative, zero"


def _split(e: Basic, arguments: list[Expr], turned: list[str]) -> Expr:
    """Every expectation as a sum over the cases, averaged over the signs of some arrays."""
    if isinstance(e, Expectation):
        if any(_busy(part) for part in e.args[0].atoms(IndexSum, Named)):
            raise NotCovered("events under a sum inside an expectation")
        forms = [e.args[0]]
        for name in turned:
            forms += [_turned(form, name) for form in forms]
        total = Add(*(_in_cases(form, arguments) for form in forms))
        return total / len(forms)
    if is_random(e) and not e.args:
        raise NotCovered(f"{e} stands outside every expectation")
    if isinstance(e, (Indicator, Activation, Entry)):
        raise NotCovered(f"{e} stands outside every expectation")
    if not e.args or not e.has(Expectation):
        if is_random(e):
            raise NotCovered(f"{e} stands outside every expectation")
        return e
    parts = [_split(p, arguments, turned) if isinstance(p, Expr) else p for p in e.args]
    return e.func(*parts)


def _busy(part: Expr) -> bool:
    """Whether a sum holds events or activations, whose arguments then change along it."""
    inside = part.definition if isinstance(part, Named) else part.summand
    return inside.has(Indicator) or inside.has(Activation)


def _turned(e: Expr, name: str) -> Expr:
    return _opened(e).xreplace({x: -x for x in _opened(e).atoms(Entry) if x.array.name == name})


def _opened(e: Expr) -> Expr:
    while e.atoms(Named):
        e = e.replace(lambda part: isinstance(part, Named), lambda part: part.definition)
    return e


def _canonical(z: Expr) -> tuple[Expr, int]:
    """An argument up to its sign."""
    return (-z, -1) if z.could_extract_minus_sign() else (z, 1)


def _in_cases(f: Expr, arguments: list[Expr]) -> Expr:
    """E[f] as a sum over the signs of the arguments."""
    total: Expr = Integer(0)
    for signs in product(SIGNS, repeat=len(arguments)):
        case = dict(zip(arguments, signs, strict=True))
        value = _in_case(f, case).expand()
        events = Mul(*(indicator(z, {1: ">", -1: "<", 0: "="}[s]) for z, s in case.items()))
        total += Add(*(_pulled(term, events) for term in Add.make_args(value)))
    return total


def _pulled(term: Expr, events: Expr) -> Expr:
    """E[c X events] = c E[X events]."""
    out = [f for f in Mul.make_args(term) if not is_random(f)]
    kept = [f for f in Mul.make_args(term) if is_random(f)]
    return Mul(*out) * Expectation(Mul(*kept) * events) if term != 0 else Integer(0)


def _spread(e: Expr) -> Expr:
    """Sums over indices broken up term by term, constants out, so that equal parts meet."""

    def broken(total: Expr) -> Expr:
        bound, pieces = set(total.bound), []
        for term in Add.make_args(total.summand.expand()):
            out = [f for f in Mul.make_args(term) if not f.free_symbols & bound]
            kept = [f for f in Mul.make_args(term) if f.free_symbols & bound]
            pieces.append(Mul(*out) * IndexSum(Mul(*kept), *total.ranges))
        return Add(*pieces)

    return e.replace(lambda part: isinstance(part, IndexSum), lambda *a: broken(IndexSum(*a)))


def _in_case(e: Expr, case: Mapping[Expr, int]) -> Expr:
    if isinstance(e, (Indicator, Activation)):
        z, turn = _canonical(e.args[0])
        sign = case[z] * turn
        if isinstance(e, Indicator):
            return Integer({">": sign > 0, "<": sign < 0, "=": sign == 0}[e.relation])
        return Integer(0) if sign == 0 else _side(e, e.args[0], sign)
    if e in case and case[e] == 0:
        return Integer(0)
    if not e.args or isinstance(e, (Entry, Named, IndexSum)):
        return e
    return e.func(*(_in_case(p, case) if isinstance(p, Expr) else p for p in e.args))


def _side(e: Function, z: Expr, sign: int) -> Expr:
    """What an activation is for a positive and for a negative argument."""
    match e:
        case relu():
            return z if sign > 0 else Integer(0)
        case leaky_relu():
            return z if sign > 0 else e.args[1] * z
        case _:
            raise NotCovered(f"the checker does not know the activation {type(e).__name__}")


def prove_no_atom(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Only expectations that hold a factor 1[z = 0] went away, for a z with P(z = 0) = 0."""
    events = {e for e in step.before.atoms(Indicator) if e.relation == "="}
    gone = step.before.replace(
        lambda e: (
            isinstance(e, Expectation)
            and any(event in Mul.make_args(e.args[0]) for event in events)
        ),
        lambda e: Integer(0),
    )
    if not any(a.kind is Kind.NO_ATOM for a in step.assumptions):
        return Proof.REFUTED, "the step does not say which event has probability zero"
    if (gone - step.after).expand() != 0:
        return Proof.REFUTED, f"{step.after} is not what is left without the null events"
    return Proof.PROVED, "an integrand with a factor 1[z = 0] is zero almost surely"
