"""Proofs of steps that are algebra: normal forms, solved equations, sums, minima, limits."""

from collections.abc import Mapping
from math import prod

from sympy import (
    Add,
    Basic,
    Dummy,
    Expr,
    Integral,
    Mul,
    Poly,
    PolynomialError,
    Pow,
    Symbol,
    cancel,
    diff,
    fraction,
    together,
)

from varlaw.checks.report import Proof
from varlaw.checks.steps.moments import NotCovered, Writer
from varlaw.symbolic.arrays import RandomArray
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.gaussian.balls import NoEnclosure
from varlaw.symbolic.gaussian.values import value_of
from varlaw.symbolic.sequences import Defined, IndexProduct, Named, Term
from varlaw.symbolic.terms import Expectation, IndexSum, Variance

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]

ENOUGH = 15  # digits that tell the sign of a coefficient


def opened(expression: Basic) -> Expr:
    """The expression with everything that goes by a name written out."""
    while expression.atoms(Named) or expression.atoms(Defined):
        expression = expression.replace(
            lambda e: isinstance(e, (Named, Defined)), lambda e: e.definition
        )
    return expression


def is_zero(difference: Expr) -> bool:
    """Whether an expression vanishes, by an exact normal form; False where none decides it."""
    if difference == 0:
        return True
    hidden = _atoms_hidden(difference)
    roots = {s: Dummy(positive=True) ** 2 for s in hidden.free_symbols if s.is_positive}
    squared = hidden.xreplace(roots)
    try:
        top, _ = fraction(cancel(together(squared.expand(power_exp=True))))
        if top.expand() == 0:
            return True
        return not Writer({}).value(top.expand(), {}).terms
    except (NotCovered, ZeroDivisionError, ValueError):
        return False


def _atoms_hidden(e: Expr) -> Expr:
    """Sums and expectations replaced by symbols; sums that differ in form only are not joined."""
    heads = sorted(e.atoms(IndexSum, Expectation, Variance, Term), key=str)
    return e.xreplace({head: Dummy(positive=head.is_positive, real=True) for head in heads})


def equal(left: Expr, right: Expr) -> bool:
    """Whether two expressions are equal by exact algebra, sums compared term by term."""
    if is_zero(left - right):
        return True
    if isinstance(left, IndexSum) and isinstance(right, IndexSum) and left.ranges == right.ranges:
        return equal(left.summand, right.summand)
    difference = _merged_sums(left - right)
    return is_zero(difference)


def _merged_sums(e: Expr) -> Expr:
    """Sums over the same ranges joined into one, with their coefficients inside."""
    inside: dict[tuple[Basic, ...], list[Expr]] = {}
    rest: list[Expr] = []
    for term in Add.make_args(e.expand()):
        sums = [f for f in Mul.make_args(term) if isinstance(f, IndexSum)]
        if len(sums) == 1:
            (total,) = sums
            inside.setdefault(total.ranges, []).append(total.summand * (term / total))
        else:
            rest.append(term)
    joined = [IndexSum(_tidied(Add(*parts)), *ranges) for ranges, parts in inside.items()]
    return Add(*rest, *joined)


def _tidied(summand: Expr) -> Expr:
    return Add() if is_zero(summand) else summand


def prove_algebra(step: Step, arrays: Arrays) -> Finding:
    """Both sides are one expression in exact normal form, named things written out."""
    if equal(opened(step.before), opened(step.after)):
        return Proof.PROVED, "exact normal form"
    return _numerically(opened(step.before) - opened(step.after))


def _numerically(difference: Expr) -> Finding:
    """Not proved: refuted if the difference is clearly not zero at a rational point."""
    values = {s: Symbol(s.name) for s in difference.free_symbols}
    point = {
        s: k + 3 if s.is_integer else 1 / (Dummy().func("x", positive=True) ** 0 * (k + 3))
        for k, s in enumerate(sorted(values, key=str))
    }
    try:
        number = difference.subs(point).evalf(30)
        if number.is_number and abs(number) > 1e-20:
            return Proof.REFUTED, f"the two sides differ by {number.evalf(6)} at a test point"
    except (TypeError, ValueError, AttributeError):
        pass
    return Proof.UNCHECKED, "no normal form decides it"


def sign_known(e: Expr) -> int:
    """1 or -1 for the sign of an expression, by its parts or its coefficients' balls; else 0."""
    if e.is_positive or e.is_negative:
        return 1 if e.is_positive else -1
    if isinstance(e, (Named, Defined)):
        return sign_known(opened(e))
    if isinstance(e, Pow) and e.exp.is_real:
        below = sign_known(e.base)
        return 1 if below > 0 or (below and e.exp.is_even) else below * bool(e.exp.is_odd)
    if isinstance(e, Mul):
        return prod(map(sign_known, e.args))
    if not all(symbol.is_positive for symbol in e.free_symbols):
        return 0
    symbols = sorted(e.free_symbols, key=str)
    try:
        parts = Poly(e, *symbols).coeffs() if symbols else [e]
        values = [value_of(opened(part), ENOUGH) for part in parts]
    except (PolynomialError, NoEnclosure):
        return 0
    return all(value > 0 for value in values) - all(value < 0 for value in values)


def prove_requirement(step: Step, arrays: Arrays) -> Finding:
    """A requirement is no consequence; only its form is looked at."""
    if step.after.lhs == step.before.rhs:
        return Proof.PROVED, "a requirement on the value found"
    return Proof.REFUTED, "the requirement is not about the value that was found"


def prove_choice(step: Step, arrays: Arrays) -> Finding:
    """A name is given to the value that was found, and to nothing but it."""
    name = step.after.lhs
    if not isinstance(name, Symbol | Term):
        return Proof.REFUTED, f"{name} is no name"
    if step.after.rhs == step.before.rhs:
        return Proof.PROVED, f"{name} names the value found"
    return Proof.REFUTED, "what is named is not the value that was found"


def prove_solution(step: Step, arrays: Arrays) -> Finding:
    """The value solves the equation, and the equation is strictly monotone in the unknown."""
    unknown, value = step.after.lhs, step.after.rhs
    gap = step.before.lhs - step.before.rhs
    if unknown not in gap.free_symbols or not unknown.is_positive:
        return Proof.REFUTED, f"{unknown} is not a positive unknown of the equation"
    if not is_zero(gap.xreplace({unknown: value})):
        return Proof.REFUTED, f"{unknown} = {value} does not solve the equation"
    if sign_known(value) != 1:
        return Proof.REFUTED, f"{value} is not known to be positive"
    slope = cancel(together(diff(gap, unknown)))
    if sign_known(slope):
        return Proof.PROVED, "substituted back; strictly monotone for a positive unknown, so unique"
    return Proof.UNCHECKED, f"the sign of the slope {slope} is not clear"


def prove_naming(step: Step, arrays: Arrays) -> Finding:
    """The name stands, by declaration, for what it is put in the place of."""
    name, old = step.after.lhs, step.before.lhs
    if step.after.rhs != step.before.rhs:
        return Proof.REFUTED, "the value changes with the name"
    if isinstance(name, Variance):
        array = name.args[0].array
        size = array.args[2].args[1] if array.args[2].args else None
        if size != old:
            return Proof.REFUTED, f"{old} was not declared as the size of {array.name}"
        if array.scale == "variance":
            return Proof.PROVED, f"{old} was declared as the variance of {array.name}"
        if array.zero_mean and array.centred in step.assumptions:
            return (
                Proof.PROVED,
                f"{old} was declared as the second moment of {array.name}, of mean 0",
            )
        return Proof.REFUTED, f"the second moment of {array.name} is its variance only at mean 0"
    if isinstance(name, Term):
        kind = "variance" if isinstance(old, Variance) else "second_moment"
        index, square = name.args[1], isinstance(old, Variance) or _is_second_moment(old)
        symbol = next(iter(index.free_symbols), None)
        if symbol is None or not square:
            return Proof.REFUTED, f"{name} does not name the next second moment or variance"
        earlier = name.xreplace({symbol: symbol - 1})
        fits = any(
            a.args[2].args and str(a.args[2].args[0]) == kind and a.args[2].args[1] == earlier
            for a in arrays.values()
        )
        if fits and not step.before.rhs.has(name):
            return (
                Proof.PROVED,
                f"{name} names for one layer what {earlier} names for the one before",
            )
    return Proof.REFUTED, f"{name} is not a name for {old}"


def _is_second_moment(e: Expr) -> bool:
    return isinstance(e, Expectation) and isinstance(e.args[0], Pow) and e.args[0].exp == 2


def prove_substitution(step: Step, arrays: Arrays) -> Finding:
    """Both sides with the same admissible values put in."""
    values = {s: opened(value) for s, value in step.certificate["values"].items()}
    if any(s.is_positive and not v.is_positive for s, v in values.items()):
        return Proof.REFUTED, "a value outside the range of its symbol"
    for side in ("lhs", "rhs"):
        before, after = getattr(step.before, side), getattr(step.after, side)
        if not equal(opened(before).xreplace(values).doit(), opened(after)):
            return Proof.REFUTED, f"{after} is not {before} at the values given"
    return Proof.PROVED, "substituted in both sides"


def prove_antiderivative(step: Step, arrays: Arrays) -> Finding:
    """The antiderivative differentiates back, and its values at the bounds give the result."""
    total = step.before
    for whole, primitive in step.certificate["primitive"].items():
        ((x, lower, upper),) = whole.limits
        if not whole.function.is_polynomial(x):
            return Proof.UNCHECKED, f"{whole.function} is not a polynomial in {x}"
        if not is_zero(diff(primitive, x) - whole.function):
            return Proof.REFUTED, f"the derivative of {primitive} is not {whole.function}"
        total = total.xreplace(
            {whole: primitive.xreplace({x: upper}) - primitive.xreplace({x: lower})}
        )
    if total.atoms(Integral) or not is_zero(total - step.after):
        return Proof.REFUTED, "the values at the bounds do not give the result"
    return Proof.PROVED, "antiderivative differentiated back"


def prove_minimum(step: Step, arrays: Arrays) -> Finding:
    """Stationary, and strictly convex: the only minimum."""
    objective, (t, point) = step.before.rhs, (step.after.lhs, step.after.rhs)
    slope, curvature = diff(objective, t), diff(objective, t, 2)
    if not is_zero(slope.xreplace({t: point})):
        return Proof.REFUTED, f"the derivative of {objective} does not vanish at {point}"
    if t.is_positive and not point.is_positive:
        return Proof.REFUTED, f"{point} is not known to be positive"
    if t in curvature.free_symbols or not curvature.expand().is_positive:
        return Proof.REFUTED, f"the second derivative {curvature} is not a positive constant"
    return (
        Proof.PROVED,
        f"stationary; second derivative {curvature.factor()} > 0 everywhere, so unique",
    )


def prove_inequality(step: Step, arrays: Arrays) -> Finding:
    """The difference equals the certificate, a square over something positive."""
    difference = step.certificate["difference"]
    if not is_zero(step.before - step.after - difference):
        return Proof.REFUTED, "the certificate is not the difference of the two sides"
    top, bottom = fraction(together(difference))
    squares = [f for f in Mul.make_args(top) if not f.is_positive]
    if not bottom.is_positive or not all(
        isinstance(f, Pow) and f.exp == 2 and f.base.is_real for f in squares
    ):
        return Proof.REFUTED, f"{difference} is not a square over something positive"
    where = " and ".join(f"{f.base} = 0" for f in squares) or "nowhere"
    return Proof.PROVED, f"square over something positive; equality exactly where {where}"


def prove_concentration(step: Step, arrays: Arrays) -> Finding:
    """The variance of the mean is proved step by step and is O(1/width)."""
    from varlaw.checks.steps.proofs import prove_step

    facts = step.certificate
    width, mean, centre, spread = (facts[key] for key in ("width", "mean", "centre", "spread"))
    for lemma, start in ((centre, Expectation(mean)), (spread, Variance(mean))):
        if opened(lemma.start) != opened(start):
            return Proof.REFUTED, f"the lemma on {lemma.start} is not about {start}"
        for inner in lemma.steps:
            outcome, why = prove_step(inner, arrays)
            if outcome is not Proof.PROVED:
                return outcome, f"in the lemma on {start}: {why}"
    top, bottom = (Poly(part, width) for part in fraction(together(spread.end)))
    if bottom.degree() - top.degree() < 1:
        return Proof.REFUTED, f"{spread.end} does not vanish as {width} grows"
    if not any(a.kind is Kind.WIDE for a in step.assumptions):
        return Proof.REFUTED, "the step does not say that it is a wide limit"
    top, bottom = (Poly(part, width) for part in fraction(together(centre.end)))
    value = cancel(top.LC() / bottom.LC())
    if top.degree() != bottom.degree() or not value.is_positive:
        return Proof.REFUTED, f"{centre.end} does not tend to a positive number"
    if not _tame(step.before, mean, width):
        return Proof.UNCHECKED, f"{step.before} may not be continuous in {mean}"
    if not is_zero(step.before.xreplace({mean: value}) - step.after):
        return Proof.REFUTED, f"{step.after} is not {step.before} at the limit {value}"
    return Proof.PROVED, f"variance O(1/{width}): Chebyshev, continuous mapping"


def _tame(e: Basic, mean: Expr, width: Symbol) -> bool:
    """Whether `e` holds the mean in products and powers alone, and the width only in it."""
    if e == mean or not e.has(mean):
        return e == mean or width not in e.free_symbols
    if isinstance(e, Pow):
        return (
            not e.exp.has(mean) and width not in e.exp.free_symbols and _tame(e.base, mean, width)
        )
    if isinstance(e, IndexProduct):
        return width not in (e.lower.free_symbols | e.upper.free_symbols) and _tame(
            e.term, mean, width
        )
    return isinstance(e, Mul) and all(_tame(part, mean, width) for part in e.args)


def prove_asymptotic(step: Step, arrays: Arrays) -> Finding:
    """The squared quotient is a quotient of polynomials with equal leading terms."""
    variable = step.certificate["variable"]
    if not (step.before.is_nonnegative and step.after.is_nonnegative):
        return Proof.UNCHECKED, "the signs of the two sides are not known"
    squared = cancel(together((step.before / step.after) ** 2))
    top, bottom = (Poly(part, variable) for part in fraction(squared))
    if top.degree() == bottom.degree() and is_zero(top.LC() - bottom.LC()):
        return Proof.PROVED, "leading terms of the squared quotient agree"
    return Proof.REFUTED, f"the quotient {squared} does not tend to 1"
