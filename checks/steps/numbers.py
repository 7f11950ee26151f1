"""Proofs of steps about numbers: digits by enclosure, roots by a change of sign, maps in balls."""

from collections.abc import Mapping

from flint import arb, ctx
from sympy import Expr, Integer, Rational

from varlaw.checks.report import Proof
from varlaw.checks.steps.induction import precedes
from varlaw.checks.steps.moment_proof import recorded
from varlaw.symbolic.arrays import RandomArray, arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.gaussian.balls import Located, NoEnclosure, ball
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


class Held(Located):
    """Any number of a ball that is given by its middle and radius."""

    is_positive = True

    def enclosure(self) -> arb:
        middle, radius = (arb(int(part.p)) / int(part.q) for part in self.args)
        return middle + radius * arb(0, 1)


def _held(value: arb) -> Held:
    """A ball as an expression, a little larger."""
    unit = 2**ctx.prec
    middle = Rational(_below(value.mid() * unit), unit)
    reach = (value - arb(int(middle.p)) / int(middle.q)).abs_upper()
    return Held(middle, Rational(_below(reach * unit) + 2, unit))


def _below(number: arb) -> int:
    return int(number.floor().unique_fmpz() or 0)


def prove_march(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """The map carried on in balls from the start; the last ball lies within the last digit."""
    facts, found = step.certificate, step.after.rhs
    previous, index, steps = facts["previous"], facts["index"], facts["steps"]
    if not precedes(previous, step.before.lhs, index):
        return Proof.REFUTED, f"{previous} is not what comes before {step.before.lhs}"
    if not isinstance(found, Digits) or step.after.lhs != previous.xreplace(
        {index: Integer(steps)}
    ):
        return Proof.REFUTED, f"{step.after} does not give {previous} after {steps} steps by digits"
    with ctx.workprec(2 * _bits(found.places)):
        value = ball(facts["initial"])
        for _ in range(steps):
            value = ball(step.before.rhs.xreplace({previous: _held(value)}))
        low, high = sorted((found.value, found.value + found.unit))
        if value * int(low.q) > int(low.p) and value * int(high.q) < int(high.p):
            return Proof.PROVED, f"enclosed in {value.str(found.places)}"
    return Proof.REFUTED, f"the number is {value.str(12)}"


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
