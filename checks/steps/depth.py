"""Proofs of steps about depth: thresholds, series at small variance, slow decay, logarithms.

Series are taken of polynomials in u = tanh(x): u' = 1 - u^2 keeps every derivative a polynomial in
u, and |u| < 1 bounds it, so that Taylor's remainder under the expectation is bounded as well.
"""

from collections.abc import Mapping

from sympy import (
    Add,
    Dummy,
    Expr,
    Integer,
    Poly,
    PolynomialError,
    Symbol,
    factorial,
    factorial2,
    fraction,
    log,
    powsimp,
    tanh,
    together,
)

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import equal, is_zero
from varlaw.checks.steps.induction import precedes
from varlaw.checks.steps.moment_proof import recorded
from varlaw.symbolic.arrays import Entry, RandomArray
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Arrow, Step
from varlaw.symbolic.gaussian.pieces import pieces_of
from varlaw.symbolic.terms import Expectation, IndexSum, indicator

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]


def prove_first_below(step: Step, arrays: Arrays) -> Finding:
    """Below at L, not below at L - 1, and falling by a constant factor from layer to layer."""
    unknown, threshold = step.certificate["unknown"], step.certificate["threshold"]
    (depth, f) = step.after.rhs, step.before.rhs
    if step.after.lhs != unknown or not (depth.is_Integer and depth > 0):
        return Proof.REFUTED, f"{depth} is no number of layers"
    squares = [(f.subs(unknown, at) / threshold) ** 2 for at in (depth - 1, depth)]
    ratio = powsimp((f.subs(unknown, unknown + 1) / f) ** 2)
    if not all(number.is_Rational for number in (*squares, ratio)):
        return Proof.UNCHECKED, f"no exact comparison with {threshold}"
    if not 0 < ratio < 1:
        return Proof.REFUTED, f"{f} does not fall from layer to layer"
    if squares[0] >= 1 > squares[1]:
        return Proof.PROVED, f"not below at {depth - 1}, below at {depth}, falling throughout"
    return Proof.REFUTED, f"{depth} is not the first depth below {threshold}"


def taylor(f: Expr, x: Symbol, orders: int) -> list[Expr] | None:
    """f^(2k)(0) E[Z^(2k)]/(2k)! for k < orders, for a polynomial in tanh(x + b); None for others.

    The next coefficient, with f^(2k)(0) replaced by any value it takes, is bounded: the remainder.
    """
    u, heads = Symbol("u", real=True), f.atoms(tanh)
    shift = heads.pop().args[0] - x if len(heads) == 1 else Integer(0)
    try:
        p = Poly(f.xreplace({tanh(x + shift): u}), u)
    except PolynomialError:
        return None
    if p.has(x) or shift.has(x):
        return None
    slope, found = Poly(1 - u**2, u), []
    for k in range(orders):
        moment = factorial2(2 * k - 1) if k else Integer(1)
        found.append(p.eval(tanh(shift)) * moment / factorial(2 * k))
        p = slope * (slope * p.diff(u)).diff(u)
    return found


ORDERS = 4


def prove_small_variance(step: Step, arrays: Arrays) -> Finding:
    """The series with a bounded remainder put in: what is left at variance 0 is the limit."""
    v = step.certificate["variance"]
    known, x = recorded(arrays, step.assumptions), Symbol("x", real=True)
    found: dict[Expr, Expr] = {}
    for part in step.before.atoms(Expectation):
        entry = _normal(part, known, v)
        if entry is None:
            return Proof.REFUTED, f"the step does not record that {part} is over N(0, {v})"
        coefficients = taylor(part.args[0].xreplace({entry: x}), x, ORDERS)
        if coefficients is None:
            return Proof.UNCHECKED, f"{part} is not of a polynomial in tanh"
        rest = Dummy("remainder", real=True) * v**ORDERS
        found[part] = Add(*(c * v**k for k, c in enumerate(coefficients))) + rest
    top, bottom = fraction(together(step.before.xreplace(found)))
    scale, order = bottom.expand().as_coeff_exponent(v)
    if scale.has(v) or not order.is_Integer or not top.is_polynomial(v):
        return Proof.UNCHECKED, f"{step.before} is no polynomial in {v} over a power of it"
    terms = Poly(top, v)
    low = [terms.coeff_monomial(v**k) for k in range(int(order))]
    if not all(is_zero(term) for term in low):
        return Proof.UNCHECKED, f"{step.before} does not stay bounded"
    left = (terms.coeff_monomial(v**order) / scale).cancel()
    if is_zero(left - step.after) and not left.atoms(Dummy):
        return Proof.PROVED, "Taylor's series at 0 with a bounded remainder"
    return Proof.REFUTED, f"the limit is {left}"


def _normal(part: Expr, known: Mapping[str, RandomArray], variance: Expr) -> Entry | None:
    """The entry that an expectation is over, if it is recorded as N(0, variance)."""
    entries = part.atoms(Entry)
    if len(entries) != 1:
        return None
    (entry,) = entries
    array = known[entry.array.name]
    good = array.has(Kind.GAUSSIAN) and array.zero_mean and array.moment(2) == variance
    return entry if good else None


def prove_slow_decay(step: Step, arrays: Arrays) -> Finding:
    """The map lies below the diagonal and is q - c q^2 + O(q^3), so q falls to 0 as 1/(c l).

    Below: x^2 - f(x) grows with |x|. With p(u) = f, u = tanh(x) <= x for x >= 0, its slope is
    2 (x - u) + 2 u - p'(u) (1 - u^2), and the last three terms must have no negative coefficient.
    A falling sequence goes to a fixed point of the continuous map, of which 0 is the only one.
    """
    facts = step.certificate
    previous, index, steps = facts["previous"], facts["index"], facts["steps"]
    known, x, u = recorded(arrays, step.assumptions), Symbol("x", real=True), Symbol("u", real=True)
    head, result = step.before.lhs, step.after
    if not precedes(previous, head, index):
        return Proof.REFUTED, f"{previous} is not what comes before {head}"
    if not isinstance(result, Arrow) or result.lhs != head.xreplace({index: steps - 1}):
        return Proof.REFUTED, f"{result} is not about {head}"
    part = step.before.rhs
    entry = _normal(part, known, previous) if isinstance(part, Expectation) else None
    if entry is None or not any(a.kind is Kind.WIDE for a in step.assumptions):
        return Proof.REFUTED, f"the step does not record that {part} is over N(0, {previous})"
    f = part.args[0].xreplace({entry: x})
    coefficients = taylor(f, x, 3)
    if coefficients is None:
        return Proof.UNCHECKED, f"{f} is not a polynomial in tanh"
    p = Poly(f.xreplace({tanh(x): u}), u)
    below = Poly(2 * u, u) - p.diff(u) * Poly(1 - u**2, u)
    even = all(order % 2 == 0 and order for (order,) in p.monoms())
    if not even or min(p.coeffs()) < 0 or min(below.coeffs()) < 0:
        return Proof.UNCHECKED, f"whether {f} lies below x^2 is not clear"
    rate = -coefficients[2]
    if coefficients[:2] != [0, 1] or not rate > 0:
        return Proof.REFUTED, f"the map is not q - c q^2 + O(q^3) with c > 0: {coefficients}"
    if is_zero(result.rhs - 1 / (rate * steps)):
        return Proof.PROVED, f"below the diagonal, and q - {rate} q^2 + O(q^3): Stolz and Cesaro"
    return Proof.REFUTED, f"1/{head} grows by {rate} per layer in the end"


def prove_log_of_mean(step: Step, arrays: Arrays) -> Finding:
    """The moments of one unit are proved; it is a power of |x| or 0, so its logarithm is tame."""
    from varlaw.checks.steps.proofs import prove_step

    mean, width, moments = (step.certificate[key] for key in ("mean", "width", "moments"))
    front = step.before / (width * Expectation(log(mean) * indicator(mean, ">")))
    if front.has(Expectation, width):
        return Proof.REFUTED, f"{step.before} is not {width} times the mean of a logarithm"
    unit = moments[0].start.args[0]
    entries, sums = unit.atoms(Entry), mean.definition.atoms(IndexSum)
    if len(entries) != 1 or len(sums) != 1:
        return Proof.UNCHECKED, f"{mean.definition} is not a mean of functions of one entry"
    (entry,), (total,) = entries, sums
    bounds = total.ranges[0].bounds
    if (
        entry.indices != total.bound
        or bounds != (1, width)
        or not equal(mean.definition, IndexSum(unit, *total.ranges) / width)
    ):
        return Proof.REFUTED, f"{mean.definition} is not the mean of {unit}"
    if lost := _missing(step, entry.array):
        return Proof.REFUTED, f"the step does not record: {lost}"
    if [m.start for m in moments] != [Expectation(unit), Expectation((unit**2).expand())]:
        return Proof.REFUTED, f"the lemmas are not about {unit}"
    for lemma in moments:
        for inner in lemma.steps:
            outcome, why = prove_step(inner, arrays)
            if outcome is not Proof.PROVED:
                return outcome, f"in the lemma on {lemma.start}: {why}"
    x = Symbol("x", real=True)
    if not all(_even_power(p.expression, x) for p in pieces_of(unit.xreplace({entry: x}), x)):
        return Proof.UNCHECKED, f"whether log({unit})^2 has a mean is not clear"
    first, second = (lemma.end for lemma in moments)
    if first == 1 and is_zero(step.after + front * (second - 1) / 2):
        return Proof.PROVED, f"E[U] = 1, E[U^2] = {second} proved; log(U)^2 has a mean on U > 0"
    return Proof.REFUTED, f"E[U] = {first} and E[U^2] = {second} do not give {step.after}"


def _missing(step: Step, array: RandomArray) -> str:
    needed = {
        array.assumption(kind) for kind in (Kind.GAUSSIAN, Kind.INDEPENDENT_ENTRIES, Kind.IDENTICAL)
    }
    lost = [str(a) for a in sorted(needed - step.assumptions)]
    wide = any(a.kind is Kind.WIDE for a in step.assumptions)
    return ", ".join(lost if wide else [*lost, str(Assumption(Kind.WIDE, ("width",)))])


def _even_power(e: Expr, x: Symbol) -> bool:
    """Whether an expression is 0 or a positive multiple of an even power of x."""
    coefficient, power = e.as_coeff_exponent(x)
    free = not coefficient.has(x)
    return e == 0 or bool(free and coefficient.is_positive and power.is_even and power > 0)
