"""Links between closed formulas: decided by exact fractions, or by balls that get smaller."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb

from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.literals import (
    Literal,
    Side,
    ball_side,
    fraction_side,
    judged,
    literal_of,
)
from varlaw.checks.claims.values.numbers import Scope, enclosure, rational, settle
from varlaw.checks.claims.values.roundings import meet
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Node

SMALL = re.compile(r"\A(-?)0\.(0{20,})(\d+)\Z")
MORE_DIGITS = 4  # shown beyond those of the literal
SIMPLE = 100  # a fraction with smaller parts than that may stand for something near
NEAR = Fraction(1, 10)
ORDERS = {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (1, 0), "!=": (-1, 1), "=": (0,)}


@dataclass(frozen=True)
class Finding:
    """A verdict with the value found and how; `rule` names the method.

    `one_sided`: it would be refuted, but that a name on one side only may have a value to fit.
    """

    verdict: Verdict
    value: str = ""
    reason: str = ""
    rule: str = ""
    one_sided: bool = False


def compared(left: Node, sign: str, right: Node, scope: Scope) -> Finding:
    """The verdict on a link between closed formulas. Raises NoValue where a side has none."""
    found = _as_written(left, sign, right, scope)
    if sign not in ("=", "~=") or found.verdict in (Verdict.VERIFIED, Verdict.LOOSE):
        return found
    if not meet(left, right, scope):
        return found
    told = "right for numbers that round to the decimals in it"
    if sign == "~=" and found.verdict is Verdict.UNDECIDED:
        return replace(found, verdict=Verdict.VERIFIED, reason=told)
    return replace(found, verdict=Verdict.LOOSE, reason=told)


def _as_written(left: Node, sign: str, right: Node, scope: Scope) -> Finding:
    literal, other = literal_of(right), left
    swapped = literal is None or (literal.order and literal_of(left) is not None)
    if swapped and literal_of(left) is not None:
        literal, other = literal_of(left), right
    if literal is not None and sign in ("=", "~="):
        found = against_literal(number(other, scope), literal, sign, from_left=other is right)
        coarse = literal_of(other)
        if found.verdict is Verdict.REFUTED and sign == "~=" and coarse is not None:
            node = right if other is left else left
            turned = against_literal(number(node, scope), coarse, sign)
            if turned.verdict is not Verdict.VERIFIED:
                return found
            return replace(turned, verdict=Verdict.LOOSE) if coarse.order else turned
        return found
    return between(number(left, scope), sign, number(right, scope))


@dataclass(frozen=True)
class Number:
    """A number as an exact fraction, if it is one, as a ball, and as a SymPy expression."""

    exact: Fraction | None
    ball: Callable[[], arb]
    expression: Callable[[], Any]

    def side(self) -> Side:
        return ball_side(self.ball()) if self.exact is None else fraction_side(self.exact)


def number(node: Node, scope: Scope) -> Number:
    """A closed formula as a number."""

    def ball() -> arb:
        scope.work[0] = 0
        return enclosure(node, scope)

    def expression() -> Any:
        from varlaw.checks.claims.values.algebra import Algebra

        return Algebra({}, scope.log_base).expression(node)

    return Number(rational(node), ball, expression)


def against_literal(
    number: Number, literal: Literal, sign: str, from_left: bool = False
) -> Finding:
    """The verdict on a number and a decimal, by the digits as they are written."""
    found = settle(lambda: judged(number.side(), literal, sign))
    value = shown(number.ball, max(literal.digits, 4) + MORE_DIGITS)
    rule = "enclosure" if number.exact is None else "exact fraction"
    if found is None and not literal.begun and _is_exactly(number, literal):
        return Finding(Verdict.VERIFIED, value, "exactly", "normal form")
    if found is None:
        return Finding(Verdict.UNDECIDED, value, "too close to an edge of the rounding", rule)
    verdict, reason = found
    if verdict is Verdict.REFUTED and from_left and sign == "~=" and _stands_for(number, literal):
        return Finding(Verdict.UNDECIDED, value, "a simple fraction for a decimal", rule)
    return Finding(verdict, value, reason, rule)


def _stands_for(number: Number, literal: Literal) -> bool:
    """Whether 0.35 is followed by 1/3: the fraction stands for the decimal, with no digits."""
    exact = number.exact
    if exact is None or max(abs(exact.numerator), exact.denominator) > SIMPLE:
        return False
    return abs(exact - literal.value) <= NEAR * abs(exact)


def between(left: Number, sign: str, right: Number) -> Finding:
    def gap() -> int | None:
        if left.exact is not None and right.exact is not None:
            return (left.exact > right.exact) - (left.exact < right.exact)
        difference = left.ball() - right.ball()
        return 1 if difference > 0 else -1 if difference < 0 else None

    rule = "exact fraction" if left.exact is not None and right.exact is not None else "enclosure"
    found = settle(gap)
    value = f"{shown(left.ball)} against {shown(right.ball)}"
    if sign == "~=":
        if found == 0:
            return Finding(Verdict.VERIFIED, value, "equal", rule)
        return Finding(Verdict.UNDECIDED, value, "no digits say how close it should be", rule)
    wanted = ORDERS[sign]
    if found == 0:
        value = shown(left.ball)
    if found is None:
        if _equal_exactly(left, right):
            verdict = Verdict.VERIFIED if 0 in wanted else Verdict.REFUTED
            return Finding(verdict, shown(left.ball), "equal", "normal form")
        why = "the two sides agree as far as they were computed, which is no proof"
        return Finding(Verdict.UNDECIDED, value, why, rule)
    if found in wanted:
        return Finding(Verdict.VERIFIED, value, "", rule)
    return Finding(Verdict.REFUTED, value, "the two sides differ" if sign == "=" else "", rule)


def _is_exactly(number: Number, literal: Literal) -> bool:
    from sympy import Rational

    from varlaw.checks.claims.equations.identities import equal

    if not literal.short:
        return False
    value = literal.value
    try:
        return equal(number.expression(), Rational(value.numerator, value.denominator))
    except NoValue:
        return False


def _equal_exactly(left: Number, right: Number) -> bool:
    from varlaw.checks.claims.equations.identities import equal

    try:
        return equal(left.expression(), right.expression())
    except NoValue:
        return False


def shown(number: Callable[[], arb], digits: int = 8) -> str:
    """Proved digits of a number; in words where it is too large for digits."""
    from varlaw.symbolic.gaussian.balls import NoEnclosure
    from varlaw.symbolic.gaussian.decimals import digits_of

    try:
        text = digits_of(number, digits).text
        return SMALL.sub(lambda m: _with_power(m[1], len(m[2]), m[3]), text)
    except (NoEnclosure, NoValue):
        return "?"


def _with_power(sign: str, zeros: int, figures: str) -> str:
    """5.0759589e-435 for a number with many zeros behind its point."""
    return f"{sign}{figures[0]}.{figures[1:] or '0'}e-{zeros + 1}"
