"""Rules of numbers: the digits of a constant, the root of an equation, a map over some layers."""

from flint import arb, ctx
from sympy import Basic, Expr, Integer, Rational, Symbol

from varlaw.symbolic.derivation import Outcome, RuleError, Used, WrongLimit, relation, rule
from varlaw.symbolic.digits import truncated
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.gaussian.values import value_of
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.terms import Expectation

MORE = 12  # bits of room for the rounding of the last digit
BITS = 3.33  # per decimal digit


@rule("digits", "in digits, all of them proved", checker="digits")
def digits(state: Expr, used: Used, places: int = 15) -> Expr:
    """A number by its digits, so many behind the point; expectations in it by enclosure."""
    _record(state, used)
    for room in (MORE, 4 * MORE, 16 * MORE):
        with ctx.workprec(int(places * BITS) + room):
            try:
                found = truncated(value_of(state, places + room // 3), places)
            except NoEnclosure as error:
                raise RuleError(f"no digits: {error}") from error
        if found is not None:
            return found
    raise RuleError(f"the digits of {state} do not settle at {places} places")


@rule("root", "a root, enclosed by a change of sign", checker="root", equations=True)
def root(
    state: Expr, used: Used, unknown: Symbol, near: tuple[Expr, Expr], places: int = 15
) -> Outcome:
    """The root of lhs = rhs between two numbers, by bisection in ball arithmetic."""
    _record(state, used)
    low, high = (Rational(end) for end in near)
    below = _sign(state, unknown, low, 30)
    if below * _sign(state, unknown, high, 30) != -1:
        raise WrongLimit(f"no change of sign between {low} and {high}")
    precision = places + 10
    while high - low > Rational(1, 10 ** (places + 4)):
        middle = Rational(round((low + high) / 2 * 10 ** (places + 6)), 10 ** (places + 6))
        if _sign(state, unknown, middle, precision) == below:
            low = middle
        else:
            high = middle
    with ctx.workprec(int(precision * BITS)):
        ends = [arb(int(end.p)) / int(end.q) for end in (low, high)]
        found = truncated(ends[0].union(ends[1]), places)
    if found is None:
        raise RuleError(f"the digits of the root do not settle at {places} places")
    return Outcome(relation(unknown, found, "="), certificate={"unknown": unknown})


@rule("march", "layer by layer, in digits", checker="march", equations=True)
def march(
    state: Expr,
    used: Used,
    previous: Term,
    index: Symbol,
    steps: int,
    initial: Expr,
    places: int = 15,
) -> Outcome:
    """u(t+1) = f(u(t)) from u(0) = initial: u(steps) by its digits, so many behind the point.

    Computed here in floating point with room to spare, and enclosed by the checker.
    """
    small = Symbol("u", positive=True)
    step = state.rhs.xreplace({previous: small})
    if step.free_symbols != {small}:
        raise RuleError(f"not covered: {state.rhs} holds more than {previous}")
    value = initial.evalf(2 * places)
    for _ in range(steps):
        value = step.evalf(2 * places, subs={small: value})
    if not value.is_Float:
        raise RuleError(f"no digits: {state.rhs} has no value at {value}")
    with ctx.workprec(int(2 * places * BITS)):
        number = Rational(value)
        found = truncated(arb(int(number.p)) / int(number.q), places)
    if found is None:
        raise RuleError(f"the digits do not settle at {places} places")
    facts = {"previous": previous, "index": index, "steps": steps, "initial": initial}
    head = state.lhs.xreplace({index: Integer(steps - 1)})
    return Outcome(relation(head, found, "="), certificate=facts)


def _record(state: Basic, used: Used) -> None:
    for head in state.atoms(Expectation):
        variable = variable_of(head)
        if variable is not None:
            used.update(variable.assumptions)


def _sign(state: Expr, unknown: Symbol, at: Expr, places: int) -> int:
    """The sign of lhs - rhs at a value of the unknown."""
    for room in (places, 2 * places):
        with ctx.workprec(int(room * BITS) + MORE):
            gap = value_of((state.lhs - state.rhs).subs(unknown, at), room)
        if gap > 0:
            return 1
        if gap < 0:
            return -1
    raise RuleError(f"the sign of the difference at {unknown} = {at} is not clear")
