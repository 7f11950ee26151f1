"""Means of functions of random variables: by their laws, through sums, by the calculus."""

import re
from contextlib import suppress
from typing import Any

from sympy import Add, Expr, Integer, Mul, Symbol, sqrt

from varlaw.checks.claims.declarations.distributions import Distribution, is_law
from varlaw.checks.claims.expectations.joint_normals import separated, without_maxima
from varlaw.checks.claims.values.algebra import Algebra
from varlaw.checks.claims.values.functions import NoValue
from varlaw.symbolic.arrays import Entry, Moment, RandomArray
from varlaw.symbolic.formulas.tree import Head, Node
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.terms import Covariance, Expectation, IndexSum, Variance, is_random


class Means(Algebra):
    """Formulas whose expectations are worked out.

    `arrays` are those behind the declared names, `laws` the laws of all.
    """

    arrays: dict[str, RandomArray]
    laws: dict[RandomArray, Distribution]

    def of_law(self, what: str, law: Distribution) -> Expr:
        if law.kind == "iid":
            raise NoValue("a distribution of which only moments are given")
        mean, second = law.moment(1), law.moment(2)
        if what == "E":
            return mean
        if what not in ("Var", "Std"):
            raise NoValue(f"{what} of a distribution")
        found = (second - mean**2).expand()
        return found if what == "Var" else sqrt(found)

    def spread(self, left: Expr, right: Expr, where: Expr | None) -> Expr:
        single = self.single(left * right)
        if where is None and single is None:
            with suppress(NoValue):
                return self.normal(Variance(left) if left == right else Covariance(left, right))
        product = self.mean(left, where) * self.mean(right, where)
        return (self.mean(left * right, where) - product).expand()

    def mean(self, f: Expr, where: Expr | None) -> Expr:
        """E[f], or E[f 1[where]]/P(where)."""
        if where is not None:
            chance = self.mean(where, None)
            if chance == 0:
                raise NoValue("a condition of probability zero")
            return self.mean(f * where, None) / chance
        if not is_random(f):
            return f
        entry = self.single(f)
        if entry is None:
            found = self.factored(f)
            found = self.joint(f) if found is None else found
            return self.normal(Expectation(f)) if found is None else found
        law = self.laws[entry.array]
        x = _variable(f, law)
        return law.mean_of(f.xreplace({entry: x}), x)

    def function(self, node: Node) -> tuple[Expr, Symbol, Distribution] | None:
        """(f, x, law of x) where the node is E[f(x)] for one variable of a known law, else None."""
        if node.head is not Head.EXPECTATION or node.text != "E" or len(node.parts) != 1:
            return None
        if is_law(node.parts[0]):
            return None
        f = self.expression(node.parts[0])
        entry = self.single(f)
        if entry is None:
            return None
        law = self.laws[entry.array]
        x = _variable(f, law)
        return f.xreplace({entry: x}), x, law

    def factored(self, f: Expr) -> Expr | None:
        """The mean of a sum of products of functions of one variable each; None for others."""
        total: Expr = Integer(0)
        for term in Add.make_args(f.expand()):
            groups: dict[Any, Expr] = {}
            for factor in Mul.make_args(term):
                entries = factor.atoms(Entry)
                if len(entries) > 1 or factor.has(IndexSum):
                    return None
                key = next(iter(entries), None)
                if key is not None and (key.indices or self.single(factor) is None):
                    return None
                groups[key] = groups.get(key, Integer(1)) * factor
            means = [self.mean(part, None) for part in groups.values()]
            total += Mul(*means)
        return total

    def joint(self, f: Expr) -> Expr | None:
        """The mean of a function of independent normal variables, through one sum of them."""
        f = without_maxima(f)
        if isinstance(f, Add):
            return Add(*(self.mean(term, None) for term in f.args))
        laws = {entry: self.laws[entry.array] for entry in f.atoms(Entry)}
        if f.has(IndexSum, Range) or any(
            law.kind != "normal" or not all(index.is_Integer for index in entry.indices)
            for entry, law in laws.items()
        ):
            return None
        found = separated(f, laws, self.another)
        if found is None or len(found.atoms(Entry)) > 1:
            return None if found is None else self.factored(found)
        return self.mean(found, None)

    def another(self, law: Distribution) -> Entry:
        """A variable of a law that is independent of all others."""
        array = array_of(f"s{len(self.laws)}", law)
        self.laws[array] = law
        return array[()]

    def single(self, f: Expr) -> Entry | None:
        """The only random variable in something without sums, if its law is known."""
        entries = f.atoms(Entry)
        if len(entries) != 1 or f.has(IndexSum, Range):
            return None
        (entry,) = entries
        return entry if self.laws[entry.array].kind != "iid" else None

    def named(self, text: str) -> str:
        """A text with the names that the arrays were declared by."""
        names = {array.name: name for name, array in self.arrays.items()}
        return re.sub(r"\bv\d+\b", lambda found: names.get(found[0], found[0]), text)

    def normal(self, head: Expr) -> Expr:
        """The value by the expectation calculus. Raises NoValue where it leaves an expectation."""
        from varlaw.symbolic.derivation import RuleError
        from varlaw.symbolic.strategy import normal_form

        try:
            end = normal_form(head).end
        except (RuleError, ValueError) as error:
            told = self.named(str(error))
            raise NoValue(f"the expectation calculus does not cover it: {told}") from None
        if end.has(Expectation, Moment) or is_random(end):
            raise NoValue("it depends on moments that are not declared")
        return end


def _variable(f: Expr, law: Distribution) -> Symbol:
    """A symbol for what f is a function of, called x unless a number of that name is around."""
    taken = {symbol.name for part in (f, *law.given.values()) for symbol in part.free_symbols}
    name = "x"
    while name in taken:
        name += "_"
    return Symbol(name, real=True)


def array_of(name: str, law: Distribution) -> RandomArray:
    from varlaw.symbolic.arrays import DeclarationError
    from varlaw.symbolic.declarations import random_array

    try:
        return random_array(name, **law.declared())
    except DeclarationError as error:
        raise NoValue(str(error).removeprefix(f"{name}: ")) from None
