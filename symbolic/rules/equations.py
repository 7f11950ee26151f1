"""Rules of equations: what is required, solved, and called by a name."""

from sympy import (
    Add,
    Dummy,
    Eq,
    Expr,
    Poly,
    PolynomialError,
    Pow,
    Rational,
    Symbol,
    collect,
    factor,
    factor_terms,
    fraction,
    powdenest,
    powsimp,
    together,
)

from varlaw.symbolic.derivation import Outcome, RuleError, Used, relation, rule, sign_of
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import Defined, Named, Term
from varlaw.symbolic.terms import IndexSum, Variance


@rule("algebra", "algebra", checker="algebra")
def algebra(state: Expr, used: Used, form: str = "expand") -> Expr:
    """The expression in another form: `terms` groups by values of sequences, `common` takes out
    what the terms of each sum in a term have in common."""
    match form:
        case "factor":
            return factor(state)
        case "together":
            return together(state)
        case "cancel":
            return state.cancel()
        case "terms":
            return collect(state, list(state.atoms(Term)), _factored)
        case "common":
            return Add(*map(factor_terms, Add.make_args(state)))
        case "expand":
            return _expanded(state)
        case _:
            raise RuleError(
                f"unknown form {form!r}; use expand, factor, together, cancel, common or terms"
            )


def _factored(e: Expr) -> Expr:
    """In factors, of which b^(2 t) is one."""
    held = {p: Dummy("p") for p in e.atoms(Pow) if not p.exp.is_number}
    return factor(e.xreplace(held)).xreplace({dummy: power for power, dummy in held.items()})


def _expanded(state: Expr) -> Expr:
    """The terms multiplied out, over denominators as they are."""
    divisors = {
        power: Dummy(positive=power.is_positive)
        for power in state.atoms(Pow)
        if power.exp.is_Rational and power.exp.is_negative and not power.base.is_Number
    }
    kept = {dummy: power for power, dummy in divisors.items()}
    return state.xreplace(divisors).expand(power_exp=False).xreplace(kept)


@rule("powers", "collect powers", checker="algebra")
def powers(state: Expr, used: Used) -> Expr:
    """Products of powers of one base as one power, and the sums of such products worked out."""
    return powsimp(
        powdenest(state.replace(IndexSum, _tidy_powers), force=False).expand(power_exp=False)
    )


def _tidy_powers(summand: Expr, *ranges: Range) -> Expr:
    return IndexSum(powsimp(summand), *ranges)


@rule("definition", "by definition", checker="algebra")
def definition(state: Expr, used: Used) -> Expr:
    """Open functions that are defined by a formula, such as the means."""
    return state.replace(lambda part: isinstance(part, Defined), lambda part: part.definition)


@rule("earlier", "by definition or by a law derived before", checker="algebra")
def earlier(state: Expr, used: Used, name: str | None = None) -> Outcome:
    """Open the named results of earlier laws."""
    found = sorted({part.name for part in state.atoms(Named) if name in (None, part.name)})
    opened = state.replace(
        lambda part: isinstance(part, Named) and part.name in found, lambda part: part.definition
    )
    return Outcome(opened)


@rule("require", "the requirement", checker="requirement", equations=True)
def require(state: Eq, used: Used, equals: Expr, because: str = "") -> Outcome:
    """The value that was found is required to be `equals`."""
    return Outcome(relation(state.rhs, equals, "="), reason=because or "the requirement")


@rule("equal", "by the choice made", checker="choice", equations=True)
def equal(state: Eq, used: Used, to: Expr, because: str = "") -> Outcome:
    """The quantity `to`, a symbol or a value of a sequence, is the value that was found."""
    if not isinstance(to, Symbol | Term):
        raise RuleError(f"{to} is no name for what was found")
    return Outcome(relation(to, state.rhs, "="), reason=because or "by the choice made")


@rule("solve", "solve for the positive unknown", checker="solution", equations=True)
def solve(state: Eq, used: Used, unknown: Symbol) -> Outcome:
    """The equation solved for a positive unknown that it holds in one power c u^k = r only.

    On the left by itself, the power may have a positive symbol in its exponent.
    """
    if not unknown.is_positive:
        raise RuleError(f"the unknown {unknown} is not declared positive")
    base, exponent = state.lhs.as_base_exp()
    if base == unknown and exponent.is_positive and not exponent.is_number:
        value = state.rhs ** (1 / exponent)
        return Outcome(relation(unknown, value, "="), certificate={"unknown": unknown})
    top, _ = fraction(together(state.lhs - state.rhs))
    try:
        coefficients = Poly(top, unknown).as_dict()
    except PolynomialError:
        coefficients = {}
    orders = sorted(order for (order,) in coefficients)
    if len(orders) != 2 or orders[0] != 0:
        raise RuleError(f"not covered: {state} is not of the form c*{unknown}^k = r")
    order = orders[1]
    ratio = -coefficients[(0,)] / coefficients[(order,)]
    top, bottom = fraction(factor(ratio))
    if top.could_extract_minus_sign():
        top, bottom = -top, -bottom
    value = (top / bottom) ** Rational(1, order)
    return Outcome(relation(unknown, value, "="), certificate={"unknown": unknown, "value": value})


@rule("call", "under the name it goes by", checker="naming", equations=True)
def call(state: Eq, used: Used, name: Expr) -> Outcome:
    """The left-hand side under a name: `s2` as Var(w), or E[b^2] as the next v_{t+1}."""
    reason = ""
    if isinstance(name, Variance):
        array = name.args[0].array
        if array.scale == "second_moment":
            if not array.zero_mean:
                raise RuleError(
                    f"the second moment of {array.name} is not its variance: its mean is not 0"
                )
            used.add(array.centred)
            reason = f"Var({array.name}) = E[{array.name}^2] at mean 0"
    return Outcome(relation(name, state.rhs, "="), reason=reason)


@rule("substitute", "a special case", checker="substitution", equations=True)
def substitute(state: Eq, used: Used, values: dict[Expr, Expr], because: str = "") -> Outcome:
    """Both sides with values put in for symbols."""
    shown = because or "with " + ", ".join(f"{k} = {v}" for k, v in values.items())
    after = relation(state.lhs.subs(values), state.rhs.subs(values), sign_of(state))
    return Outcome(after, certificate={"values": values}, reason=shown)
