"""The derivations behind a claim: its sides with expectations, step by step, in its own names."""

from sympy import Expr, sqrt

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.declarations.distributions import Distribution
from varlaw.checks.claims.expectations.probability import algebra_of, settled
from varlaw.checks.claims.expectations.random_algebra import RandomAlgebra
from varlaw.checks.claims.links.decide import substituted_by
from varlaw.checks.claims.values.functions import NoValue
from varlaw.symbolic.arrays import DeclarationError, Entry, arrays_in
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.declarations import random_variable
from varlaw.symbolic.derivation import Derivation, RuleError
from varlaw.symbolic.formulas.tree import Head, Node
from varlaw.symbolic.gaussian.closed import Divergent
from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.strategy import gaussian_form, normal_form
from varlaw.symbolic.terms import Covariance, Expectation, Variance, is_random

HEADS = (Expectation, Variance, Covariance)


class Written(RandomAlgebra):
    """Formulas whose expectations stay as they are written, and whose arrays keep their names."""

    def array_name(self, name: str) -> str:
        return name

    def mean(self, f: Expr, where: Expr | None) -> Expr:
        if where is None:
            return Expectation(f)
        if not is_random(where):
            raise NoValue("a condition on nothing random")
        return Expectation(f * where) / Expectation(where)

    def spread(self, left: Expr, right: Expr, where: Expr | None) -> Expr:
        if where is not None:
            means = self.mean(left, where) * self.mean(right, where)
            return self.mean(left * right, where) - means
        return Variance(left) if left == right else Covariance(left, right)

    def of_law(self, what: str, law: Distribution) -> Expr:
        """E[N(0, 1)] as the mean of a variable X."""
        if what not in ("E", "Var", "Std"):
            raise NoValue(f"{what} of a distribution")
        x = random_variable("X", **law.declared())
        if what == "E":
            return Expectation(x)
        return Variance(x) if what == "Var" else sqrt(Variance(x))


def is_expected(side: Node) -> bool:
    """Whether an expectation, variance or probability stands in a formula."""
    return any(node.head is Head.EXPECTATION for node in side.walk())


def written(side: Node, context: Context) -> Expr:
    """A side as an expression in expectations. Raises NoValue."""
    return written_with_laws(side, context)[0]


def written_with_laws(side: Node, context: Context) -> tuple[Expr, dict[str, Distribution]]:
    """A side as an expression in expectations, and the laws of its arrays. Raises NoValue."""
    declared = settled(context)
    side = substituted_by(context, side)
    algebra = algebra_of(declared, side, kind=Written)
    try:
        found = algebra.expression(side)
        arrays_in(found)
    except DeclarationError as error:
        raise NoValue(str(error)) from None
    return found, {array.name: law for array, law in algebra.laws.items()}


def derivation_of(start: Expr) -> Derivation:
    """The derivation of an expression in expectations. Raises NoValue where no rules lead there.

    Polynomials in sums go through the expectation calculus, functions of Gaussian variables through
    parts, squares completed, and Stein's lemma. Moments that are not declared stay in its end.
    """
    gaussian = all(entry.array.has(Kind.GAUSSIAN) for entry in start.atoms(Entry))
    partial: Derivation | None = None
    why = ""
    for form in (normal_form, gaussian_form) if gaussian else (normal_form,):
        try:
            found = form(start)
        except (Divergent, NotClosed, RuleError, ValueError) as error:
            why = why or str(error)
            continue
        if not found.end.has(*HEADS):
            return found
        partial = partial or found
    if partial is None:
        raise NoValue(f"no derivation was found: {why}")
    return partial
