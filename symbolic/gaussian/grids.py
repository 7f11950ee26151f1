"""The values of a program at equally spaced points.

Exponentials of polynomials, exp(P(k h)), follow one another by multiplications: one for an affine
P, two for a quadratic one. The other steps of the program are done point by point.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice, pairwise
from typing import Any

from flint import arb, ctx

from varlaw.symbolic.gaussian.balls import ball
from varlaw.symbolic.gaussian.operations import operation
from varlaw.symbolic.gaussian.parts import Scale
from varlaw.symbolic.gaussian.programs import Program

MOST_DEGREE = 3
FACTORS = {"exp": 1, "tanh": 2}  # tanh(u) = (e^(2u) - 1)/(e^(2u) + 1)
CHUNK = 64
LEAST = 64  # bits
Needed = Callable[[float], int]
Runner = tuple[Callable[..., Any], int, int, int]  # function, target, left, right


@dataclass(frozen=True)
class Grid:
    """Points k step for first <= k <= last, and a bound on the error of the rule on them."""

    step: arb
    first: int
    last: int
    error: arb


def grid_values(
    program: Program, scale: Scale, grid: Grid, decay: arb, needed: Needed, even: bool = False
) -> list[arb]:
    """f(mean + deviation t) exp(-decay t^2) at the points t of a grid.

    `needed(t)` is the precision that the value at t needs; it must not rise away from zero. An
    even f is asked at t >= 0 only.
    """
    extra = 4 * max(abs(grid.first), abs(grid.last), 2).bit_length()
    with ctx.extraprec(extra):
        start, pace = ball(scale.mean), ball(scale.deviation) * grid.step
        shares = []
        for sign, last in ((1, grid.last),) if even else ((-1, -grid.first), (1, grid.last)):
            h = sign * float(grid.step.mid())
            walk = _walk(program, start, sign * pace, grid.step, decay)
            values: list[arb] = []
            while len(values) <= last:
                with ctx.workprec(min(ctx.prec, max(LEAST, needed(h * len(values)) + extra))):
                    values += islice(walk, min(CHUNK, last + 1 - len(values)))
            shares.append(values)
    return shares[0][:0:-1] + shares[-1]


def _walk(program: Program, start: arb, pace: arb, step: arb, decay: arb) -> Iterator[arb]:
    """The values at x = start + k pace for k = 0, 1, ..."""
    waves, runners = _plan(program)
    registers: list[Any] = [start, *program.constants()] + [None] * len(program.steps)
    sequences = [
        (target, Exponentials(_moved(program, argument, start, pace, factor)), factor == 2)
        for target, argument, factor in waves
    ]
    fade = Exponentials([arb(0), arb(0), -decay * step * step])
    result = program.result
    for k in count():
        registers[0] = start + k * pace
        for target, sequence, is_tanh in sequences:
            value = sequence.advance()
            registers[target] = (value - 1) / (value + 1) if is_tanh else value
        for function, target, left, right in runners:
            if right < 0:
                registers[target] = function(registers[left])
            else:
                registers[target] = function(registers[left], registers[right])
        yield registers[result] * fade.advance()


def _plan(program: Program) -> tuple[list[tuple[int, int, int]], list[Runner]]:
    """The registers that follow by multiplication, and the steps that remain to be done."""
    needed, waves, runners = {program.result}, [], []
    for position in range(len(program.steps) - 1, -1, -1):
        step, target = program.steps[position], program.first + position
        if target not in needed:
            continue
        polynomial = program.polynomials.get(step.left)
        known = polynomial is not None and len(polynomial) <= MOST_DEGREE + 1
        if known and step.operation in FACTORS:
            waves.append((target, step.left, FACTORS[step.operation]))
            continue
        needed |= {step.left, step.right}
        runners.append((operation(arb, step, {}), target, step.left, step.right))
    return waves, runners[::-1]


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

    def advance(self) -> arb:
        value: arb = self.state[0]
        for order in range(len(self.state) - 1):
            self.state[order] = self.state[order] * self.state[order + 1]
        return value
