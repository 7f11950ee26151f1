"""E[f(x) f(x')] of two Gaussian features, where no closed form is known."""

from typing import Any

from flint import arb, ctx
from sympy import Expr, Lambda

from varlaw.symbolic.blocks.enclosed import evaluated, second_moment, wider
from varlaw.symbolic.blocks.lines import Balls, Enclosable, enclosure
from varlaw.symbolic.gains.slopes import jumps_of, slope_of
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.fixed_points import LOW, dyadic
from varlaw.symbolic.gaussian.joint import enclose2
from varlaw.symbolic.gaussian.pieces import pieces_of
from varlaw.symbolic.language_text import typed


class GaussianPair(Enclosable):
    """E[f(x) f(x')] for x, x' ~ N(mean, variance) with a correlation: (f, mean, variance, r)."""

    is_real = True
    nargs = 4

    def enclosure(self, at: Balls) -> arb:
        """A ball at the midpoints, and how far the mean may move from there (Mehler, Price).

        2 v |d/dv E[f f']| <= E[f^2 (y^2 + 3)] in standard units y, and |d/dr E[f f']| is at most
        v E[f'^2], or E[f^2]/(1 - |r|) where f jumps.
        """
        law, *rest = self.args
        (x,), f = law.variables, law.expr
        m, v, r = (enclosure(part, at) for part in rest)
        if not v > 0 or not m.is_exact():
            raise NoEnclosure("a mean or a variance is not known well enough")
        middle, variance, rho = dyadic(m), dyadic(v), dyadic(r)
        rho = max(min(rho, 1), -1)
        pieces, digits = pieces_of(f, x), max(int(ctx.prec * 0.301), 2)
        value = enclose2(pieces, pieces, x, rho, (variance,) * 2, digits, (middle,) * 2).value
        if v.is_exact() and r.is_exact():
            return value
        with ctx.workprec(LOW):
            left, wide = arb(v.lower()), wider(v)

            def mean(g: Expr) -> arb:
                return second_moment(g, x, middle, wide) * (ball(wide) / left).sqrt()

            far = mean(f * (x - middle)) / left + 3 * mean(f)
            moved = arb(v.rad()) * far / (2 * left)
            if jumps_of(f, x):
                moved += arb(r.rad()) * mean(f) / (1 - abs(r))
            else:
                moved += arb(r.rad()) * arb(v.upper()) * mean(slope_of(f, x))
        return value + arb(moved.abs_upper()) * arb(0, 1)

    def _eval_evalf(self, prec: int) -> Expr | None:
        return evaluated(self, prec)

    def fdiff(self, argindex: int = 1) -> Expr:
        """d/dr E[f(x) f(x')] = v E[f'(x) f'(x')] (Price 1958)."""
        law, m, v, r = self.args
        (x,), f = law.variables, law.expr
        if argindex != 4 or jumps_of(f, x):
            return super().fdiff(argindex)
        return v * self.func(Lambda(x, slope_of(f, x)), m, v, r)

    def _sympystr(self, printer: Any) -> str:
        law, m, v, r = self.args
        (x,), f = law.variables, law.expr
        other = f.subs(x, type(x)(f"{x.name}_", real=True))
        variables = f"{x.name}, {x.name}_ ~ N({typed(m)}, {typed(v)}), correlation {typed(r)}"
        return f"E[{typed(f * other)} | {variables}]"
