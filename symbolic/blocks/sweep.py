"""Numbers of a block over arrays of values for its names: compiled, and many settings at a time."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sympy import Dummy, Expr, Symbol

from varlaw.symbolic.blocks.activation import GaussianMean
from varlaw.symbolic.blocks.block import Block, start
from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.lines import Enclosable
from varlaw.symbolic.blocks.state import ONE, BlockError, Gradient, State
from varlaw.symbolic.gaussian.compiled import Compiled, compiled
from varlaw.symbolic.gaussian.pieces import pieces_of

Array = NDArray[np.float64]
Values = Mapping[Symbol, Array]
NODES, FAR = 97, 9.0  # points of the trapezoid rule, in standard deviations


def sweep(
    block: Block, names: Sequence[str], arrays: Sequence[ArrayLike], state: State | None = None
) -> dict[str, Array]:
    """Second moments "forward" and "backward" and the "product", where followed, at each setting.

    `arrays` hold a value of each name for each setting, and are broadcast. A depth is a number.
    Means without a closed form are those of the trapezoid rule, which is good to about 10 digits
    for smooth activations at variances up to 9. Raises BlockError where names are left.
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
    return {
        name: np.broadcast_to(evaluated(value, values), shape) for name, value in wanted.items()
    }


def evaluated(expression: Expr, values: Values) -> Array:
    """An expression at arrays of values for its symbols."""
    inner, body = _compiled(expression)
    symbols = sorted(expression.free_symbols & set(values), key=str)
    with np.errstate(all="ignore"):
        parts = [_special(node, values) for node in inner]
        return np.asarray(body(*(values[s] for s in symbols), *parts)[0], float)


@lru_cache(maxsize=1024)
def _compiled(expression: Expr) -> tuple[tuple[Expr, ...], Compiled]:
    """The outermost means and iterations in an expression, and a function of symbols and those."""
    inner: dict[Expr, Dummy] = {}

    def replaced(e: Expr) -> Expr:
        if isinstance(e, Enclosable):
            return inner.setdefault(e, Dummy())
        return e.func(*map(replaced, e.args)) if e.args else e

    body = replaced(expression)
    symbols = sorted(expression.free_symbols, key=str)
    return tuple(inner), compiled([body], [*symbols, *inner.values()], real=True)


def _special(node: Expr, values: Values) -> Array:
    """A mean or an iteration at arrays."""
    match node:
        case GaussianMean():
            return _mean(node, values)
        case Iterated():
            step, variable, first, count = node.args
            return _path(values, [step], [variable], [first], count)[-1][0]
        case IteratedProduct():
            factor, step, variable, first, count = node.args
            total = np.ones(())
            for (value,) in _path(values, [step], [variable], [first], count)[:-1]:
                total = total * evaluated(factor, {**values, variable: value})
            return np.asarray(total)
        case Coupled():
            *path, index = node.args
            return _path(values, *path)[-1][int(index) - 1]
        case CoupledBack():
            backs, gradients, ends, *path, index = node.args
            found = [evaluated(end, values) for end in ends]
            for before in reversed(_path(values, *path)[:-1]):
                at = {**values, **dict(zip(path[1], before, strict=True))}
                at |= dict(zip(gradients, found, strict=True))
                found = [evaluated(back, at) for back in backs]
            return found[int(index) - 1]
    raise BlockError(f"{type(node).__name__} is not swept over")


def _path(
    values: Values, steps: Any, variables: Any, firsts: Any, count: Expr
) -> list[list[Array]]:
    """The values from the first ones on."""
    if not count.is_Integer:
        raise BlockError("a sweep needs a number for the depth")
    path = [[evaluated(first, values) for first in firsts]]
    for _ in range(int(count)):
        at = {**values, **dict(zip(variables, path[-1], strict=True))}
        path.append([evaluated(step, at) for step in steps])
    return path


def _mean(node: GaussianMean, values: Values) -> Array:
    """E[f(x)] by the trapezoid rule."""
    law, m, v = node.args
    (x,) = law.variables
    mean, deviation = evaluated(m, values), np.sqrt(evaluated(v, values))
    nodes, weights = _rule()
    total = np.zeros(())
    for place, weight in zip(nodes, weights, strict=True):
        total = total + weight * _function(law.expr, x)(mean + deviation * place)
    return np.asarray(total)


@lru_cache(maxsize=1)
def _rule() -> tuple[Array, Array]:
    nodes = np.linspace(-FAR, FAR, NODES)
    weights = np.exp(-(nodes**2) / 2)
    return nodes, weights / weights.sum()


@lru_cache(maxsize=256)
def _function(f: Expr, x: Symbol) -> Compiled:
    """A smooth function on arrays. Raises BlockError for one with kinks."""
    pieces = pieces_of(f, x)
    if len(pieces) > 1:
        raise BlockError("a sweep takes means without a closed form of smooth activations only")
    body = compiled([pieces[0].expression], [x])
    return lambda z: body(z)[0]
