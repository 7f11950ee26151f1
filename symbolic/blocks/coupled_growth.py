"""Growth of gradients that tokens or samples share, along second moments and a correlation.

From layer to layer the second moment g of a gradient and the product h of two tokens' gradients go
through a matrix M(q, c). Where M = I + A/l + o(1/l), with a rest that has a finite sum, as in
streams with norms, g goes like the power of l that is the larger eigenvalue of A (Levinson's
theorem; Elaydi 2005, An Introduction to Difference Equations, section 8.3); where M has a limit, or
is the same from the second layer on, it is multiplied by the larger eigenvalue of that, in the end.
"""

from sympy import Add, Expr, Matrix, Mul, Symbol, limit, oo, sqrt

from varlaw.symbolic.blocks.asymptotics import FAILURES, SECONDS
from varlaw.symbolic.blocks.enclosed import is_nil
from varlaw.symbolic.blocks.masked import masked
from varlaw.symbolic.blocks.recurrence import Growth
from varlaw.symbolic.blocks.repeat import Repeat
from varlaw.symbolic.blocks.state import ONE, ZERO, BlockError, State, tidy
from varlaw.symbolic.clock import clock
from varlaw.symbolic.occurrences import depends
from varlaw.symbolic.quotients import NoQuotient, Quotient

UNKNOWN = Growth("")


def coupled_gradient(repeat: Repeat, state: State, forward: Growth, correlation: Growth) -> Growth:
    """The growth where the correlation tends to 1, or layers are alike; "" where not known."""
    if state.product is None:
        return UNKNOWN
    try:
        with clock(SECONDS):
            if correlation.limit == 1 and state.mean == 0:
                return _growth(repeat, state, forward)
            return _settled(repeat, state)
    except (*FAILURES, BlockError):
        return UNKNOWN


def _settled(repeat: Repeat, state: State) -> Growth:
    """Where all layers but the first are alike, as with batch norm."""
    step = _step(repeat, state).subs(repeat.layer(state).system.moved.settled)
    return UNKNOWN if step.has(repeat.q, repeat.c, repeat.m) else _exponential(step)


def _growth(repeat: Repeat, state: State, forward: Growth) -> Growth:
    q = repeat.q
    step = _step(repeat, state).subs(repeat.c, q).applyfunc(tidy)
    if step.has(repeat.m):
        return UNKNOWN
    if forward.kind == "linear" and forward.rate is not None:
        rate = forward.rate
        added = ((step - Matrix.eye(2)) * q).applyfunc(lambda e: _far_out(e, q))
        return Growth("polynomial", _larger(added / rate)) if _finite(added) else UNKNOWN
    if forward.kind == "constant":
        step = step.subs(q, state.second_moment)
        return _exponential(step) if _finite(step) else UNKNOWN
    return UNKNOWN


def _far_out(e: Expr, q: Symbol) -> Expr:
    """The limit as q grows, at once for a quotient of polynomials in q."""
    plain, back = masked(e, q, numbers=True)
    try:
        return back(Quotient.of(plain).far_out(q))
    except NoQuotient:
        return limit(e, q, oo)


def _finite(matrix: Matrix) -> bool:
    return all(tidy(entry).is_finite for entry in matrix)


def _exponential(step: Matrix) -> Growth:
    factor = _larger(step)
    return UNKNOWN if factor == 1 else Growth("exponential", factor)


def _step(repeat: Repeat, state: State) -> Matrix:
    """The matrix M. Raises BlockError where a gradient does not go through one."""
    passed = repeat.followed(state)
    backs, values = (passed.second_moment, passed.product), (repeat.g, repeat.h)
    if any(_degree(back, values) != 1 for back in backs):
        raise BlockError("gradients are not passed on by a matrix")
    alone = [{s: ONE if s == one else ZERO for s in values} for one in values]
    return Matrix([[tidy(back.xreplace(only)) for only in alone] for back in backs])


def _degree(form: Expr, values: tuple[Symbol, Symbol]) -> int | None:
    """The degree of a form in the values, as it is written; None of what is none."""
    if form in values:
        return 1
    if not any(depends(form, value) for value in values):
        return 0
    degrees = [_degree(part, values) for part in form.args]
    if isinstance(form, Add):
        return degrees[0] if len(set(degrees)) == 1 else None
    if isinstance(form, Mul) and None not in degrees:
        return sum(filter(None, degrees))
    return None


def _larger(matrix: Matrix) -> Expr:
    """The rate of the first value: the larger eigenvalue where both have to do with each other."""
    a, b, c, d = (tidy(entry) for entry in matrix)
    if b * c == 0:
        return a
    if is_nil(a * d - b * c):
        return tidy(a + d)
    root = sqrt(tidy((a - d) ** 2 + 4 * b * c).factor())
    return tidy((a + d + root) / 2)
