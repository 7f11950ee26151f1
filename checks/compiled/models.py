"""Sampling models: how random arrays are drawn so that they meet their declarations.

A model writes every entry in terms of *drawn* arrays, which are independent of one another and
have independent, identically distributed entries. What is computed from the draws and what the
expectation calculus says of them is then one and the same expression.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Basic, Expr, Integer, Rational, Tuple, sqrt
from sympy.core.symbol import Str

from varlaw.checks.experiments.moments import HasMoments, exact
from varlaw.checks.statistics.sampling import LAWS, Law
from varlaw.symbolic.arrays import (
    FREE,
    PROPERTIES,
    Entry,
    RandomArray,
    arrays_in,
    kinds_tuple,
    names_tuple,
)
from varlaw.symbolic.assumptions import Kind

Indices = tuple[Expr, ...]
Value = Callable[[Expr], Expr]


class Unmeasurable(ValueError):
    """There is no compiled experiment; the message says why."""


@dataclass(frozen=True)
class Affine:
    """The law of mean + std x, where x follows the standardised law `base` and std^2 = variance."""

    base: HasMoments
    mean: Expr
    variance: Expr

    def moment(self, k: int) -> Expr:
        """E[(mean + std x)^k], exactly."""
        return sum(
            (
                math.comb(k, j)
                * self.mean ** (k - j)
                * self.variance ** Rational(j, 2)
                * exact(self.base.moment(j))
                for j in range(k + 1)
                if k == j or self.mean != 0
            ),
            Integer(0),
        )


@dataclass(frozen=True)
class Product:
    """The law of the product of two independent standardised variables."""

    left: HasMoments
    right: HasMoments

    def moment(self, k: int) -> Expr:
        return exact(self.left.moment(k)) * exact(self.right.moment(k))


@dataclass
class Model:
    """`drawn` are the laws of the drawn arrays, `marginals` those of one entry of each array.

    `notes` say how arrays with entries that may depend on one another, or on others, were made.
    """

    drawn: dict[str, Affine] = field(default_factory=dict)
    marginals: dict[str, Affine] = field(default_factory=dict)
    entries: dict[str, Callable[[Indices], Expr]] = field(default_factory=dict)
    indices: dict[str, int] = field(default_factory=dict)  # how many; 0: one value for all
    notes: list[str] = field(default_factory=list)

    def own(self, name: str, at: Indices) -> Indices:
        """The indices of a drawn array."""
        return at if self.indices[name] else ()

    def put_in(self, expression: Expr) -> Expr:
        """The expression in terms of the drawn arrays."""
        entries = {e: self.entries[e.array.name](e.indices) for e in expression.atoms(Entry)}
        return replaced(expression, entries)


def replaced(expression: Expr, atoms: Mapping[Any, Any]) -> Expr:
    """The expression with some atoms replaced and everything above them built again."""
    if expression in atoms:
        return atoms[expression]
    if not expression.args or not expression.atoms(*{type(a) for a in atoms}):
        return expression
    return expression.func(
        *(replaced(a, atoms) if isinstance(a, Basic) else a for a in expression.args)
    )


def model_of(expression: Expr, value: Value, weights: Law) -> Model:
    """A model of the arrays in an expression, with the law `weights` wherever that is allowed.

    `value` gives the number that a declared expression stands for. Entries that need not be
    independent are all equal. An array that may depend on another one is a function of it: linear,
    or a product of an own factor and of it where the two have to be uncorrelated.

    Raises Unmeasurable for declarations that no such model meets.
    """
    made, arrays = Model(), arrays_in(expression)
    indices = {e.array.name: len(e.indices) for e in expression.atoms(Entry)}
    for array in sorted(arrays.values(), key=lambda a: (len(a.depends), a.name)):
        made.indices[array.name] = 0 if _one_value(array) else indices[array.name]
        _add(made, array, arrays, value, weights)
    return made


def _one_value(array: RandomArray) -> bool:
    """Whether the entries may be equal, so that they are."""
    return not array.has(Kind.INDEPENDENT_ENTRIES)


def _add(
    made: Model,
    array: RandomArray,
    arrays: Mapping[str, RandomArray],
    value: Value,
    weights: Law,
) -> None:
    name = array.name
    for kind in sorted(array.properties - set(PROPERTIES)):
        raise Unmeasurable(f"no model of {name} with {kind}")
    mean, variance = _mean_and_variance(array, value)
    law = LAWS["normal"] if array.has(Kind.GAUSSIAN) else weights
    if array.has(Kind.SYMMETRIC) and not law.symmetric:
        raise Unmeasurable(f"{name} is declared symmetric, and the law {law.name!r} is not")
    others = sorted((array.uncorrelated or array.depends) & arrays.keys())
    if not others:
        made.drawn[name] = made.marginals[name] = Affine(law, mean, variance)
        own = _iid(name, mean == 0, law.symmetric)
        made.entries[name] = lambda at: Entry(own, *made.own(name, at))
        if _one_value(array):
            made.notes.append(f"all entries of {name} are equal")
    else:
        _tie(made, array, others[0], law, mean, variance)
    for order, declared in array.args[3].args:
        if made.marginals[name].moment(int(order)) != value(declared):
            raise Unmeasurable(
                f"the law {law.name!r} has not the moment of order {order} declared of {name}"
            )


def _tie(made: Model, array: RandomArray, other: str, law: Law, mean: Expr, variance: Expr) -> None:
    """Make an array that depends on another one."""
    name, base = array.name, made.marginals[other]
    if base.variance == 0:
        raise Unmeasurable(f"{name} cannot depend on {other}, which is constant")
    if array.has(Kind.GAUSSIAN):
        raise Unmeasurable(f"no model of a Gaussian {name} that depends on {other}")
    if made.indices[other] not in (0, made.indices[name]):
        raise Unmeasurable(f"no model of {name}, whose indices are not those of {other}")
    if made.indices[name] and not made.indices[other]:
        raise Unmeasurable(
            f"no model of {name}, with independent entries that all depend on {other}"
        )

    def standard(at: Indices) -> Expr:
        return (made.entries[other](at) - base.mean) / sqrt(base.variance)

    if other not in array.uncorrelated:
        made.marginals[name] = Affine(base.base, mean, variance)
        made.entries[name] = lambda at: mean + sqrt(variance) * standard(at)
        made.notes.append(f"{name} is a function of {other}")
    else:
        own = _iid(name, True, law.symmetric)
        made.drawn[name] = Affine(law, Integer(0), variance)
        made.marginals[name] = Affine(Product(law, base.base), mean, variance)
        made.entries[name] = lambda at: mean + Entry(own, *made.own(name, at)) * standard(at)
        made.notes.append(f"{name} is a random factor times {other}")


def _iid(name: str, centred: bool, symmetric: bool = False) -> RandomArray:
    """A drawn array, of which the calculus knows what it needs; the moments are its law's."""
    kinds = {Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL}
    if centred and symmetric:
        kinds.add(Kind.SYMMETRIC)
    mean = Integer(0) if centred else FREE
    none = names_tuple(())
    return RandomArray(Str(name), mean, Tuple(), Tuple(), kinds_tuple(kinds), none, none)


def _mean_and_variance(array: RandomArray, value: Value) -> tuple[Expr, Expr]:
    """Those declared; a mean that is left open is not 0, and a variance left open not 1."""
    size = value(array.args[2].args[1]) if array.args[2].args else None
    if array.mean is not None:
        mean = value(array.mean)
    elif array.scale == "second_moment" and size is not None:
        mean = Rational(math.isqrt(int(64 * size)), 16)  # about half of the root
    else:
        mean = Rational(1, 2)
    if size is None:
        return mean, Rational(2, 3)
    variance = size if array.scale == "variance" else size - mean**2
    if variance.is_negative:
        what = array.scale.replace("_", " ") if array.scale else ""
        raise Unmeasurable(
            f"{array.name} has the {what} {size} and the mean {mean}, which cannot be: "
            "give other values"
        )
    return mean, variance
