"""Several values that go through depth together: each of the next depends on all of the last."""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from flint import arb
from sympy import Basic, Derivative, Expr, Integer, Symbol, Tuple

from varlaw.symbolic.blocks.block import names
from varlaw.symbolic.blocks.enclosed import evaluated
from varlaw.symbolic.blocks.lines import Balls, Enclosable, Point, enclosures
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.language_text import typed

MOST = 10_000


class _Coupled(Enclosable):
    is_real = True

    @property
    def is_number(self) -> bool:
        """Whether it has a value."""
        return not self.free_symbols

    def _eval_evalf(self, prec: int) -> Expr | None:
        return evaluated(self, prec)

    def _eval_derivative(self, s: Symbol) -> Expr:
        return Derivative(self, s, evaluate=False)  # no slope is known


class Coupled(_Coupled):
    """The value `index` (from 1) of several after `count` steps (u, v) -> (f, g) from `firsts`.

    Arguments: (steps, variables, firsts, count, index), the first three as Tuples.
    """

    nargs = 5

    @cached_property
    def _names(self) -> set[Symbol]:
        steps, variables, firsts, count, _ = self.args
        return names(steps) - set(variables) | names(firsts, count)

    def enclosure(self, at: Balls) -> arb:
        *path, index = self.args
        return followed(at, *path)[-1][int(index) - 1]

    def _sympystr(self, printer: Any) -> str:
        *path, index = self.args
        return f"{_path_text(apart(path[1], path[0]), *path)}[{index}]"


class CoupledBack(_Coupled):
    """The value `index` of several that go backward through the steps of a `Coupled`.

    (g, h) -> backs, at the values before each step, the last step first, from `ends`. Arguments:
    (backs, gradients, ends, steps, variables, firsts, count, index).
    """

    nargs = 8

    @cached_property
    def _names(self) -> set[Symbol]:
        backs, gradients, ends, steps, variables, firsts, count, _ = self.args
        return names(backs, steps) - {*gradients, *variables} | names(ends, firsts, count)

    def enclosure(self, at: Balls) -> arb:
        *back, index = self.args
        return _returned(*back, Point.of(at))[int(index) - 1]

    def _sympystr(self, printer: Any) -> str:
        backs, gradients, ends, *path, index = self.args
        names = apart([*gradients, *path[1]], Tuple(backs, path[0]))
        step = f"{_group(gradients, names)} -> {_group(backs, names)}, {_group(ends)}"
        return f"backward({step}, {_path_text(names, *path)})[{index}]"


def followed(
    at: Balls, steps: Tuple, variables: Tuple, firsts: Tuple, count: Expr
) -> tuple[tuple[arb, ...], ...]:
    """Balls for the values from the first ones on. Raises NoEnclosure where there are none."""
    if not isinstance(count, Integer) or count > MOST:
        raise NoEnclosure(f"the depth {typed(count)} is not a number up to {MOST}")
    used = names(steps, firsts) - set(variables)
    here = Point.of({name: ball for name, ball in at.items() if name in used})
    return _followed(steps, variables, firsts, int(count), here)


@lru_cache(maxsize=64)
def _followed(
    steps: Tuple, variables: Tuple, firsts: Tuple, count: int, at: Point
) -> tuple[tuple[arb, ...], ...]:
    values = [enclosures(firsts, at.balls)]
    for _ in range(count):
        inner = {**at.balls, **dict(zip(variables, values[-1], strict=True))}
        values.append(enclosures(steps, inner))
    return tuple(values)


@lru_cache(maxsize=64)
def _returned(
    backs: Tuple,
    gradients: Tuple,
    ends: Tuple,
    steps: Tuple,
    variables: Tuple,
    firsts: Tuple,
    count: Expr,
    at: Point,
) -> tuple[arb, ...]:
    """Balls for the values that went back through all steps."""
    values = enclosures(ends, at.balls)
    for before in reversed(followed(at.balls, steps, variables, firsts, count)[:-1]):
        inner = {**at.balls, **dict(zip(variables, before, strict=True))}
        inner |= dict(zip(gradients, values, strict=True))
        values = enclosures(backs, inner)
    return values


def apart(bound: Sequence[Expr], expression: Basic) -> dict[Expr, Symbol]:
    """Symbols in place of bound variables, of names that nothing else has in an expression."""
    taken = {s.name for s in expression.free_symbols - set(bound)}
    found: dict[Expr, Symbol] = {}
    for variable in bound:
        name = str(variable.name)
        while name in taken:
            name += "_"
        taken.add(name)
        found[variable] = Symbol(name, positive=variable.is_positive, real=True)
    return found


def _group(values: Sequence[Expr], names: Mapping[Expr, Symbol] | None = None) -> str:
    texts = [_typed(value.xreplace(names or {})) for value in values]
    return f"({', '.join(texts)})" if len(texts) > 1 else texts[0]


@lru_cache(maxsize=64)
def _typed(value: Expr) -> str:
    """The text of an expression: those of the same layers stand in several formulas."""
    return typed(value)


def _path_text(
    names: Mapping[Expr, Symbol], steps: Tuple, variables: Tuple, firsts: Tuple, count: Expr
) -> str:
    step = f"{_group(variables, names)} -> {_group(steps, names)}"
    return f"iterate({step}, {_group(firsts)}, {typed(count)})"
