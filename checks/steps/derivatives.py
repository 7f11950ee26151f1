"""Proofs of steps on functions of many entries: sums in one form."""

from collections.abc import Mapping

from sympy import Add, Expr

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero, opened
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.terms import IndexSum

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]


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
