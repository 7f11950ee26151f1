"""Rules of Gaussian expectations: terms on intervals, Stein's lemma, completing the square.

Every rule rewrites expectations of functions of one Gaussian variable, each by a lemma of its own;
the certificate of a step holds them, with what proves them.
"""

from collections.abc import Callable
from dataclasses import replace

from sympy import Dummy, Expr, Mul, erf, exp, factor, sqrt

from varlaw.symbolic.arrays import Entry, linked
from varlaw.symbolic.assumptions import Assumption, Kind
from varlaw.symbolic.derivation import Outcome, RuleError, Used, rule
from varlaw.symbolic.gaussian.closed import Divergent, closed_form
from varlaw.symbolic.gaussian.integrals import Normal
from varlaw.symbolic.gaussian.integrand import (
    Integrand,
    Lemma,
    Variable,
    even_part,
    integrand_of,
    integrands,
    variable_of,
    written,
)
from varlaw.symbolic.gaussian.pieces import NotClosed
from varlaw.symbolic.gaussian.sums import Shape
from varlaw.symbolic.terms import Expectation, Slope, factors

Change = Callable[[Expectation, Variable], Lemma | None]


def _by_lemmas(state: Expr, used: Used, change: Change) -> Outcome:
    """The state with every expectation replaced that the change has a lemma for."""
    lemmas: dict[Expr, Lemma] = {}
    for part in sorted(state.atoms(Expectation), key=str):
        variable = variable_of(part)
        lemma = None if variable is None else change(part, variable)
        if lemma is not None and lemma.value != part:
            lemmas[part] = lemma
            used.update(lemma.of.assumptions)
    after = state.xreplace({part: lemma.value for part, lemma in lemmas.items()})
    return Outcome(after, certificate={"lemmas": lemmas})


def _of_term(change: Callable[[Integrand, Variable], Lemma | None]) -> Change:
    """A change of those expectations that are of one term on one interval, or a number times it."""

    def apply(part: Expectation, variable: Variable) -> Lemma | None:
        front, inside = variable.inside(part).as_coeff_Mul()
        term = integrand_of(inside, variable.symbol)
        lemma = None if term is None else change(term, variable)
        if lemma is None or front == 1:
            return lemma
        if lemma.primitive is None:
            return None
        grown, *ends = lemma.primitive
        return replace(lemma, value=front * lemma.value, primitive=(front * grown, *ends))

    return apply


@rule("parts", "the function in its parts, term by term; linearity", checker="gaussian")
def parts(state: Expr, used: Used) -> Outcome:
    """E[f(z)] as a sum of terms c E[z^n exp(a z^2 + b z) erf(..) 1[interval]]."""

    def change(part: Expectation, variable: Variable) -> Lemma | None:
        inside = variable.inside(part)
        if integrand_of(inside, variable.symbol) is not None:
            return None
        try:
            value = written(variable, integrands(inside, variable.symbol))
        except NotClosed:
            return None
        return Lemma(value, variable, pointwise=True)

    return _by_lemmas(state, used, change)


@rule("parity", "symmetry: the odd part of a function does not count", checker="gaussian")
def parity(state: Expr, used: Used) -> Outcome:
    """E[f(z)] = c for z of mean 0 where f(z) + f(-z) = 2 c, such as 0 for an odd function."""

    def change(part: Expectation, variable: Variable) -> Lemma | None:
        value = None if variable.mean != 0 else even_part(variable.inside(part), variable.symbol)
        return None if value is None else Lemma(value, variable, reflected=True)

    return _by_lemmas(state, used, change)


@rule("complete-square", "completing the square in the exponent", checker="gaussian")
def complete_square(state: Expr, used: Used) -> Outcome:
    """E[g(z) exp(a z^2 + b z)] = c E[g(r z + t)]: the product of two bell curves is one.

    With m' = v' (m/v + b), 1/v' = 1/v - 2 a: r = sqrt(v'/v), t = m' - r m, and
    c = r exp(m'^2/(2 v') - m^2/(2 v)).
    """

    def change(term: Integrand, variable: Variable) -> Lemma | None:
        if not term.square:
            return None
        mean, variance, x = variable.mean, variable.variance, variable.symbol
        precision = factor(1 / variance - 2 * term.shape.quadratic)
        if precision.is_nonpositive:
            raise Divergent(f"exp({term.shape.quadratic}*x^2) grows too fast for {variance}")
        if not precision.is_positive:
            return None
        narrow = 1 / precision
        centre = factor(narrow * (mean / variance + term.shape.linear))
        ratio = sqrt(factor(narrow / variance))
        shift = (centre - ratio * mean).expand()
        scale = ratio * exp(factor(centre**2 / narrow - mean**2 / variance) / 2)
        turned = tuple((alpha * ratio, alpha * shift + beta) for alpha, beta in term.shape.erfs)
        rest = Integrand(
            Shape(erfs=turned), (term.lower - shift) / ratio, (term.upper - shift) / ratio
        )
        moved = (ratio * x + shift) ** term.shape.power * rest.function(x)
        return Lemma(_spread(scale * moved, variable), variable, map=(ratio, shift))

    return _by_lemmas(state, used, _of_term(change))


@rule("stein", "Stein's lemma: integration by parts against the density", checker="gaussian")
def stein(state: Expr, used: Used) -> Outcome:
    """E[z g(z)] = m E[g(z)] + v E[g'(z)], less v g times the density at the ends of an interval."""

    def change(term: Integrand, variable: Variable) -> Lemma | None:
        if term.square or term.shape.power == 0:
            return None
        x, mean, variance = variable.symbol, variable.mean, variable.variance
        lower_power = replace(term.shape, power=term.shape.power - 1)
        inner = Integrand(lower_power, term.lower, term.upper)
        smooth = Integrand(lower_power).function(x)
        slope = smooth.diff(x) * Integrand(Shape(), term.lower, term.upper).function(x)
        value = mean * variable.expectation(inner.function(x))
        value += variance * _spread(slope, variable)
        boundary = -variance * smooth * variable.density(x)
        for end, sign in ((term.upper, 1), (term.lower, -1)):
            if end.is_finite:
                value += sign * boundary.subs(x, end)
        return Lemma(value, variable, primitive=(boundary, term.lower, term.upper))

    return _by_lemmas(state, used, _of_term(change))


def _spread(f: Expr, variable: Variable) -> Expr:
    """E of a sum of terms, term by term."""
    return written(variable, integrands(f, variable.symbol))


@rule("normal", "the normal distribution function", checker="gaussian")
def normal(state: Expr, used: Used) -> Outcome:
    """Probabilities of intervals: P(z < c) = (1 + erf((c - m)/sqrt(2 v)))/2."""

    def change(term: Integrand, variable: Variable) -> Lemma | None:
        if term.square or term.shape.power or term.shape.erfs or term.whole:
            return None
        mean, variance, x = variable.mean, variable.variance, variable.symbol
        value = Normal(mean, variance, term.lower, term.upper).chance(()).expand()
        below = (1 + erf((x - mean) / sqrt(2 * variance))) / 2
        return Lemma(value, variable, primitive=(below, term.lower, term.upper))

    return _by_lemmas(state, used, _of_term(change))


@rule(
    "normal-pair", "the distribution function of two jointly normal variables", checker="gaussian"
)
def normal_pair(state: Expr, used: Used) -> Outcome:
    """E[erf(a z + b)], on an interval or for two of them: (bivariate) normal probabilities.

    With an independent normal X, (1 + erf(a z + b))/2 = P(X < sqrt(2) (a z + b) | z), and
    X - sqrt(2) a z is normal again. For two at mean 0 that is the arcsine law.
    """

    def change(term: Integrand, variable: Variable) -> Lemma | None:
        if term.square or term.shape.power or not term.shape.erfs:
            return None
        try:
            law = Normal(variable.mean, variable.variance, term.lower, term.upper)
            return Lemma(law.chance(term.shape.erfs), variable)
        except NotClosed:
            return None

    return _by_lemmas(state, used, _of_term(change))


@rule("below", "the difference is positive, but for single points at most", checker="below")
def below(state: Expr, used: Used, bound: Expr) -> Outcome:
    """E[f(z)] < E[g(z)] for a normal z and a bound g(z) above f(z) at all but single points."""
    variable = variable_of(state) if isinstance(state, Expectation) else None
    if variable is None:
        raise RuleError(f"not covered: {state} is not one expectation")
    used.update(variable.assumptions)
    return Outcome(Expectation(bound), "<", certificate={"bound": bound})


@rule("slope", "differentiate the density by its variance", checker="gaussian")
def slope(state: Expr, used: Used) -> Outcome:
    """d/dv E[f(z)] = E[((z - m)^2/v - 1) f(z)]/(2 v) for z ~ N(m, v), f free of v.

    The derivative of the density by v; it may be taken under the integral where f grows less than
    the density falls, which is where E[z^2 f(z)] exists.
    """
    lemmas: dict[Expr, Lemma] = {}
    for part in state.atoms(Slope):
        inner, by = part.args
        variable = variable_of(inner) if isinstance(inner, Expectation) else None
        if variable is None or variable.variance != by or by in variable.inside(inner).free_symbols:
            raise RuleError(f"not covered: {part}")
        x, v = variable.symbol, variable.variance
        weight = ((x - variable.mean) ** 2 / v - 1) / (2 * v)
        lemmas[part] = Lemma(variable.expectation(weight * variable.inside(inner)), variable)
        used.update(variable.assumptions)
    after = state.xreplace({part: lemma.value for part, lemma in lemmas.items()})
    return Outcome(after, certificate={"lemmas": lemmas})


@rule("gaussian", "Gaussian integral, in closed form", checker="gaussian")
def gaussian(state: Expr, used: Used) -> Outcome:
    """E[f(z)] in closed form, at once. Raises RuleError where none is known."""

    def change(part: Expectation, variable: Variable) -> Lemma | None:
        inside = variable.inside(part)
        try:
            value = closed_form(inside, variable.symbol, variable.mean, variable.variance)
        except (NotClosed, Divergent) as error:
            raise RuleError(f"not covered: {part}: {error}") from error
        return Lemma(value, variable)

    return _by_lemmas(state, used, change)


@rule("condition", "the expectation over one variable, the others fixed", checker="gaussian")
def condition(state: Expr, used: Used, over: Entry) -> Outcome:
    """E[f(z, u)] = E[h(z)] with h(z) = E[f(z, u)] over a Gaussian u that is independent of z."""
    lemmas: dict[Expr, Lemma] = {}
    for part in state.atoms(Expectation):
        others = {e.array for e in part.atoms(Entry)} - {over.array}
        if over not in part.atoms(Entry) or not over.array.has(Kind.GAUSSIAN):
            continue
        known = {array.name: array for array in (*others, over.array)}
        if any(linked(over.array, other, known) for other in others):
            raise RuleError(f"{over} is not independent of the rest of {part}")
        variable = Variable(over, Dummy(over.array.name, real=True))
        fixed = [f for f in factors(part.args[0]) if over not in f.atoms(Entry)]
        inside = (part.args[0] / Mul(*fixed)).xreplace({over: variable.symbol})
        try:
            h = closed_form(inside, variable.symbol, variable.mean, variable.variance)
        except (NotClosed, Divergent) as error:
            raise RuleError(f"not covered: {part}: {error}") from error
        lemmas[part] = Lemma(Expectation(Mul(*fixed) * h), variable)
        used.update(variable.assumptions)
        used.update(
            Assumption(Kind.INDEPENDENT, tuple(sorted((over.array.name, o.name)))) for o in others
        )
    after = state.xreplace({part: lemma.value for part, lemma in lemmas.items()})
    return Outcome(after, certificate={"lemmas": lemmas})
