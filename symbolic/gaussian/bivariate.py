"""Closed forms of E[f(Z1) g(Z2)] for jointly Gaussian Z1, Z2."""

from sympy import Dummy, Expr, Pow, S, Symbol, sqrt

from varlaw.symbolic.abbreviations import unabbreviated
from varlaw.symbolic.gaussian.closed import closed_form
from varlaw.symbolic.quotients import factored

Pair = tuple[Expr, Expr]


def kernel(
    f: Expr,
    g: Expr,
    x: Symbol,
    rho: Expr,
    variances: Pair = (S.One, S.One),
    means: Pair = (S.Zero, S.Zero),
) -> Expr:
    """E[f(Z1) g(Z2)] at correlation rho, given variances and means; f and g are functions of x.

    By conditioning: given Z1 = x, Z2 is normal with mean m2 + rho (x - m1) s2/s1 and variance
    s2^2 (1 - rho^2), so that both integrals are moments of one Gaussian. For relu this is the
    arc-cosine kernel (Cho and Saul 2009, section 2). A symbolic rho stands for |rho| < 1. Raises
    what `closed_form` raises, and ValueError for a correlation outside [-1, 1].
    """
    first, second = variances
    if rho.is_number and not -1 <= rho <= 1:
        raise ValueError(f"the correlation {rho} lies outside [-1, 1]")
    along = means[1] + rho * sqrt(second / first) * (x - means[0])  # the mean of Z2 given Z1 = x
    if rho in (1, -1):
        return unabbreviated(closed_form(f * g.subs(x, along), x, means[0], first))
    known = second * (1 - rho**2)
    spread = known if known.is_number else Dummy("v", positive=True)
    whole = closed_form(f * conditional(g, x, along, spread), x, means[0], first)
    if not rho.is_number:
        whole = _roots_reduced(whole, rho, 1 - spread / second)
    return unabbreviated(whole.subs(spread, known))


def conditional(g: Expr, x: Symbol, along: Expr, spread: Expr) -> Expr:
    """E[g(Z2)] for Z2 with variance `spread` and a mean `along` that depends on x."""
    y = Dummy("y", real=True)
    return closed_form(g.subs(x, y), y, along, spread)


def _roots_reduced(whole: Expr, rho: Expr, square: Expr) -> Expr:
    """Roots of sums simplified by rho^2 = `square`, such as sqrt(1 + rho^2/v) at v = 1 - rho^2."""
    return whole.replace(
        lambda e: isinstance(e, Pow) and e.base.is_Add,
        lambda e: factored(e.base.subs(rho**2, square)) ** e.exp,
    )
