"""Links that state a law of the catalogue: moments of activations of a Gaussian variable."""

from functools import lru_cache

from sympy import Eq, Expr, Function, Symbol

from varlaw.checks.claims.declarations.distributions import Distribution
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.terms import Expectation

MOMENTS = {"moment", "square", "fourth"}  # what laws are called that state one


def cited(f: Expr, x: Symbol, law: Distribution) -> str:
    """The name of a law that states E[f(x)] for x of that law; empty where none is found.

    A law states it if its left side is the expectation of the same function, of a Gaussian variable
    of the same mean, and of the same variance or of any.
    """
    if law.kind != "normal" or not law["mean"].is_zero:
        return ""
    for name in _named_after(f):
        stated = _stated(name)
        if stated is None:
            continue
        g, z, variance = stated
        if g.xreplace({z: x}) == f and (variance.is_Symbol or variance == law["var"]):
            return name
    return ""


def _named_after(f: Expr) -> list[str]:
    """The laws on moments that have the name of a function in f in theirs."""
    from varlaw.derivations.catalogue import entries

    words = {type(node).__name__ for node in f.atoms(Function)}
    parts = {name: set(name.split("-")) for name in entries()}
    return [name for name, part in parts.items() if part & words and part & MOMENTS]


@lru_cache(maxsize=256)
def _stated(name: str) -> tuple[Expr, Symbol, Expr] | None:
    """(function, variable, variance) of a law that states the mean of a function, else None."""
    from varlaw.derivations.catalogue import find

    statement = find(name).statement
    if not isinstance(statement, Eq) or not isinstance(statement.lhs, Expectation):
        return None
    variable = variable_of(statement.lhs)
    if variable is None or not variable.mean.is_zero:
        return None
    return variable.inside(statement.lhs), variable.symbol, variable.variance
