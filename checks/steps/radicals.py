"""Proof of steps that collect roots and exponentials: the same products of irreducible factors."""

from collections.abc import Mapping

from sympy import Dummy, Expr, Function, Mul, Pow, cos, exp, factor, sin, sqrt, together

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import equal, is_zero, opened
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.terms import Indicator

Finding = tuple[Proof, str]


def prove_radicals(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Both sides agree once every root is a product of roots of irreducible positive factors."""
    if alike(opened(step.before), opened(step.after)):
        return Proof.PROVED, "equal in irreducible factors under every root"
    return Proof.REFUTED, "not equal in irreducible factors under the roots"


def alike(left: Expr, right: Expr) -> bool:
    """Whether two expressions are equal in normal form, arguments of functions included."""
    one, other = _split(left), _split(right)
    return one == other or is_zero(one - other)


def _split(e: Expr) -> Expr:
    """Roots of quotients as quotients of roots of factors, from the inside out."""
    if not e.args:
        return e
    e = e.func(*(_split(part) if isinstance(part, Expr) else part for part in e.args))
    if isinstance(e, Pow) and e.exp.is_Rational and e.exp.q == 2:
        return factor(together(e.base)) ** e.exp
    if isinstance(e, Mul):
        exponents = [f.args[0] for f in e.args if isinstance(f, exp)]
        rest = [f for f in e.args if not isinstance(f, exp)]
        return Mul(*rest) * exp(factor(together(sum(exponents))))
    if isinstance(e, Function | Indicator) and not isinstance(e, exp):
        return e.func(*(part.expand() if isinstance(part, Expr) else part for part in e.args))
    if isinstance(e, exp):
        return exp(factor(together(e.args[0])))
    return e


def prove_correlation(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Putting rho = t/sqrt(1 + t^2) back gives the relation as it was; this maps R onto (-1, 1)."""
    old, rho = step.certificate["old"], step.certificate["rho"]
    if not old.is_real or old.is_positive is not None or step.before.has(rho):
        return Proof.REFUTED, f"{old} is no real symbol, or {rho} stands there already"
    back = {rho: old / sqrt(1 + old**2)}
    for side in ("lhs", "rhs"):
        before, after = opened(getattr(step.before, side)), opened(getattr(step.after, side))
        if after.has(old) or not alike(after.xreplace(back), before):
            return Proof.REFUTED, f"{after} is not {before} at {rho} = {back[rho]}"
    return Proof.PROVED, f"{rho} = {back[rho]} put back gives the relation as it was"


def prove_circle(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """Equal with ((1 - t^2), 2 t)/(1 + t^2) for cosine and sine, for each angle a t of its own.

    These are all points of the circle but one, at which the two sides, being continuous, agree too.
    """
    sides = [opened(side) for side in (step.before, step.after)]
    angles = {e.args[0] for side in sides for e in side.atoms(sin, cos)}
    points = {}
    for angle in sorted(angles, key=str):
        t = Dummy("t", real=True)
        points[sin(angle)] = 2 * t / (1 + t**2)
        points[cos(angle)] = (1 - t**2) / (1 + t**2)
    if equal(*(side.xreplace(points) for side in sides)):
        return Proof.PROVED, "equal at every rational point of the circle, with its parameter free"
    return Proof.REFUTED, "not equal on the circle"
