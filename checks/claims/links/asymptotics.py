"""Limits and growth: f(n) -> L and f(n) ~ g(n) as n grows, of powers, exponentials, logarithms.

The proof is Gruntz's algorithm (1996, On computing limits in a symbolic manipulation system), which
decides for such functions, where the signs of all constants that it meets are known. As no program
is beyond doubt, nothing rests on it alone: enclosures of the function at huge arguments have to
come ever closer to the limit.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from flint import arb, ctx
from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Mul,
    Pow,
    Rational,
    Symbol,
    atan,
    cos,
    cosh,
    erf,
    exp,
    log,
    oo,
    sin,
    sinh,
    tan,
    tanh,
)
from sympy.core.numbers import Exp1, Pi
from sympy.series.gruntz import gruntz

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.declarations.distributions import Enclosure
from varlaw.checks.claims.equations.compare import Finding, Number, against_literal
from varlaw.checks.claims.equations.identities import equal
from varlaw.checks.claims.equations.multiples import decimal_times, names_of
from varlaw.checks.claims.expectations.probability import algebra_of, different, settled
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.literals import Literal, literal_of
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import substituted
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.language_text import typed

WORST = (Verdict.REFUTED, Verdict.UNDECIDED, Verdict.LOOSE, Verdict.VERIFIED)
RULE = "limit by Gruntz's algorithm, and enclosures"
NEARED = "enclosures at 10^4, 10^16 and 10^64 come ever closer"
COVERED = (Add, Mul, Pow, Symbol, Rational, Exp1, Pi, exp, log, atan, tanh, erf, sinh, cosh)
PERIODIC = (sin, cos, tan)  # of what has a limit
POWERS = (4, 16, 64)  # of ten: where a function is looked at
BITS = 2048
SCALES = (Rational(1, 50), 1, 2, 50)  # of other names
NEAR = Fraction(1, 100)  # of the limit, at the largest argument
NOTHING = arb(10) ** -30
LARGE = 100


def limit_node(left: Node, sign: str, right: Node) -> bool:
    r"""Whether a link is \lim_{x\to a} f(x) = b, for numbers a and b or infinite ones."""
    if left.head is not Head.LIMIT or sign not in ("=", "~=") or names_of(right):
        return False
    body, variable, where = left.parts
    return names_of(body) == {plain(variable)} and not names_of(where)


def approaches(left: Node, right: Node, context: Context) -> Finding:
    """The verdict on such a link: from both sides, unless it says from which.

    Raises NoValue where it has none from one of them.
    """
    body, variable, where = left.parts
    name = plain(variable)
    context = context.without(name)
    if where.head is Head.INFINITY:
        return tends(body, "->", right, name, context)
    far = Node(Head.NAME, (), f"{name}_far")
    if _infinite(where) is not None:
        body = substituted(body, {name: Node(Head.NEGATIVE, (far,))})
        return tends(body, "->", right, plain(far), context)
    near = Node(Head.DIVIDE, (Node(Head.NUMBER, (), "1"), far))
    found: list[Finding] = []
    for sign, step in (("+", near), ("-", Node(Head.NEGATIVE, (near,)))):
        if left.text in ("", sign):
            at = substituted(body, {name: Node(Head.ADD, (where, step))})
            found.append(tends(at, "->", right, plain(far), context))
    if len(found) == 2 and found[0].verdict is found[1].verdict:
        return replace(found[0], reason=f"{found[0].reason}, from both sides")
    return min(found, key=lambda one: WORST.index(one.verdict))


def tends(left: Node, sign: str, right: Node, name: str, context: Context) -> Finding:
    """The verdict on `left -> right` or `left ~ right` as the name goes to infinity."""
    context = settled(context)
    values = {known: value for known, value in context.values if known != name}
    factor = _factor_written(right)
    try:
        left, right = (substituted(side, values) for side in (left, right))
    except ValueError as error:
        raise NoValue(str(error)) from None
    if sign == "->":
        if name in names_of(right):
            raise NoValue(f"a limit that depends on {name}")
        endless = _infinite(right)
        if endless is not None:
            return _to(_limit(_value(left, name, context)), endless)
        found = _limit(_value(left, name, context))
        literal = literal_of(right)
        if literal is not None and not literal.whole and found.is_finite and not found.free_symbols:
            return _by_digits(found, literal)
        return _to(found, _value(right, name, context))
    scale = _value(right, name, context)
    if not scale.has(VARIABLE):
        raise NoValue(f"it says nothing of how {name} counts")
    if (product := decimal_times(right)) is not None:
        literal, rest = product
        ratio = _limit(_value(left, name, context) / _value(rest, name, context))
        if ratio.is_finite and not ratio.free_symbols:
            return _by_digits(ratio, literal)
    ratio = _limit(_value(left, name, context) / scale)
    told = f"the ratio tends to {typed(ratio)}"
    if ratio == 1:
        return Finding(Verdict.VERIFIED, "", told, RULE)
    if ratio in (0, oo, -oo) or ratio.is_negative:
        return Finding(Verdict.REFUTED, "", told, RULE)
    if not factor and abs(_factor(scale)) == 1 and ratio.is_positive:
        return Finding(Verdict.VERIFIED, "", f"as growth: {told}", RULE)
    if _differ(ratio, Integer(1)):
        return Finding(Verdict.REFUTED, "", told, RULE)
    return Finding(Verdict.UNDECIDED, "", told, RULE)


VARIABLE = Dummy("n", positive=True)


def _by_digits(found: Expr, literal: Literal) -> Finding:
    return against_literal(Number(None, lambda: ball(found), lambda: found), literal, "=")


def _factor_written(node: Node) -> bool:
    """Whether a number is written as a factor of the whole, be it 1: `1*n`, but not `1/n`."""
    match node.head:
        case Head.NEGATIVE | Head.TUPLE if len(node.parts) == 1:
            return _factor_written(node.parts[0])
        case Head.MULTIPLY:
            return any(not names_of(part) or _factor_written(part) for part in node.parts)
        case Head.DIVIDE:
            above, below = node.parts
            return not names_of(below) or _factor_written(below) or _factor_written(above)
    return False


def _factor(scale: Expr) -> Expr:
    """The number that is a factor of a formula."""
    return scale.as_independent(*scale.free_symbols, as_Add=False)[0]


def _infinite(node: Node) -> Expr | None:
    if node.head is Head.NEGATIVE and _infinite(node.parts[0]) is not None:
        return -oo
    return oo if node.head is Head.INFINITY else None


def _to(found: Expr, claimed: Expr) -> Finding:
    value = typed(found)
    if found == claimed or (found.is_finite and claimed.is_finite and equal(found, claimed)):
        return Finding(Verdict.VERIFIED, value, NEARED, RULE)
    if not (found.is_finite and claimed.is_finite) or _differ(found, claimed):
        return Finding(Verdict.REFUTED, value, "another limit", RULE)
    return Finding(Verdict.UNDECIDED, value, "", RULE)


def _differ(a: Expr, b: Expr) -> bool:
    """Whether two expressions differ for certain, at some values of their names."""
    if a.free_symbols | b.free_symbols:
        return bool(different(a, b))
    try:
        with ctx.workprec(BITS):
            return not (ball(a) - ball(b)).contains(0)
    except NoEnclosure:
        return False


def _value(side: Node, name: str, context: Context) -> Expr:
    """A side as a function of the variable. Raises NoValue for one that is not covered."""
    algebra = algebra_of(context, side)
    found = algebra.expression(side)
    found = found.xreplace({s: VARIABLE for s in found.free_symbols if s.name == name})
    if algebra.hidden or not all(isinstance(part, (*COVERED, *PERIODIC)) for part in _nodes(found)):
        raise NoValue("limits are decided for powers, exponentials, logarithms and the like only")
    for part in found.atoms(*PERIODIC):
        if not _limit(part.args[0]).is_finite:
            raise NoValue("a function that oscillates")
    return found


def _nodes(found: Expr) -> list[Any]:
    waiting, seen = [found], []
    while waiting:
        seen.append(waiting.pop())
        waiting += seen[-1].args
    return seen


def _limit(f: Expr) -> Expr:
    """The limit, proved and confirmed. Raises NoValue where it is not both."""
    if not f.has(VARIABLE):
        return f
    try:
        found = gruntz(f, VARIABLE, oo)
    except (NotImplementedError, ValueError, TypeError) as error:
        raise NoValue("no limit was found") from error
    if found not in (oo, -oo) and (found.has(VARIABLE, oo) or not found.is_finite):
        raise NoValue("no limit was found")
    others = sorted(f.free_symbols - {VARIABLE}, key=str)
    if not all(symbol.is_positive for symbol in others):
        raise NoValue("limits are decided for positive names only")
    for scale in SCALES:
        point = {s: scale * Rational(k + 2, k + 3) for k, s in enumerate(others)}
        if not _confirmed(f.xreplace(point), found.xreplace(point)):
            raise NoValue(f"{typed(found)} was found, but is neared too slowly to confirm it")
    return found


def _confirmed(f: Expr, found: Expr) -> bool:
    """Whether enclosures at huge arguments come ever closer to the limit."""
    try:
        with ctx.workprec(BITS):
            if found in (oo, -oo):
                sign = 1 if found is oo else -1
                first, *more = [sign * ball(f.xreplace(at)) for at in _places()]
                return bool(
                    first > 0
                    and all(b > 2 * a for a, b in pairwise([first, *more]))
                    and more[-1] > LARGE
                )
            goal = ball(found)
            gaps = [arb((ball(f.xreplace(at)) - goal).abs_upper()) for at in _places()]
            nearer = all(b < NOTHING or 2 * b < a for a, b in pairwise(gaps))
            scale = arb(1) if goal.contains(0) else arb(goal.abs_lower())
            return bool(nearer and gaps[-1] * NEAR.denominator < scale)
    except NoEnclosure:
        return False


def _places() -> list[Mapping[Expr, Expr]]:
    """Huge arguments, as numbers that are enclosed and never multiplied out."""
    return [{VARIABLE: Enclosure(partial(_ten_to, power))} for power in POWERS]


def _ten_to(power: int) -> arb:
    return arb(10) ** power
