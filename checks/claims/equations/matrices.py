"""Names that may be matrices or vectors: an equation of theirs must hold without commuting."""

from collections.abc import Mapping

from sympy import Symbol

from varlaw.checks.claims.equations.identities import positive_by_custom
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.numbers import Scope
from varlaw.symbolic.formulas.tree import Node
from varlaw.symbolic.formulas.vocabulary import GREEK

COUNTS = ("N", "L", "T", "D")  # of samples, layers, steps, dimensions


def may_be_matrix(name: str) -> bool:
    """Whether a name is a capital letter that is no count, or bold."""
    core = name.partition("_")[0]
    if name.startswith(("bold_", "cal_", "frak_", "bb_")):
        return True
    return len(core.rstrip("'*")) == 1 and core.isupper() and core not in COUNTS


def _number(name: str) -> bool:
    if may_be_matrix(name):
        return False
    return positive_by_custom(name) or name.partition("_")[0] in GREEK


def commuting(
    left: Node, sign: str, right: Node, positive: Mapping[str, bool], scope: Scope
) -> bool:
    """Whether an equation holds by expansion alone, with no two unknowns changing places."""
    if sign != "=":
        return False
    made = {
        name: symbol(name, above) if _number(name) else Symbol(name, commutative=False)
        for name, above in positive.items()
    }
    algebra = Algebra(made, scope.log_base)
    try:
        difference = algebra.expression(left) - algebra.expression(right)
    except (NoValue, AttributeError, NotImplementedError):
        return False
    return bool(difference.expand() == 0)
