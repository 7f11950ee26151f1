"""Rules of the expectation itself: definitions, expansion, linearity, constants, independence."""

from collections.abc import Sequence
from itertools import product

from sympy import Add, Dummy, Expr, Integer, Mul, Pow

from varlaw.symbolic.arrays import Entry, RandomArray, arrays_in, linked
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.ranges import Range, fresh, stem
from varlaw.symbolic.rules.scope import Scope, rewrite
from varlaw.symbolic.sequences import Named
from varlaw.symbolic.terms import (
    Covariance,
    Expectation,
    IndexSum,
    Indicator,
    Variance,
    factors,
    is_random,
    terms,
)

MAX_TERMS = 5000

Product = tuple[Expr, tuple[Range, ...]]


@rule("moments", "definition of variance and covariance")
def moments(state: Expr, used: Used) -> Outcome:
    """Var X = E X^2 - (E X)^2 and Cov(X, Y) = E X Y - E X E Y."""
    kinds = {"variance": Variance, "covariance": Covariance}
    held = " and ".join(name for name, kind in kinds.items() if state.has(kind))

    def change(part: Expr, scope: Scope) -> Expr:
        if isinstance(part, Variance):
            (x,) = part.args
            return Expectation(x**2) - Expectation(x) ** 2
        if isinstance(part, Covariance):
            x, y = part.args
            return Expectation(x * y) - Expectation(x) * Expectation(y)
        return part

    return Outcome(rewrite(state, change), reason=f"definition of the {held}")


@rule("unfold", "by definition")
def unfold(state: Expr, used: Used, name: str | None = None) -> Expr:
    """Open the named expressions (all, or those called `name`), but not inside indicators."""

    def change(part: Expr) -> Expr:
        if isinstance(part, Indicator):
            return part
        if isinstance(part, Named) and name in (None, part.name):
            return part.definition
        if part.args and not isinstance(part, (Entry, Named)):
            return part.func(*(change(p) if isinstance(p, Expr) else p for p in part.args))
        return part

    return change(state)


@rule("expand", "multiply out")
def expand(state: Expr, used: Used) -> Outcome:
    """Multiply out powers and products of sums inside expectations, one index copy per factor."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        return Expectation(_joint(_expanded(part.args[0])))

    sums = any(part.has(IndexSum) for part in state.atoms(Expectation))
    copies = ": one index copy per factor" if sums else ""
    return Outcome(rewrite(state, change), reason=f"multiply out{copies}")


def _expanded(expression: Expr) -> list[Product]:
    """A polynomial in sums as a list of (product of entries, ranges); copies have fresh indices."""
    if isinstance(expression, Add):
        return [term for part in expression.args for term in _expanded(part)]
    if isinstance(expression, Mul):
        return _multiplied([_expanded(part) for part in expression.args], expression)
    if isinstance(expression, Pow) and is_random(expression):
        base, exponent = expression.args
        if isinstance(base, (Add, IndexSum, Mul)):
            if not exponent.is_Integer or exponent < 0:
                raise RuleError(f"not covered: the power {exponent} of the sum {base}")
            return _multiplied([_expanded(base)] * int(exponent), expression)
    if isinstance(expression, Pow) and is_random(expression) and not expression.exp.is_Integer:
        raise RuleError(f"not covered: the power {expression}")
    if isinstance(expression, IndexSum):
        return [_under(expression.ranges, inner) for inner in _expanded(expression.summand)]
    return [(expression, ())]


def _multiplied(parts: list[list[Product]], whole: Expr) -> list[Product]:
    count = 1
    for part in parts:
        count *= len(part)
        if count > MAX_TERMS:
            raise RuleError(f"over budget: {whole} expands into more than {MAX_TERMS} products")
    return [_times(choice) for choice in product(*parts)]


def _times(choice: Sequence[Product]) -> Product:
    """The product of sums as one joint sum, with indices renamed apart."""
    item: Expr = Integer(1)
    ranges: tuple[Range, ...] = ()
    outer = {
        s for part, more in choice for s in part.free_symbols - {k for r in more for k in r.indices}
    }
    for following, more in choice:
        mine = [index for r in more for index in r.indices]
        bound = {index for r in ranges for index in r.indices}
        clash = [index for index in mine if index in bound or index in outer]
        taken = bound | set(mine) | outer | item.free_symbols | following.free_symbols
        names = dict(zip(clash, fresh(clash, taken), strict=True))
        item = item * following.xreplace(names)
        ranges += tuple(r.renamed(names) for r in more)
    return item, ranges


def _under(outer: tuple[Range, ...], inner: Product) -> Product:
    """A product under one more sum; what the inner sums bind is renamed where names meet."""
    item, ranges = inner
    bound = [index for r in outer for index in r.indices]
    mine = [index for r in ranges for index in r.indices]
    clash = [index for index in mine if index in bound]
    names = dict(zip(clash, fresh(clash, item.free_symbols | set(mine) | set(bound)), strict=True))
    return item.xreplace(names), (*outer, *(r.renamed(names) for r in ranges))


def _joint(products: list[Product]) -> Expr:
    return Add(*(tidy(IndexSum(item, *ranges)) for item, ranges in products))


def tidy(expression: Expr) -> Expr:
    """A sum with its bound indices renamed in order: i, or i1, i2, ... where there are several."""
    number, total = expression.as_coeff_Mul()
    if not isinstance(total, IndexSum):
        return expression
    letters: dict[str, list[Expr]] = {}
    for index in total.bound:
        letters.setdefault(stem(index), []).append(index)
    free = {str(symbol) for symbol in total.free_symbols}
    names: dict[Expr, Expr] = {}
    for letter, group in letters.items():
        plain = [letter] if len(group) == 1 else []
        wanted = plain + [f"{letter}{k}" for k in range(1, 2 * len(group) + len(free) + 2)]
        usable = [name for name in wanted if name not in free]
        for index, name in zip(group, usable, strict=False):
            names[index] = index.func(name, integer=True, positive=True)
    return number * total.renamed({old: new for old, new in names.items() if old != new})


@rule("linearity", "linearity of the expectation")
def linearity(state: Expr, used: Used) -> Expr:
    """E of a sum is the sum of the E, over terms and over indices."""

    def change(part: Expr, scope: Scope) -> Expr:
        return Add(*map(_linear, terms(part.args[0]))) if isinstance(part, Expectation) else part

    return rewrite(state, change)


def _linear(term: Expr) -> Expr:
    number, rest = term.as_coeff_Mul()
    if isinstance(rest, IndexSum):
        return number * IndexSum(Add(*map(_linear, terms(rest.summand))), *rest.ranges)
    return number * Expectation(rest)


@rule("constants", "constants out of the expectation")
def constants(state: Expr, used: Used) -> Outcome:
    """E[c X] = c E[X], and likewise for sums over indices; sums of sums are written apart."""
    head = "expectation" if state.has(Expectation) else "sum"

    def change(part: Expr, scope: Scope) -> Expr:
        if isinstance(part, Expectation):
            out = [f for f in factors(part.args[0]) if not is_random(f)]
            return Mul(*out) * Expectation(Mul(*(f for f in factors(part.args[0]) if is_random(f))))
        if isinstance(part, IndexSum):
            bound = set(part.bound)
            pieces = []
            for term in terms(part.summand):
                out = [f for f in factors(term) if not f.free_symbols & bound]
                kept = [f for f in factors(term) if f.free_symbols & bound]
                pieces.append(Mul(*out) * IndexSum(Mul(*kept), *part.ranges))
            return Add(*pieces)
        return part

    return Outcome(rewrite(state, change), reason=f"constants out of the {head}")


@rule("independence", "independence")
def independence(state: Expr, used: Used) -> Expr:
    """E of a product is the product of the E over groups of independent factors.

    Different arrays are independent unless one was declared to depend on the other; different
    entries of an array are if its entries were declared independent.
    """
    known = arrays_in(state)

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        groups = _groups(list(factors(part.args[0])), known, scope, used)
        return Mul(*(Expectation(Mul(*group)) for group in groups))

    return rewrite(state, change)


def _groups(
    items: list[Expr], known: dict[str, RandomArray], scope: Scope, used: Used
) -> list[list[Expr]]:
    """The factors in groups that are independent of one another."""
    groups: list[list[Expr]] = []
    for item in items:
        linked = [g for g in groups if any(not separable(item, other, known, scope) for other in g)]
        merged = [item] + [member for g in linked for member in g]
        groups = [g for g in groups if g not in linked] + [merged]
    for position, group in enumerate(groups):
        for other in groups[position + 1 :]:
            used |= _used_between(group, other)
    return groups


def separable(left: Expr, right: Expr, known: dict[str, RandomArray], scope: Scope) -> bool:
    """Whether two factors are functions of independent things, by the declarations."""
    mine, others = arrays_in(left), arrays_in(right)
    if not mine or not others:
        return True
    for a in mine.values():
        for b in others.values():
            if a != b and linked(a, b, known):
                return False
    for name in mine.keys() & others.keys():
        if not mine[name].has(Kind.INDEPENDENT_ENTRIES):
            return False
        pairs = product(_entries(left, name), _entries(right, name))
        if not all(scope.different_entries(a, b) for a, b in pairs):
            return False
    return True


def _entries(expression: Expr, name: str) -> list[Entry]:
    """The entries of an array in a factor; nothing is known of indices bound inside it."""
    bound = {index for part in expression.atoms(IndexSum) for index in part.bound}
    hidden = {index: Dummy(str(index)) for index in bound}
    return [entry.xreplace(hidden) for entry in expression.atoms(Entry) if entry.array.name == name]


def _used_between(left: list[Expr], right: list[Expr]) -> set[Assumption]:
    found = set()
    for a, b in product(left, right):
        mine, others = arrays_in(a), arrays_in(b)
        for x, y in product(mine.values(), others.values()):
            if x == y:
                found.add(x.assumption(Kind.INDEPENDENT_ENTRIES))
            else:
                found.add(Assumption(Kind.INDEPENDENT, tuple(sorted((x.name, y.name)))))
    return found


@rule("identical", "by the declared moments (identically distributed)")
def identical(state: Expr, used: Used) -> Expr:
    """E[w_ij^k] is the moment declared for the array, whatever the indices."""

    def change(part: Expr, scope: Scope) -> Expr:
        if not isinstance(part, Expectation):
            return part
        front, inside = part.args[0].as_coeff_Mul()
        plain = part if front == 1 else Expectation(inside)
        value = declared(plain)
        return part if value == plain else front * value

    def declared(part: Expr) -> Expr:
        entry, order = power_of_entry(part)
        if entry is None:
            return part
        array = entry.array
        value = array.moment(order)
        if value == 0 and order % 2 and (order == 1 or array.has(Kind.SYMMETRIC)):
            used.add(array.centred)
            return value
        if entry.indices and not array.has(Kind.IDENTICAL):
            return part
        if entry.indices:
            used.add(array.assumption(Kind.IDENTICAL))
        if order == 2 and array.zero_mean and array.scale == "variance":
            used.add(array.centred)
        if order > 2 and array.has(Kind.GAUSSIAN):
            used.add(array.assumption(Kind.GAUSSIAN))
            if array.zero_mean:
                used.add(array.centred)
        return value

    return rewrite(state, change)


def power_of_entry(part: Expr) -> tuple[Entry | None, int]:
    """The entry and the order if `part` is E[entry^order], else (None, 0)."""
    if isinstance(part, Expectation):
        base, exponent = part.args[0].as_base_exp()
        if isinstance(base, Entry) and exponent.is_Integer and exponent > 0:
            return base, int(exponent)
    return None, 0
