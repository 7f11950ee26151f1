"""Formulas with expectations, variances and probabilities of what the context declares.

Functions of one variable go through Gaussian moments and the like, sums of random arrays through
the expectation calculus. Names that are declared apart are independent.
"""

from collections.abc import Mapping
from typing import Any

from sympy import Dummy, Expr, Integer, Symbol, sqrt

from varlaw.checks.claims.declarations.context import Context, Variable, declare
from varlaw.checks.claims.declarations.distributions import (
    Distribution,
    distribution,
    is_law,
)
from varlaw.checks.claims.declarations.quantiles import HALF, of_multiple, quantile
from varlaw.checks.claims.equations.identities import positive_by_custom
from varlaw.checks.claims.expectations.means import Means, array_of
from varlaw.checks.claims.values.algebra import symbol
from varlaw.checks.claims.values.functions import CONSTANTS, NoValue
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.formulas.names import bare, free_names
from varlaw.symbolic.formulas.tree import Chain, Head, Node, plain
from varlaw.symbolic.language_functions import holds
from varlaw.symbolic.terms import Sum, indicator

NONE: frozenset[str] = frozenset()
ORDERS = ("<", "<=", ">", ">=")


class RandomAlgebra(Means):
    """Formulas with the declared random variables and arrays in them."""

    opens = False

    def __init__(self, context: Context, names: set[str], ends: frozenset[str] = NONE) -> None:
        """`ends` are names that sums run up to, which are whole numbers."""
        self.context, self.ends = context, ends
        self.laws, self.arrays = {}, {}
        signs = dict(context.signs)
        self.whole = {name for name, _ in context.ranges} | context.whole
        self.whole |= {index for v in context.variables for index in v.indices}
        self.whole |= {index for family in context.families for index in family.indices}
        ranges = {n for _, pair in context.ranges for end in pair for n in free_names(end)}
        made: dict[str, Any] = {}
        for name in names | ranges | self.whole:
            if name in self.whole | ranges | ends:
                made[name] = Symbol(name, integer=True, positive=True)
            else:
                by_custom = name in context.spreads or positive_by_custom(name)
                made[name] = symbol(name, signs.get(name, by_custom))
        super().__init__(made, context.log_base)

    def _built(self, node: Node) -> Expr:
        if node.head is Head.EXPECTATION:
            return self.moment(node)
        if node.head is Head.SUM:
            return self.series(node)
        if node.head is Head.INDICATOR:
            return self.event(node.parts)
        return super()._built(node)

    def _name(self, node: Node) -> Expr:
        whole = plain(node)
        if (variable := self.context.variable(whole)) is not None and not variable.indices:
            return self.entry(variable, ())
        if (variable := self.context.variable(node.text)) is not None:
            if len(variable.indices) != len(node.parts):
                raise NoValue(f"{whole} has {len(node.parts)} indices, not as declared")
            return self.entry(variable, node.parts)
        family = self.context.family(whole) or self.context.family(node.text)
        if family is not None:
            if len(family.indices) != len(node.parts):
                raise NoValue("a name with another number of indices than declared")
            indices = map(self.index, node.parts)
            return self.member(family.value, dict(zip(family.indices, indices, strict=True)))
        return super()._name(node)

    def entry(self, variable: Variable, indices: tuple[Node, ...]) -> Expr:
        return self.array(variable)[tuple(map(self.index, indices))]

    def array(self, variable: Variable) -> RandomArray:
        """The array behind a declared name."""
        if variable.name not in self.arrays:
            law = self.law(variable.law)
            array = array_of(self.array_name(variable.name), law)
            self.arrays[variable.name], self.laws[array] = array, law
        return self.arrays[variable.name]

    def array_name(self, name: str) -> str:
        """What the array behind a variable is called: no name of a document is read again."""
        return f"v{len(self.arrays)}"

    def index(self, node: Node) -> Expr:
        """An index, which is a whole number, whatever its name."""
        if node.head is Head.NAME and plain(node) not in self.symbols:
            made = Symbol(plain(node), integer=True, positive=True)
            self.symbols = {**self.symbols, plain(node): made}
        return self._built(node)

    def member(self, value: Node, indices: Mapping[str, Expr]) -> Expr:
        """y[k] for the family y[j] = ..., where `indices` is k for j."""
        found = self._built(value)
        there = {self.symbols[name]: index for name, index in indices.items()}
        return found.subs({old: new for old, new in there.items() if old != new})

    def law(self, call: Node) -> Distribution:
        """The distribution that a call names."""
        given = []
        for part in call.parts:
            if part.head is Head.RELATION:
                key, value = part.parts
                given.append((plain(key), self._built(value)))
            else:
                given.append(("", self._built(part)))
        return distribution(call.text, given)

    def series(self, node: Node) -> Expr:
        body, index, *ends = node.parts
        name = plain(index)
        if self.context.variable(name) or self.context.family(name):
            raise NoValue(f"{name} is an index here, and random elsewhere: rename one of them")
        if not ends:
            ends = list(self._range_in(body, index))
        if name not in self.symbols:
            self.symbols = {**self.symbols, name: Symbol(name, integer=True, positive=True)}
        low, high = (self._built(end) for end in ends)
        try:
            summand = self._built(body)
            if not summand.has(self.symbols[name]):
                return (high - low + 1) * summand
            return Sum(summand, (self.symbols[name], low, high))
        except (TypeError, ValueError) as error:
            raise NoValue(str(error)) from None

    def _range_in(self, body: Node, index: Node) -> tuple[Node, Node]:
        """The range of an index by what it counts in a sum, else as it was declared last."""
        name = plain(index)
        own: dict[tuple[Node, ...], tuple[Node, Node]] = {}
        for node in body.walk():
            array = self.context.variable(node.text) if node.head is Head.NAME else None
            if array is None or len(array.indices) != len(node.parts):
                continue
            of_array = dict(array.ranges)
            for place, part in zip(array.indices, node.parts, strict=True):
                if plain(part) == name and place in of_array:
                    own[tuple(map(bare, of_array[place]))] = of_array[place]
        if len(own) > 1:
            raise NoValue(
                f"a sum over {name}, which has two ranges there: write the ends of the sum"
            )
        ranges = dict(self.context.ranges)
        found = next(iter(own.values()), ranges.get(name, ranges.get(index.text)))
        if found is None:  # i_1 runs as i does
            raise NoValue(f"a sum over {name}, whose range is not declared")
        return found

    def event(self, relations: tuple[Node, ...]) -> Expr:
        """1 where all relations hold, else 0."""
        found: Expr = Integer(1)
        for relation in relations:
            if relation.head is Head.INDICATOR:
                found *= self.event(relation.parts)
                continue
            if relation.head is not Head.RELATION or relation.text not in (*ORDERS, "="):
                raise NoValue("an event that is not given by <, > or =")
            left, right = (self._built(side) for side in relation.parts)
            if relation.text == "=":
                found *= indicator(left - right, "=")
                continue
            found *= holds(left - right, relation.text)
        return found

    def moment(self, node: Node) -> Expr:
        """An expectation, variance, deviation, covariance or probability as a value."""
        given = [part for part in node.parts if part.head is Head.GIVEN]
        conditions = [r for part in given for r in part.parts if r.text != "~"]
        inner = self.local([r for part in given for r in part.parts if r.text == "~"])
        what = [part for part in node.parts if part.head is not Head.GIVEN]
        if node.text in ("median", "quantile"):
            return inner.quantile(what, conditions)
        if is_law(what[0]) and len(what) == 1:
            return self.of_law(node.text, inner.law(what[0]))
        inner.look_for_undeclared((*what, *conditions))
        where = inner.event(tuple(conditions)) if conditions else None
        if node.text == "P":
            return inner.mean(inner.event((what[0],)), where)
        values = [inner._built(part) for part in what]
        if node.text == "E":
            return inner.mean(values[0], where)
        first, second = values[0], values[-1]
        found = inner.spread(first, second, where)
        if node.text == "Corr":
            return found / sqrt(
                inner.spread(first, first, where) * inner.spread(second, second, where)
            )
        return sqrt(found) if node.text == "Std" else found

    def quantile(self, what: list[Node], conditions: list[Node]) -> Expr:
        """The median, or the quantile of the probability that stands behind the variable."""
        p = self._built(what[1]) if len(what) > 1 else HALF
        if conditions:
            raise NoValue("a quantile with a condition")
        if is_law(what[0]):
            return quantile(self.law(what[0]), p)
        self.look_for_undeclared(tuple(what[:1]))
        f = self._built(what[0])
        if (entry := self.single(f)) is None:
            raise NoValue("the quantile of something of more than one variable")
        x = Dummy("x", real=True)
        return of_multiple(f.xreplace({entry: x}), x, self.laws[entry.array], p)

    def look_for_undeclared(self, parts: tuple[Node, ...]) -> None:
        """Raise NoValue for a name inside an expectation that may be random and may be a number."""
        context = self.context
        fixed = set(CONSTANTS) | self.whole | {name for name, _ in context.signs}
        fixed |= {n for _, pair in context.ranges for end in pair for n in free_names(end)}
        fixed |= {n for v in context.variables for part in v.law.parts for n in free_names(part)}
        nodes = [node for part in parts for node in part.walk() if node.head is Head.NAME]
        for node in nodes:
            if context.variable(node.text) or context.family(node.text):
                fixed |= {plain(index) for index in node.parts}
        for part in parts:
            for node in part.walk():
                if node.head is not Head.NAME or plain(node) in fixed or node.text in fixed:
                    continue
                known = (context.variable, context.family)
                if not any(find(name) for find in known for name in (plain(node), node.text)):
                    raise NoValue(f"{plain(node)} is not declared, as random or as a number")

    def local(self, laws: list[Node]) -> "RandomAlgebra":
        """The same with the laws that an expectation names below it."""
        if not laws:
            return self
        context = self.context
        try:
            for relation in laws:
                context = declare(context, Chain(relation.parts, (relation.text,)))
        except ValueError as error:
            raise NoValue(str(error)) from None
        return type(self)(context, set(self.symbols), self.ends)
