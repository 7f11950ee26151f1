"""Equations and inequalities over symbols: counter-examples first, then proofs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

from flint import arb, ctx, fmpz

from varlaw.checks.claims.declarations.between import Between, random_number
from varlaw.checks.claims.values.exact import as_node
from varlaw.checks.claims.values.functions import ROUNDED
from varlaw.checks.claims.values.numbers import NoValue, Scope, enclosure
from varlaw.symbolic.formulas.names import free_names, substituted
from varlaw.symbolic.formulas.tree import Head, Node

POINTS = 24
SEED = 20
BITS = 128
MOST_ORDERED = 4  # symbols that are put in order for a proof
MOST_TERMS = 400
# Names that stand for sizes, widths, depths, deviations, by custom; all others are real numbers.
SIZES = ("m", "n", "d", "k", "l", "ell", "h", "p", "q", "N", "M", "D", "L", "K", "H", "T", "V", "B")
COUNTS = (*SIZES, "i", "j")
FRACTIONS = ("p", "q", "r", "rho", "alpha", "beta", "delta", "eps", "epsilon", "varepsilon", "eta")
SPREADS = ("sigma", "tau", "s2", "fan", "gain", "width", "depth", "std", "var", "varsigma")


def positive_by_custom(name: str) -> bool:
    """Whether a name stands for something positive unless it is declared otherwise."""
    core = name.partition("_")[0].lstrip("\\")
    return core in SIZES or core in SPREADS


def fraction_by_custom(name: str) -> bool:
    """Whether a name may stand for a probability, a correlation or a rate where nothing is said."""
    return name.partition("_")[0].lstrip("\\") in FRACTIONS


def whole_by_custom(name: str) -> bool:
    """Whether a name may stand for a whole number where nothing is said."""
    return name.partition("_")[0].lstrip("\\") in COUNTS


@dataclass(frozen=True)
class Sampled:
    """What the points say: the differences' signs, and a point for each.

    `clear` is at how many points both sides are real, `constant` whether their quotient looks the
    same there; at `branch` the sides differ by their principal values, which are no real numbers.
    `above` are the names that were positive at all points where both sides are real.
    """

    signs: frozenset[int]
    points: Mapping[int, Mapping[str, Fraction]]
    clear: int
    constant: bool
    branch: Mapping[str, Fraction] | None = None
    above: frozenset[str] = frozenset()


def whole_names(*sides: Node) -> set[str]:
    """The names in factorials, roundings and ends of sums and products: whole numbers."""
    counted = {Head.SUM: 2, Head.PRODUCT: 2, Head.FACTORIAL: 0}
    return {
        name
        for side in sides
        for node in side.walk()
        if node.head in counted or (node.head is Head.CALL and node.text in ROUNDED)
        for part in node.parts[counted.get(node.head, 0) :]
        for name in free_names(part)
    }


def sampled(
    left: Node,
    right: Node,
    positive: Mapping[str, bool],
    scope: Scope,
    counts: Iterable[str] = (),
    fractions: Iterable[str] = (),
    ranges: Mapping[str, Between] | None = None,
) -> Sampled:
    """Signs of left - right at random rational points, 0 where the balls overlap.

    Whole numbers are taken for what must be one, and for the names in `counts`; numbers between 0
    and 1 for those in `fractions`.
    """
    whole = whole_names(left, right).union(counts)
    random, anywhere = Random(SEED), Between()
    points: dict[int, Mapping[str, Fraction]] = {}
    clear, ratios = 0, []
    above = frozenset(positive)
    branch: Mapping[str, Fraction] | None = None
    with ctx.workprec(BITS):
        for _ in range(POINTS):
            point = {
                name: (ranges or {}).get(name, anywhere).whole(random)
                if name in whole
                else (ranges or {}).get(name, anywhere).number(random, positive[name])
                if name not in fractions
                else random_number(random, positive[name], fraction=True)
                for name in sorted(positive)
            }
            values = {
                name: arb(fmpz(v.numerator)) / fmpz(v.denominator) for name, v in point.items()
            }
            inner = Scope({**scope.values, **values}, scope.log_base)
            try:
                a, b = (_enclosed(side, point, inner) for side in (left, right))
            except NoValue:
                branch = branch or (point if _differ_beyond(left, right, inner) else None)
                continue
            clear += 1
            above = frozenset(name for name in above if point[name] > 0)
            gap = a - b
            sign = 1 if gap > 0 else -1 if gap < 0 else 0
            points.setdefault(sign, point)
            if not b.contains(0):
                ratios.append(a / b)
    constant = len(ratios) > 2 and all(ratio.overlaps(ratios[0]) for ratio in ratios)
    return Sampled(frozenset(points), points, clear, constant, branch, above)


def _enclosed(side: Node, point: Mapping[str, Fraction], scope: Scope) -> arb:
    """A side at a point; in sums and integrals without end names become numbers, for algebra."""
    if not any(node.head is Head.INFINITY for node in side.walk()):
        return enclosure(side, scope)
    try:
        found = substituted(side, {name: as_node(value) for name, value in point.items()})
    except ValueError as error:
        raise NoValue(str(error)) from None
    return enclosure(found, Scope(log_base=scope.log_base))


def _differ_beyond(left: Node, right: Node, scope: Scope) -> bool:
    """Whether the principal values of roots, powers and logarithms make the sides differ."""
    inner = replace(scope, complex=True)
    try:
        gap = enclosure(left, inner) - enclosure(right, inner)
    except NoValue:
        return False
    return not gap.contains(0)


def shown(point: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(point.items()))


def equal(left: Any, right: Any) -> bool:
    """Whether two SymPy expressions are one by exact normal form; False where that is open."""
    from sympy import erf, erfc, exp, fraction, sqrtdenest, together
    from sympy.functions.elementary.hyperbolic import HyperbolicFunction
    from sympy.functions.elementary.trigonometric import TrigonometricFunction

    from varlaw.checks.steps.algebra import is_zero

    difference = (left - right).replace(erfc, lambda x: 1 - erf(x))
    if is_zero(difference):
        return True
    if difference.is_number and is_zero(sqrtdenest(difference)):
        return True
    top, _ = fraction(together(difference))
    if _small(top) and is_zero(top.expand()):
        return True
    if not difference.has(TrigonometricFunction, HyperbolicFunction):
        return False
    top, _ = fraction(together(difference.rewrite(exp)))
    return bool(_small(top)) and top.expand(power_exp=True) == 0


def _small(expression: Any) -> bool:
    return sum(1 for _ in _nodes(expression)) < MOST_TERMS


def _nodes(expression: Any) -> Iterator[Any]:
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.args


def not_negative(difference: Any, strict: bool) -> str:
    """How `difference >= 0` (or > 0) is proved for the signs of its symbols; empty if it is not."""
    from sympy import Dummy, PolynomialError, cancel, expand, factor, fraction, together

    roots = {s: Dummy(s.name, positive=True) ** 2 for s in difference.free_symbols if s.is_positive}
    try:
        squared = expand(difference.xreplace(roots), power_base=True, power_exp=True)
        top, bottom = fraction(cancel(together(squared)))
        if not top.is_polynomial() or not bottom.is_polynomial() or not _small(top):
            return ""
        # the sign of the quotient is that of the product of all factors
        product = factor(top) * factor(bottom)
    except (PolynomialError, NotImplementedError):
        return ""
    if bottom.is_zero or not _never_zero(factor(bottom)):
        return ""
    return _by_factors(product, strict)


def _never_zero(expression: Any) -> bool:
    return bool(expression.is_nonzero) or _signed(expression) is not None


def _by_factors(product: Any, strict: bool) -> str:
    """A certificate from the factors: squares, sums of positive terms, or orders of symbols."""
    from sympy import Mul

    rest, square = Mul(), False
    for part in Mul.make_args(product):
        base, exponent = part.as_base_exp()
        if exponent.is_even:
            square = square or not base.is_positive
            if not base.is_real:
                return ""
            continue
        if not exponent.is_odd and not base.is_positive:
            return ""
        sign = _signed(base)
        rest = rest * (base if sign is None else sign)
    if rest.is_positive:
        if strict and square:
            return ""
        return "a square over something positive" if square else "a quotient of positive terms"
    if rest.is_number or (square and strict):
        return ""
    return _by_order(rest.expand(), strict)


def _signed(base: Any) -> int | None:
    """The sign of a polynomial whose terms all have one sign, or that has no real root."""
    from sympy import Add

    terms = Add.make_args(base.expand())
    if all(term.is_positive for term in terms):
        return 1
    if all(term.is_negative for term in terms):
        return -1
    if any(t.is_positive for t in terms) and all(t.is_nonnegative for t in terms):
        return 1
    return None


def _by_order(polynomial: Any, strict: bool) -> str:
    """Positive coefficients after the symbols are put in order, b = a + t, for every order."""
    from sympy import Add, Dummy

    symbols = sorted(polynomial.free_symbols, key=lambda s: s.name)
    if not 1 < len(symbols) <= MOST_ORDERED or not all(s.is_positive for s in symbols):
        return ""
    for order in permutations(symbols):
        values, total = {}, Dummy("least", positive=True)
        least = total
        for symbol in order:
            values[symbol] = total
            total = total + Dummy("more", nonnegative=True)
        found = polynomial.xreplace(values).expand()
        terms = Add.make_args(found)
        if not all(term.is_nonnegative for term in terms):
            return ""
        if strict and not any(term.free_symbols <= {least} and term.is_positive for term in terms):
            return ""
    return "positive coefficients in every order of the symbols"


def names_shown(positive: Mapping[str, bool]) -> str:
    """The assumption on the names, for the reason of a verdict."""
    above: Sequence[str] = [name for name, above in sorted(positive.items()) if above]
    real: Sequence[str] = [name for name, above in sorted(positive.items()) if not above]
    told = [f"positive {', '.join(above)}"] if above else []
    return "for " + " and ".join([*told, *([f"real {', '.join(real)}"] if real else [])])
