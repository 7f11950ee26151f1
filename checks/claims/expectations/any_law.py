"""Equations between moments that hold for every law, such as Var(X) = E[X^2] - E[X]^2.

Random are the names inside of moments that do not stand outside: capital ones, no matrices by
custom, beside numbers in small letters, or small ones alone. Nothing is refuted here.
"""

from collections.abc import Iterator, Mapping

from sympy import Add, Expr, Integer, Mul, Rational, Symbol

from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.literals import literal_of
from varlaw.symbolic.formulas.names import free_names, outside
from varlaw.symbolic.formulas.tree import Head, Node, plain

MOST_POWER = 6
VARIABLES = frozenset("XYZSTNU")
STYLED = ("bold_", "cal_", "frak_", "bb_")


def proof(left: Node, right: Node) -> str:
    """Why left = right for every law of its random names; empty where that is not proved."""
    moments = [n for side in (left, right) for n in side.walk() if n.head is Head.EXPECTATION]
    numbers = {
        plain(node)
        for side in (left, right)
        for node in outside(side, (Head.EXPECTATION, Head.NAME))
        if node.head is Head.NAME
    }
    inside = set().union(*map(free_names, moments)) - {"e", "pi"}
    random = {name for name in inside if name.partition("_")[0] in VARIABLES}
    small = inside - random
    if any(name[0].isupper() or name.startswith(STYLED) for name in small):
        return ""
    random = random or small
    if random & numbers or not all(free_names(moment) & random for moment in moments):
        return ""
    symbols = {name: Symbol(name, real=True) for name in inside | numbers}
    try:
        gap = _value(left, symbols, random) - _value(right, symbols, random)
    except NoValue:
        return ""
    if gap.expand() != 0:
        return ""
    fixed = sorted(inside - random)
    told = f", with numbers {', '.join(fixed)}" if fixed else ""
    return f"for every law of {', '.join(sorted(random))} with these moments{told}"


def _value(node: Node, symbols: Mapping[str, Symbol], random: set[str]) -> Expr:
    """A polynomial in names and moments. Raises NoValue for anything else."""
    parts = node.parts
    match node.head:
        case Head.NUMBER:
            if (literal := literal_of(node)) is not None and literal.short:
                return Rational(literal.value.numerator, literal.value.denominator)
        case Head.NAME if plain(node) in symbols:
            return symbols[plain(node)]
        case Head.ADD:
            return Add(*(_value(part, symbols, random) for part in parts))
        case Head.MULTIPLY:
            return Mul(*(_value(part, symbols, random) for part in parts))
        case Head.NEGATIVE:
            return -_value(parts[0], symbols, random)
        case Head.TUPLE if len(parts) == 1:
            return _value(parts[0], symbols, random)
        case Head.DIVIDE:
            above, below = (_value(part, symbols, random) for part in parts)
            if below.is_Number and below != 0:
                return above / below
        case Head.POWER:
            base, power = (_value(part, symbols, random) for part in parts)
            if power.is_Integer and 0 < power <= MOST_POWER:
                return base**power
        case Head.EXPECTATION if all(part.head is not Head.GIVEN for part in parts):
            first, *rest = (_value(part, symbols, random) for part in parts)
            second = rest[0] if rest else first
            if node.text in ("Var", "Cov") and (node.text == "Cov") == bool(rest):
                return _mean(first * second, random) - _mean(first, random) * _mean(second, random)
            if node.text == "E" and not rest:
                return _mean(first, random)
    raise NoValue("no polynomial in names and moments")


def _mean(formula: Expr, random: set[str]) -> Expr:
    return Add(*(fixed * _moment(drawn) for fixed, drawn in _terms(formula, random)))


def _moment(drawn: Expr) -> Expr:
    return Integer(1) if drawn == 1 else Symbol(f"E[{drawn}]", real=True)


def _terms(formula: Expr, random: set[str]) -> Iterator[tuple[Expr, Expr]]:
    """The terms of a polynomial, each with its random factors apart."""
    for term in Add.make_args(formula.expand()):
        factors = Mul.make_args(term)
        drawn = [f for f in factors if any(s.name in random for s in f.free_symbols)]
        yield Mul(*(f for f in factors if f not in drawn)), Mul(*drawn)
