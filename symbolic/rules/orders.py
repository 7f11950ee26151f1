"""Rules of exponents of the width, and of the learning rates that keep a size from growing."""

from sympy import Basic, Expr, Symbol, expand_log, log, powsimp

from varlaw.symbolic.derivation import Outcome, RuleError, Used, WrongLimit, relation, rule
from varlaw.symbolic.orders import coherent, incoherent, order


@rule("exponent", "products add exponents, n aligned terms 1, n independent ones 1/2", "exponent")
def exponent(state: Expr, used: Used) -> Expr:
    """order(X, n) as the exponent of n in X."""
    return state.replace(order, _exponent)


def _exponent(x: Expr, n: Symbol) -> Expr:
    while x.has(coherent, incoherent):
        x = x.replace(lambda e: isinstance(e, coherent | incoherent), lambda e: e.definition)
    if not isinstance(n, Symbol):
        raise WrongLimit(f"orders are exponents of a dimension, not of {n}")
    found = _power(x, n)
    if n not in found.free_symbols:
        return found
    front = x.subs(n, 1)
    if n in _power(x / front, n).free_symbols:
        raise RuleError(f"not covered: {x} is not a power of {n}")
    raise WrongLimit(f"{x} is {front} times a power of {n}")


def _power(x: Expr, n: Symbol) -> Expr:
    return (expand_log(log(powsimp(x))) / log(n)).expand()


@rule("stable", "it does not grow with the width: the exponent is at most 0", "stable", True)
def stable(state: Basic, used: Used, unknown: Symbol) -> Outcome:
    """The least value of a real exponent, such as that of the learning rate, that is stable."""
    slope = state.rhs.expand().coeff(unknown, 1)
    if not slope.is_negative or unknown in (state.rhs - slope * unknown).expand().free_symbols:
        raise RuleError(f"not covered: {state.rhs} does not fall linearly in {unknown}")
    least = ((state.rhs - slope * unknown) / -slope).expand()
    reason = "stable: the exponent is at most 0, and 0 at equality: no vanishing either"
    return Outcome(relation(unknown, least, ">="), ">=", {"unknown": unknown}, reason)
