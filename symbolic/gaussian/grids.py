"""The values of a program at equally spaced points.

Exponentials of polynomials, exp(P(k h)), follow one another by multiplications: one for an affine
P, two for a quadratic one. The other steps of the program are done point by point.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise, repeat
from operator import add, mul, sub
from typing import Any, NamedTuple

from flint import arb, ctx

from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.operations import operation
from varlaw.symbolic.gaussian.parts import Scale
from varlaw.symbolic.gaussian.patterns import difference, multiple, wave_plus_one
from varlaw.symbolic.gaussian.programs import Program

MOST_DEGREE = 3
FACTORS = {"exp": 1, "tanh": 2}  # tanh(u) = (e^(2u) - 1)/(e^(2u) + 1)
CHUNK = 64
LEAST = 64  # bits
ONE = arb(1)
Needed = Callable[[float], int]
Runner = tuple[Any, ...]  # function, target, and the registers it is of


@dataclass(frozen=True)
class Grid:
    """Points k step for first <= k <= last, and a bound on the error of the rule on them."""

    step: arb
    first: int
    last: int
    error: arb


class Plan(NamedTuple):
    """The registers that follow by multiplication, the steps that remain to be done, and the
    register whose multiple by `factor` is the value."""

    waves: list[tuple[int, int, int]]
    runners: list[Runner]
    result: int
    factor: arb


def grid_values(
    program: Program, scale: Scale, grid: Grid, decay: arb, needed: Needed, even: bool = False
) -> list[arb]:
    """f(mean + deviation t) exp(-decay t^2) at the points t of a grid.

    `needed(t)` is the precision that the value at t needs; it must not rise away from zero. An
    even f is asked at t >= 0 only.
    """
    extra = 4 * max(abs(grid.first), abs(grid.last), 2).bit_length()
    h = float(grid.step.mid())
    with ctx.extraprec(extra):
        start, pace = ball(scale.mean), ball(scale.deviation) * grid.step
        plan = _plan(program)
        sides = [(1, grid.last)] if even else [(-1, -grid.first), (1, grid.last)]
        walks = [(sign, last, _Walk(program, plan, start, sign * pace)) for sign, last in sides]
        fade = Exponentials([arb(0), arb(0), -decay * grid.step * grid.step])
        fade.state[0] *= plan.factor
        shares: list[list[arb]] = [[] for _ in sides]
        for place in range(0, max(last for _, last in sides) + 1, CHUNK):
            precisions = [
                min(ctx.prec, max(LEAST, needed(sign * h * place) + extra)) for sign, _ in sides
            ]
            with ctx.workprec(max(precisions)):
                weights = fade.take(CHUNK)
            for (_, last, walk), precision, share in zip(walks, precisions, shares, strict=True):
                if place <= last:
                    with ctx.workprec(precision):
                        share += map(mul, walk.take(place, min(CHUNK, last + 1 - place)), weights)
    return shares[0][:0:-1] + shares[-1]


class _Walk:
    """The values at x = start + k pace for k = 0, 1, ..., step by step for many k together."""

    def __init__(self, program: Program, plan: Plan, start: arb, pace: arb) -> None:
        self.start, self.pace = start, pace
        self.runners, self.result, self.steps = plan.runners, plan.result, len(program.steps)
        self.constants = program.constants()
        self.sequences = [
            (target, Exponentials(_moved(program, argument, start, pace, factor)), factor == 2)
            for target, argument, factor in plan.waves
        ]

    def take(self, place: int, number: int) -> Iterable[arb]:
        """The values for so many k from `place` on; the places are to follow one another."""
        first = self.start + place * self.pace
        columns: list[Any] = [list(accumulate(repeat(self.pace, number - 1), initial=first))]
        columns += [[constant] * number for constant in self.constants]
        columns += [[]] * self.steps
        for target, sequence, is_tanh in self.sequences:
            values = sequence.take(number)
            columns[target] = [(v - ONE) / (v + ONE) for v in values] if is_tanh else values
        for function, target, *arguments in self.runners:
            columns[target] = list(map(function, *(columns[place] for place in arguments)))
        found: Iterable[arb] = columns[self.result]
        return found


def _plan(program: Program) -> Plan:
    result, scale = multiple(program, program.result) or (program.result, 0)
    factor = ball(program.numbers[scale - 1]) if scale else ONE
    needed, waves = {result}, []
    runners: list[Runner] = []
    for position in range(len(program.steps) - 1, -1, -1):
        step, target = program.steps[position], program.first + position
        if target not in needed:
            continue
        polynomial = program.polynomials.get(step.left)
        known = polynomial is not None and len(polynomial) <= MOST_DEGREE + 1
        if known and step.operation in FACTORS:
            waves.append((target, step.left, FACTORS[step.operation]))
            continue
        wave = wave_plus_one(program, step.left) if step.operation == "log" else None
        if wave is not None:
            needed.add(wave)
            runners.append((arb.log1p, target, wave))
            continue
        less = difference(program, target)
        if less is not None:
            needed |= {*less}
            runners.append((sub, target, *less))
            continue
        needed |= {step.left, step.right}
        if step.operation == "raise" and step.exponent == 2:
            runners.append((mul, target, step.left, step.left))
        else:
            places = (step.left,) if step.right < 0 else (step.left, step.right)
            runners.append((operation(arb, step, {}), target, *places))
    return Plan(waves, runners[::-1], result, factor)


def seconds(program: Program, grid: Grid, bits: int) -> float:
    """About how long the values on a grid take whose largest have so many bits, when measured.

    The precision falls like the density: on average it costs half of that at its peak.
    """
    size, plan = max(bits, LEAST) / 3400, _plan(program)
    quotients = sum(factor == FACTORS["tanh"] for _, _, factor in plan.waves)
    each = 5e-7 * size * (3 + 3 * len(plan.waves)) + 2.5e-6 * size**1.7 * quotients
    for function, *_ in plan.runners:
        if function in (add, mul, sub):
            each += 5e-7 * size
        else:
            each += (2.5e-6 if isinstance(function, partial) else 6e-5) * size**1.7
    return each * (grid.last - grid.first) / 2


def _moved(program: Program, argument: int, start: arb, pace: arb, factor: int) -> list[arb]:
    """The coefficients in k of a polynomial in x = start + k pace, times a factor."""
    total: list[arb] = []
    for coefficient in reversed(program.polynomials[argument]):
        stepped = [arb(0), *(c * pace for c in total)]
        for power, c in enumerate(total):
            stepped[power] += c * start
        stepped[0] += factor * ball(coefficient)
        total = stepped
    return total[: len(program.polynomials[argument])]


class Exponentials:
    """exp(P(0)), exp(P(1)), ...: the exponentials of P's forward differences are carried along."""

    def __init__(self, coefficients: list[arb]) -> None:
        values = [
            sum((c * k**power for power, c in enumerate(coefficients)), arb(0))
            for k in range(len(coefficients))
        ]
        self.state = []
        while values:
            self.state.append(values[0].exp())
            values = [b - a for a, b in pairwise(values)]

    def take(self, number: int) -> list[arb]:
        """So many of the values that follow."""
        values: Iterable[arb] = repeat(self.state[-1], number)
        for order in reversed(range(len(self.state) - 1)):
            *found, self.state[order] = accumulate(values, mul, initial=self.state[order])
            values = found
        return list(values)
