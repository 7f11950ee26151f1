"""Proofs of steps about numbers: digits by enclosure, roots by a change of sign."""

from collections.abc import Mapping

from flint import arb, ctx
from sympy import Expr

from varlaw.checks.moment_proof import recorded
from varlaw.checks.report import Proof
from varlaw.symbolic.arrays import RandomArray, arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.values import value_of

Finding = tuple[Proof, str]
BITS_BEYOND = 60
DIGITS_BEYOND = 15


def prove_digits(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """The ball of the number lies between the digits and one unit more."""
    found = step.after
    if not isinstance(found, Digits):
        return Proof.REFUTED, "the result is not given by digits"
    try:
        ball = _ball(step.before, found.places)
    except NoEnclosure as error:
        return Proof.UNCHECKED, str(error)
    if lost := _unrecorded(step):
        return Proof.REFUTED, lost
    low, high = sorted((found.value, found.value + found.unit))
    with ctx.workprec(_bits(found.places)):
        within = ball * int(low.q) > int(low.p) and ball * int(high.q) < int(high.p)
    if within:
        return Proof.PROVED, f"enclosed in {ball.str(found.places + 5)}"
    return Proof.REFUTED, f"the number is {ball.str(12)}"


def prove_root(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """The two sides change places between the digits and one unit more (they are continuous)."""
    unknown, found = step.after.lhs, step.after.rhs
    gap = step.before.lhs - step.before.rhs
    if not isinstance(found, Digits) or unknown not in gap.free_symbols:
        return Proof.REFUTED, "the root is not given by digits"
    if lost := _unrecorded(step):
        return Proof.REFUTED, lost
    try:
        ends = [
            _ball(gap.xreplace({unknown: end}), found.places)
            for end in (found.value, found.value + found.unit)
        ]
    except NoEnclosure as error:
        return Proof.UNCHECKED, str(error)
    if ends[0] * ends[1] < 0:
        return Proof.PROVED, "the difference of the sides changes sign within the last digit"
    if ends[0].contains(0) or ends[1].contains(0):
        return Proof.UNCHECKED, "the signs at the ends are not clear"
    return Proof.REFUTED, f"no change of sign between {found.value} and {found.value + found.unit}"


def _ball(e: Expr, places: int) -> arb:
    with ctx.workprec(_bits(places)):
        return value_of(e, places + DIGITS_BEYOND)


def _bits(places: int) -> int:
    return int(3.33 * places) + BITS_BEYOND


def _unrecorded(step: Step) -> str:
    """What the step rests on and does not say."""
    declared = arrays_in(step.before)
    for name, array in recorded(declared, step.assumptions).items():
        if not array.has(Kind.GAUSSIAN):
            return f"the step does not record that {name} is Gaussian"
        if declared[name].zero_mean and not array.zero_mean:
            return f"the step does not record that {name} has zero mean"
    return ""
