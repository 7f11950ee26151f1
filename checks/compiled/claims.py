"""What a law claims of an expectation, and a statistic with that expectation."""

from collections.abc import Mapping
from dataclasses import dataclass

from sympy import Basic, Expr, Integer, Pow, Symbol

from varlaw.checks.compiled.models import Unmeasurable, replaced
from varlaw.checks.compiled.slopes import with_slopes
from varlaw.checks.steps.algebra import opened
from varlaw.derivations.catalogue import Law
from varlaw.symbolic.arrays import RandomArray, arrays_in, names_tuple
from varlaw.symbolic.assumptions import Kind
from varlaw.symbolic.derivation import Derivation, sign_of
from varlaw.symbolic.sequences import Term
from varlaw.symbolic.strategy import normal_form
from varlaw.symbolic.terms import (
    Covariance,
    Expectation,
    IndexSum,
    Variance,
    factors,
    terms,
)

HEADS = (Expectation, Variance, Covariance)
LARGE = 64  # a width put in that is larger: the claim for any width is measured instead
HARMLESS = ("equal", "call", "algebra", "digits")  # rules that leave what an equation claims
SOLVING = ("solve", "root", "log-sum-root")  # rules that find the value of a symbol
UNEQUAL = {
    "->": "it claims a limit, which no draw at one size has",
    "~": "it claims how something grows, which no draw at one size has",
}


@dataclass(frozen=True)
class Claim:
    """`start`, an expression in expectations, is claimed to be `end`.

    Where a law solves for a symbol, `settled` gives the value that it finds for it. Those of
    `whole` have to be whole numbers.
    """

    start: Expr
    end: Expr
    settled: Mapping[str, Expr]
    text: str = ""
    whole: tuple[Expr, ...] = ()


def claim_of(subject: Law | Derivation | Expr, keep: frozenset[str] = frozenset()) -> Claim:
    """What a law, a derivation or an expression claims.

    A law that ends in the value of a symbol claims that its start is what was required, at that
    value; unless the symbol is among `keep`, to be given: then it claims what its start was found
    to be. An expression claims its normal form.

    Raises Unmeasurable where nothing is claimed of an expectation.
    """
    if isinstance(subject, Expr):
        subject = normal_form(subject)
    chain = subject if isinstance(subject, Derivation) else subject.derivation
    text = str(chain.start).replace("**", "^")
    statement = subject.statement
    if not opened(chain.start).atoms(*HEADS):
        raise Unmeasurable("it does not start from an expectation of anything random")
    if any(a.kind is Kind.SUMS_TO_ONE for a in chain.assumptions):
        raise Unmeasurable("weights that sum to 1 are not drawn")
    number = next((k for k, s in enumerate(chain.steps) if s.on_equations), len(chain.steps))
    found = Derivation(chain.start, chain.steps[:number])
    _equality(found.statement)
    start, reached = with_slopes(opened(chain.start)), opened(found.end)
    required, settled, whole = None, dict[str, Expr](), list[Expr]()

    def claim(end: Expr, known: Mapping[str, Expr]) -> Claim:
        return Claim(*_named_terms(start, end, whole), known, text, tuple(whole))

    for step in chain.steps[number:]:
        if step.rule == "substitute":
            values = step.certificate["values"]
            if declared := [str(e) for e in values if e.atoms(*HEADS)]:
                raise Unmeasurable(
                    f"it declares {', '.join(declared)}, which samples would have to meet"
                )
            if any(size.is_Integer and size > LARGE for size in values.values()):
                return claim(reached, {})
            start, reached = start.subs(values), reached.subs(values)
            whole += [size for symbol, size in values.items() if symbol.is_integer]
        elif step.rule == "require":
            if settled:
                raise Unmeasurable("it requires something of a value that it has just found")
            required = opened(step.after.rhs)
        elif step.rule in SOLVING and required is not None and step.after.lhs.is_Symbol:
            settled = {step.after.lhs.name: opened(statement.rhs)}
        elif step.on_equations and step.rule not in HARMLESS:
            return claim(reached, {})
    _equality(statement)
    if required is None:
        return claim(opened(statement.rhs), {})
    if settled and not settled.keys() & keep:
        return claim(required, settled)
    return claim(reached, {})


def _equality(statement: Basic) -> None:
    """Raises Unmeasurable for a statement of another kind."""
    if (sign := sign_of(statement)) != "=":
        why = UNEQUAL.get(
            sign, f"it claims an inequality ({sign}), where a measurement needs a value"
        )
        raise Unmeasurable(why)


def _named_terms(start: Expr, end: Expr, whole: list[Expr]) -> tuple[Expr, Expr]:
    """Each term of a sequence, such as v[t], as a symbol. Raises Unmeasurable for two of one."""
    found: dict[str, Term] = {}
    for term in start.atoms(Term) | end.atoms(Term):
        if found.setdefault(term.name, term) != term:
            raise Unmeasurable(f"{term} and {found[term.name]} are two values of one sequence")
    names = {
        t: Symbol(n, positive=True, integer=True if t in whole else None) for n, t in found.items()
    }
    return start.xreplace(names), end.xreplace(names)


def unbiased(start: Expr) -> Expr:
    """A statistic whose expectation is `start`, in copies of its arrays that are drawn apart.

    Var X = E[(X - X')^2]/2 and Cov[X, Y] = E[(X - X') (Y - Y')]/2 with an independent copy ';
    the factors of a product of expectations have copies of their own.

    Raises Unmeasurable for an expression that is no polynomial in expectations.
    """
    return sum((_term(term) for term in terms(start)), Integer(0))


def _term(term: Expr) -> Expr:
    result, copies = Integer(1), 0
    for factor in factors(term):
        base, power = factor.as_base_exp() if isinstance(factor, Pow) else (factor, Integer(1))
        if not base.atoms(*HEADS):
            result *= factor
            continue
        if not (power.is_Integer and power > 0):
            raise Unmeasurable(f"no statistic has the expectation {factor}")
        for _ in range(int(power)):
            part, used = _head(base)
            result *= copy(part, copies)
            copies += used
    return result


def _head(base: Expr) -> tuple[Expr, int]:
    """The statistic of one head, and how many copies of the arrays it takes."""
    if isinstance(base, Expectation):
        return base.args[0], 1
    if isinstance(base, IndexSum):
        part, used = _head(base.summand)
        return IndexSum(part, *base.ranges), used
    if isinstance(base, (Variance, Covariance)):
        left, right = base.args[0], base.args[-1]
        return (left - copy(left, 1)) * (right - copy(right, 1)) / 2, 2
    if base.is_Add:
        parts = [_head(term) if term.atoms(*HEADS) else (term, 0) for term in terms(base)]
        return sum((part for part, _ in parts), Integer(0)), max(used for _, used in parts)
    if base.is_Mul:
        inside = [f for f in factors(base) if f.atoms(*HEADS)]
        if len(inside) == 1:
            part, used = _head(inside[0])
            return base / inside[0] * part, used
    raise Unmeasurable(f"no statistic has the expectation {base}")


def copy(expression: Expr, number: int) -> Expr:
    """The expression in an independent copy of its arrays: w as w' and so on."""
    if number == 0:
        return expression
    marks = {name: name + "'" * number for name in arrays_in(expression)}
    return replaced(
        expression, {a: _renamed(a, marks, number) for a in arrays_in(expression).values()}
    )


def _renamed(array: RandomArray, marks: Mapping[str, str], number: int) -> RandomArray:
    name, mean, scale, higher, properties, depends, uncorrelated = array.args

    def marked(names: Basic) -> Basic:
        return names_tuple(n.name + "'" * number for n in names.args)

    return RandomArray(
        type(name)(name.name + "'" * number),
        mean,
        scale,
        higher,
        properties,
        marked(depends),
        marked(uncorrelated),
    )
