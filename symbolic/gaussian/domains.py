"""Whether a function is real and finite all over an interval: proved on real balls.

Complex arithmetic would take the logarithm of a negative number without a word; real balls do not.
"""

from collections.abc import Callable
from typing import Any

from flint import arb, ctx
from sympy import Expr, oo

from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.operations import CUT, POLES, operation
from varlaw.symbolic.gaussian.pieces import Piece
from varlaw.symbolic.gaussian.programs import Program
from varlaw.symbolic.gaussian.strips import strip

MOST_BOXES = 3_000
DEEPEST = 48


def prove_finite(program: Program, piece: Piece, low: arb, high: arb, precision: int = 64) -> None:
    """Prove that the function is finite for low <= x <= high, within the piece.

    Raises NoEnclosure with the place where that fails.
    """
    if not program.uses(CUT | POLES) or not strip(program).open:
        return
    with ctx.workprec(precision):
        run = _runner(program, piece)
        stack = [(low, high, 0)]
        for _ in range(MOST_BOXES):
            if not stack:
                return
            a, b, depth = stack.pop()
            if run(a.union(b)).is_finite():
                continue
            middle = ((a + b) / 2).mid()
            if depth >= DEEPEST:
                place = "0" if abs(middle) < 1e-6 else middle.str(6, radius=False)
                raise NoEnclosure(
                    f"{program.expression} is not known to be defined and bounded near {place}: "
                    "its expectation may be infinite or undefined"
                )
            stack += [(middle, b, depth + 1), (a, middle, depth + 1)]
        raise NoEnclosure(f"{program.expression} is not known to be defined all over the line")


def _runner(program: Program, piece: Piece) -> Callable[[arb], arb]:
    """The function on real balls; roots and logarithms of what vanishes at an end are clipped."""
    numbers = program.constants()
    steps = []
    for step in program.steps:
        function = operation(arb, step, {})
        if step.operation in ("sqrt", "log", "power") and _not_negative(program, step.left, piece):
            function = _clipped(function, step.operation)
        steps.append((function, step.left, step.right))

    def run(x: arb) -> arb:
        registers: list[Any] = [x, *numbers]
        for function, left, right in steps:
            arguments = (registers[left],) if right < 0 else (registers[left], registers[right])
            registers.append(function(*arguments))
        return registers[program.result]

    return run


def _clipped(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def on_the_right_side(value: arb, *exponent: arb) -> Any:
        value = value.nonnegative_part()
        if name == "power" and value.contains(0) and exponent[0] > 0:
            return (value.abs_upper() ** exponent[0]) * arb(0, 1)
        return function(value, *exponent)

    return on_the_right_side


def _not_negative(program: Program, register: int, piece: Piece) -> bool:
    """Whether an affine register is known to be at least 0 on the whole piece."""
    polynomial = program.polynomials.get(register)
    if polynomial is None or len(polynomial) != 2:
        return False
    return all(
        _at_least_zero(polynomial[0], polynomial[1], end) for end in (piece.lower, piece.upper)
    )


def _at_least_zero(offset: Expr, slope: Expr, end: Expr) -> bool:
    if end in (oo, -oo):
        return bool(ball(slope) > 0 if end == oo else ball(slope) < 0)
    value = offset + slope * end
    return value == 0 or bool(ball(value) >= 0)
