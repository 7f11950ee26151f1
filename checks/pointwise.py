"""Proofs of steps about indicators, activations and signs: equality case by case."""

from collections.abc import Mapping
from itertools import product

from sympy import Add, Basic, Expr, Function, Integer, Mul

from varlaw.checks.report import Proof
from varlaw.symbolic.activations import Activation, leaky_relu, relu
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import Expectation, IndexSum, Indicator

Finding = tuple[Proof, str]
SIGNS = (1, -1, 0)


class NotLinear(ValueError):
    """Expectations are multiplied together, so that they cannot be compared under one E."""


def prove_pointwise(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """E[f] = E[g] because f = g wherever each argument is positive, negative or zero."""
    try:
        difference = _integrand(step.before) - _integrand(step.after)
    except NotLinear as error:
        return Proof.UNCHECKED, str(error)
    return _vanishes(difference)


def prove_signs(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """E f(w) may become (E f(w) + E f(-w))/2: both sides agree once averaged over the sign of w."""
    turned = {a.subjects[0] for a in step.assumptions if a.kind is Kind.SYMMETRIC}
    if not turned:
        return Proof.REFUTED, "no array was declared symmetric"
    for name in turned:
        if not arrays[name].has(Kind.SYMMETRIC):
            return Proof.REFUTED, f"{name} was not declared symmetric"
        others = {a for e in step.before.atoms(Expectation) for a in e.atoms(RandomArray)} - {
            arrays[name]
        }
        near = [o.name for o in others if name in o.depends or o.name in arrays[name].depends]
        if near:
            return Proof.REFUTED, f"{name} depends on {near}"
    try:
        difference = _open(_integrand(step.before) - _integrand(step.after))
    except NotLinear as error:
        return Proof.UNCHECKED, str(error)
    for name in turned:
        flipped = difference.xreplace(
            {e: -e for e in difference.atoms(Entry) if e.array.name == name}
        )
        difference = (difference + flipped) / 2
    return _vanishes(difference)


def _integrand(e: Basic) -> Expr:
    """The expression with E[f] replaced by f; right for what is linear in expectations."""
    if isinstance(e, Expectation):
        return e.args[0]
    if not e.has(Expectation):
        return e
    if isinstance(e, Mul):
        if sum(part.has(Expectation) for part in e.args) > 1:
            raise NotLinear("a product of expectations")
        return Mul(*(_integrand(part) for part in e.args))
    if isinstance(e, Add):
        return Add(*(_integrand(part) for part in e.args))
    if isinstance(e, IndexSum):
        return IndexSum(_integrand(e.summand), *e.ranges)
    raise NotLinear(f"an expectation inside {type(e).__name__}")


def _open(e: Expr) -> Expr:
    while e.atoms(Named):
        e = e.replace(lambda part: isinstance(part, Named), lambda part: part.definition)
    return e


def _vanishes(difference: Expr) -> Finding:
    arguments = {e.args[0] for e in difference.atoms(Indicator)}
    arguments |= {e.args[0] for e in difference.atoms(Activation)}
    for signs in product(SIGNS, repeat=len(arguments)):
        case = dict(zip(sorted(arguments, key=str), signs, strict=True))
        left = _spread(_in_case(difference, case)).expand()
        if left != 0:
            where = ", ".join(
                f"{z} {'>' if s > 0 else '<' if s < 0 else '='} 0" for z, s in case.items()
            )
            return Proof.REFUTED, f"the two sides differ by {left} where {where}"
    return Proof.PROVED, "equal case by case: each argument positive, negative, zero"


def _spread(e: Expr) -> Expr:
    """Sums over indices broken up term by term, so that equal parts meet."""
    return e.replace(
        lambda part: isinstance(part, IndexSum),
        lambda part: Add(
            *(IndexSum(term, *part.ranges) for term in Add.make_args(part.summand.expand()))
        ),
    )


def _in_case(e: Expr, case: Mapping[Expr, int]) -> Expr:
    if isinstance(e, Indicator):
        sign = case[e.args[0]]
        return Integer(1 if {">": sign > 0, "<": sign < 0, "=": sign == 0}[e.relation] else 0)
    if isinstance(e, Activation):
        z = e.args[0]
        sign = case[z]
        return Integer(0) if sign == 0 else _side(e, z, sign)
    if e in case and case[e] == 0:
        return Integer(0)
    if not e.args or isinstance(e, (Entry, Named)):
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
            raise NotLinear(f"the checker does not know the activation {type(e).__name__}")


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
