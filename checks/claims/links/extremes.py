"""Links name = value for a name that the context says to make a formula least or greatest."""

from typing import Any

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.equations.compare import Finding
from varlaw.checks.claims.equations.identities import (
    equal,
    names_shown,
    not_negative,
    positive_by_custom,
)
from varlaw.checks.claims.equations.multiples import names_of
from varlaw.checks.claims.expectations.probability import different
from varlaw.checks.claims.values.algebra import Algebra, symbol
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.statistics.verdicts import Verdict
from varlaw.symbolic.formulas.tree import Node

RULE = "stationary and convex"


def extremal(
    name: str, extreme: tuple[int, Node], sign: str, value: Node, context: Context
) -> Finding:
    """The verdict on a value: the derivative is zero there, and the formula convex (or concave)."""
    direction, formula = extreme
    names = names_of(formula, value) - {name}
    if sign != "=" or name in names_of(value):
        raise NoValue(f"{name} is only compared with its exact value")
    signs = dict(context.signs)
    positive = {n: signs.get(n, positive_by_custom(n)) for n in names}
    t = symbol(name, positive=False)
    made: dict[str, Any] = {n: symbol(n, above) for n, above in positive.items()}
    f = Algebra({**made, name: t}, context.log_base).expression(formula)
    place = Algebra(made, context.log_base).expression(value)
    if not not_negative(direction * f.diff(t, 2), strict=True):
        return Finding(Verdict.UNDECIDED, "", f"the formula is not known to be convex in {name}")
    if equal(f.diff(t).subs(t, place), f * 0):
        about = names_shown(positive)
        return Finding(Verdict.VERIFIED, "", f"the only stationary point, {about}", RULE)
    slope = different(f.diff(t).subs(t, place), f * 0)
    if slope:
        return Finding(Verdict.REFUTED, "", f"the slope there is not zero at {slope}", RULE)
    return Finding(Verdict.UNDECIDED, "", "the derivative was not shown to vanish there", RULE)
