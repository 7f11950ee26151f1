"""Rules of spectra: the loop equation, its limit, its generating function, where that ends."""

from sympy import Basic, Eq, Expr, Integer, Poly, Symbol, Tuple, discriminant, limit, oo, sqrt

from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, relation, rule
from varlaw.symbolic.ranges import Range
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.spectra import Norm, Trace
from varlaw.symbolic.terms import Expectation, IndexSum, factors

NEEDED = (Kind.GAUSSIAN, Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL)
a = Symbol("a", integer=True, nonnegative=True)
F, z = Symbol("F", positive=True), Symbol("z", positive=True)


@rule("loop", "Stein's lemma on each entry", checker="loop")
def loop(state: Expr, used: Used) -> Expr:
    """E[tau_(k+1)] = n s2 Sum_a E[tau_a tau_(k-a)] + k s2 E[tau_k] for tau_k = tr (w^T w)^k/n.

    E[w_ij (w (w^T w)^k)_ij] = s2 E[d/dw_ij (w (w^T w)^k)_ij]: at the a-th w the trace falls in two,
    at each of the k factors w^T it stays one.
    """
    tau = state.args[0] if isinstance(state, Expectation) else None
    if not isinstance(tau, Trace):
        raise RuleError(f"not covered: {state} is not the mean of the trace of a power")
    array, k, n = tau.array, tau.power - 1, tau.size
    if not array.zero_mean or not all(map(array.has, NEEDED)):
        raise RuleError(f"not covered: the entries of {array.name} are not iid N(0, s2)")
    used.update({*map(array.assumption, NEEDED), array.centred})

    def trace(power: Expr) -> Expr:
        return Trace(tau.entry, n, power)

    pairs = IndexSum(Expectation(trace(a) * trace(k - a)), Range(Tuple(a), Integer(0), k, Tuple()))
    return array.moment(2) * (n * pairs + k * Expectation(trace(k)))


@rule(
    "trace-limits",
    "limits of both sides: the variances of the traces are O(1/n^2) (Poincare), so that means of "
    "products factor",
    checker="trace-limits",
    equations=True,
)
def trace_limits(state: Eq, used: Used, name: str) -> Outcome:
    """The equation between the limits c_k of E[tr (w^T w)^k/n] as the size n grows."""
    (tau,) = state.lhs.atoms(Trace)
    limits = {
        mean: _product(name, mean.args[0]) for mean in state.atoms(Expectation) if mean.has(Trace)
    }
    right = state.rhs.xreplace(limits).expand()
    sums = {total: Symbol(f"sum{k}") for k, total in enumerate(right.atoms(IndexSum))}
    value = limit(right.xreplace(sums), tau.size, oo)
    used.update({*map(tau.array.assumption, NEEDED), tau.array.centred})
    used.add(Assumption(Kind.WIDE, (str(tau.size),)))
    after = value.xreplace({symbol: total for total, symbol in sums.items()})
    return Outcome(relation(limits[state.lhs], after, "="), certificate={"limits": limits})


def _product(name: str, traces: Expr) -> Expr:
    product: Expr = Integer(1)
    for part in factors(traces):
        base, times = part.as_base_exp()
        if not isinstance(base, Trace):
            raise RuleError(f"not covered: {traces} is no product of traces")
        product *= Term(name, base.power) ** times
    return product


@rule("generating-function", "the series F = Sum_k c_k z^k with c_0 = 1, squared (Cauchy)",
      checker="generating-function", equations=True)  # fmt: skip
def generating_function(state: Eq, used: Used) -> Outcome:
    """F = 1 + z F^2 from c_(k+1) = Sum_a c_a c_(k-a)."""
    total = state.rhs
    if not isinstance(total, IndexSum) or len(total.bound) != 1:
        raise RuleError(f"not covered: {state.rhs} is no convolution")
    (index,), (lower, k) = total.bound, total.ranges[0].bounds
    name = state.lhs.args[0]
    if lower != 0 or total.summand != Term(name, index) * Term(name, k - index):
        raise RuleError(f"not covered: {total} is no convolution")
    return Outcome(relation(F, 1 + z * F**2, "="))


@rule("branch-point", "where two solutions meet: the discriminant in F vanishes",
      checker="branch-point", equations=True)  # fmt: skip
def branch_point(state: Eq, used: Used) -> Outcome:
    """The radius of convergence of F: the least positive zero of the discriminant."""
    gap = Poly(discriminant(state.rhs - state.lhs, state.lhs), z)
    if gap.degree() != 1:
        raise RuleError(f"not covered: the discriminant {gap.as_expr()} is not linear in {z}")
    reason = f"the discriminant {gap.as_expr()} of the quadratic in {F} vanishes"
    return Outcome(relation(z, -gap.nth(0) / gap.nth(1), "="), reason=f"{reason}: two roots meet")


@rule(
    "spectral-edge",
    "c_k^(1/k) tends to 1/z, where the squares of the singular values end; none lies beyond: "
    "E[s_max] <= 2 (Gordon)",
    checker="spectral-edge",
    equations=True,
)
def spectral_edge(state: Basic, used: Used, of: Norm) -> Outcome:
    """The largest singular value tends to z^(-1/2), z the radius of convergence of F."""
    used.update({*map(of.array.assumption, NEEDED), of.array.centred})
    used.add(Assumption(Kind.WIDE, (str(of.size),)))
    after = relation(Expectation(of), 1 / sqrt(state.rhs), "->")
    return Outcome(after, "->", certificate={"of": of})
