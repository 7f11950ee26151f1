"""Reasons as they are told: what a step used, read off the step itself."""

from collections.abc import Iterable
from typing import Any

from sympy import Add, Expr, Mul, Pow, Wild, diff, factor, solve

from varlaw.symbolic.arrays import Entry, Moment
from varlaw.symbolic.derivation import Step, named_rule, relation
from varlaw.symbolic.printers.plain import plain_text
from varlaw.symbolic.sequences import Branch, Named, Term
from varlaw.symbolic.terms import Expectation, Variance

Law = tuple[str, Expr]  # the name of a law, and what it says


def told(step: Step, uses: Iterable[Law] = (), direct: Iterable[str] = ()) -> str:
    """The reason of a step, with the values, names and laws that it used.

    `uses` are all laws that may have been used, `direct` the names of those used at first hand.
    """
    default = named_rule(step.rule).reason
    match step.rule:
        case "earlier" if step.reason == default:
            reason = _opened(step, list(uses), list(direct))
        case "identical":
            reason = _moments(step) or step.reason
        case "call":
            reason = _name(step)
        case "minimise":
            reason = _minimum(step)
        case "bound" if "difference" in step.certificate:
            reason = _difference(step.certificate["difference"])
        case _:
            reason = step.reason
    return reason.replace("**", "^")


def _opened(step: Step, uses: list[Law], direct: list[str]) -> str:
    """The laws that the opened names come from; by definition where they are none's result."""
    found = step.before.atoms(Named) - step.after.atoms(Named)
    laws: set[str] = set()
    definitions: set[str] = set()
    for part in sorted(found, key=str):
        same = [name for name, end in uses if part.definition == end]
        fitting = same or [name for name, end in uses if _special_case(part.definition, end)]
        if fitting:
            laws.add(fitting[0])
        elif direct and not part.definition.atoms(Term, Branch):
            definitions.add(f"by definition, from {' and '.join(direct)}")
        else:
            definitions.add("by definition")
    ordered = [name for name, _ in uses if name in laws]
    word = "law" if len(ordered) == 1 else "laws"
    texts = [f"by the {word} {' and '.join(ordered)}"] if ordered else []
    return "; ".join([*texts, *sorted(definitions)])


def _special_case(value: Expr, general: Expr) -> bool:
    """Whether a value is a law's result with other symbols, or with numbers for them."""
    wild = {
        symbol: Wild(symbol.name, properties=[lambda part: part.is_Symbol or part.is_Integer])
        for symbol in general.free_symbols
    }
    return bool(wild and value.match(general.xreplace(wild)))


def _moments(step: Step) -> str:
    """The declared moments that were put in: `declared moments: E[x[i]^2] = q`."""
    kept = step.after.atoms(Expectation)
    found: dict[tuple[str, int], str] = {}
    others = False
    for part in sorted(step.before.atoms(Expectation) - kept, key=lambda e: (len(str(e)), str(e))):
        base, order = part.args[0].as_base_exp()
        if not (isinstance(base, Entry) and order.is_Integer and order > 0):
            continue
        value = base.array.moment(int(order))
        if isinstance(value, Moment):
            others = others or (bool(base.indices) and step.after.has(value))
        else:
            found.setdefault((base.array.name, int(order)), plain_text(relation(part, value, "=")))
    texts = [found[key] for key in sorted(found)]
    if not texts:
        return ""
    rest = "; the others are the same for all indices" if others else ""
    return f"declared moments: {', '.join(texts)}{rest}"


def _name(step: Step) -> str:
    """What the left-hand side is called, and why it is the same."""
    before, name = step.before.lhs, step.after.lhs
    if isinstance(name, Variance) and isinstance(name.args[0], Entry):
        array = name.args[0].array
        if array.scale == "second_moment":
            return f"since {plain_text(before)} is the second moment of {array.name}, of mean 0"
        return f"since {plain_text(before)} is the declared variance of {array.name}"
    return f"write {plain_text(name)} for {plain_text(before)}"


def _minimum(step: Step) -> str:
    """The first and the second derivative of the objective."""
    facts = step.certificate
    objective, over = facts["objective"], facts["over"]
    slope, curvature = diff(objective, over), factor(diff(objective, over, 2))
    value, first, second = map(plain_text, (objective, slope, curvature))
    return (
        f"the unique minimum of J({over}) = {value}: "
        f"J'({over}) = {first} = 0, and J''({over}) = {second} > 0"
    )


def _difference(difference: Expr) -> str:
    where = equality(difference)
    shown = plain_text(squared(difference))
    return f"the difference is {shown}, at least 0" + (f" and 0 only at {where}" if where else "")


def squared(product: Expr) -> Expr:
    """A product whose even powers of conjugate roots are joined: (a - b)^2 (a + b)^2 anew."""
    powers: dict[Any, list[Expr]] = {}
    rest: list[Expr] = []
    for part in Mul.make_args(product):
        even = isinstance(part, Pow) and part.exp.is_Integer and part.exp > 0 and part.exp.is_even
        if even:
            powers.setdefault(part.exp, []).append(part.base)
        else:
            rest.append(part)
    for exponent, bases in powers.items():
        joint = _leading(Mul(*bases).expand())
        roots = any(power.exp.is_Rational and power.exp.q == 2 for power in joint.atoms(Pow))
        rest += (
            [Pow(joint, exponent)]
            if not roots
            else [Pow(_leading(base), exponent) for base in bases]
        )
    return Mul(*rest)


def _leading(base: Expr) -> Expr:
    """A difference with a plus before its first letter."""
    first = min(Add.make_args(base), key=lambda term: sorted(map(str, term.free_symbols)))
    return -base if first.could_extract_minus_sign() else base


def equality(difference: Expr) -> str:
    """Where a product of squares and positive factors vanishes, as an equation; or nothing."""
    for part in Mul.make_args(squared(difference)):
        symbols = sorted(part.free_symbols, key=str)
        if isinstance(part, Pow) and part.exp.is_even and len(symbols) == 2:
            left, right = symbols
            if solve(part.base, left) == [right]:
                return f"{left} = {right}"
    return ""
