"""A function of one variable as a straight-line program that runs on balls.

A program is the expression with every part that occurs twice computed once. Register 0 is the
variable, then come the numbers, then the results of the steps in order; the last is the value.
What is asked of a program elsewhere (its growth, its poles, its values on a grid) is asked step by
step, over the same short list of operations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from flint import acb, arb, ctx
from sympy import Add, Expr, Function, Integer, Mul, Pow, Symbol, exp, log
from sympy.core.symbol import Str

from varlaw.symbolic.gaussian.balls import FUNCTIONS, Located, NoEnclosure, ball
from varlaw.symbolic.gaussian.divided import Divided
from varlaw.symbolic.gaussian.operations import (
    CAREFUL,
    CUT,
    FUSED,
    PLAIN,
    ROUGH,
    Special,
    Step,
    operation,
)
from varlaw.symbolic.gaussian.patterns import shifted_exponential
from varlaw.symbolic.occurrences import depends

MOST_POWER = 1 << 16
MOST_DEGREE = 12
ROUGH_BITS = 64
MOST_TERMS = 40
Coefficients = tuple[Expr, ...]  # of 1, x, x^2, ...
Exponentials = dict[Expr, Expr]  # rate -> coefficient


class Choice(Located):
    """The "min" or the "max" of two values, or "either" of them: for bounds."""

    @classmethod
    def of(cls, name: str, one: Expr, other: Expr) -> Expr:
        return Expr.__new__(cls, Str(name), one, other)

    def _sympystr(self, printer: Any) -> str:
        return f"{self.args[0].name}({', '.join(printer.doprint(e) for e in self.args[1:])})"

    def enclosure(self) -> arb:
        name, *values = self.args
        return operation(arb, Step(name.name, 0), {})(*map(ball, values))


@dataclass(frozen=True)
class Program:
    """The steps, the numbers they use, and the polynomials in x among the registers."""

    expression: Expr
    variable: Symbol
    numbers: tuple[Expr, ...]
    steps: tuple[Step, ...]
    result: int
    polynomials: dict[int, Coefficients]

    @property
    def first(self) -> int:
        """The register of the first step."""
        return 1 + len(self.numbers)

    def uses(self, operations: set[str]) -> bool:
        return any(step.operation in operations for step in self.steps)

    def constants(self) -> list[arb]:
        """The numbers as balls at the current precision."""
        return [ball(number) for number in self.numbers]

    @cached_property
    def rough_polynomials(self) -> dict[int, tuple[arb, ...]]:
        """The polynomials with coefficients in balls, for bounds."""
        with ctx.workprec(ROUGH_BITS):
            return {k: tuple(map(ball, p)) for k, p in self.polynomials.items()}

    @cached_property
    def exponential_sums(self) -> dict[int, Exponentials]:
        """The registers that are sums of exponentials of affine functions of x."""
        found: dict[int, Exponentials] = {}
        for position, number in enumerate(self.numbers, 1):
            found[position] = {Integer(0): number}
        for position, step in enumerate(self.steps, self.first):
            u, v = found.get(step.left), found.get(step.right)
            result: Exponentials | None = None
            if step.operation == "exp":
                p = self.polynomials.get(step.left)
                if p is not None and len(p) == 2:
                    result = {p[1]: exp(p[0])}
            elif step.operation == "raise" and u is not None and step.exponent <= 8:
                result = u
                for _ in range(step.exponent - 1):
                    result = _product(result, u)
            elif step.operation == "add" and u is not None and v is not None:
                result = dict(u)
                for rate, c in v.items():
                    result[rate] = result.get(rate, Integer(0)) + c
            elif step.operation == "mul" and u is not None and v is not None:
                result = _product(u, v)
            if result is not None and len(result) <= MOST_TERMS:
                found[position] = result
        return found

    def on_reals(self) -> Callable[[arb], arb]:
        """The function on real balls; not a number where it is not defined all over the ball."""
        return self._bound(arb, self.constants(), {})

    def on_complexes(self) -> Callable[[acb, bool], acb]:
        """The function on complex balls; asked for analyticity, not finite where that fails."""
        numbers = [acb(number) for number in self.constants()]
        plain = self._bound(acb, numbers, PLAIN)
        if not self.uses(CUT):
            return lambda z, analytic: plain(z)
        careful = self._bound(acb, numbers, CAREFUL)
        return lambda z, analytic: careful(z) if analytic else plain(z)

    def for_bounds(self) -> Callable[[acb], acb]:
        """Wider balls of the function, found faster: enough for bounds on its size."""
        numbers = [acb(number) for number in self.constants()]
        return self._bound(acb, numbers, ROUGH)

    def _bound(self, kind: Any, numbers: list[Any], special: Special) -> Callable[[Any], Any]:
        template = [None, *numbers, *([None] * len(self.steps))]
        runners = [
            (operation(kind, step, special), target, step.left, step.right)
            for target, step in self.fused
        ]
        result = self.result

        def run(x: Any) -> Any:
            registers = template.copy()
            registers[0] = x
            for function, target, left, right in runners:
                if right < 0:
                    registers[target] = function(registers[left])
                else:
                    registers[target] = function(registers[left], registers[right])
            return registers[result]

        return run

    @cached_property
    def fused(self) -> list[tuple[int, Step]]:
        """The steps to run, with the registers they set.

        1/(c + e^u) and log(c + e^u) are one step each: bounded also where e^u is a wide ball.
        """
        found, needed = [], {self.result}
        for position in range(len(self.steps) - 1, -1, -1):
            step, target = self.steps[position], self.first + position
            if target in needed:
                pair = shifted_exponential(self, step.left)
                if step.operation in FUSED and pair is not None:
                    step = Step(FUSED[step.operation], *pair)
                found.append((target, step))
                needed |= {step.left, step.right}
        return found[::-1]


def _product(u: Exponentials, v: Exponentials) -> Exponentials:
    result: Exponentials = {}
    for r, a in u.items():
        for s, b in v.items():
            result[r + s] = result.get(r + s, Integer(0)) + a * b
    return result


@lru_cache(maxsize=512)
def program(expression: Expr, x: Symbol) -> Program:
    """The program of an expression in x.

    Raises NoEnclosure for another symbol, and for a function that balls do not have.
    """
    return _Compiler(x).program(expression)


class _Compiler:
    def __init__(self, x: Symbol) -> None:
        self.x = x
        self.numbers: dict[Expr, int] = {}  # from -1 downwards until all of them are known
        self.known: dict[Any, int] = {}
        self.steps: list[Step] = []
        self.polynomials: dict[int, Coefficients] = {0: (Integer(0), Integer(1))}

    def program(self, expression: Expr) -> Program:
        result = self.register(expression)
        shift = 1 + len(self.numbers)

        def final(register: int) -> int:  # -2, -3, ... are numbers, 0 is x, 1, 2, ... are steps
            if register < 0:
                return -1 - register
            return register and register - 1 + shift

        steps = tuple(
            Step(
                s.operation,
                final(s.left),
                final(s.right) if s.right != -1 else -1,
                s.exponent,
                s.of,
            )
            for s in self.steps
        )
        polynomials = {final(register): p for register, p in self.polynomials.items()}
        return Program(expression, self.x, tuple(self.numbers), steps, final(result), polynomials)

    def register(self, e: Expr) -> int:
        if e in self.known:
            return self.known[e]
        found = self._found(e)
        self.known[e] = found
        return found

    def number(self, e: Expr) -> int:
        if e not in self.numbers:
            self.numbers[e] = -2 - len(self.numbers)
            self.polynomials[self.numbers[e]] = (e,)
        return self.numbers[e]

    def _found(self, e: Expr) -> int:
        if e == self.x:
            return 0
        if not depends(e, self.x):
            if e.free_symbols:
                raise NoEnclosure(f"{min(map(str, e.free_symbols))} has no value")
            return self.number(e)
        match e:
            case Add():
                return self._chain("add", e)
            case Mul():
                return self._chain("mul", e)
            case Pow():
                return self._power(e.base, e.exp)
            case Divided():
                return self.step("divided", self.register(e.argument), of=e)
            case Choice():
                one, other = (self.register(part) for part in e.args[1:])
                return self.step(e.args[0].name, one, other)
        if type(e) in FUNCTIONS:
            return self.step(FUNCTIONS[type(e)], self.register(e.args[0]))
        what = e.func.__name__ if isinstance(e, Function) else str(e)
        raise NoEnclosure(f"no ball arithmetic is known for {what}; split it at its kinks first")

    def _chain(self, operation: str, e: Expr) -> int:
        numbers = [part for part in e.args if not depends(part, self.x)]
        parts = [part for part in e.args if depends(part, self.x)]
        squares = [part for part in parts if operation == "mul" and _is_square(part)]
        if len(squares) > 1:  # the square of a product is less to do than a product of squares
            parts = [part for part in parts if part not in squares]
            root = self._joined("mul", [self._power(part.base, part.exp / 2) for part in squares])
            found = [*map(self.register, parts), self.step("raise", root, exponent=2)]
        else:
            found = [*map(self.register, parts)]
        if numbers:
            found.append(self.register(e.func(*numbers)))
        return self._joined(operation, found)

    def _joined(self, operation: str, parts: list[int]) -> int:
        total = parts[0]
        for part in parts[1:]:
            total = self.step(operation, total, part)
        return total

    def _power(self, base: Expr, exponent: Expr) -> int:
        if not depends(exponent, self.x) and exponent.is_Rational and exponent.q <= 2:
            if abs(exponent.p) > MOST_POWER:
                raise NoEnclosure(f"the power {exponent} is larger than {MOST_POWER}")
            inner = self.register(base)
            inner = self.step("sqrt", inner) if exponent.q == 2 else inner
            inner = inner if exponent.p > 0 else self.step("inverse", inner)
            power = abs(int(exponent.p))
            return inner if power == 1 else self.step("raise", inner, exponent=power)
        if depends(exponent, self.x):
            return self.register(exp(exponent * log(base), evaluate=False))
        return self.step("power", self.register(base), self.number(exponent))

    def step(
        self,
        operation: str,
        left: int,
        right: int = -1,
        exponent: int = 0,
        of: Divided | None = None,
    ) -> int:
        key = (operation, left, right, exponent, of)
        if key not in self.known:
            self.steps.append(Step(*key))
            self.known[key] = len(self.steps)
            polynomial = self._polynomial(operation, left, right, exponent)
            if polynomial is not None:
                self.polynomials[len(self.steps)] = polynomial
        return self.known[key]

    def _polynomial(self, operation: str, left: int, right: int, power: int) -> Coefficients | None:
        p, q = self.polynomials.get(left), self.polynomials.get(right)
        if operation == "raise" and p is not None and (len(p) - 1) * power <= MOST_DEGREE:
            result: Coefficients = (Integer(1),)
            for _ in range(power):
                result = _times(result, p)
            return result
        if p is None or q is None or operation not in ("add", "mul"):
            return None
        if operation == "mul":
            return _times(p, q) if len(p) + len(q) - 2 <= MOST_DEGREE else None
        longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
        return tuple(a + b for a, b in zip(longer, shorter, strict=False)) + longer[len(shorter) :]


def _is_square(e: Expr) -> bool:
    return bool(e.is_Pow) and e.exp in (2, -2)


def _times(p: Coefficients, q: Coefficients) -> Coefficients:
    result = [Integer(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            if a != 0 and b != 0:
                term = b if a == 1 else a if b == 1 else a * b
                result[i + j] = term if result[i + j] == 0 else result[i + j] + term
    return tuple(result)
