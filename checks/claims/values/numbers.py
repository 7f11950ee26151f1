"""Closed formulas as balls: proved enclosures of the numbers that trees of formulas stand for.

Whole numbers are balls too, so that towers and factorials become infinite balls, never numbers that
fill the memory. What has no value, and what takes too long, is NoValue with the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flint import acb, arb, ctx, fmpz

from varlaw.checks.claims.values.exact import rational
from varlaw.checks.claims.values.functions import CONSTANTS, NoValue, function, power, whole
from varlaw.checks.claims.values.literals import literal_of
from varlaw.symbolic.formulas.names import indexed, signed
from varlaw.symbolic.formulas.tree import Head, Node, plain

__all__ = ["NoValue", "Scope", "enclosure", "rational", "settle"]

MOST_WORK = 3_000_000  # nodes visited for one value
MOST_TERMS = 20_000  # of one sum or product
PRECISIONS = (64, 128, 256, 512, 1024)
KINKS = ("abs", "max", "min", "relu")  # functions with kinks
EVALUATIONS = 20_000  # of an integrand


@dataclass
class Scope:
    """What names stand for, the base of logarithms (None: e), and how much was done so far."""

    values: Mapping[str, Any] = field(default_factory=dict)
    log_base: int | None = None
    analytic: bool = False  # inside of an integral, where functions must be analytic to count
    complex: bool = False
    work: list[int] = field(default_factory=lambda: [0])

    def binding(self, name: str, value: Any) -> "Scope":
        return replace(self, values={**self.values, name: value})

    def number(self, value: Any) -> Any:
        return acb(value) if self.complex else arb(value)


def settle(judge: Callable[[], Any]) -> Any:
    """What `judge` returns, with more and more precision while that is None."""
    for precision in PRECISIONS:
        with ctx.workprec(precision):
            found = judge()
        if found is not None:
            return found
    return None


def enclosure(node: Node, scope: Scope | None = None) -> arb:
    """A ball that holds the formula's value, at the current precision. Raises NoValue."""
    value = _value(node, Scope() if scope is None else scope)
    if not value.is_finite():
        raise NoValue("no finite value was found: too large, or not defined")
    return value


def _value(node: Node, scope: Scope) -> Any:
    scope.work[0] += 1
    if scope.work[0] > MOST_WORK:
        raise NoValue("too much to compute")
    parts = node.parts
    match node.head:
        case Head.NUMBER | Head.DIGITS:
            literal = literal_of(node)
            if literal is None:
                raise NoValue(f"{node.text[:20]} is not a number that can be read")
            return scope.number(literal.ball())
        case Head.PERCENT:
            return _value(parts[0], scope) / 100
        case Head.NAME:
            return _name(node, scope)
        case Head.ADD:
            total = _value(parts[0], scope)
            for part in parts[1:]:
                total = total + _value(part, scope)
            return total
        case Head.NEGATIVE:
            return -_value(parts[0], scope)
        case Head.MULTIPLY:
            total = _value(parts[0], scope)
            for part in parts[1:]:
                total = total * _value(part, scope)
            return total
        case Head.DIVIDE:
            below = _value(parts[1], scope)
            if not scope.complex and below.is_zero():
                raise NoValue("division by zero")
            return _value(parts[0], scope) / below
        case Head.POWER:
            if _is_e(parts[0], scope):
                return _value(parts[1], scope).exp()
            return power(_value(parts[0], scope), _value(parts[1], scope), scope)
        case Head.ROOT:
            return _root(node, scope)
        case Head.FACTORIAL:
            inner = _value(parts[0], scope)
            if not scope.complex and not inner >= 0:
                raise NoValue("the factorial of a number that is not known to be 0, 1, 2, ...")
            return (inner + 1).gamma()
        case Head.ABSOLUTE:
            return function("abs", [_value(parts[0], scope)], scope)
        case Head.CALL:
            return _call(node, scope)
        case Head.SUM | Head.PRODUCT:
            return _series(node, scope)
        case Head.INTEGRAL:
            return _integral(node, scope)
        case Head.CASES | Head.INDICATOR:
            return _cases(node, scope)
        case Head.TUPLE if len(parts) == 1:
            return _value(parts[0], scope)
        case Head.INFINITY:
            raise NoValue("infinity is not a number")
    raise NoValue(f"no value is known for this {node.head.value}")


def _is_e(node: Node, scope: Scope) -> bool:
    return node.head is Head.NAME and plain(node) == "e" and "e" not in scope.values


def _name(node: Node, scope: Scope) -> Any:
    name = plain(node)
    if name in scope.values:
        return scope.number(scope.values[name])
    if name in CONSTANTS:
        return scope.number(CONSTANTS[name]())
    raise NoValue(f"{name} has no value")


def _root(node: Node, scope: Scope) -> Any:
    inner = _value(node.parts[0], scope)
    if len(node.parts) == 1:
        return function("sqrt", [inner], scope)
    degree = rational(node.parts[1])
    if degree is None or degree.denominator != 1 or not 0 < degree <= 1000:
        raise NoValue("a root whose degree is not a small whole number")
    if not scope.complex and degree % 2 and inner < 0:
        return -power(-inner, arb(1) / int(degree), scope)
    return power(inner, scope.number(1) / int(degree), scope)


def _call(node: Node, scope: Scope) -> Any:
    arguments = [_value(part, scope) for part in node.parts]
    if node.text in ("log", "ln", "lg") and node.text not in scope.values:
        base = arguments[1] if len(arguments) == 2 else None
        if base is None and node.text == "log" and scope.log_base is not None:
            base = scope.number(scope.log_base)
        value = function("log", arguments[:1], scope)
        if node.text == "lg" and base is None:
            base = scope.number(10)
        return value if base is None else value / function("log", [base], scope)
    return function(node.text, arguments, scope)


def _series(node: Node, scope: Scope) -> Any:
    """A sum or product with finitely many terms, one by one."""
    if len(node.parts) != 4:
        raise NoValue("a sum or product without its ends")
    body, index, first, last = node.parts
    if name := indexed(body, plain(index)):
        raise NoValue(f"{name} has no value for each {plain(index)}")
    if scope.complex:
        raise NoValue("a sum inside of an integral")
    if Head.INFINITY in (last.head, first.head):
        if node.head is Head.PRODUCT:
            raise NoValue("a product with infinitely many terms")
        from varlaw.checks.claims.values.infinite_sums import infinite

        return infinite(node, scope)
    low, high = (whole(_value(end, scope)) for end in (first, last))
    if low is None or high is None:
        raise NoValue("the ends of a sum or product are not whole numbers")
    if high - low >= MOST_TERMS:
        raise NoValue(f"a sum or product of more than {MOST_TERMS} terms")
    if high < low - 1 and scope.values:
        raise NoValue("a sum or product that runs backwards")
    total = arb(0 if node.head is Head.SUM else 1)
    for k in range(low, high + 1):
        term = _value(body, scope.binding(plain(index), arb(fmpz(k))))
        total = total + term if node.head is Head.SUM else total * term
    return total


def _integral(node: Node, scope: Scope) -> Any:
    """An integral over a range, with a proved error."""
    if len(node.parts) != 4:
        raise NoValue("an integral without its ends")
    if scope.complex:
        raise NoValue("an integral inside of an integral")
    body, variable, first, last = node.parts
    if name := indexed(body, plain(variable)):
        raise NoValue(f"{name} has no value for each {plain(variable)}")
    if Head.INFINITY in {part.head for end in (first, last) for part in end.walk()}:
        from varlaw.checks.claims.values.integrals import over_infinite_range

        try:
            return over_infinite_range(node, scope)
        except NoValue:
            return _in_closed_form(node, scope)
    if any(node.head is Head.ABSOLUTE or node.text in KINKS for node in body.walk()):
        try:
            return _in_closed_form(node, scope)  # kinks make quadrature slow
        except NoValue:
            pass
    low, high = _value(first, scope), _value(last, scope)
    if not (low.is_finite() and high.is_finite()):
        raise NoValue("an integral whose ends are not known")
    from varlaw.symbolic.gaussian.balls import NoEnclosure

    try:
        found = sum(
            (
                _quadrature(part, plain(variable), start, end, scope)
                for part, start, end in _halves(body, plain(variable), low, high)
            ),
            acb(0),
        )
    except NoEnclosure:
        return _in_closed_form(node, scope)
    if not found.is_finite() or not found.imag.contains(0):
        return _in_closed_form(node, scope)
    return found.real


def _halves(body: Node, name: str, low: arb, high: arb) -> list[tuple[Node, arb, arb]]:
    """The body over the range, |x| in it as -x below 0 and as x above: kinks make it slow."""
    below, above = (signed(body, name, side) for side in (False, True))
    if above != body and low <= 0 <= high:
        return [(below, low, arb(0)), (above, arb(0), high)]
    return [(body, low, high)]


def _quadrature(body: Node, name: str, low: arb, high: arb, scope: Scope) -> acb:
    from varlaw.symbolic.gaussian.quadrature import integral

    def integrand(x: acb, analytic: bool) -> acb:
        inner = replace(scope.binding(name, x), analytic=analytic, complex=True)
        return acb(_value(body, inner))

    return integral(integrand, low, high, arb(2) ** -ctx.prec, EVALUATIONS)


def _in_closed_form(node: Node, scope: Scope) -> Any:
    """An integral over numbers by its antiderivative."""
    from varlaw.checks.claims.values.algebra import Algebra
    from varlaw.checks.claims.values.integrals import closed
    from varlaw.symbolic.gaussian.balls import NoEnclosure, ball

    value = None if scope.values else closed(node, Algebra({}, scope.log_base))
    if value is None:
        raise NoValue("the integral could not be enclosed")
    try:
        return ball(value)
    except NoEnclosure as error:
        raise NoValue(str(error)) from None


def _cases(node: Node, scope: Scope) -> Any:
    """A value by cases, the condition of one of which is known to hold; an indicator is 1 or 0."""
    if scope.complex:
        raise NoValue("cases inside of an integral")
    if node.head is Head.INDICATOR:
        return arb(int(all(_holds(condition, scope) for condition in node.parts)))
    for value, condition in zip(node.parts[::2], node.parts[1::2], strict=False):
        if _holds(condition, scope):
            return _value(value, scope)
    raise NoValue("none of the cases is known to hold")


def _holds(condition: Node, scope: Scope) -> bool:
    if condition.head is not Head.RELATION:
        raise NoValue("a case whose condition cannot be decided")
    left, right = (_value(part, scope) for part in condition.parts)
    gap = left - right
    wanted = {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (1, 0), "=": (0,), "!=": (-1, 1)}
    side = 1 if gap > 0 else -1 if gap < 0 else 0 if gap.is_zero() else None
    if side is None or condition.text not in wanted:
        raise NoValue("a case whose condition cannot be decided")
    return side in wanted[condition.text]
