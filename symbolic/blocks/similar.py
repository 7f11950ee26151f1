"""Names that only set a scale: how much of each a solution has, so that numbers are left.

A value has the degree D where names and parts of it that are multiplied by powers of one number t
multiply it by t^D. What goes through layers has the degree of its first value where each step keeps
it, by induction over layers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from sympy import Add, Basic, Expr, Function, Lambda, Mul, Pow, Rational, Symbol

from varlaw.symbolic.blocks.coupled import Coupled, CoupledBack
from varlaw.symbolic.blocks.iteration import Iterated, IteratedProduct
from varlaw.symbolic.blocks.state import ONE, ZERO
from varlaw.symbolic.occurrences import free_symbols

POWERS = (ONE, -ONE, ONE / 2, -ONE / 2, 2 * ONE, -2 * ONE)


class _NotSimilar(Exception):
    pass


def scale_of(ratio: Expr, variable: Symbol, name: Symbol) -> Expr | None:
    """The power k with which a ratio depends on `variable` and `name` by variable/name^k alone.

    None where none is found.
    """
    for power in POWERS:
        try:
            if not _degree(ratio, _Degrees({name: ONE, variable: power})):
                return power
        except _NotSimilar:
            continue
    return None


class _Degrees(dict[Basic, Expr | None]):
    """The degrees of names, and in time of all that was looked at."""

    def __init__(self, names: Mapping[Basic, Expr]) -> None:
        super().__init__(names)
        self.names = dict(names)


def _degree(e: Basic, degrees: _Degrees) -> Expr | None:
    """The degree of an expression; None of 0, which has any. Raises _NotSimilar for none."""
    if e not in degrees:
        degrees[e] = _found(e, degrees)
    return degrees[e]


def _found(e: Basic, degrees: _Degrees) -> Expr | None:
    if e == 0:
        return None
    if isinstance(e, Lambda) or not e.args or not free_symbols(e) & degrees.names.keys():
        return ZERO
    match e:
        case Add():
            return _common(_degree(part, degrees) for part in e.args)
        case Mul():
            return sum((_degree(part, degrees) or ZERO for part in e.args), ZERO)
        case Pow():
            return _of_power(e, degrees)
        case Iterated():
            step, variable, first, _ = e.args
            return _along((step,), (variable,), (first,), degrees.names).names[variable]
        case IteratedProduct():
            factor, step, variable, first, _ = e.args
            return _flat(factor, _along((step,), (variable,), (first,), degrees.names))
        case Coupled():
            steps, variables, firsts, _, index = e.args
            inner = _along(steps, variables, firsts, degrees.names)
            return inner.names[variables[int(index) - 1]]
        case CoupledBack():
            backs, gradients, ends, steps, variables, firsts, _, index = e.args
            path = _along(steps, variables, firsts, degrees.names)
            return _along(backs, gradients, ends, path.names).names[gradients[int(index) - 1]]
        case Function():
            for part in e.args:
                _flat(part, degrees)
            return ZERO
    raise _NotSimilar


def _flat(e: Basic, degrees: _Degrees) -> Expr:
    """The degree 0. Raises _NotSimilar for another one."""
    if _degree(e, degrees):
        raise _NotSimilar
    return ZERO


def _of_power(e: Pow, degrees: _Degrees) -> Expr:
    _flat(e.exp, degrees)
    base = _degree(e.base, degrees) or ZERO
    if base and not isinstance(e.exp, Rational):
        raise _NotSimilar
    return base * e.exp


def _common(found: Iterable[Expr | None]) -> Expr | None:
    known = {degree for degree in found if degree is not None}
    if len(known) > 1:
        raise _NotSimilar
    return known.pop() if known else None


def _along(
    steps: Sequence[Expr],
    variables: Sequence[Symbol],
    firsts: Sequence[Expr],
    names: Mapping[Basic, Expr],
) -> _Degrees:
    """The degrees of names and of variables that go through layers.

    A variable that is 0 at first is taken to have the degree of one that is not.
    """
    found = _through(tuple(steps), tuple(variables), tuple(firsts), frozenset(names.items()))
    if found is None:
        raise _NotSimilar
    return found


@lru_cache(maxsize=256)
def _through(
    steps: tuple[Expr, ...],
    variables: tuple[Symbol, ...],
    firsts: tuple[Expr, ...],
    names: frozenset[tuple[Basic, Expr]],
) -> _Degrees | None:
    outside = _Degrees(dict(names))
    try:
        found = [_degree(first, outside) for first in firsts]
        other = next((degree for degree in found if degree is not None), ZERO)
        own = {u: other if d is None else d for u, d in zip(variables, found, strict=True)}
        inner = _Degrees({**outside.names, **own})
        for u, step in zip(variables, steps, strict=True):
            if _degree(step, inner) not in (None, own[u]):
                return None
    except _NotSimilar:
        return None
    return inner
