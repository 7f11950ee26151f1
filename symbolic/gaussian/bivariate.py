"""Closed forms of E[f(Z1) g(Z2)] for jointly Gaussian Z1, Z2 of mean 0."""

from sympy import Dummy, Expr, Integer, Pow, S, Symbol, factor, sqrt

from varlaw.symbolic.gaussian.closed import closed_form


def kernel(
    f: Expr, g: Expr, x: Symbol, rho: Expr, variances: tuple[Expr, Expr] = (S.One, S.One)
) -> Expr:
    """E[f(Z1) g(Z2)] at correlation rho and given variances; f and g are functions of x.

    By conditioning: given Z1 = x, Z2 is normal with mean rho x s2/s1 and variance s2^2 (1 - rho^2),
    so that both integrals are moments of one Gaussian. For relu this is the arc-cosine kernel (Cho
    and Saul 2009, section 2). A symbolic rho stands for |rho| < 1. Raises what `closed_form`
    raises, and ValueError for a correlation outside [-1, 1].
    """
    first, second = variances
    if rho.is_number and not -1 <= rho <= 1:
        raise ValueError(f"the correlation {rho} lies outside [-1, 1]")
    ratio = sqrt(second / first)
    if rho in (1, -1):
        return closed_form(f * g.subs(x, rho * ratio * x), x, Integer(0), first)
    y, spread = Dummy("y", real=True), Dummy("v", positive=True)
    given = closed_form(g.subs(x, y), y, rho * ratio * x, spread)
    whole = closed_form(f * given, x, Integer(0), first)
    if not rho.is_number:
        whole = _roots_reduced(whole, rho, 1 - spread / second)
    return whole.subs(spread, second * (1 - rho**2))


def _roots_reduced(whole: Expr, rho: Expr, square: Expr) -> Expr:
    """Roots of sums simplified by rho^2 = `square`, such as sqrt(1 + rho^2/v) at v = 1 - rho^2."""
    return whole.replace(
        lambda e: isinstance(e, Pow) and e.base.is_Add,
        lambda e: factor(e.base.subs(rho**2, square)) ** e.exp,
    )
