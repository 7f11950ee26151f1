"""Proofs of numbers about E[log Sum exp(z)]: Frullani's integral enclosed in ball arithmetic.

With S = Sum_k exp(z_k) of K iid z_k ~ N(0, s^2), F(u) = exp(-exp(u)) and M(u) = E[F(u + z)],

    E[log S] = int (F(u) - M(u)^K) du over the real line (Frullani, t = exp(u)).

Both integrals, this one and that of M, are taken by the trapezoidal rule. For a function that is
analytic in |Im| <= y with int |f(x + i y')| dx <= N on both edges, its error is at most
2 N/(exp(2 pi y/h) - 1) (Trefethen and Weideman, SIAM Review 56, 2014, Theorem 5.1). Here
|F(x + i y)| = exp(-exp(x) cos y) <= 1 up to y = pi/2.
"""

import math
from collections.abc import Mapping
from typing import TypeAlias

from flint import arb, arb_poly, ctx
from sympy import Expr, Symbol, diff, exp, log

from varlaw.checks.report import Proof
from varlaw.checks.steps.moment_proof import recorded
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.digits import Digits
from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.terms import Expectation, IndexSum

Finding: TypeAlias = tuple[Proof, str]
Arrays: TypeAlias = Mapping[str, RandomArray]

BITS = 120
STEP = arb("0.15")  # of the outer integral
OUTER, INNER = 1.2, 1.5  # how far |Im| goes in the exponent of F, below pi/2
WIDEST = 4.0  # of the inner strip, since |phi(x + i y)| = phi(x) exp(y^2/2)
REACH = 10.5  # standard deviations


def prove_log_sum(step: Step, arrays: Arrays) -> Finding:
    """The enclosure lies within one unit of the last digit."""
    if not isinstance(step.after, Digits):
        return Proof.REFUTED, "the result is not given by digits"
    found = _parts(step.before, step, arrays)
    if isinstance(found, str):
        return Proof.REFUTED, found
    count, variance = found
    with ctx.workprec(BITS):
        value = enclosed(count, ball(variance).sqrt())
        low, high = _arb(step.after.value), _arb(step.after.value + step.after.unit)
        if value > low and value < high:
            return Proof.PROVED, f"enclosed in {value.str(step.after.places + 6)}"
        return Proof.REFUTED, f"the number is {value.str(12)}"


def prove_log_sum_root(step: Step, arrays: Arrays) -> Finding:
    """The two sides change places between the digits and one unit more (they are continuous)."""
    unknown, root = step.after.lhs, step.after.rhs
    heads = step.before.lhs.atoms(Expectation)
    if not isinstance(root, Digits) or len(heads) != 1:
        return Proof.REFUTED, "the root is not given by digits, or the equation has another form"
    (head,) = heads
    found = _parts(head, step, arrays)
    if isinstance(found, str):
        return Proof.REFUTED, found
    count, variance = found
    rest = step.before.rhs - (step.before.lhs - head)
    if variance != unknown**2 or unknown in rest.free_symbols:
        return Proof.REFUTED, f"{unknown} is not the std of the logits"
    with ctx.workprec(BITS):
        gaps = [
            enclosed(count, _arb(end)) - ball(rest) for end in (root.value, root.value + root.unit)
        ]
        if gaps[0] < 0 < gaps[1]:
            return Proof.PROVED, "the difference of the sides changes sign within the last digit"
        return Proof.REFUTED, f"at the ends it is {gaps[0].str(5)} and {gaps[1].str(5)}"


def prove_first_integer(step: Step, arrays: Arrays) -> Finding:
    """The left side rises, exceeds the right one at the integer and not at the one before."""
    unknown, found = step.after.lhs, step.after.rhs
    rising, bound = step.before.lhs, step.before.rhs
    if rising.free_symbols != {unknown} or not found.is_Integer or found < 1:
        return Proof.REFUTED, f"{found} is not a positive integer of one unknown"
    x = Symbol("x", positive=True)
    if not diff(rising.xreplace({unknown: x}), x).is_positive:
        return Proof.REFUTED, f"{rising} is not known to rise"
    with ctx.workprec(BITS):
        above, below = (ball(rising.xreplace({unknown: at})) for at in (found, found - 1))
        limit = ball(bound)
        if above > limit and (below <= limit or found == 1):
            return Proof.PROVED, f"enclosed on both sides: {below.str(6)} and {above.str(6)}"
    return Proof.REFUTED, f"{below.str(6)} and {above.str(6)} do not lie on the two sides"


def _arb(number: Expr) -> arb:
    return arb(int(number.p)) / int(number.q)


def _parts(head: Expr, step: Step, arrays: Arrays) -> tuple[int, Expr] | str:
    """The number of the logits and their variance; or what is wrong with E[log Sum exp(z)]."""
    inside = head.args[0].args[0] if isinstance(head, Expectation) else None
    if not isinstance(inside, IndexSum) or head.args[0].func is not log:
        return f"{head} is not E[log Sum exp(z)]"
    (r, *more), summand = inside.ranges, inside.summand
    entry = summand.args[0] if isinstance(summand, exp) else None
    if more or r.excluded or not isinstance(entry, Entry) or entry.indices != r.indices:
        return f"{inside} is not a sum of exp(z_k)"
    array = recorded(arrays, step.assumptions)[entry.array.name]
    kinds = (Kind.GAUSSIAN, Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL, Kind.ZERO_MEAN)
    if not all(array.has(kind) for kind in kinds):
        return f"the step does not record that {array.name} is iid, centred and Gaussian"
    return int(r.size()), array.moment(2)


def enclosed(count: int, std: arb) -> arb:
    """A ball for E[log Sum exp(z)] of `count` iid z ~ N(0, std^2)."""
    size = float(std.upper())
    pieces, delta = _inner(size, std)
    fine = STEP / pieces
    low = -pieces * math.ceil(
        min(45 + math.log(count) + size**2 / 2, 50 + 10.5 * size) / float(STEP)
    )
    high = pieces * math.ceil((7 + 1.5 * size) / float(STEP))
    half = math.ceil(REACH * size / float(fine)) + 1
    bell = [(-((fine * j / std) ** 2) / 2).exp() for j in range(-half, half + 1)]
    values = [_double(fine * at) for at in range(low - half, high + half + 1)]
    mixed = arb_poly(bell) * arb_poly(values)
    scale = fine / std / (2 * arb.pi()).sqrt()
    total, last = arb(0), arb(0)
    for i in range(low, high + 1, pieces):
        last = scale * mixed[i - low + 2 * half] + arb(0, delta)
        total += values[i - low + half] - last**count
    start, end = fine * low, fine * high
    return STEP * total + arb(0, 1) * _outer(count, std, start, end, last)


def _double(u: arb) -> arb:
    """F(u) = exp(-exp(u)); above 5 it is positive and below 1e-60."""
    return (-u.exp()).exp() if u < 5 else arb(0, 1e-60)


def _inner(size: float, std: arb) -> tuple[int, arb]:
    """Into how many pieces the step falls for M, and the error of M."""
    width = min(INNER / size, WIDEST)
    pieces = max(1, math.ceil(58 * float(STEP) / (2 * math.pi * width * size)))
    edge = arb(width).min(arb(INNER) / std)
    ratio = (2 * arb.pi() * edge * std * pieces / STEP).exp() - 1
    tail = (arb(REACH) / arb(2).sqrt()).erfc()
    return pieces, (2 * (edge**2 / 2).exp() / ratio + tail).upper()


def _outer(count: int, std: arb, start: arb, end: arb, last: arb) -> arb:
    """What the outer sum is off by at most: its tails, and the trapezoidal rule's error.

    Below `start` = -A, |1 - F(u)| <= |exp(u)| and |1 - M^K| <= K |1 - M|, which is at most
    2 K E[min(1, |exp(u)| e^z)], whose integral is at most
    2 K (E[(z - A)^+] + E[min(1, e^(z - A))]). Above `end` >= 0 the
    integral of F is at most F(end), that of M^K at most M(end)^(K - 1) int M, where
    int M <= log 2 + E[z^+]. F and M are monotone, so that these bound the sums as well. On the
    edges |M(x + i y)| <= M(x + log cos y).
    """
    a = -start
    beyond = (a / std / arb(2).sqrt()).erfc() / 2
    near = ((std - a / std) / arb(2).sqrt()).erfc() / 2  # P(z < A) under e^z
    excess = std * (-((a / std) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()
    below = start.exp() + 2 * count * (excess + beyond + (start + std**2 / 2).exp() * near)
    above = (-end.exp()).exp() + last.abs_upper() ** (count - 1) * (1 + std)
    cosine = arb(OUTER).cos()
    norm = (
        below + above + 2 * (end - start) - 2 * cosine.log() + (-end.exp() * cosine).exp() / cosine
    )
    ratio = (2 * arb.pi() * arb(OUTER) / STEP).exp() - 1
    return (below + above + 2 * norm / ratio).upper()
