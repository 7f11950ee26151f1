"""Growth of gradients that tokens share, along second moments and a correlation that tends to 1.

From layer to layer the second moment g of a gradient and the product h of two tokens' gradients go
through a matrix M(q, c). Where M = I + A/l + o(1/l), with a rest that has a finite sum, as in
streams with norms, g goes like the power of l that is the larger eigenvalue of A (Levinson's
theorem; Elaydi 2005, An Introduction to Difference Equations, section 8.3); where M has a limit, it
is multiplied by the larger eigenvalue of that, in the end.
"""

from sympy import Expr, Matrix, limit, oo, sqrt

from varlaw.symbolic.blocks.asymptotics import FAILURES, SECONDS
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, BlockError, State, tidy
from varlaw.symbolic.clock import clock

UNKNOWN = Growth("")


def coupled_gradient(repeat: Repeat, state: State, forward: Growth, correlation: Growth) -> Growth:
    """The growth of gradients where the correlation of tokens tends to 1; "" where not known."""
    if correlation.limit != 1 or state.mean != 0 or state.product is None:
        return UNKNOWN
    try:
        with clock(SECONDS):
            return _growth(repeat, state, forward)
    except (*FAILURES, BlockError):
        return UNKNOWN


def _growth(repeat: Repeat, state: State, forward: Growth) -> Growth:
    passed, q = repeat.followed(state), repeat.q
    rows = [
        [tidy(back.diff(s).subs(repeat.c, q)) for s in (repeat.g, repeat.h)]
        for back in (passed.second_moment, passed.product)
    ]
    step = Matrix(rows)
    if step.has(repeat.g, repeat.h, repeat.m):
        return UNKNOWN
    if forward.kind == "linear" and forward.rate is not None:
        rate = forward.rate
        added = ((step - Matrix.eye(2)) * q).applyfunc(lambda e: limit(e, q, oo))
        power = _larger(added / rate)
        return UNKNOWN if power is None else Growth("polynomial", power)
    if forward.kind == "constant":
        factor = _larger(step.subs(q, state.second_moment))
        return UNKNOWN if factor in (None, ONE) else Growth("exponential", factor)
    return UNKNOWN


def _larger(matrix: Matrix) -> Expr | None:
    """The rate of the first value: the larger eigenvalue where both have to do with each other."""
    a, b, c, d = (tidy(entry) for entry in matrix)
    if any(not entry.is_finite for entry in (a, b, c, d)):
        return None
    if b * c == 0:
        return a
    root = sqrt(tidy((a - d) ** 2 + 4 * b * c).factor())
    return tidy((a + d + root) / 2)
