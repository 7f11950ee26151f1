"""g(u)/u^m where g has a zero of order m at 0: there it is g^(m)(theta u)/m! on average.

Balls around u = 0 would tell nothing of a quotient; the m-th derivative is without cancellation.
"""

from collections.abc import Callable
from functools import cached_property
from math import factorial
from typing import Any

from flint import acb, arb
from sympy import Expr, Integer, Symbol


class Divided(Expr):
    """(g, its variable t, m, u): the value at u of g(t)/t^m."""

    is_real = True
    is_commutative = True

    def __new__(cls, g: Expr, t: Symbol, order: int, u: Expr) -> "Divided":
        return Expr.__new__(cls, g, t, Integer(order), u)

    @property
    def argument(self) -> Expr:
        return self.args[3]

    @cached_property
    def slope(self) -> Expr:
        return self.args[0].diff(self.args[1], int(self.args[2]))

    def on(self, kind: Any) -> Callable[[Any], Any]:
        """The function on real or complex balls."""
        from varlaw.symbolic.gaussian.programs import program

        g, t, order = self.args[0], self.args[1], int(self.args[2])
        value, slope = (_function(program(f, t), kind) for f in (g, self.slope))

        def run(u: Any) -> Any:
            near = slope(u.union(kind(0))) / factorial(order)
            far = value(u) / u**order
            return far if far.is_finite() and not _radius(far) > _radius(near) else near

        return run


def _function(code: Any, kind: Any) -> Callable[[Any], Any]:
    if kind is arb:
        return code.on_reals()
    analytic = code.on_complexes()
    return lambda z: analytic(z, True)


def _radius(value: Any) -> arb:
    if isinstance(value, acb):
        return arb(value.real.rad()) + arb(value.imag.rad())
    return arb(value.rad())
