"""Proofs of steps about Gaussian expectations: each lemma by what it offers, else by its digits.

A certificate is a substitution, a reflection or a primitive; it is proved by differentiating, and
by comparing integrands on every interval in a normal form. Where nothing is offered, both sides are
enclosed to 60 digits at several values of the parameters: agreement is `checked`, not proved.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from flint import arb, ctx
from sympy import (
    Add,
    Basic,
    Expr,
    Integer,
    Mul,
    Rational,
    Symbol,
    cancel,
    erf,
    exp,
    factor,
    log,
    oo,
    together,
)

from varlaw.checks.report import Proof
from varlaw.checks.steps.algebra import is_zero, opened
from varlaw.checks.steps.moment_proof import recorded
from varlaw.symbolic.activation import Activation
from varlaw.symbolic.arrays import Entry, Moment, RandomArray, linked
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Step
from varlaw.symbolic.gaussian.balls import NoEnclosure, ball
from varlaw.symbolic.gaussian.enclosure import enclose
from varlaw.symbolic.gaussian.integrand import Lemma, Variable
from varlaw.symbolic.gaussian.pieces import NotClosed, pieces_of
from varlaw.symbolic.gaussian.values import combined
from varlaw.symbolic.language_functions import at_number
from varlaw.symbolic.terms import Expectation, Slope, factors, indicator

Finding = tuple[Proof, str]
Arrays = Mapping[str, RandomArray]
Point = dict[Basic, Expr]

DIGITS = 60
POINTS = 3  # values of the parameters that have to agree
TRIED = 12  # values that are tried: an integral need not converge everywhere


def prove_gaussian(step: Step, arrays: Arrays) -> Finding:
    """Every expectation that went is what took its place, by certificate or by 60 digits."""
    known = recorded(arrays, step.assumptions)
    lemmas: Mapping[Expr, Lemma] = step.certificate.get("lemmas", {})
    put_in = step.before.xreplace({part: lemma.value for part, lemma in lemmas.items()})
    if not lemmas or not (put_in == step.after or is_zero(put_in - step.after)):
        return Proof.REFUTED, "the step is not what its lemmas say"
    found: dict[Proof, list[str]] = {}
    for part, lemma in sorted(lemmas.items(), key=str):
        outcome, why = _prove(part, lemma, known)
        found.setdefault(outcome, []).append(why)
    for outcome in (Proof.REFUTED, Proof.UNCHECKED, Proof.CHECKED, Proof.PROVED):
        if outcome in found:
            return outcome, "; ".join(dict.fromkeys(found[outcome]))
    raise AssertionError("a lemma without an outcome")


def _prove(part: Expr, lemma: Lemma, known: dict[str, RandomArray]) -> Finding:
    name = lemma.of.entry.array.name
    variable = Variable(Entry(known[name], *lemma.of.entry.indices), lemma.of.symbol)
    others = {e.array.name for e in part.atoms(Entry)} - {name}
    if not variable.array.has(Kind.GAUSSIAN):
        return Proof.REFUTED, f"the step does not record that {name} is Gaussian"
    if any(linked(known[name], known[other], known) for other in others):
        return Proof.REFUTED, f"the step does not record what {name} is independent of"
    if isinstance(part, Slope):
        return _slope(part, lemma, variable)
    if not others and lemma.certified:
        try:
            if _certified(part, lemma, variable):
                return Proof.PROVED, "integrands compared, the primitive differentiated back"
        except NotClosed:
            pass
    return _by_digits(part, lemma, variable)


def _slope(part: Slope, lemma: Lemma, variable: Variable) -> Finding:
    """The integrands of both sides are equal once the density is differentiated."""
    (inner, by), x = part.args, variable.symbol
    density = variable.density(x)
    constant, after = _apart(lemma.value, x)
    gap = (_inside(inner, x) * density.diff(by) - after * density) / density
    if constant == 0 and by not in _inside(inner, x).free_symbols and _vanishes(gap, x):
        return Proof.PROVED, "the density differentiated"
    return Proof.REFUTED, f"{lemma.value} is not the derivative of {inner} by {by}"


# Certificates


def _certified(part: Expr, lemma: Lemma, variable: Variable) -> bool:
    """Whether the integrands of both sides differ by the derivative of the primitive."""
    x = variable.symbol
    density = variable.density(x)
    before = _inside(part, x) * density
    if lemma.map:
        ratio, shift = lemma.map
        if not ratio.is_positive:
            return False
        before = ratio * before.xreplace({x: ratio * x + shift})
    constant, after = _apart(lemma.value, x)
    gap = before - after * density
    if lemma.reflected:
        gap = (gap + gap.xreplace({x: -x})) / 2
    if lemma.primitive:
        primitive, lower, upper = lemma.primitive
        constant -= _end(primitive, x, upper) - _end(primitive, x, lower)
        gap -= primitive.diff(x) * _between(x, lower, upper)
    if not is_zero(constant):
        gap -= constant * density  # E[1] = 1
    return all(_vanishes(piece.expression, x) for piece in pieces_of(gap, x))


def _inside(head: Expr, x: Symbol) -> Expr:
    (entry,) = head.atoms(Entry)
    return head.args[0].xreplace({entry: x})


def _apart(value: Expr, x: Symbol) -> tuple[Expr, Expr]:
    """A sum of expectations and constants: the constants, and what the expectations are of."""
    constant, inside = Integer(0), Integer(0)
    for term in Add.make_args(value.expand(deep=False)):
        heads = [f for f in factors(term) if isinstance(f, Expectation)]
        rest = Mul(*(f for f in factors(term) if f not in heads))
        if len(heads) > 1 or rest.has(Expectation):
            raise NotClosed(f"{term} is not linear in expectations")
        if heads:
            inside += rest * _inside(heads[0], x)
        else:
            constant += rest
    return constant, inside


def _between(x: Symbol, lower: Expr, upper: Expr) -> Expr:
    value: Expr = Integer(1)
    if lower != -oo:
        value *= indicator(x - lower, ">")
    if upper != oo:
        value *= indicator(x - upper, "<")
    return value


def _groups(e: Expr) -> dict[tuple[Expr, tuple[Expr, ...]], Expr]:
    """The coefficients of the products of exponentials and error functions in a sum."""
    found: dict[tuple[Expr, tuple[Expr, ...]], Expr] = defaultdict(lambda: Integer(0))
    for term in Add.make_args(e.expand()):
        exponent, waves, rest = Integer(0), [], []
        for f in factors(term):
            base, power = f.as_base_exp()
            if isinstance(f, exp):
                exponent += f.args[0]
            elif isinstance(base, erf) and power.is_Integer and power > 0:
                waves += [erf(cancel(base.args[0]))] * int(power)
            else:
                rest.append(f)
        found[cancel(exponent.expand()), tuple(sorted(waves, key=str))] += Mul(*rest)
    return found


def _vanishes(e: Expr, x: Symbol) -> bool:
    """Whether a function of x is 0, by the normal form of its groups."""
    return all(is_zero(coefficient) for coefficient in _groups(e).values())


def _end(primitive: Expr, x: Symbol, point: Expr) -> Expr:
    """The value at the end of an interval, or the limit there. Raises NotClosed if none is seen."""
    if point.is_finite:
        return primitive.xreplace({x: point})
    total: Expr = Integer(0)
    for (exponent, waves), coefficient in _groups(primitive).items():
        if exponent.diff(x, 2).is_negative and exponent.diff(x, 3) == 0:
            continue
        if x in exponent.free_symbols or x in coefficient.free_symbols:
            raise NotClosed(f"the limit of {primitive} is not clear")
        ends = [erf(wave.args[0].diff(x) * point) for wave in waves]
        total += coefficient * exp(exponent) * Mul(*ends)
    return total


def prove_below(step: Step, arrays: Arrays) -> Finding:
    """The bound lies above the function: their difference is a sum of positive things."""
    bound = step.certificate.get("bound")
    if (
        bound is None
        or Expectation(bound) != step.after
        or not isinstance(step.before, Expectation)
    ):
        return Proof.REFUTED, "the step does not say which function is bounded by which"
    entries = step.before.atoms(Entry) | bound.atoms(Entry)
    known, x = recorded(arrays, step.assumptions), Symbol("x", real=True)
    if not all(known[entry.array.name].has(Kind.GAUSSIAN) for entry in entries):
        return Proof.REFUTED, "the step does not record that the variable is normal"
    gap = (bound - step.before.args[0]).xreplace(dict.fromkeys(entries, x))
    pieces = pieces_of(gap, x)
    if len(entries) == 1 and all(_positive(piece.expression, x) for piece in pieces):
        return Proof.PROVED, "the difference, in exponentials, is positive"
    return Proof.UNCHECKED, f"whether {gap} is positive is not clear"


def _positive(e: Expr, x: Symbol) -> bool:
    """Whether a function of exponentials of x is positive almost everywhere, seen in t = e^x > 0.

    Squares may vanish, at finitely many points, which a normal variable almost surely misses.
    """
    t = Symbol("t", positive=True)
    rational = factor(together(e.rewrite(exp).expand().subs(x, log(t))))
    return not rational.has(x) and all(
        part.is_positive or (part.is_Pow and part.exp.is_even and part.base.is_real)
        for part in factors(rational)
    )


# Digits


def _by_digits(part: Expr, lemma: Lemma, variable: Variable) -> Finding:
    """Agreement of both sides as enclosures, at several values of everything that is free."""
    free = _free(part) | _free(lemma.value) | _of_array(variable.array)
    agreed, why = 0, "no enclosure was found"
    for point in _points(free, variable.entry):
        try:
            with ctx.workprec(int(DIGITS * 3.33) + 40):
                left, right = (_value(side, variable, point) for side in (part, lemma.value))
            gap = left - right
        except (NoEnclosure, NotClosed, ValueError, ZeroDivisionError, TypeError) as error:
            why = str(error)
            continue
        if not gap.contains(0):
            return Proof.REFUTED, f"the two sides are {left.str(8)} and {right.str(8)}{_at(point)}"
        if gap.rad() > arb(10) ** (2 - DIGITS) * abs(left).max(abs(right)).max(arb(1)):
            why = "the enclosures are too wide"
            continue
        agreed += 1
        if agreed == POINTS or not free:
            shown = f" at {agreed} values of the parameters" if free else ""
            return Proof.CHECKED, f"both sides agree to {DIGITS} digits{shown}"
    return Proof.UNCHECKED, why


def _free(e: Expr) -> set[Basic]:
    """What needs a value: symbols, undeclared moments."""
    return {s for s in e.free_symbols if isinstance(s, Symbol)} | e.atoms(Moment)


def _of_array(array: RandomArray) -> set[Basic]:
    return _free(array.moment(1)) | _free(array.moment(2))


def _points(free: set[Basic], entry: Entry) -> Iterator[Point]:
    """Values for the parameters, spread out, small ones first."""
    names = sorted(free - {entry}, key=str)
    for k in range(1, TRIED + 1 if names else 2):
        point: Point = {}
        for place, symbol in enumerate(names, 1):
            size = Rational((3 * k + 5 * place) % 11 + 1, 7 + 2 * ((k + place) % 4))
            if symbol.is_integer:
                size = Integer(k + place)
            sign = 1 if symbol.is_positive or (k + place) % 3 else -1
            point[symbol] = -size if symbol.is_negative else sign * size
        yield point


def _at(point: Point) -> str:
    return " at " + ", ".join(f"{s} = {v}" for s, v in point.items()) if point else ""


def _value(side: Expr, variable: Variable, point: Point) -> arb:
    """The value of one side at a point; other variables than the one are numbers there."""
    entry, x = variable.entry, variable.symbol
    others = {e for e in side.atoms(Entry) if e.array.name != entry.array.name}
    fixed = point | {e: Rational(3 + 2 * k, 7) for k, e in enumerate(sorted(others, key=str))}

    def number(e: Expr) -> Expr:
        value = opened(e).xreplace(fixed)
        return value.replace(lambda part: isinstance(part, Activation), settled)

    mean, variance = number(variable.mean), number(variable.variance)

    heads = {e: _mean(e, entry, x, number, mean, variance) for e in side.atoms(Expectation)}
    names = {head: Symbol(f"value{k}", real=True) for k, head in enumerate(heads)}
    return combined(number(side.xreplace(names)), {names[e]: v for e, v in heads.items()})


def settled(activation: Activation) -> Expr:
    """An activation of a number as its value."""
    return at_number(activation) if activation.args[0].is_number else activation


def _mean(
    head: Expectation,
    entry: Entry,
    x: Symbol,
    number: Callable[[Expr], Expr],
    mean: Expr,
    variance: Expr,
) -> arb:
    mine = {e for e in head.atoms(Entry) if e.array.name == entry.array.name}
    inside = number(head.args[0].xreplace(dict.fromkeys(mine, x)))
    if not mine:
        return ball(inside)
    found: arb = enclose(pieces_of(inside, x), x, mean, variance, DIGITS + 5).value
    return found
