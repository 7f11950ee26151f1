"""Proofs of steps about averages of many units, without the rules that made them."""

from collections.abc import Mapping

from sympy import Add, Basic, Dummy, Expr, Integer, Mul, Pow, Symbol, exp, log, series

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import equal, is_zero, opened
from varlaw.checks.steps.derivatives import spread
from varlaw.checks.steps.moment_proof import recorded
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import Named, Term
from varlaw.symbolic.terms import Expectation, IndexSum

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]


def is_positive(e: Basic) -> bool:
    """Whether an expression is certainly positive: made of exponentials and positive symbols."""
    match e:
        case Expectation() | IndexSum():
            return is_positive(e.args[0])
        case Named():
            return is_positive(e.definition)
        case exp():
            return all(part.is_real for part in e.args[0].atoms(Entry, Symbol))
        case Add() | Mul():
            return all(is_positive(part) for part in e.args)
        case Pow():
            return is_positive(e.base) and e.exp.is_real is True
        case _:
            return e.is_positive is True


def prove_averages(step: Step, arrays: Arrays) -> Finding:
    """Equal once the means are written out and all sums have one index."""
    index = Symbol("i", integer=True, positive=True)

    def one(summand: Expr, *ranges: Basic) -> Expr:
        total = IndexSum(summand, *ranges)
        return total.renamed({total.bound[0]: index}) if len(total.bound) == 1 else total

    left, right = (opened(e).replace(IndexSum, one) for e in (step.before, step.after))
    if is_zero(left - right):
        return Proof.PROVED, "the means written out"
    return Proof.REFUTED, "the two sides differ once the means are written out"


def prove_out_of_sums(step: Step, arrays: Arrays) -> Finding:
    """Equal sum by sum, with the named things in them as numbers."""
    hidden = {e: Dummy(e.name, positive=True) for e in step.before.atoms(Named) if not e.indices}
    before, after = (_flat(side.xreplace(hidden)) for side in (step.before, step.after))
    if equal(before, after):
        return Proof.PROVED, "equal sum by sum"
    return Proof.REFUTED, "the sums differ"


def _flat(e: Expr) -> Expr:
    """What stands in expectations as products of sums without constant factors."""
    return e.replace(Expectation, lambda inside: Expectation(spread(inside).expand()))


def prove_sums_to_one(step: Step, arrays: Arrays) -> Finding:
    """A sum of all values of one sequence was put to 1, and the step says that it sums to 1."""
    of = step.certificate["of"]
    part = of.summand if isinstance(of, IndexSum) else of
    if not isinstance(part, Term | Entry) or _indices(part) != of.bound:
        return Proof.REFUTED, f"{of} is not the sum of a sequence"
    name = part.array.name if isinstance(part, Entry) else part.name
    stated = Assumption(Kind.SUMS_TO_ONE, (name,))
    if stated not in step.assumptions:
        return Proof.REFUTED, f"the step does not record: {stated}"
    if of.ranges[0].lower != 1 or of not in step.before.atoms(IndexSum):
        return Proof.REFUTED, f"{of} is not in the state, or not over all of the sequence"
    if not equal(step.before.xreplace({of: Integer(1)}), step.after):
        return Proof.REFUTED, "more changed than this sum"
    return Proof.PROVED, f"by the assumption that {stated}"


def _indices(part: Term | Entry) -> tuple[Basic, ...]:
    return part.indices if isinstance(part, Entry) else tuple(part.args[1:])


def prove_logarithms(step: Step, arrays: Arrays) -> Finding:
    """Both sides agree once every logarithm is one of bases that are no products or powers."""
    try:
        if is_zero(_apart(opened(step.before)) - _apart(opened(step.after))):
            return Proof.PROVED, "logarithms of positive factors added up"
    except ValueError as error:
        return Proof.REFUTED, str(error)
    return Proof.REFUTED, "the logarithms of the factors do not add up to the result"


def _apart(e: Expr) -> Expr:
    if isinstance(e, log):
        total: Expr = Integer(0)
        for base, power in _apart(e.args[0]).as_powers_dict().items():
            if base.func is exp or base == exp(1):
                total += power if base == exp(1) else power * base.args[0]
            elif is_positive(base):
                total += power * log(base)
            else:
                raise ValueError(f"{base} is not known to be positive")
        return total
    if not e.args or isinstance(e, Entry):
        return e
    return e.func(*(_apart(part) if isinstance(part, Expr) else part for part in e.args))


def prove_large_numbers(step: Step, arrays: Arrays) -> Finding:
    """Each mean is over iid units with a finite variance; the state is continuous at the limits."""
    over, known = step.certificate["over"], recorded(arrays, step.assumptions)
    if not any(a.kind is Kind.WIDE and a.subjects == (str(over),) for a in step.assumptions):
        return Proof.REFUTED, "the step does not say that it is a wide limit"
    limits: dict[Expr, Expr] = {}
    for mean in step.before.atoms(Named):
        g, why = _summand(mean, over, known)
        if g is None:
            return Proof.REFUTED, why
        limits[mean] = Expectation(g)
    if not is_zero(step.before.xreplace(limits) - step.after):
        return Proof.REFUTED, f"{step.after} is not the state at the limits of its means"
    if over in step.before.xreplace({mean: Integer(1) for mean in limits}).free_symbols:
        return Proof.REFUTED, f"{over} stands outside the means"
    if not _continuous(step.before, limits):
        return Proof.UNCHECKED, "it may not be continuous in the means"
    return Proof.PROVED, f"variances O(1/{over}): Chebyshev, continuous mapping"


def _summand(mean: Named, over: Symbol, known: Arrays) -> tuple[Expr | None, str]:
    """g of a mean over iid Gaussian units of g(z), a polynomial times exponentials; or why not."""
    total = (mean.definition * over).doit()
    if not isinstance(total, IndexSum) or len(total.ranges) != 1:
        return None, f"{mean} is not a mean over {over}"
    (r,) = total.ranges
    entries = list(total.summand.atoms(Entry))
    if (r.lower, r.upper, r.excluded) != (1, over, ()) or len(r.indices) != 1 or len(entries) != 1:
        return None, f"{mean} is not a mean over 1..{over} of one variable"
    (entry,) = entries
    array = known[entry.array.name]
    if entry.indices != r.indices or not all(
        array.has(kind) for kind in (Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL, Kind.GAUSSIAN)
    ):
        return None, f"the step does not record that {array.name} is iid and Gaussian"
    x = Dummy("x", real=True)
    if not all(_light(f, x) for f in Mul.make_args(total.summand.xreplace({entry: x}))):
        return None, f"the variance of {total.summand} may be infinite"
    return total.summand, ""


def _light(factor: Expr, x: Symbol) -> bool:
    """Whether a factor grows like a power or like exp of a linear function."""
    if isinstance(factor, exp):
        return bool(factor.args[0].is_polynomial(x) and not factor.args[0].diff(x, 2))
    return bool(factor.is_polynomial(x))


def _continuous(e: Expr, limits: Mapping[Expr, Expr]) -> bool:
    """Sums, products, natural powers; other powers and logarithms of what tends to a positive."""
    if e in limits or not any(e.has(mean) for mean in limits):
        return True
    if isinstance(e, (Add, Mul)):
        return all(_continuous(part, limits) for part in e.args)
    if isinstance(e, (Pow, log)):
        base = e.args[0]
        rest = () if isinstance(e, log) else e.args[1:]
        natural = isinstance(e, Pow) and e.exp.is_Integer and e.exp > 0
        return (
            not any(part.has(mean) for part in rest for mean in limits)
            and _continuous(base, limits)
            and (natural or is_positive(base.xreplace(dict(limits))))
        )
    return False


def prove_delta_method(step: Step, arrays: Arrays) -> Finding:
    """The second-order term of E[log B] by a series, for a mean B of iid lognormal variables.

    log(1 + u) = u - u^2/2 + r with |r| <= |u|^3 (1 + 1/(1 + u)); B has all moments, 1/B as well
    (Jensen: 1/B is at most the mean of 1/g), and E[u^4] = O(1/n^2): n E[r] -> 0.
    """
    over, known = step.certificate["over"], recorded(arrays, step.assumptions)
    means = [e for e in step.before.atoms(Named) if not is_zero(e.definition)]
    if len(means) != 1:
        return Proof.REFUTED, "not one mean"
    (mean,) = means
    g, why = _summand(mean, over, known)
    if g is None:
        return Proof.REFUTED, why
    if not isinstance(g, exp):
        return Proof.REFUTED, f"{g} is not lognormal: the moments of 1/B may be infinite"
    if not any(a.kind is Kind.WIDE and a.subjects == (str(over),) for a in step.assumptions):
        return Proof.REFUTED, "the step does not say that it is a wide limit"
    front = step.before / (over * (Expectation(log(mean)) - log(Expectation(g))))
    if front.has(Expectation, over):
        return Proof.REFUTED, f"the state is not {over} (E[log B] - log E[B])"
    e, x = Symbol("e", positive=True), Dummy("x", real=True)
    b, v = (Dummy(name, positive=True) for name in "bv")
    second = series(log(b + e * x), e, 0, 3).removeO().coeff(e, 2).coeff(x, 2) * v
    found = second.xreplace({b: Expectation(g), v: Expectation(g**2) - Expectation(g) ** 2})
    if not is_zero(front * found - step.after):
        return Proof.REFUTED, f"the second-order term is {front * found}"
    return Proof.PROVED, "second order of the series; the variance of a mean is Var/n"
