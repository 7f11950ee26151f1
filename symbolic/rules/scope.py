"""What is known about indices where an expression stands, and walking with that knowledge."""

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr

from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.derivation import RuleError
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.terms import Expectation, IndexSum


@dataclass(frozen=True)
class Scope:
    """The sums around an expression: which indices are bound, and which are distinct."""

    ranges: tuple[Range, ...] = ()

    def inside(self, ranges: tuple[Range, ...]) -> "Scope":
        return Scope(self.ranges + ranges)

    def bounds(self, index: Expr) -> tuple[Expr, Expr] | None:
        """The range of an index that is bound by a sum around; None for a free one."""
        return next((r.bounds for r in self.ranges if index in r.indices), None)

    def distinct(self, left: Expr, right: Expr) -> bool:
        """Whether two indices are known to differ."""
        if left.is_Integer and right.is_Integer:
            return bool(left != right)
        for r in self.ranges:
            if {left, right} <= set(r.indices) and left != right:
                return True
            if (left in r.indices and right in r.excluded) or (
                right in r.indices and left in r.excluded
            ):
                return True
        return False

    def different_entries(self, left: Entry, right: Entry) -> bool:
        """Whether two entries of one array are known to be different ones."""
        if len(left.indices) != len(right.indices):
            raise RuleError(f"{left} and {right} have different numbers of indices")
        return any(self.distinct(a, b) for a, b in zip(left.indices, right.indices, strict=True))


def rewrite(
    expression: Expr,
    change: Callable[[Expr, Scope], Expr],
    scope: Scope | None = None,
    into_expectations: bool = False,
) -> Expr:
    """Apply `change` everywhere outside expectations, from the inside out, with the scope."""
    scope = scope or Scope()
    inner = scope.inside(expression.ranges) if isinstance(expression, IndexSum) else scope
    closed = isinstance(expression, Expectation) and not into_expectations
    if expression.args and not closed and not isinstance(expression, Entry):
        parts = [
            rewrite(part, change, inner, into_expectations) if isinstance(part, Expr) else part
            for part in expression.args
        ]
        if list(expression.args) != parts:
            expression = expression.func(*parts)
    return change(expression, scope)
