"""Proofs of steps on functions of many entries: sums in one form, derivatives by dual numbers."""

from collections.abc import Mapping

from sympy import Add, Expr, Integer, Mul, Pow, Symbol

from varlaw.checks.algebra import is_zero, opened
from varlaw.checks.report import Proof
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.terms import IndexSum, Slope

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]
Dual = tuple[Expr, Expr]


class NotDifferentiable(ValueError):
    """An expression that dual numbers do not cover."""


def spread(e: Expr) -> Expr:
    """Every sum as constants times sums of single products without constant factors."""

    def broken(total: IndexSum) -> Expr:
        pieces = []
        for term in Add.make_args(total.summand.expand()):
            constant, rest = term.as_independent(*total.bound, as_Add=False)
            pieces.append(constant * IndexSum(rest, *total.ranges))
        return Add(*pieces)

    return e.replace(lambda part: isinstance(part, IndexSum), broken)


def prove_scale_out(step: Step, arrays: Arrays) -> Finding:
    """Both sides agree with every sum spread into products without constant factors."""
    before, after = (spread(opened(side)) for side in (step.before, step.after))
    if is_zero(before - after):
        return Proof.PROVED, "exact normal form, constants out of every sum"
    return Proof.REFUTED, f"{before} is not {after}"


def prove_derivative(step: Step, arrays: Arrays) -> Finding:
    """The derivative again, by dual numbers a + b epsilon with epsilon^2 = 0."""
    slopes = step.before.atoms(Slope)
    if len(slopes) != 1 or step.after.has(Slope):
        return Proof.REFUTED, "the step is not about one derivative"
    (part,) = slopes
    of, by = part.args
    try:
        _, slope = dual(opened(of), by)
    except NotDifferentiable as error:
        return Proof.UNCHECKED, str(error)
    before, after = (
        spread(opened(side)) for side in (step.before.xreplace({part: slope}), step.after)
    )
    if is_zero(before - after):
        return Proof.PROVED, "differentiated by dual numbers"
    return Proof.REFUTED, f"the derivative of {of} by {by} is {slope}"


def dual(e: Expr, by: Symbol) -> Dual:
    """An expression at by + epsilon: its value, and what stands with epsilon."""
    if by not in e.free_symbols:
        return e, Integer(0)
    match e:
        case Symbol():
            return e, Integer(1)
        case Add():
            parts = [dual(part, by) for part in e.args]
            return e, Add(*(b for _, b in parts))
        case Mul():
            value, slope = Integer(1), Integer(0)
            for a, b in (dual(part, by) for part in e.args):
                value, slope = value * a, slope * a + value * b
            return e, slope
        case Pow() if by not in e.exp.free_symbols:
            a, b = dual(e.base, by)
            return e, e.exp * a ** (e.exp - 1) * b
        case IndexSum() if by not in e.bound and all(by not in r.free_bounds for r in e.ranges):
            return e, IndexSum(dual(e.summand, by)[1], *e.ranges)
        case _:
            raise NotDifferentiable(f"not covered: the derivative of {e} by {by}")
