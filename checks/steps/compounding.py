"""Proof of a step of compound growth: (1 + a/n)^n tends to e^a."""

from collections.abc import Mapping

from sympy import Expr, Mul, Pow, Symbol, cancel, exp

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step


def prove_compounding(step: Step, arrays: Mapping[str, RandomArray]) -> tuple[Proof, str]:
    """The state is k (1 + a/n)^n with positive a and k free of n, and the result k e^a.

    x - x^2/2 <= log(1 + x) <= x for x >= 0, so that n log(1 + a/n) is between a - a^2/(2 n) and a.
    """
    n: Symbol = step.certificate["variable"]
    growing = [f for f in Mul.make_args(step.before) if f.has(n)]
    if len(growing) != 1 or not isinstance(growing[0], Pow) or growing[0].exp != n:
        return Proof.UNCHECKED, f"{step.before} is not one power to {n} times what is free of it"
    (power,) = growing
    a: Expr = cancel((power.base - 1) * n)
    if a.has(n):
        return Proof.REFUTED, f"{power.base} is not 1 + a/{n}"
    if not (a.is_positive and n.is_positive):
        return Proof.UNCHECKED, f"{a} and {n} are not known to be positive"
    ratio = cancel(step.after / (step.before / power) / exp(a))
    if not is_zero(ratio - 1):
        return Proof.REFUTED, f"{step.after} is not {step.before / power} times e^({a})"
    return Proof.PROVED, f"{a} - ({a})^2/(2 {n}) <= {n} log(1 + {a}/{n}) <= {a}"
