"""Proofs of steps about exponents of the width."""

from collections.abc import Mapping

from sympy import Add, Expr, Integer, Mul, Pow, Rational, Symbol, diff

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step, sign_of
from varlaw.symbolic.orders import coherent, incoherent, order

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]


class _NoPower(ValueError):
    """An expression is no power of the width."""


def prove_exponent(step: Step, arrays: Arrays) -> Finding:
    """The exponents of the parts added up, from the outside in, give the exponent found."""
    try:
        counted = step.before.replace(order, _counted)
    except _NoPower as error:
        return Proof.UNCHECKED, str(error)
    if step.after.has(order, coherent, incoherent) or not is_zero(counted - step.after):
        return Proof.REFUTED, f"the parts add up to {counted}, not {step.after}"
    return Proof.PROVED, "exponents of the parts added up"


def _counted(x: Expr, n: Symbol) -> Expr:
    match x:
        case coherent():
            return 1 + _counted(x.args[0], n)
        case incoherent():
            return Rational(1, 2) + _counted(x.args[0], n)
        case Mul():
            return Add(*(_counted(part, n) for part in x.args))
        case Pow() if n not in x.exp.free_symbols:
            return x.exp * _counted(x.base, n)
        case Symbol() if x == n:
            return Integer(1)
        case _ if x.is_positive and not x.free_symbols:
            return Integer(0)
        case _:
            raise _NoPower(f"{x} is not a power of {n}")


def prove_stable(step: Step, arrays: Arrays) -> Finding:
    """The exponent vanishes at the bound and falls in the unknown: at most 0 from there on."""
    unknown, least, found = step.after.lhs, step.after.rhs, step.before.rhs
    if sign_of(step.before) != "=" or not unknown.is_real or least.has(unknown):
        return Proof.REFUTED, f"{unknown} >= {least} does not bound a real exponent"
    if not isinstance(step.before.lhs, order):
        return Proof.REFUTED, f"{step.before.lhs} is not an exponent of the width"
    if not is_zero(found.xreplace({unknown: least})):
        return Proof.REFUTED, f"at {unknown} = {least} the exponent is not 0"
    slope = diff(found, unknown)
    if not (slope.is_number and slope.is_negative):
        return Proof.REFUTED, f"the exponent does not fall in {unknown}"
    return Proof.PROVED, "0 at the bound, falling with a constant slope"
