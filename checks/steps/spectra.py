"""Proofs of steps about spectra: traces by pairings of letters, series by coefficients."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise, product

from sympy import (
    Add,
    Basic,
    Expr,
    Integer,
    Matrix,
    Mul,
    Poly,
    Pow,
    Rational,
    Symbol,
    degree,
    diff,
    fraction,
    together,
)

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.spectra import Norm, Trace
from varlaw.symbolic.terms import Expectation, IndexSum

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]
Pairing = list[tuple[int, int]]

POWERS = range(5)  # k, for E[tr (w^T w)^(k + 1)]: pairings of up to ten letters
COEFFICIENTS = 8
TERMS = 24
N = Symbol("n", integer=True, positive=True)
NEEDED = {Kind.GAUSSIAN, Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL}


def pairings(letters: Sequence[int]) -> list[Pairing]:
    """All ways of pairing the letters up."""
    if not letters:
        return [[]]
    first, *rest = letters
    return [
        [(first, other), *further]
        for k, other in enumerate(rest)
        for further in pairings([*rest[:k], *rest[k + 1 :]])
    ]


@cache
def traces(powers: tuple[int, ...]) -> Poly:
    """E[Prod_k tr (g^T g)^k] for an n x n array g of iid N(0, 1), as a polynomial in n.

    Wick's formula: each pairing of the letters g_(x y) identifies their rows and their columns,
    and gives n to the number of different ones.
    """
    rows, columns, total = [], [], 0
    for k in powers:
        for step in range(k):
            rows += [total + step] * 2  # x1 y1, x1 y2, x2 y2, x2 y3, ...
            columns += [total + step, total + (step + 1) % k]
        total += k
    counts = [0] * (2 * total + 1)
    for pairing in pairings(range(len(rows))):
        counts[_classes(rows, pairing, total) + _classes(columns, pairing, total)] += 1
    return Poly(counts[::-1], N)


def _classes(of: Sequence[int], pairing: Pairing, count: int) -> int:
    """The number of different indices once those of paired letters are one."""
    names = list(range(count))
    for left, right in pairing:
        old, new = names[of[left]], names[of[right]]
        names = [new if name == old else name for name in names]
    return len(set(names))


class _NotCovered(ValueError):
    """An expectation of something else than products of traces."""


def _value(e: Expr, at: Mapping[Basic, int]) -> Expr:
    """An expression in means of products of traces, at values of the powers; exact in n."""
    match e:
        case IndexSum():
            (index,), (lower, upper) = (
                e.bound,
                (int(b.xreplace(dict(at))) for b in e.ranges[0].bounds),
            )
            return Add(*(_value(e.summand, {**at, index: v}) for v in range(lower, upper + 1)))
        case Expectation():
            return _mean(e.args[0].xreplace({s: Integer(v) for s, v in at.items()}))
        case Add() | Mul() | Pow():
            return e.func(*(_value(part, at) for part in e.args))
        case _:
            return e.xreplace({s: Integer(v) for s, v in at.items()})


def _mean(inside: Expr) -> Expr:
    powers: list[int] = []
    size, variance = N, Integer(1)
    for part in Mul.make_args(inside):
        if part == 1:  # the power 0
            continue
        base, times = part.as_base_exp()
        if not isinstance(base, Trace):
            raise _NotCovered(f"{inside} is no product of traces")
        powers += [int(base.power)] * int(times)
        size, variance = base.size, base.array.moment(2)
    found = traces(tuple(sorted(powers))).as_expr().xreplace({N: size})
    return variance ** sum(powers) * found / size ** len(powers)


def _recorded(step: Step, array: RandomArray) -> str:
    """What of the entries being iid N(0, s2) is not declared or not recorded, or nothing."""
    needed = {*map(array.assumption, NEEDED), array.centred}
    lost = sorted(str(a) for a in needed - step.assumptions)
    declared = array.zero_mean and all(map(array.has, NEEDED))
    return "" if declared and not lost else f"the step does not record {', '.join(lost)}"


def prove_loop(step: Step, arrays: Arrays) -> Finding:
    """Equal at k = 0 to 4 for every n, by pairings; the two kinds of terms for any k.

    Stein's lemma differentiates w (w^T w)^k by each entry e_ij: with P and Q on either side of it,
    Sum_ij (P e_ij Q)_ij = tr P tr Q and Sum_ij (P e_ji Q)_ij = tr(P Q^T), whatever P and Q are.
    """
    (tau,) = step.before.atoms(Trace)
    (k,) = tau.power.free_symbols
    if lost := _recorded(step, tau.array):
        return Proof.REFUTED, lost
    try:
        for value in POWERS:
            left, right = (_value(side, {k: value}) for side in (step.before, step.after))
            if not is_zero(left - right):
                return Proof.REFUTED, f"at {k} = {value} the sides are {left} and {right}"
    except _NotCovered as error:
        return Proof.UNCHECKED, str(error)
    if not _contractions(3):
        return Proof.REFUTED, "the contractions of two matrices fail"
    return Proof.PROVED, "contractions of any matrices; by pairings of letters at k = 0 to 4, any n"


def _contractions(size: int) -> bool:
    """The two identities on generic matrices, which are bilinear in them."""
    p, q = (Matrix(size, size, lambda r, c, x=x: Symbol(f"{x}{r}{c}")) for x in "pq")
    split, kept = Integer(0), Integer(0)
    for i, j in product(range(size), repeat=2):
        unit = Matrix(size, size, lambda r, c, at=(i, j): int((r, c) == at))
        split += (p * unit * q)[i, j]
        kept += (p * unit.T * q)[i, j]
    apart = split - p.trace() * q.trace(), kept - (p * q.T).trace()
    return all(gap.expand() == 0 for gap in apart)


def prove_trace_limits(step: Step, arrays: Arrays) -> Finding:
    """Means of products became products of limits; what else there was of n vanishes.

    Poincare: Var(tau_k) <= s2 E|grad tau_k|^2 = 4 k^2 s2 E[tau_(2 k - 1)]/n for s2 = 1/n, where
    E[tau_m] <= (2 m - 1)!!, since each pairing leaves at most m + 1 of its indices different. All
    limits exist by induction: each is a polynomial in earlier ones, from c_0 = 1.
    """
    limits: dict[Expr, Expr] = dict(step.certificate["limits"])
    (tau,) = step.before.lhs.atoms(Trace)
    n = tau.size
    wide = any(a.kind is Kind.WIDE and a.subjects == (str(n),) for a in step.assumptions)
    if (lost := _recorded(step, tau.array)) or not wide:
        return Proof.REFUTED, lost or "the step does not say that it is a wide limit"
    if not is_zero(tau.array.moment(2) - 1 / n):
        return Proof.REFUTED, f"the variance of the entries is not 1/{n}"
    for mean, value in limits.items():
        factors = [f.as_base_exp() for f in Mul.make_args(mean.args[0])]
        terms = [Term(step.after.lhs.args[0], b.power) ** t for b, t in factors]
        if not is_zero(value - Mul(*terms)):
            return Proof.REFUTED, f"{value} is not the limit of {mean}"
    if limits[step.before.lhs] != step.after.lhs:
        return Proof.REFUTED, f"{step.after.lhs} is not the limit of {step.before.lhs}"
    for total in step.after.rhs.atoms(IndexSum) | {step.after.rhs}:
        if n in total.free_symbols:
            return Proof.REFUTED, f"{n} is still in {total}"
    found = step.before.rhs.xreplace(limits).expand()
    gap = (found - step.after.rhs).expand()
    top, bottom = fraction(together(gap))
    if gap != 0 and not (degree(top, n) < degree(bottom, n)):
        return Proof.REFUTED, f"{gap} does not vanish as {n} grows"
    for i, j in ((1, 1), (1, 2), (2, 2)):  # covariances of tr/n at s2 = 1/n are O(1/n^2)
        both = traces((i, j)) - traces((i,)) * traces((j,))
        if both.degree() > i + j:
            return Proof.REFUTED, f"traces of powers {i} and {j} stay correlated"
    if any(traces((power,)).degree() > power + 1 for power in range(1, 6)):
        return Proof.REFUTED, "the means of the traces grow"
    if not all(_poincare(power) for power in (1, 2, 3)):
        return Proof.REFUTED, "the gradient of a trace is not as Poincare's inequality needs it"
    return Proof.PROVED, f"Poincare: Var(tau_k) <= 4 k^2 E[tau_(2 k - 1)]/{n}^2; induction on k"


def _poincare(power: int) -> bool:
    """|grad tr (w^T w)^k|^2 = 4 k^2 tr (w^T w)^(2 k - 1), on a generic matrix."""
    w = Matrix(2, 2, lambda r, c: Symbol(f"w{r}{c}"))
    gram = w.T * w
    trace = (gram**power).trace()
    squares = sum(diff(trace, entry) ** 2 for entry in w)
    return bool((squares - 4 * power**2 * (gram ** (2 * power - 1)).trace()).expand() == 0)


def prove_generating_function(step: Step, arrays: Arrays) -> Finding:
    """The coefficient of z^(k+1) on either side, for the series written out to order 8."""
    name, total = step.before.lhs.args[0], step.before.rhs
    shift = step.before.lhs.args[1] - 1
    if not shift.is_Symbol or not isinstance(total, IndexSum):
        return Proof.REFUTED, f"{step.before} is no recursion"
    f, (z,) = step.after.lhs, step.after.rhs.free_symbols - {step.after.lhs}
    c = [Integer(1), *(Symbol(f"c{k}") for k in range(1, COEFFICIENTS + 1))]
    series = Add(*(value * z**k for k, value in enumerate(c)))
    gap = Poly((step.after.rhs - step.after.lhs).xreplace({f: series}).expand(), z)
    for k in range(-1, COEFFICIENTS):
        wanted = _convolution(total, name, shift, k, c) - c[k + 1] if k >= 0 else Integer(0)
        if not is_zero(gap.nth(k + 1) - wanted):
            return Proof.REFUTED, f"the coefficients of {z}^{k + 1} differ"
    return Proof.PROVED, f"coefficients compared to order {COEFFICIENTS}: Cauchy's product"


def _convolution(total: IndexSum, name: Basic, k: Symbol, value: int, c: list[Expr]) -> Expr:
    (index,), (lower, upper) = total.bound, total.ranges[0].bounds
    found = Integer(0)
    for at in range(int(lower.subs(k, value)), int(upper.subs(k, value)) + 1):
        summand = total.summand.subs({k: value, index: at})
        found += summand.xreplace({t: c[int(t.args[1])] for t in summand.atoms(Term)})
    return found


def prove_branch_point(step: Step, arrays: Arrays) -> Finding:
    """A double root there; and the coefficients themselves, from the equation, grow like z^(-k).

    They are not negative, so that the radius of convergence is the first positive singularity.
    """
    f, z, point = step.before.lhs, step.after.lhs, step.after.rhs
    gap = step.before.rhs - f
    slope = diff(gap, f)
    (double,) = Poly(slope.xreplace({z: point}), f).all_roots()
    if not is_zero(gap.xreplace({z: point, f: double})):
        return Proof.REFUTED, f"at {z} = {point} there is no double root"
    c = [Integer(1)]
    while len(c) < TERMS:  # from the equation, order by order
        series = Add(*(v * z**k for k, v in enumerate(c)))
        c.append(Poly(step.before.rhs.xreplace({f: series}).expand(), z).nth(len(c)))
    scaled = [v * point**k for k, v in enumerate(c)]
    falls = all(0 < b < a for a, b in pairwise(scaled))
    slowly = all(scaled[2 * k] > scaled[k] / 4 for k in range(1, TERMS // 2))
    if not falls or not slowly:
        return Proof.REFUTED, f"the coefficients do not grow like (1/{point})^k"
    return Proof.PROVED, "a double root; coefficients c_k z^k fall, but like a power of k"


def prove_spectral_edge(step: Step, arrays: Arrays) -> Finding:
    """E||w|| lies between the end of the spectrum and Gordon's bound, and the two are equal.

    From below: tau_k concentrates at c_k and is at most ||w||^(2 k). From above, for iid N(0, s2):
    E||w|| <= 2 sqrt(n) s (Davidson and Szarek 2001, Theorem II.13), which is exact for every n.
    """
    norm = step.certificate["of"]
    if step.after.lhs != Expectation(norm) or not isinstance(norm, Norm):
        return Proof.REFUTED, f"{step.after.lhs} is not the mean of an operator norm"
    n = norm.size
    wide = any(a.kind is Kind.WIDE and a.subjects == (str(n),) for a in step.assumptions)
    if (lost := _recorded(step, norm.array)) or not wide:
        return Proof.REFUTED, lost or "the step does not say that it is a wide limit"
    below = Pow(step.before.rhs, -Rational(1, 2))
    above = 2 * Pow(n * norm.array.moment(2), Rational(1, 2))
    if not is_zero(below - above):
        return Proof.REFUTED, f"the spectrum ends at {below}, Gordon's bound is {above}"
    if not is_zero(step.after.rhs - below):
        return Proof.REFUTED, f"{step.after.rhs} is not {below}"
    return Proof.PROVED, "from below by the spectrum, from above by Gordon's inequality"
