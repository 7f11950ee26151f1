"""Closed formulas as exact fractions, where they are short ones."""

from fractions import Fraction
from math import ceil, floor, prod

from flint import fmpz

from varlaw.checks.claims.values.literals import literal_of
from varlaw.symbolic.formulas.names import substituted
from varlaw.symbolic.formulas.tree import Head, Node, plain

WHOLE = ("floor", "ceil", "max", "min")
MOST_EXACT_TERMS = 500
MOST_FACTORIAL = 300  # factors of k!, or of k!/j!
MOST_TOP = 10**12  # of which they are
MOST_BITS = 3000  # of a numerator or denominator that is kept exactly


def rational(node: Node) -> Fraction | None:
    """The exact value of a formula made of + - * / and whole powers of numbers, if it is short."""
    parts = node.parts
    match node.head:
        case Head.NUMBER:
            literal = literal_of(node)
            return literal.value if literal is not None and literal.short else None
        case Head.PERCENT | Head.NEGATIVE | Head.ABSOLUTE:
            inner = rational(parts[0])
            if inner is None:
                return None
            if node.head is Head.PERCENT:
                return inner / 100
            return -inner if node.head is Head.NEGATIVE else abs(inner)
        case Head.ADD | Head.MULTIPLY:
            total = Fraction(0 if node.head is Head.ADD else 1)
            for part in parts:
                value = rational(part)
                if value is None:
                    return None
                total = total + value if node.head is Head.ADD else total * value
                if _long(total):
                    return None
            return total
        case Head.DIVIDE if all(part.head is Head.FACTORIAL for part in parts):
            return _falling(*(rational(part.parts[0]) for part in parts))
        case Head.DIVIDE:
            above, below = rational(parts[0]), rational(parts[1])
            return None if above is None or not below else _kept(above / below)
        case Head.POWER:
            base, exponent = rational(parts[0]), rational(parts[1])
            if base is None or exponent is None or exponent.denominator != 1:
                return None
            size = max(base.numerator.bit_length(), base.denominator.bit_length())
            if (not base and exponent <= 0) or size * abs(exponent) > MOST_BITS:
                return None
            return base ** int(exponent)
        case Head.ROOT:
            return _exact_root(node)
        case Head.FACTORIAL:
            return _falling(rational(parts[0]), Fraction(0))
        case Head.SUM | Head.PRODUCT if len(parts) == 4:
            return _exact_series(node)
        case Head.CALL if node.text in WHOLE:
            return _exact_call(node)
    return None


def _exact_call(node: Node) -> Fraction | None:
    """A rounding, or the largest or smallest, of fractions."""
    values = [value for part in node.parts if (value := rational(part)) is not None]
    if len(values) != len(node.parts) or not values:
        return None
    if node.text in ("max", "min"):
        return (max if node.text == "max" else min)(values)
    if len(values) > 1:
        return None
    return Fraction((floor if node.text == "floor" else ceil)(values[0]))


def _falling(top: Fraction | None, bottom: Fraction | None) -> Fraction | None:
    """top!/bottom! of whole numbers that are not far apart."""
    if top is None or bottom is None or top.denominator != 1 or bottom.denominator != 1:
        return None
    if min(top, bottom) < 0 or abs(top - bottom) > MOST_FACTORIAL or max(top, bottom) > MOST_TOP:
        return None
    more = prod(range(int(min(top, bottom)) + 1, int(max(top, bottom)) + 1))
    return Fraction(more) if top >= bottom else Fraction(1, more)


def _exact_series(node: Node) -> Fraction | None:
    """A sum or product of not too many fractions."""
    body, index, *ends = node.parts
    first, last = map(rational, ends)
    if first is None or last is None or not first.denominator == last.denominator == 1:
        return None
    nested = any(part.head in (Head.SUM, Head.PRODUCT) for part in body.walk())
    if nested or last - first >= MOST_EXACT_TERMS:
        return None
    total = Fraction(0 if node.head is Head.SUM else 1)
    for place in range(int(first), int(last) + 1):
        number = Node(Head.NUMBER, (), str(abs(place)))
        term = Node(Head.NEGATIVE, (number,)) if place < 0 else number
        value = rational(substituted(body, {plain(index): term}))
        if value is None:
            return None
        total = total + value if node.head is Head.SUM else total * value
        if _long(total):
            return None
    return total


def _exact_root(node: Node) -> Fraction | None:
    """The root of a fraction, where it is one."""
    inner = rational(node.parts[0])
    degree = rational(node.parts[1]) if len(node.parts) > 1 else Fraction(2)
    if inner is None or degree is None or degree.denominator != 1 or not 1 < degree < 64:
        return None
    k = int(degree)
    if inner < 0 and k % 2 == 0:
        return None
    above, below = (int(fmpz(part).root(k)) for part in (abs(inner.numerator), inner.denominator))
    found = Fraction(above, below)
    if found**k != abs(inner):
        return None
    return found if inner >= 0 else -found


def _kept(value: Fraction) -> Fraction | None:
    return None if _long(value) else value


def _long(value: Fraction) -> bool:
    return max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS


def as_node(value: Fraction) -> Node:
    """A fraction as a formula."""
    found = Node(Head.NUMBER, (), str(abs(value.numerator)))
    if value.denominator != 1:
        found = Node(Head.DIVIDE, (found, Node(Head.NUMBER, (), str(value.denominator))))
    return Node(Head.NEGATIVE, (found,)) if value < 0 else found
