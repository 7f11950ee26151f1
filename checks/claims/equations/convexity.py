"""Inequalities in one name by convexity: f >= 0 where f(a) = f'(a) = 0 and f'' >= 0 everywhere."""

from typing import Any

PLACES = (0, 1)  # where such functions touch zero: e^x >= 1 + x, log(x) <= x - 1


def by_convexity(difference: Any) -> str:
    """How `difference >= 0` is proved; empty if it is not.

    The domain has to be an interval: all reals, of a function without poles and logarithms, or the
    positive numbers, where `a` may be 0.
    """
    from varlaw.checks.claims.equations.identities import equal, not_negative

    if len(difference.free_symbols) != 1:
        return ""
    (x,) = difference.free_symbols
    if not (x.is_positive or (x.is_real and _entire(difference, x))) or not _smooth(difference):
        return ""
    slope = difference.diff(x)
    second = slope.diff(x)
    if not (second.is_nonnegative or not_negative(second, strict=False)):
        return ""
    for place in PLACES:
        values = [f.subs(x, place) for f in (difference, slope)]
        if all(value.is_finite and equal(value, value * 0) for value in values):
            return "convex, and zero with its slope at a point"
    return ""


def _smooth(f: Any) -> bool:
    """Whether sums, products, powers, exponentials and the like are all that is in it."""
    from sympy import Add, Mul, Number, NumberSymbol, Pow, Symbol, cosh, exp, log, sinh

    smooth = (Add, Mul, Pow, Number, NumberSymbol, Symbol, exp, log, sinh, cosh)
    waiting = [f]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, smooth):
            return False
        waiting += node.args
    return True


def _entire(f: Any, x: Any) -> bool:
    """Whether no power of a formula in x may have a pole or a branch, and no logarithm is there."""
    from sympy import Pow, log

    powers = [p for p in f.atoms(Pow) if p.base.has(x)]
    whole = all(p.exp.is_Integer and p.exp.is_nonnegative for p in powers)
    return whole and not any(part.has(x) for part in f.atoms(log))
