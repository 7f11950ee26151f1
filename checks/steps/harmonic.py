"""Proof of a step of the integral test: a harmonic sum grows like a logarithm."""

from collections.abc import Mapping

from sympy import Dummy, Expr, Poly, PolynomialError, Symbol, cancel, diff, exp, fraction, together

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.derivation import Step

Finding = tuple[Proof, str]


def prove_integral_test(step: Step, arrays: Mapping[str, RandomArray]) -> Finding:
    """A power S^p of S = Sum f(k) against T^p for T the logarithm of a polynomial.

    f is one over a rising linear function, so that F(u + 1) - F(l) <= S <= f(l) + F(u) - F(l) for
    F' = f. Both bounds stay within a constant of T, which grows without bound: S/T tends to 1.
    """
    n: Symbol = step.certificate["variable"]
    total, primitive = step.certificate["sum"], step.certificate["primitive"]
    (k,), (span,) = total.bound, total.ranges
    if span.excluded:
        return Proof.UNCHECKED, "a sum that leaves indices out"
    s = Dummy(positive=True)
    base, power = step.before.xreplace({total: s}).as_base_exp()
    if base != s or power.has(n) or not power.is_positive:
        return Proof.UNCHECKED, f"{step.before} is no power of one sum"
    if not _falls(total.summand, k, span.lower):
        return Proof.UNCHECKED, f"{total.summand} is not one over a rising linear function"
    if not is_zero(diff(primitive, k) - total.summand):
        return Proof.REFUTED, f"{primitive} is no primitive of {total.summand}"
    target = step.after ** (1 / power)
    least = primitive.subs(k, span.upper + 1) - primitive.subs(k, span.lower)
    most = (
        total.summand.subs(k, span.lower)
        + primitive.subs(k, span.upper)
        - primitive.subs(k, span.lower)
    )
    if not _degree(exp(target), n):
        return Proof.REFUTED, f"{target} does not grow like the logarithm of a power of {n}"
    for bound in (least, most):
        if _degree(exp(bound - target), n) != 0:
            return Proof.REFUTED, f"{bound} - {target} is not bounded as {n} grows"
    return Proof.PROVED, f"{least} <= {total} <= {most}, both {target} + O(1)"


def _falls(f: Expr, k: Symbol, lower: Expr) -> bool:
    """Whether f is 1/(a k + b) with a > 0, positive from k = lower on."""
    try:
        line = Poly(cancel(1 / f), k)
    except PolynomialError:
        return False
    return bool(line.degree() == 1 and line.LC().is_positive and line.eval(lower).is_positive)


def _degree(e: Expr, n: Symbol) -> int | None:
    """The degree of the leading power of a quotient of polynomials; None for what is none."""
    try:
        top, bottom = (Poly(part, n) for part in fraction(cancel(together(e.expand()))))
    except PolynomialError:
        return None
    return int(top.degree() - bottom.degree())
