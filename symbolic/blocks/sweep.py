"""Numbers of a block over arrays of values for its names: compiled, and many settings at a time."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Dummy, Expr, Symbol

from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.lines import Enclosable
from varlaw.symbolic.blocks.pairs import GaussianPair
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State
from varlaw.symbolic.blocks.sweep_means import mean, pair
from varlaw.symbolic.gaussian.compiled import Compiled, compiled

Array = NDArray[np.float64]
Values = Mapping[Symbol, Array]


def sweep(
    block: Block, names: Sequence[str], arrays: Sequence[ArrayLike], state: State | None = None
) -> dict[str, Array]:
    """Second moments "forward" and "backward" and the "product", where followed, at each setting.

    `arrays` hold a value of each name for each setting, and are broadcast. A depth is a number.
    Means without a closed form, of smooth activations, are those of `sweep_means`, to 9 digits at
    each layer, and NaN where these are not found. Raises BlockError where names are left.
    """
    entering = state or start()
    out = block.forward(entering)
    wanted = {"forward": out.second_moment}
    if out.product is not None:
        wanted["product"] = out.product
    with suppress(BlockError):
        wanted["backward"] = block.backward(Gradient(second_moment=ONE), entering).second_moment
    settings = np.broadcast_arrays(*(np.asarray(array, float) for array in arrays))
    values = {Symbol(name, positive=True): a for name, a in zip(names, settings, strict=True)}
    missing = set().union(*(value.free_symbols for value in wanted.values())) - set(values)
    if missing:
        raise BlockError(f"a sweep needs values for {', '.join(sorted(map(str, missing)))}")
    shape = settings[0].shape if settings else ()
    here = Setting(values)
    return {name: np.broadcast_to(here.at(value), shape) for name, value in wanted.items()}


class Setting:
    """Arrays of values for symbols, and what was found at them; a step of an iteration has more."""

    def __init__(self, values: Values, outer: "Setting | None" = None) -> None:
        self.values: Values = {**outer.values, **values} if outer else values
        self.own, self.outer = set(values), outer
        self.found: dict[Expr | tuple[Any, ...], Any] = {}

    def at(self, expression: Expr) -> Array:
        """An expression at the arrays."""
        inner, symbols, body = _compiled(expression)
        parts = [self._special(node) for node in inner]
        with np.errstate(all="ignore"):
            return np.asarray(body(*(self.values[s] for s in symbols), *parts)[0], float)

    def _special(self, node: Expr) -> Array:
        """A mean or an iteration, found once where all that it depends on is known."""
        if self.outer is not None and not self.own & node.free_symbols:
            return self.outer._special(node)
        if node not in self.found:
            self.found[node] = self._evaluated(node)
        found: Array = self.found[node]
        return found

    def _evaluated(self, node: Expr) -> Array:
        match node:
            case GaussianMean():
                law, *numbers = node.args
                return mean(law, *map(self.at, numbers))
            case GaussianPair():
                law, *numbers = node.args
                return pair(law, *map(self.at, numbers))
            case Iterated():
                step, variable, first, count = node.args
                return self._path((step,), (variable,), (first,), count)[-1].values[variable]
            case IteratedProduct():
                factor, step, variable, first, count = node.args
                path = self._path((step,), (variable,), (first,), count)
                return np.asarray(prod((here.at(factor) for here in path[:-1]), start=np.ones(())))
            case Coupled():
                *path, index = node.args
                return self._path(*path)[-1].values[path[1][int(index) - 1]]
            case CoupledBack():
                *back, index = node.args
                return self._back(*back)[int(index) - 1]
        if not node.free_symbols:
            return np.asarray(float(node))
        raise BlockError(f"{type(node).__name__} is not swept over")

    def _path(self, steps: Any, variables: Any, firsts: Any, count: Expr) -> "list[Setting]":
        """The values from the first ones on."""
        key = (tuple(steps), tuple(variables), tuple(firsts), count)
        if key not in self.found:
            if not count.is_Integer:
                raise BlockError("a sweep needs a number for the depth")
            path = [self._with(variables, map(self.at, firsts))]
            for _ in range(int(count)):
                path.append(self._with(variables, map(path[-1].at, steps)))
            self.found[key] = path
        found: list[Setting] = self.found[key]
        return found

    def _back(self, backs: Any, gradients: Any, ends: Any, *path: Any) -> list[Array]:
        """The values that went back through all steps."""
        key = (backs, gradients, ends, *path)
        if key not in self.found:
            values = [self.at(end) for end in ends]
            for before in reversed(self._path(*path)[:-1]):
                values = [*map(before._with(gradients, values).at, backs)]
            self.found[key] = values
        found: list[Array] = self.found[key]
        return found

    def _with(self, variables: Any, values: Iterable[Array]) -> "Setting":
        return Setting(dict(zip(variables, values, strict=True)), self)


@lru_cache(maxsize=1024)
def _compiled(expression: Expr) -> tuple[list[Expr], list[Symbol], Compiled]:
    """The outermost means and iterations in an expression, symbols, and a function of both."""
    inner: dict[Expr, Dummy] = {}

    def replaced(e: Expr) -> Expr:
        if isinstance(e, Enclosable):
            return inner.setdefault(e, Dummy())
        return e.func(*map(replaced, e.args)) if e.args else e

    body = replaced(expression)
    symbols = sorted(body.free_symbols - set(inner.values()), key=str)
    return [*inner], symbols, compiled([body], [*symbols, *inner.values()], real=True)
