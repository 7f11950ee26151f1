"""Rules of depth: the first layer below a threshold, slow decay, the logarithm of a mean."""

from sympy import Expr, Integer, Mul, Symbol, diff, limit, log

from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import (
    Derivation,
    Outcome,
    RuleError,
    Used,
    WrongLimit,
    relation,
    rule,
)
from varlaw.symbolic.gaussian.integrand import variable_of
from varlaw.symbolic.rules.analysis import grown
from varlaw.symbolic.sequences import Named, Term
from varlaw.symbolic.terms import Expectation, IndexSum, factors, indicator

DEEPEST = 10**6
ORDERS = 4  # how many terms of a series are written down


@rule(
    "first-below",
    "the first depth at which it is below",
    checker="first-below",
    equations=True,
)
def first_below(state: Expr, used: Used, unknown: Symbol, threshold: Expr) -> Outcome:
    """The least whole number L with f(L) < threshold, where f(L) is the right-hand side."""

    def below(depth: int) -> bool:
        return bool(state.rhs.subs(unknown, depth) < threshold)

    low, high = -1, 1
    while not below(high):
        low, high = high, 2 * high
        if high > DEEPEST:
            raise RuleError(f"{state.rhs} is not below {threshold} within {DEEPEST} layers")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if below(middle) else (middle, high)
    return Outcome(
        relation(unknown, Integer(high), "="),
        certificate={"unknown": unknown, "threshold": threshold},
        reason=f"the least {unknown} with {state.rhs} < {threshold}".replace("**", "^"),
    )


def series(f: Expr, x: Symbol, variance: Expr, orders: int = ORDERS) -> Expr:
    """E[f(z)] for z ~ N(0, variance), to so many orders: Sum_k f^(2k)(0) variance^k/(2^k k!)."""
    total, slope, factor = Integer(0), f, Integer(1)
    for k in range(orders):
        total += slope.subs(x, 0) * factor
        slope, factor = diff(slope, x, 2), factor * variance / (2 * (k + 1))
    return total


@rule(
    "small-variance",
    "Taylor's series at 0, term by term",
    checker="small-variance",
)
def small_variance(state: Expr, used: Used, variance: Symbol) -> Outcome:
    """The limit, as the variance goes to 0, of an expression in E[f(z)] with z ~ N(0, variance)."""
    found = {}
    for part in state.atoms(Expectation):
        known = variable_of(part)
        if known is None or known.mean != 0 or known.variance != variance:
            raise RuleError(f"not covered: {part} is no mean over a normal of variance {variance}")
        found[part] = series(known.inside(part), known.symbol, variance)
        used.update(known.assumptions)
    value = limit(state.xreplace(found).cancel(), variance, 0)
    if not value.is_finite:
        raise WrongLimit(f"{state} has no limit as {variance} goes to 0")
    return Outcome(
        value,
        "->",
        {"variance": variance},
        f"as {variance} -> 0, by Taylor's series at 0 under the expectation",
    )


@rule(
    "slow-decay",
    "1/q grows by c per layer in the end (Stolz and Cesaro)",
    checker="slow-decay",
    equations=True,
)
def slow_decay(state: Expr, used: Used, previous: Term, index: Symbol, steps: Symbol) -> Outcome:
    """q_(t+1) = E[tanh(z)^2], z ~ N(0, q_t), as an asymptotic law: q_l ~ 1/(c l).

    With E[f(z)] = q - c q^2 + O(q^3) and c > 0, the differences 1/q_(t+1) - 1/q_t tend to c.
    """
    means = [part for part in Mul.make_args(state.rhs) if isinstance(part, Expectation)]
    known = variable_of(means[0]) if len(means) == 1 else None
    if known is None or known.mean != 0 or known.variance != previous:
        raise RuleError(f"not covered: {state.rhs} is no mean over N(0, {previous})")
    small = Symbol("q", positive=True)
    front = state.rhs / means[0]
    if front != 1:
        raise WrongLimit(f"{state.rhs}/{previous} does not tend to 1: no decay like 1/{steps}")
    map_ = series(known.inside(means[0]), known.symbol, small)
    rate = -map_.coeff(small, 2)
    if map_.coeff(small, 0) != 0 or map_.coeff(small, 1) != 1 or not rate.is_positive:
        raise RuleError(f"not covered: the map {map_} does not decay slowly")
    used.update(known.assumptions | {Assumption(Kind.WIDE, ("n",))})
    after = relation(state.lhs.xreplace({index: steps - 1}), 1 / (rate * steps), "~")
    facts = {"previous": previous, "index": index, "steps": steps}
    reason = f"1/{state.lhs} - 1/{previous} -> {rate}, so 1/(l q[l]) -> {rate} (Stolz and Cesaro)"
    return Outcome(after, "~", facts, reason)


@rule(
    "log-of-mean",
    "second order of the logarithm at 1 (delta method)",
    checker="log-of-mean",
)
def log_of_mean(state: Expr, used: Used, mean: Named, width: Symbol) -> Outcome:
    """n E[log(S) 1[S > 0]] -> -Var(U)/2 for a mean S of n independent copies of U >= 0, E[U] = 1.

    From log S = (S - 1) - (S - 1)^2/2 + O(|S - 1|^3) near 1, with E[S - 1] = 0, n E[(S - 1)^2] =
    Var(U), E|S - 1|^3 = O(n^(-3/2)). Far from 1 the probability is exponentially small, while
    E[log(S)^2 1[S > 0]] grows no faster than log(n)^2 where log(U)^2 has a mean on U > 0.
    """
    core = width * Expectation(log(mean) * indicator(mean, ">"))
    front = state / core
    if front.has(Expectation):
        raise RuleError(f"not covered: {state} is not {width} times the mean of log({mean})")
    grown(front, core, width)
    unit, entry = unit_of(mean, width)
    moments = [_moment(unit**k, entry) for k in (1, 2)]
    first, second = (chain.end for chain in moments)
    if first != 1:
        raise RuleError(f"not covered: the mean of {mean} is {first}, not 1")
    array = entry.array
    used.update(
        moments[1].assumptions
        | {array.assumption(Kind.INDEPENDENT_ENTRIES), array.assumption(Kind.IDENTICAL)}
        | {Assumption(Kind.WIDE, (str(width),))}
    )
    return Outcome(
        -front * (second - 1) / 2,
        "->",
        {"mean": mean, "width": width, "moments": tuple(moments)},
        f"delta method: -Var(U)/2 with E[U] = 1, E[U^2] = {second} for one unit U of the mean",
    )


def unit_of(mean: Named, width: Symbol) -> tuple[Expr, Entry]:
    """U, and the entry that it is a function of, where the mean is Sum_j U_j/width."""
    sums = [part for part in factors(mean.definition) if isinstance(part, IndexSum)]
    if len(sums) != 1 or len(sums[0].ranges) != 1:
        raise RuleError(f"not covered: {mean.definition} is not a mean over one index")
    (total,) = sums
    (span,) = total.ranges
    unit = width * mean.definition / total * total.summand
    entries = unit.atoms(Entry)
    if (
        len(entries) != 1
        or span.bounds != (1, width)
        or span.excluded
        or width in unit.free_symbols
    ):
        raise RuleError(f"not covered: {mean.definition} is not a mean over {width} units")
    return unit, entries.pop()


def _moment(unit: Expr, entry: Entry) -> Derivation:
    from varlaw.symbolic.strategy import gaussian_form

    if not entry.array.has(Kind.GAUSSIAN):
        raise RuleError(f"not covered: {entry} is not Gaussian")
    return gaussian_form(Expectation(unit))
