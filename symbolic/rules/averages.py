"""Rules of averages over many units: sums as means, logarithms, large numbers, the delta method."""

from collections.abc import Iterator

from sympy import Add, Basic, Expr, Integer, Mul, Pow, Symbol, diff, exp, log

from varlaw.symbolic.arrays import Entry
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.rules.analysis import grown
from varlaw.symbolic.sequences import Named, Term, named
from varlaw.symbolic.terms import Expectation, IndexSum, factors


@rule("averages", "sums over the units as means of them", checker="averages")
def averages(state: Expr, used: Used, over: Symbol, names: str) -> Expr:
    """Each sum over `over` units as their number times a mean, which goes by a name."""
    labels = iter(names.split())
    opened = state.replace(lambda e: isinstance(e, Named), lambda e: e.definition)
    means: dict[Expr, Expr] = {}  # by the sum, written with one index
    found: dict[Expr, Expr] = {}
    for total in sorted(opened.atoms(IndexSum), key=str):
        if len(total.bound) != 1 or total.ranges[0].size() != over:
            continue
        (first, *_) = [*means, total]
        alike = total.renamed(dict(zip(total.bound, first.bound, strict=True)))
        if alike not in means:
            if (label := next(labels, None)) is None:
                raise RuleError(f"there is no name for the mean of {total.summand}")
            means[alike] = over * named(label, alike / over)
        found[total] = means[alike]
    return opened.xreplace(found)


@rule("out-of-sums", "what does not depend on the index out of the sum", checker="out-of-sums")
def out_of_sums(state: Expr, used: Used) -> Expr:
    """Sum_i (f g_i + h_i) = f Sum_i g_i + Sum_i h_i."""

    def change(summand: Expr, *ranges: Range) -> Expr:
        bound = {index for r in ranges for index in r.indices}
        parts = []
        for term in summand.expand().as_ordered_terms():
            out = [f for f in factors(term) if not f.free_symbols & bound]
            kept = [f for f in factors(term) if f.free_symbols & bound]
            parts.append(Mul(*out) * IndexSum(Mul(*kept), *ranges))
        return Add(*parts)

    return state.replace(IndexSum, change)


@rule("sums-to-one", "probabilities sum to 1", checker="sums-to-one")
def sums_to_one(state: Expr, used: Used, of: Expr) -> Outcome:
    """The sum of all values of a sequence of probabilities, which is recorded as an assumption.

    The probabilities may be random, entries of an array.
    """
    if not isinstance(of, IndexSum) or not isinstance(of.summand, Term | Entry):
        raise RuleError(f"not covered: {of} is not the sum of a sequence")
    part = of.summand
    used.add(
        Assumption(Kind.SUMS_TO_ONE, (part.array.name if isinstance(part, Entry) else part.name,))
    )
    return Outcome(state.xreplace({of: Integer(1)}), certificate={"of": of})


@rule("logarithms", "logarithms of products, of powers and of exponentials", checker="logarithms")
def logarithms(state: Expr, used: Used) -> Expr:
    """log(x y^k e^z) = log x + k log y + z for positive x and y."""
    return state.replace(log, _split)


def _split(argument: Expr) -> Expr:
    parts: list[Expr] = []
    for factor in factors(argument):
        base, power = factor.as_base_exp()
        if isinstance(factor, exp):
            parts.append(factor.args[0])
        elif positive(base):
            parts.append(power * log(base))
        else:
            return log(argument)
    return Add(*parts)


def positive(e: Basic) -> bool:
    """Whether an expression is positive: exponentials, their sums, and what is made of them."""
    if isinstance(e, Named):
        return positive(e.definition)
    if isinstance(e, Expectation):
        return positive(e.args[0])
    if isinstance(e, IndexSum):
        return positive(e.summand)
    if isinstance(e, (Add, Mul)):
        return all(map(positive, e.args))
    if isinstance(e, Pow):
        return positive(e.base) and bool(e.exp.is_real)
    if isinstance(e, exp):
        return not e.has(1j)
    return bool(e.is_positive)


@rule("large-numbers", "law of large numbers", checker="large-numbers")
def large_numbers(state: Expr, used: Used, over: Symbol) -> Outcome:
    """Means of g(z_i) over iid Gaussian units replaced by E[g(z)], in probability.

    Their variances are Var[g(z)]/n: Chebyshev, for each of finitely many means. The state is made
    of them by sums, products, powers and logarithms of what stays positive: continuous mapping.
    """
    means = {}
    for mean in state.atoms(Named):
        total = mean.definition * over
        if isinstance(total, IndexSum):
            means[mean] = Expectation(total.summand)
            used.update(_iid(total))
    if not means:
        raise RuleError(f"there is no mean over {over} in {state}")
    used.add(Assumption(Kind.WIDE, (str(over),)))
    after = state.xreplace(means)
    held = Mul(*(part for part in Mul.make_args(state) if part.has(*means)))
    grown(state / held, held, over)
    if over in after.free_symbols:
        raise RuleError(f"not covered: {after} still depends on {over}")
    return Outcome(after, "->", {"means": means, "over": over})


def _iid(total: IndexSum) -> Iterator[Assumption]:
    """What is used of the one array that a sum is made of."""
    (array,) = {entry.array for entry in total.atoms(Entry)}
    for kind in (Kind.GAUSSIAN, Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL):
        yield array.assumption(kind)
    if array.zero_mean:
        yield array.centred


@rule("delta-method", "delta method: second order of Taylor's expansion", checker="delta-method")
def delta_method(state: Expr, used: Used, over: Symbol) -> Outcome:
    """n (E[log B] - log E[z]) -> log''(b)/2 Var[g(z)], B the mean of n iid g(z_i) of mean b."""
    (mean,) = state.atoms(Named)
    total = mean.definition * over
    if not isinstance(total, IndexSum):
        raise RuleError(f"not covered: {mean} is not a mean over {over}")
    g = total.summand
    centre, square = Expectation(g), Expectation(g**2)
    core = over * (Expectation(log(mean)) - log(centre))
    front = state / core
    if front.has(Expectation):
        raise RuleError(f"not covered: {state} is not {over} (E[log] - log E) of a mean")
    grown(front, core, over)
    b = Symbol("b", positive=True)
    curvature = diff(log(b), b, 2).xreplace({b: centre})
    used.update(_iid(total))
    used.add(Assumption(Kind.WIDE, (str(over),)))
    after = Mul(front, curvature, square - centre**2, Integer(1) / 2)
    return Outcome(after, "->", {"mean": mean, "over": over})
