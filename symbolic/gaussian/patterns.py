"""What steps of a program make together: sums and products with numbers, c + e^u, 1 + tanh(u)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sympy import Expr, Integer

from varlaw.symbolic.gaussian.operations import Step

if TYPE_CHECKING:
    from varlaw.symbolic.gaussian.programs import Program


def shifted_exponential(program: "Program", register: int) -> tuple[int, int] | None:
    """(register of u, register of c) for c + e^u."""
    for one, constant in _with_number(program, register, "add"):
        inner = _made_by(program, one)
        if inner is not None and inner.operation == "exp":
            return inner.left, constant
    return None


def wave_plus_one(program: "Program", register: int) -> int | None:
    """The register of e^u for 1 + e^u."""
    for one, constant in _with_number(program, register, "add"):
        inner = _made_by(program, one)
        if inner is not None and inner.operation == "exp":
            return one if _number(program, constant) == 1 else None
    return None


def squashed(program: "Program", register: int) -> tuple[int, int, int] | None:
    """(register of u, sign, register of c) for c (1 + tanh(u)), or c (1 - tanh(u))."""
    for one, constant in _with_number(program, register, "add"):
        c = _number(program, constant)
        (one, scale), *_ = [*_with_number(program, one, "mul"), (one, 0)]
        inner, factor = _made_by(program, one), _number(program, scale) if scale else Integer(1)
        if inner is not None and inner.operation == "tanh" and c in (factor, -factor):
            return inner.left, 1 if c == factor else -1, constant
    return None


def multiple(program: "Program", register: int) -> tuple[int, int] | None:
    """(register of u, register of c) for c u."""
    return next(_with_number(program, register, "mul"), None)


def difference(program: "Program", register: int) -> tuple[int, int] | None:
    """(register of u, register of v) for u - v."""
    step = _made_by(program, register)
    if step is not None and step.operation == "add":
        for one, other in ((step.left, step.right), (step.right, step.left)):
            for inner, minus in _with_number(program, one, "mul"):
                if _number(program, minus) == -1:
                    return other, inner
    return None


def _with_number(program: "Program", register: int, operation: str) -> Iterator[tuple[int, int]]:
    """(register of u, register of c) for u + c, or u c, where c is a number and u is none."""
    step = _made_by(program, register)
    if step is not None and step.operation == operation:
        for one, other in ((step.left, step.right), (step.right, step.left)):
            if 0 < other < program.first and not 0 < one < program.first:
                yield one, other


def _made_by(program: "Program", register: int) -> Step | None:
    return program.steps[register - program.first] if register >= program.first else None


def _number(program: "Program", register: int) -> Expr:
    return program.numbers[register - 1]
