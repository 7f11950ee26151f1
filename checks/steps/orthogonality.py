"""Proof of steps that use orthonormal rows: the Gram matrix written out, then put to 1."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sympy import Dummy, Expr, Tuple

from varlaw.checks.report import Proof
from varlaw.checks.steps.moment_proof import prove_moments
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.terms import Delta, IndexSum


def prove_orthonormal(step: Step, arrays: Mapping[str, RandomArray]) -> tuple[Proof, str]:
    """The step before is a polynomial in the entries of G = W W^T; the one after has G = 1.

    The first half holds for any W, and is proved by moment polynomials without any assumption;
    what is left is the declaration itself.
    """
    written, array = step.certificate["written"], step.certificate["array"]
    columns = list(step.certificate["columns"])
    declared = array.has(Kind.ORTHONORMAL) and array in arrays.values()
    if not declared or array.assumption(Kind.ORTHONORMAL) not in step.assumptions:
        return Proof.REFUTED, f"the rows of {array.name} are not declared or recorded orthonormal"
    if len(columns) != 1:
        return Proof.REFUTED, "the sums over columns do not run over one range"
    if _gram_is(written, Delta) != step.after:
        return Proof.REFUTED, "the step after is not the one before with the Gram matrix at 1"
    (lower, upper), column = columns[0], Dummy("j", integer=True, positive=True)

    def product(left: Expr, right: Expr) -> Expr:
        entries = array[left, column] * array[right, column]
        return IndexSum(entries, Range(Tuple(column), lower, upper, Tuple()))

    outcome, why = prove_moments(replace(step, after=_gram_is(written, product)), arrays)
    return outcome, f"the Gram matrix written out: {why}"


def _gram_is(written: Expr, value: Callable[[Expr, Expr], Expr]) -> Expr:
    return written.replace(
        lambda e: isinstance(e, Entry) and e.array.name == "G", lambda e: value(*e.indices)
    )
