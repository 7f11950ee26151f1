"""Links in which expectations, variances or probabilities stand, by what the context declares."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

from flint import arb
from sympy import Expr, Pow, Rational

from varlaw.checks.claims.declarations.context import Context, Ranges
from varlaw.checks.claims.declarations.distributions import NAMES
from varlaw.checks.claims.equations.compare import Finding, Number, against_literal, between
from varlaw.checks.claims.equations.identities import (
    POINTS,
    SEED,
    equal,
    not_negative,
    positive_by_custom,
    whole_names,
)
from varlaw.checks.claims.expectations.any_law import proof
from varlaw.checks.claims.expectations.laws import cited
from varlaw.checks.claims.expectations.random_algebra import RandomAlgebra
from varlaw.checks.claims.values.functions import CONSTANTS, NoValue
from varlaw.checks.claims.values.literals import literal_of
from varlaw.checks.claims.values.numbers import Scope
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.names import free_names, outside, substituted
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.language_text import typed

RULE = "expectation calculus"
OTHER_WORDS = {"Var": ("Std",), "Std": ("Var",), "E": ("Var", "Std")}
SAID = {
    "Var": "this is the variance",
    "Std": "this is the std",
    "E": "this is the second moment",
}
MOST_SWAPPED = 6


def expected(left: Node, sign: str, right: Node, context: Context, scope: Scope) -> Finding | None:
    """The verdict on a link with expectations in it. Raises NoValue where something is missing."""
    if sign == "=" and not (context.variables or context.families) and (why := proof(left, right)):
        return Finding(Verdict.VERIFIED, "", why, RULE)
    context = with_numbers(settled(context), left, right)
    found = _judged(left, sign, right, context, scope)
    if found is not None and found.verdict is Verdict.VERIFIED:
        law = _law(left, context) or _law(right, context)
        return replace(found, rule=f"law {law}") if law else found
    if found is not None and found.verdict is Verdict.REFUTED:
        hint = next(_hints(left, sign, right, context, scope), "")
        return replace(found, reason=f"{found.reason}; {hint}" if hint else found.reason)
    return found


def with_numbers(context: Context, *sides: Node) -> Context:
    """The context with the names as numbers that stand inside and outside of expectations.

    E[e^{tz}] = e^{t^2/2} says for which numbers t; nothing random stands outside.
    """
    moments = [node for side in sides for node in side.walk() if node.head is Head.EXPECTATION]
    if any(node.head is Head.GIVEN for moment in moments for node in moment.walk()):
        return context
    fixed = (Head.EXPECTATION, Head.SUM, Head.PRODUCT, Head.INTEGRAL)
    free = {
        plain(node)
        for side in sides
        for node in outside(side, fixed)
        if node.head is Head.NAME and not node.parts
    }
    free &= set().union(*map(free_names, moments))
    free -= {name for name, _ in (*context.values, *context.signs)} | set(CONSTANTS)
    free = {name for name in free if not (context.variable(name) or context.family(name))}
    signs = tuple((name, positive_by_custom(name)) for name in sorted(free))
    return replace(context, signs=(*context.signs, *signs))


def _judged(left: Node, sign: str, right: Node, context: Context, scope: Scope) -> Finding | None:
    _needed(left, right, context)
    literal, other = literal_of(right), left
    if literal is None and literal_of(left) is not None:
        literal, other = literal_of(left), right
    if literal is not None and sign in ("=", "~="):
        (value,) = _values(context, other)
        if not value.free_symbols:
            return against_literal(number_of(value), literal, sign)
    a, b = _values(context, left, right)
    if not (a.free_symbols or b.free_symbols):
        return between(number_of(a), sign, number_of(b))
    found = _symbolic(a, sign, b, _positive(left, right, context))
    if found.verdict is Verdict.REFUTED:
        known = declared_names(context) | {s.name for s in a.free_symbols & b.free_symbols}
        unknown = sorted({s.name for s in a.free_symbols | b.free_symbols} - known)
        if unknown:
            told = f"{', '.join(unknown)}: not declared"
            return Finding(Verdict.UNDECIDED, found.value, told, RULE)
        if not context.stated and _may_be_condition(left, a, right, b):
            told = "not so for all values of the names; it may be meant as a condition on them"
            return Finding(Verdict.UNDECIDED, found.value, told, RULE)
    return found


def _may_be_condition(left: Node, a: Expr, right: Node, b: Expr) -> bool:
    """Whether E[y^2] = 1 or Var(y) = Var(x) may be what is asked of a variance, not claimed."""
    if all(symbol.is_integer for symbol in a.free_symbols | b.free_symbols):
        return False  # dimensions are given, and not chosen
    moments = all(
        any(node.head is Head.EXPECTATION for node in side.walk()) for side in (left, right)
    )
    return moments or not a.free_symbols & b.free_symbols


def _law(side: Node, context: Context) -> str:
    """The law of the catalogue that states a moment, or empty."""
    if side.head is not Head.EXPECTATION:
        return ""
    found = algebra_of(context, side).function(side)
    return "" if found is None else cited(*found)


def settled(context: Context) -> Context:
    """The context with the values of names put into the laws, formulas and ranges."""
    values = dict(context.values)

    def put(ranges: Ranges) -> Ranges:
        return tuple(
            (name, (substituted(first, values), substituted(last, values)))
            for name, (first, last) in ranges
        )

    try:
        return replace(
            context,
            variables=tuple(
                replace(v, law=_with_keys(v.law, values), ranges=put(v.ranges))
                for v in context.variables
            ),
            families=tuple(
                replace(f, value=substituted(f.value, values)) for f in context.families
            ),
            ranges=put(context.ranges),
        )
    except ValueError as error:
        raise NoValue(str(error)) from None


def _with_keys(law: Node, values: Mapping[str, Node]) -> Node:
    """A law with values in its parameters, but for the keys of `mean = ...`."""
    parts = (
        replace(part, parts=(part.parts[0], substituted(part.parts[1], values)))
        if part.head is Head.RELATION
        else substituted(part, values)
        for part in law.parts
    )
    return replace(law, parts=tuple(parts))


def _needed(left: Node, right: Node, context: Context) -> None:
    """Raise NoValue, with what is missing, where nothing random is declared or named."""
    nodes = [node for side in (left, right) for node in side.walk()]
    named = any(n.head is Head.CALL and n.text in NAMES for n in nodes)
    if not (context.random or named or any(n.text == "~" for n in nodes)):
        inside = [name for n in nodes if n.head is Head.EXPECTATION for name in n.walk()]
        name = next((plain(n) for n in inside if n.head is Head.NAME and len(plain(n)) < 9), "z")
        raise NoValue(f"nothing random is declared: say what is, such as {name} ~ N(0, 1)")


def _values(context: Context, *sides: Node) -> tuple[Expr, ...]:
    algebra = algebra_of(context, *sides)
    return tuple(algebra.expression(side) for side in sides)


def algebra_of(
    context: Context, *sides: Node, kind: type[RandomAlgebra] = RandomAlgebra
) -> RandomAlgebra:
    """An algebra that knows every name of some sides and of the context."""
    roots = [*sides, *(variable.law for variable in context.variables)]
    roots += [family.value for family in context.families]
    names = set().union(*(free_names(root) for root in roots)) - set(CONSTANTS)
    return kind(context, names, frozenset(whole_names(*roots)))


def number_of(value: Expr) -> Number:
    def enclosed() -> arb:
        try:
            return ball(value)
        except NoEnclosure as error:
            raise NoValue(str(error)) from None

    return Number(None, enclosed, lambda: value)


def _positive(left: Node, right: Node, context: Context) -> list[Expr]:
    """What must be positive for the laws in a link to exist."""
    algebra = algebra_of(context, left, right)
    calls = [node for side in (left, right) for node in side.walk() if node.head is Head.CALL]
    found: list[Expr] = []
    for call in (*(variable.law for variable in context.variables), *calls):
        if call.text not in NAMES:
            continue
        try:
            found += algebra.law(call).positive
        except NoValue:
            continue
    return found


def _symbolic(a: Expr, sign: str, b: Expr, positive: Sequence[Expr]) -> Finding:
    """Both sides as expressions in declared symbols."""
    value = typed(a)
    if sign == "=":
        if equal(a, b):
            return Finding(Verdict.VERIFIED, value, _where(a, b), RULE)
        at = different(a, b, positive)
        if at:
            return Finding(Verdict.REFUTED, value, f"differs at {at}", RULE)
        return Finding(Verdict.UNDECIDED, value, "equality was neither proved nor refuted", RULE)
    if sign in ("<", "<=", ">", ">="):
        difference = a - b if sign in (">", ">=") else b - a
        why = not_negative(difference, strict=sign in ("<", ">"))
        if why:
            return Finding(Verdict.VERIFIED, value, why, RULE)
        return Finding(Verdict.UNDECIDED, value, "no certificate was found", RULE)
    return Finding(Verdict.UNDECIDED, value, f"{sign} between formulas", RULE)


def _where(*sides: Expr) -> str:
    """What is said of divisors that may be zero; they are in powers that are negative."""
    powers = [power for side in sides for power in side.atoms(Pow) if power.exp.is_negative]
    certain = all(power.base.is_nonzero for power in powers)
    return "" if certain else "where nothing is divided by zero"


def different(a: Expr, b: Expr, positive: Sequence[Expr] = ()) -> str:
    """A point at which two expressions differ for certain, and others over it are positive."""
    random = Random(SEED)
    symbols = sorted(a.free_symbols | b.free_symbols, key=str)
    positive = [part for part in positive if part.free_symbols <= set(symbols)]
    for _ in range(POINTS):
        point = {s: _value(s, random) for s in symbols}
        try:
            if not all(ball(part.xreplace(point)) > 0 for part in positive):
                continue
            gap = ball(a.xreplace(point)) - ball(b.xreplace(point))
        except (NoEnclosure, ZeroDivisionError):
            continue
        if not gap.contains(0):
            return ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
    return ""


def _value(symbol: Any, random: Random) -> Rational:
    if symbol.is_integer:
        return Rational(random.randint(2, 40))
    return Rational(random.randint(1, 96), 97)  # below 1, so that it may be a probability


def _hints(left: Node, sign: str, right: Node, context: Context, scope: Scope) -> Iterator[str]:
    """What would make a refuted link true: another word, the std for a variance, m for n."""
    ways: list[tuple[str, Node, Node, Context]] = []
    for one, other, first in ((left, right, True), (right, left, False)):
        for changed, said in _other_words(one):
            ways.append((said, *((changed, other) if first else (other, changed)), context))
    swapped = tuple(replace(v, law=_by_deviation(v.law)) for v in context.variables)
    if swapped != context.variables:
        told = "it would be right if N(mean, s) gave the std"
        ways.append((told, left, right, replace(context, variables=swapped)))
    for said, a, b, declared in ways:
        try:
            found = _judged(a, sign, b, declared, scope)
        except NoValue:
            continue
        if found is not None and found.verdict is Verdict.VERIFIED:
            yield said
    if sign == "=":
        yield from _other_names(left, right, context)


def _other_names(left: Node, right: Node, context: Context) -> Iterator[str]:
    """Which names would have to be others on the right side of an equation."""
    algebra = algebra_of(context, left, right)
    a, b = algebra.expression(left), algebra.expression(right)
    symbols = algebra.symbols
    declared = sorted(declared_names(context) & set(symbols))
    names = sorted(free_names(right) & set(declared))[:MOST_SWAPPED]
    ways = [({m: n, n: m}, f"with {m} and {n} exchanged") for m, n in combinations(names, 2)]
    for m in names:
        others = [name for name in declared if name != m][:MOST_SWAPPED]
        ways += [({m: n}, f"with {n} for {m}") for n in others]
    for renamed, told in ways:
        changed = b.xreplace({symbols[old]: symbols[new] for old, new in renamed.items()})
        if not different(a, changed) and equal(a, changed):
            yield f"it would be right {told}"


def _other_words(node: Node) -> Iterator[tuple[Node, str]]:
    if node.head is not Head.EXPECTATION:
        return
    for word in OTHER_WORDS.get(node.text, ()):
        inside = node.parts
        if node.text == "E":
            if inside[0].head is not Head.POWER or inside[0].parts[1].text != "2":
                continue
            inside = (inside[0].parts[0], *inside[1:])
        asked = {"Var": "variance", "Std": "std", "E": "second moment"}[node.text]
        yield replace(node, text=word, parts=inside), f"{SAID[word]}, not the {asked}"
    if node.text == "Var":
        square = Node(Head.POWER, (node.parts[0], Node(Head.NUMBER, (), "2")))
        changed = replace(node, text="E", parts=(square, *node.parts[1:]))
        yield changed, f"{SAID['E']}, not the variance"


def _by_deviation(law: Node) -> Node:
    """N(mean, v) read as N(mean, std = v)."""
    if NAMES.get(law.text) != "normal" or len(law.parts) != 2:
        return law
    mean, spread = law.parts
    if spread.head is Head.RELATION:
        return law
    key = Node(Head.NAME, (), "std")
    return replace(law, parts=(mean, Node(Head.RELATION, (key, spread), "=")))


def declared_names(context: Context) -> set[str]:
    found = {n for _, pair in context.ranges for end in pair for n in free_names(end)}
    found |= {n for v in context.variables for part in v.law.parts for n in free_names(part)}
    return found | {name for name, _ in context.signs}
