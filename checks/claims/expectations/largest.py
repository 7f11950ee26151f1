r"""The mean of the largest of n normal variables, E[\max_i x_i]: bounds, and how it grows.

Boucheron, Lugosi, Massart: Concentration Inequalities, section 2.5: it is at most
mean + std sqrt(2 log n), and tends to that in the ratio if the variables are independent.
"""

from varlaw.checks.claims.declarations.context import Context
from varlaw.checks.claims.declarations.distributions import NAMES
from varlaw.checks.claims.equations.compare import Finding, against_literal, between
from varlaw.checks.claims.values.functions import NoValue
from varlaw.checks.claims.values.literals import literal_of
from varlaw.symbolic.formulas.names import free_names
from varlaw.symbolic.formulas.tree import Head, Node, plain
from varlaw.symbolic.formulas.vocabulary import MAX_OVER

RULE = "maximal inequality"
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def is_largest(node: Node) -> bool:
    """Whether a formula is the mean of the largest of some variables, and no more."""
    if node.head is not Head.EXPECTATION or node.text != "E" or len(node.parts) != 1:
        return False
    inside = node.parts[0]
    return inside.head is Head.CALL and inside.text == MAX_OVER


def bounded(left: Node, sign: str, right: Node, context: Context) -> Finding:
    """The verdict on E[max_i x_i] against a formula. Raises NoValue where it is not known."""
    from sympy import Integer, Rational, log, pi, sqrt

    from varlaw.checks.claims.equations.identities import equal, not_negative
    from varlaw.checks.claims.expectations.probability import algebra_of, number_of
    from varlaw.checks.statistics.verdicts import Verdict

    if not is_largest(left):
        left, sign, right = right, TURNED.get(sign, sign), left
    mean, variance, last = _declared(left, context)
    algebra = algebra_of(context, left, right, mean, variance, last)
    average, deviation, n, other = (
        algebra.expression(mean),
        sqrt(algebra.expression(variance)),
        algebra.expression(last),
        algebra.expression(right),
    )
    exact = {1: Integer(0), 2: 1 / sqrt(pi), 3: Rational(3, 2) / sqrt(pi)}
    if n in exact:
        value = average + deviation * exact[n]
        literal = literal_of(right)
        if literal is not None and sign in ("=", "~=") and not value.free_symbols:
            return against_literal(number_of(value), literal, sign)
        if not (value.free_symbols | other.free_symbols):
            return between(number_of(value), sign, number_of(other))
        if sign == "=" and equal(value, other):
            return Finding(Verdict.VERIFIED, "", "", RULE)
    limit = average + deviation * sqrt(2 * log(n))
    if sign == "<=" and (equal(other, limit) or not_negative(other - limit, strict=False)):
        told = "at most mean + std sqrt(2 log n), of independent variables or not"
        return Finding(Verdict.VERIFIED, "", told, RULE)
    raise NoValue("of the largest of n normal variables only mean + std sqrt(2 log n) is known")


def equivalent(side: Node, context: Context) -> Node:
    """What E[max_i x_i] divided by tends to 1 as n -> oo; another formula as it is."""
    if not is_largest(side):
        return side
    mean, variance, last = _declared(side, context)
    if plain(last) != context.towards:
        raise NoValue(f"the number of variables is not {context.towards}")
    if context.towards in free_names(mean) | free_names(variance):
        raise NoValue(f"variables whose law depends on {context.towards}")
    two = Node(Head.NUMBER, (), "2")
    twice = Node(Head.MULTIPLY, (two, variance, Node(Head.CALL, (last,), "ln")))
    return Node(Head.ADD, (mean, Node(Head.ROOT, (twice,))))


def _declared(largest: Node, context: Context) -> tuple[Node, Node, Node]:
    """The mean and variance of the variables, and how many there are. Raises NoValue."""
    name, index = largest.parts[0].parts
    variable = context.variable(name.text) if name.head is Head.NAME else None
    own = variable.ranges if variable is not None else ()
    ends = dict((*context.ranges, *own)).get(plain(index))
    indices = [plain(part) for part in name.parts]
    if variable is None or indices != [plain(index)] or len(variable.indices) != 1:
        raise NoValue("the largest of something that is not declared with one index")
    if ends is None or ends[0].text != "1":
        raise NoValue(f"the largest of variables whose number is not declared: {plain(index)}")
    law = variable.law.parts
    if NAMES.get(variable.law.text) != "normal" or len(law) != 2:
        raise NoValue("the largest of variables that are not declared as N(mean, v)")
    mean, variance = law
    if variance.head is Head.RELATION or mean.head is Head.RELATION:
        raise NoValue("the largest of variables that are not declared as N(mean, v)")
    return mean, variance, ends[1]
